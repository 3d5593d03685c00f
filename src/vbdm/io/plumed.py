"""PLUMED's COLVAR files: columns named by ``#! FIELDS``, periods by ``#! SET min_phi -pi``.

Lines that begin with ``#`` stand anywhere: a run that was restarted writes its header again. The
time of the rows, and biases and their companions, are no coordinates unless they are asked for.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from ..errors import InputError
from .set_aside import SetAside
from .source import Source
from .table import Options, Table, choose, listed, no_rows, unique
from .text import add_others, check_is_text, not_utf8, read_numbers
from .text_layout import LONGEST_LINE, Layout, is_data, not_text, open_text

#: How a COLVAR file begins.
FIELDS, SET = "#! FIELDS", "#! SET"
#: Last parts of the names of columns that say something about the bias, or about hills.
NO_COORDINATES = frozenset(
    {"bias", "rbias", "rct", "work", "force2", "zed", "neff", "nker", "height", "biasf", "clock"}
)
#: An end of a periodic range in multiples of π, such as -pi or 2*pi.
WITH_PI = re.compile(r"([+-]?\d*\.?\d*)\*?pi", re.IGNORECASE)


@dataclass
class Header:
    """What the lines that begin with ``#!`` say."""

    #: Names of the columns.
    names: tuple[str, ...] = ()
    #: What was set, such as min_phi and max_phi.
    ends: dict[str, str] = field(default_factory=dict)

    def add(self, line: str, number: int) -> None:
        """Take in a line of the header; raise if it names other columns than before."""
        words = line.split()[2:]
        if line.startswith(SET) and len(words) == 2:
            self.ends[words[0]] = words[1]
        if not line.startswith(FIELDS):
            return
        if self.names and tuple(words) != self.names:
            raise InputError(
                f"The columns change within the file; received line {number}, which names "
                f"{listed(words)} after {listed(self.names)}. Take the file apart there."
            )
        self.names = tuple(words)

    def period_of(self, name: str) -> float | None:
        """Return the period of a column; None if it is not periodic."""
        ends = [self.ends.get(f"{end}_{name}") for end in ("min", "max")]
        if ends == [None, None]:
            return None
        low, high = (math.nan if end is None else number_of(end) for end in ends)
        if not high - low > 0 or math.isinf(high - low):
            raise InputError(
                f"The range of a periodic column cannot be understood; received min_{name} "
                f"{ends[0]} and max_{name} {ends[1]}. Correct these lines, or give `period`."
            )
        return high - low


def read(path: Path, options: Options) -> Table:
    """Read a COLVAR file."""
    check_is_text(path)
    try:
        header, first = find_header(path)
        layout = Layout(None, unique(header.names), True, first)
        taken, left_aside = choose(options.columns, layout.names), list[str]()
        if options.columns is None:
            left_aside = [name for name in layout.names if not is_coordinate(name)]
            taken = [place for place in taken if is_coordinate(layout.names[place])]
        if not taken:
            raise InputError(
                f"No column of the file is a coordinate; received {listed(layout.names)}. Name the "
                "columns with `columns`, if they are."
            )
        aside = SetAside()
        values, _ = read_numbers(path, layout, taken, None)
        add_others(path, layout, taken, len(values), aside)
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from error
    notes = remarks(aside, left_aside)
    if "time" in aside.numbers:
        aside.add_times("time", aside.numbers.pop("time"))
    names = tuple(layout.names[place] for place in taken)
    periods = tuple(header.period_of(name) for name in names)
    return Table(
        values,
        names,
        Source(selection={**layout.selection, "columns": listed(names)}),
        period=periods if any(periods) else None,
        chosen=True,
        notes=notes,
        about_rows=aside.row_notes,
    )


def find_header(path: Path) -> tuple[Header, int]:
    """Return what all lines of the header say, and the number of the first line of data."""
    header, first = Header(), 0
    with open_text(path) as stream:
        for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE), ""), 1):
            if len(line) >= LONGEST_LINE:
                raise not_text(path, f"a line of more than {LONGEST_LINE:,} characters")
            if line.startswith("#!"):
                header.add(line, number)
            elif not first and is_data(line):
                first = number
    if not header.names:
        raise InputError(
            f"The file does not name its columns; received {path.name!r} without a line {FIELDS} "
            "and names. Name another format with `format`, such as format='text'."
        )
    if not first:
        raise no_rows("The file", f"{path.name!r} with a header and no lines of numbers")
    return header, first


def is_coordinate(name: str) -> bool:
    """Tell whether a column may be a coordinate: it is neither the time nor about the bias.

    >>> from vbdm.io.plumed import is_coordinate
    >>> [is_coordinate(name) for name in ("phi", "metad.rbias", "time")]
    [True, False, False]
    """
    last = name.rpartition(".")[2].lower()
    return name != "time" and last not in NO_COORDINATES and not name.startswith("sigma_")


def remarks(aside: SetAside, names: list[str]) -> tuple[str, ...]:
    """Return notes on columns that are no coordinates, and on a time that goes back."""
    notes = []
    if names:
        notes.append(f"Set aside, not coordinates: {listed(names)}.")
    times = aside.numbers.get("time", np.zeros(0))
    back = int((np.diff(times) < 0).sum())
    if back:
        times_back = "once" if back == 1 else f"{back} times"
        notes.append(
            f"The time goes back {times_back}: after a restart some rows may be there twice; if "
            "several runs follow each other, give `lengths`."
        )
    return tuple(notes)


def number_of(text: str) -> float:
    """Return an end of a range: a number, or a multiple of pi; NaN for anything else.

    >>> from vbdm.io.plumed import number_of
    >>> round(number_of("-pi"), 4), number_of("0.5"), number_of("left")
    (-3.1416, 0.5, nan)
    """
    multiple = WITH_PI.fullmatch(text)
    digits = multiple[1] if multiple else text
    if multiple and digits in ("", "+", "-"):
        digits += "1"
    try:
        return float(digits) * (math.pi if multiple else 1)
    except ValueError:
        return math.nan
