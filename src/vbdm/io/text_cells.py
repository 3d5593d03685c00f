"""The patient reader of text: cell by cell, with columns of numbers, of labels and of dates."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable

import numpy as np

from ..base.arrays import FloatArray
from ..errors import InputError
from .columns import as_choice
from .dates import read_dates
from .set_aside import NO_WORDS, SetAside
from .table import TRUTH_VALUES
from .text_layout import Layout, number_in, split

#: Text that somebody may have meant as a number: decimal commas, thousands, percent, other digits.
ALMOST_NUMBER = re.compile(r"[+\-\u2212]?[\d.,'\s]*\d[\d.,'\s]*%?")
#: Largest number of cells that are kept of columns that were not chosen.
MOST_CELLS = 2_000_000


class Column:
    """The cells of one column while they are read: numbers, or text alone.

    Attributes
    ----------
    numbers : array of float
        The numbers; NaN where they are missing.
    words : list of str
        All cells, as long as none of them is a number.
    text : (str, int) or None
        The first cell with text, and the number of its line.
    """

    def __init__(self) -> None:
        self.numbers = array("d")
        self.words: list[str] = []
        self.text: tuple[str, int] | None = None

    def add(self, cell: str, value: float | None, line: int) -> bool:
        """Add a cell with its value, None for text; return False if text and numbers are mixed."""
        if value is None:
            self.text = self.text or (cell, line)
            value = math.nan
        found = not math.isnan(value)
        if found and len(self.words) == len(self.numbers) and self.text is None:
            # From the first number on, words are no longer collected.
            self.words = []
        elif len(self.words) == len(self.numbers) and not found:
            self.words.append(cell)
        self.numbers.append(value)
        return self.text is None or len(self.words) == len(self.numbers)


def read_patiently(
    lines: Iterable[tuple[int, str]], layout: Layout, taken: list[int], aside: SetAside | None
) -> tuple[FloatArray, list[int]]:
    """Read cell by cell; return the numbers, with NaN where they are missing, and their columns.

    Parameters
    ----------
    lines : iterable of (int, str)
        Number and text of each line of data.
    layout : Layout
        The layout of the file.
    taken : list of int
        Positions of the columns to read.
    aside : SetAside or None
        Takes the columns that hold nothing but text; None if text is an error in any column.
    """
    columns = {position: Column() for position in taken}
    for line, text in lines:
        cells = split(text, layout.delimiter)
        for position, column in columns.items():
            cell = cells[position]
            value = value_of(cell, layout.decimal)
            if not column.add(cell, value, line) or (value is None and aside is None):
                raise no_number(column.text or (cell, line), position, layout)
    kept = [position for position, column in columns.items() if column.text is None]
    for position, column in columns.items():
        if column.text is not None and aside is not None:
            if not kept or is_meant_as_number(column.words):
                raise no_number(column.text, position, layout)
            aside.add_text(layout.names[position], column.words)
    return np.column_stack([np.frombuffer(columns[p].numbers) for p in kept]), kept


def add_others(
    lines: Iterable[tuple[int, str]],
    layout: Layout,
    taken: list[int],
    n_rows: int,
    aside: SetAside,
) -> None:
    """Add the columns that were not chosen to those set aside, as many as `MOST_CELLS` allows."""
    others = [place for place in range(len(layout.names)) if place not in set(taken)]
    others = others[: MOST_CELLS // max(n_rows, 1)]
    if not others:
        return
    words: dict[int, list[str]] = {position: [] for position in others}
    for _, text in lines:
        cells = split(text, layout.delimiter)
        for position, column in words.items():
            column.append(cells[position])
    for position, column in words.items():
        values = [value_of(cell, layout.decimal) for cell in column]
        if None in values:
            aside.add_text(layout.names[position], column)
        else:
            aside.add_numbers(layout.names[position], np.array(values, dtype=np.float64))


def value_of(cell: str, decimal: str) -> float | None:
    """Return the number in a cell, NaN where it is missing, None for text."""
    if decimal == ",":
        # A point among decimal commas may separate thousands.
        return None if "." in cell else number_in(cell.replace(",", "."))
    return number_in(cell)


def is_meant_as_number(words: list[str]) -> bool:
    """Tell whether text could be numbers in another notation, which must not become labels."""
    present = [word for word in words if word not in NO_WORDS]
    if not any(ALMOST_NUMBER.fullmatch(word) for word in present):
        return False
    return read_dates(present) is None


def no_number(text: tuple[str, int], position: int, layout: Layout) -> InputError:
    """Return the error for a cell that holds text."""
    (cell, line), name = text, layout.names[position]
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
    advice = (
        f"Choose other columns with `columns`, such as columns="
        f"{as_choice(others, layout.names)!r}, or correct the cell."
        if others
        else "Correct the cell."
    )
    return InputError(
        f"A cell is not a number; received {cell[:60]!r} in line {line}, column {name!r} (number "
        f"{position}). {because} {advice}"
    )
