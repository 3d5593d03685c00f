"""Text with one point per line: comma, semicolon, tab or spaces; with a header line or without.

pandas reads the numbers, with empty cells and "NA" for missing values. Columns of labels and dates
are set aside; a cell that is neither is named with its line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..errors import InputError
from ..progress import report
from .set_aside import NO_WORDS, SetAside, read_dates
from .source import Source
from .table import TRUTH_VALUES, Options, Table, as_choice, choose, listed, no_rows
from .text_layout import (
    MISSING,
    Layout,
    find_layout,
    is_data,
    not_text,
    number_in,
    open_text,
    split,
)

#: Bytes at the beginning of a file that show whether it is text.
FIRST_BYTES = 1 << 16
#: Lines between two reports of progress; lines that are handed to pandas at a time.
REPORT_EVERY, AT_A_TIME = 1 << 16, 1 << 12
#: Text that somebody may have meant as a number: decimal commas, thousands, percent, other digits.
ALMOST_NUMBER = re.compile(r"[+\-\u2212]?[\d.,'\s]*\d[\d.,'\s]*%?")
#: Largest number of cells that are kept of columns that were not chosen.
MOST_CELLS = 2_000_000
#: The words for a missing value as pandas takes them, which tells capitals from small letters.
GAPS = sorted({form for word in MISSING for form in (word, word.upper(), word.title(), "NaN")})


def read(path: Path, options: Options) -> Table:
    """Read a text file."""
    if options.header not in ("auto", True, False):
        raise InputError(
            f"`header` is 'auto', True or False; received {options.header!r}. Leave it out."
        )
    check_is_text(path)
    try:
        layout = find_layout(path, options.header)
        chosen = options.columns is not None
        taken = choose(options.columns, layout.names, not layout.has_header)
        aside = SetAside()
        values, taken = read_numbers(path, layout, taken, None if chosen else aside)
        notes = (*layout.notes, *aside.notes)
        if chosen and not hasattr(options.columns, "apply"):
            add_others(path, layout, taken, len(values), aside)
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from error
    names = tuple(layout.names[position] for position in taken)
    return Table(
        values,
        names,
        Source(selection=layout.selection | ({"columns": listed(names)} if chosen else {})),
        chosen=True,
        notes=notes,
        made_up=not layout.has_header,
        about_rows=aside.row_notes,
    )


def not_utf8(path: Path, error: UnicodeDecodeError) -> InputError:
    """Return the error for text in an encoding other than UTF-8."""
    return InputError(
        f"The text is not in UTF-8; received {path.name!r} with the byte "
        f"0x{error.object[error.start]:02x} ({error.reason}). Older programs write Latin-1. "
        "Save it again as UTF-8; in Excel the file type is called 'CSV UTF-8'."
    )


def check_is_text(path: Path) -> None:
    """Raise if the first bytes of a file show that it is not text."""
    with open(path, "rb") as stream:
        if b"\0" in stream.read(FIRST_BYTES):
            raise not_text(path, "zero bytes")


class Lines:
    """The lines of data as a stream for pandas; raises if the number of cells changes."""

    def __init__(self, lines: Iterable[str], layout: Layout) -> None:
        self.layout = layout
        self.lines = (line for _, line in self.numbered(lines))

    def numbered(self, lines: Iterable[str]) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line of data."""
        delimiter, wanted = self.layout.delimiter, len(self.layout.names)
        for number, line in enumerate(lines, 1):
            if number < self.layout.first or not is_data(line):
                continue
            if number % REPORT_EVERY == 0:
                report("reading", number, None, "lines")
            if delimiter is None or '"' in line:
                count = len(split(line, delimiter))
            else:
                count = line.count(delimiter) + 1
            if count != wanted:
                raise InputError(
                    f"All lines must have the same number of cells; received line {number} with "
                    f"{count} cell(s), where {wanted} are expected. Look at line {number}: it may "
                    "be cut off, or no part of the table; lines that start with # are skipped."
                )
            yield number, line

    def __iter__(self) -> Iterator[str]:
        """Return the lines."""
        return self.lines

    def read(self, size: int = -1) -> str:
        """Return the next lines, whatever their size; nothing at the end."""
        return "".join(islice(self.lines, AT_A_TIME))


def frame_of(path: Path, layout: Layout, taken: list[int], text: Iterable[int]) -> pd.DataFrame:
    """Return some columns, by position: numbers, those of `text` as words.

    Raises a plain `ValueError` at a cell that is no number.
    """
    words = set(text)
    spaces = layout.delimiter is None
    options: dict[str, Any] = {"sep": r"\s+"} if spaces else {"sep": layout.delimiter}
    numbers = [position for position in taken if position not in words]
    with open_text(path) as stream:
        lines: Any = Lines(stream, layout)
        return pd.read_csv(
            lines,
            header=None,
            usecols=taken,
            dtype={position: np.float64 if position in numbers else str for position in taken},
            na_values=dict.fromkeys(numbers, GAPS),
            keep_default_na=False,
            decimal=layout.decimal,
            float_precision="round_trip",
            skipinitialspace=True,
            quoting=csv.QUOTE_NONE if spaces else csv.QUOTE_MINIMAL,
            names=range(len(layout.names)),
            index_col=False,
            **options,
        )


def read_numbers(
    path: Path, layout: Layout, taken: list[int], aside: SetAside | None
) -> tuple[FloatArray, list[int]]:
    """Return the numbers, with NaN where they are missing, and the positions of their columns.

    `aside` takes the columns that hold nothing but text; None if text is an error in any column.
    """
    try:
        frame = frame_of(path, layout, taken, layout.text)
    except (InputError, UnicodeDecodeError):
        raise
    except ValueError:
        # Text below the first lines: each cell is looked at.
        frame = frame_of(path, layout, taken, taken)
    if frame.empty:
        raise no_rows("The file", f"{path.name!r} with a header and no lines of numbers")
    kept: dict[int, FloatArray] = {}
    words: dict[int, list[str]] = {}
    for position in taken:
        column = frame[position]
        if column.dtype == np.float64:
            kept[position] = column.to_numpy()
            continue
        cells = [cell.strip() for cell in column]
        values = values_of(cells, layout.decimal)
        if values is not None:
            kept[position] = values
        elif aside is None or any(has_number(cell, layout.decimal) for cell in cells):
            raise no_number(path, cells, position, layout)
        else:
            words[position] = cells
    for position, cells in words.items():
        if not kept or is_meant_as_number(cells):
            raise no_number(path, cells, position, layout)
        if aside is not None:
            aside.add_text(layout.names[position], cells)
    return np.column_stack(list(kept.values())), list(kept)


def add_others(path: Path, layout: Layout, taken: list[int], n_rows: int, aside: SetAside) -> None:
    """Add the columns that were not chosen to those set aside, as many as `MOST_CELLS` allows."""
    others = [place for place in range(len(layout.names)) if place not in set(taken)]
    others = others[: MOST_CELLS // max(n_rows, 1)]
    if not others:
        return
    frame = frame_of(path, layout, others, others)
    for position in others:
        cells = [cell.strip() for cell in frame[position]]
        values = values_of(cells, layout.decimal)
        if values is None:
            aside.add_text(layout.names[position], cells)
        else:
            aside.add_numbers(layout.names[position], values)


def values_of(cells: list[str], decimal: str) -> NDArray[np.float64] | None:
    """Return the numbers of a column, NaN where they are missing; None if a cell is text."""
    values = [value_of(cell, decimal) for cell in cells]
    return None if None in values else np.array(values, dtype=np.float64)


def value_of(cell: str, decimal: str) -> float | None:
    """Return the number in a cell, NaN where it is missing, None for text."""
    if decimal == ",":
        # A point among decimal commas may separate thousands.
        return None if "." in cell else number_in(cell.replace(",", "."))
    return number_in(cell)


def has_number(cell: str, decimal: str) -> bool:
    """Tell whether a cell holds a number that is not missing."""
    value = value_of(cell, decimal)
    return value is not None and not np.isnan(value)


def is_meant_as_number(words: list[str]) -> bool:
    """Tell whether text could be numbers in another notation, which must not become labels."""
    present = [word for word in words if word not in NO_WORDS]
    if not any(ALMOST_NUMBER.fullmatch(word) for word in present):
        return False
    return read_dates(present) is None


def no_number(path: Path, cells: list[str], position: int, layout: Layout) -> InputError:
    """Return the error for the first cell of a column that holds text."""
    name = layout.names[position]
    row = next(row for row, cell in enumerate(cells) if value_of(cell, layout.decimal) is None)
    cell = cells[row]
    with open_text(path) as stream:
        line, _ = next(islice(Lines((), layout).numbered(stream), row, None))
    others = [p for p in range(len(layout.names)) if p != position and p not in layout.text]
    because = "Labels and dates are no coordinates; missing values may be empty or NA."
    if cell.lower() in ("true", "false"):
        because = TRUTH_VALUES
    elif layout.decimal == "," and "." in cell:
        because = "Other cells have decimal commas, and the point may separate thousands."
    elif "," in cell:
        because = "Decimal commas must be points, and labels or dates are no coordinates."
    elif cell.startswith("#"):
        because = "A spreadsheet writes this where a formula has no value."
    advice = "Correct the cell."
    if others:
        choice = as_choice(others, layout.names)
        advice = f"Choose other columns, such as columns={choice!r}, or correct the cell."
    return InputError(
        f"A cell is not a number; received {cell[:60]!r} in line {line}, column {name!r} (number "
        f"{position}). {because} {advice}"
    )
