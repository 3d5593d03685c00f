"""A table of numbers from a file, whose rows are points; and the choice of its columns."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.checks import KIND_NAMES
from ..base.row_notes import RowNotes
from ..errors import InputError, printable
from .source import Source

#: NumPy's kinds of numbers that become coordinates: integers and real numbers.
REAL = "iuf"
#: Why truth values are refused, for messages.
TRUTH_VALUES = "True and False are labels, not measurements; as 0 and 1 they would be coordinates."
#: A frame to superpose others on: name, x, y, z of each atom.
Reference = tuple[tuple[str, float, float, float], ...]
NO_FILE = Source()


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers from a file; rows are points, columns are coordinates."""

    #: (N, n): Numbers as the file stores them: real, of any precision, perhaps a read-only memory
    #: map. Missing values are NaN.
    values: Any
    #: Names of the columns; "x0", "x1", ... where the file has none. Empty for distances, and
    #: where a reader leaves them to `read`.
    names: tuple[str, ...] = ()
    #: The file; of a reader, what was taken from it.
    source: Source = NO_FILE
    #: "euclidean" for points, "precomputed" for distances.
    metric: str = "euclidean"
    #: Period of each column, with None for a column without one; None if no column is periodic.
    period: tuple[float | None, ...] | None = None
    #: Whether the user chose the columns; otherwise they are all that the file has.
    chosen: bool = False
    #: Sentences for the user about the way the file was read.
    notes: tuple[str, ...] = ()
    #: Frame on which those of a trajectory were superposed: name, x, y, z of each atom.
    reference: Reference | None = None
    #: Whether the file has no names, so that `names` are "x0", "x1", ….
    made_up: bool = False
    #: Labels, times and further numbers of the rows, which are no coordinates.
    about_rows: RowNotes = field(default_factory=RowNotes)
    #: Unit of the values, such as "Å"; empty if the file does not tell, or if columns differ.
    unit: str = ""


@dataclass(frozen=True)
class Options:
    """What to take from a file; the fields are the parameters of `vbdm.io.read`."""

    key: str | None = None
    columns: Any = None
    header: bool | str = "auto"
    variable: str | Sequence[str] | None = None
    sample_dims: str | Sequence[str] | None = None
    topology: Path | None = None
    selection: str | None = None
    features: str = "coordinates"
    stride: int = 1
    scratch: Path | None = None


def plain_names(n_columns: int) -> tuple[str, ...]:
    """Return "x0", "x1", ... for columns without names."""
    return tuple(f"x{number}" for number in range(n_columns))


def unique(cells: Sequence[str]) -> tuple[str, ...]:
    """Return cells as names of columns: empty ones and repeated ones are changed.

    >>> from vbdm.io.table import unique
    >>> unique(["", "x", "x"])
    ('x0', 'x', 'x_2')
    """
    names: dict[str, int] = {}
    for position, cell in enumerate(cells):
        first = name = cell or f"x{position}"
        while name in names:
            names[first] += 1
            name = f"{first}_{names[first]}"
        names[name] = 1
    return tuple(names)


def listed(words: Sequence[Any], most: int = 8) -> str:
    """Return words in one line; of more than `most`, the first ones and the number of the rest.

    >>> from vbdm.io.table import listed
    >>> listed(["a", "b", "c", "d"], most=2)
    'a, b and 2 more'
    """
    shown = ", ".join(printable(str(word)) for word in words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def as_rows(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Return an array of real numbers with two axes; an array with one axis becomes one column.

    `what` names the array in messages, such as "The dataset 'a/b'".
    """
    check_real_numbers(array.dtype, what)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise wrong_axes(array.shape, what)
    if 0 in array.shape:
        raise no_rows(what, f"shape {array.shape}")
    return array


def check_real_numbers(dtype: np.dtype[Any], what: str) -> None:
    """Raise unless the type of an array is a real number."""
    if dtype.kind not in REAL:
        reason = (
            TRUTH_VALUES
            if dtype.kind == "b"
            else "Coordinates are measured with real numbers; objects are never unpacked, since "
            "that could run foreign code."
        )
        raise InputError(
            f"{what} must hold real numbers; received {KIND_NAMES.get(dtype.kind, 'values')} "
            f"(type {dtype}). {reason} Convert it to float64 and save it again, or choose other "
            "columns or another key."
        )


def wrong_axes(shape: tuple[int, ...], what: str) -> InputError:
    """Return the error for an array that does not have one or two axes."""
    return InputError(
        f"{what} must be a table with one row per point; received an array with {len(shape)} "
        f"axes, shape {shape}. Reshape it to (points, coordinates), or use NetCDF."
    )


def no_rows(what: str, received: str) -> InputError:
    """Return the error for a table without rows or columns."""
    return InputError(f"{what} holds no points; received {received}. Check how the file was made.")


#: Up to this many columns are suggested by name in messages; more are suggested by number.
SPELT_OUT = 12


def choose(columns: Any, names: Sequence[str], made_up: bool = False) -> list[int]:
    """Return the positions of the wanted columns, in the order in which they were asked for.

    A name that looks like a number wins over the number. A `vbdm.io.Preparation` finds its columns
    itself, by position where names are `made_up`.

    >>> from vbdm.io.table import choose
    >>> choose("y,x", ["t", "x", "y"]), choose("0,2", "txy"), choose("1-2", "txy")
    ([2, 1], [0, 2], [1, 2])
    """
    if columns is None:
        return list(range(len(names)))
    if hasattr(columns, "find") and not isinstance(columns, (str, bytes)):
        return list(columns.find(names, made_up))
    pieces = pieces_of(columns)
    place = {name: position for position, name in enumerate(names)}
    found = [position for piece in pieces for position in positions(piece, place)]
    if not found or len(set(found)) < len(found):
        raise InputError(
            "The choice of columns must name each column once, and at least one; received "
            f"{columns!r}. The columns are: {listed(list(names))}."
        )
    return found


def pieces_of(columns: Any) -> list[Any]:
    """Return the parts of a choice as a list: names, numbers and ranges."""
    if isinstance(columns, str):
        return columns.split(",")
    several = isinstance(columns, Iterable) and getattr(columns, "ndim", 1) > 0
    return list(columns) if several else [columns]


def positions(piece: Any, place: dict[str, int]) -> list[int]:
    """Return the positions of the columns that one part of a choice means."""
    n = len(place)
    if isinstance(piece, int) and not isinstance(piece, bool) and 0 <= piece < n:
        return [piece]
    word = str(piece).strip()
    if word in place:
        return [place[word]]
    span = re.fullmatch(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?", word)
    if span:
        first = int(span[1])
        last = first if span[2] is None else int(span[2])
        if first <= last < n:
            return list(range(first, last + 1))
    close = difflib.get_close_matches(word, list(place)[:10_000], n=3)
    advice = (
        f"Did you mean {' or '.join(repr(name) for name in close)}?"
        if close
        else "Choose by name ('x,y') or by number from 0 ('0,2' or '0-3')."
    )
    raise InputError(
        f"The file has no such column; received {piece!r}. It has {n} column(s): "
        f"{listed(list(place))}. {advice}"
    )


def as_choice(taken: Sequence[int], names: Sequence[str]) -> str:
    """Return the text with which `choose` gives these positions, to be suggested in a message.

    >>> from vbdm.io.table import as_choice
    >>> as_choice([1, 2], ["t", "x", "y"]), as_choice([0, 1, 3], ["a,b", "c", "t", "u"])
    ('x,y', '0-1,3-3')
    """
    words = [names[position] for position in taken]
    if len(words) <= SPELT_OUT and not any("," in word for word in words):
        return ",".join(words)
    # A single number is written as a range, too, "3-3": a column may have the name "3".
    breaks = [place for place in range(1, len(taken)) if taken[place] != taken[place - 1] + 1]
    ends = zip([0, *breaks], [*breaks, len(taken)], strict=True)
    return ",".join(f"{taken[first]}-{taken[last - 1]}" for first, last in ends)


def as_slice(positions: list[int]) -> slice | list[int]:
    """Return adjacent columns as a slice, so that a memory map is not copied."""
    first = positions[0]
    if positions == list(range(first, first + len(positions))):
        return slice(first, first + len(positions))
    return positions
