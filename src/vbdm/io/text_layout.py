"""The layout of a text file: delimiter, decimal mark and header, found from its first lines.

Where the first lines can be read in two ways, a note tells the decision, or an error asks for it.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TextIO

from ..errors import InputError, printable
from .table import no_rows, plain_names, unique

#: Cells that mean "missing", in lower case.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "#n/a", "#na", "#nv"})
#: What spreadsheets write in place of a number, such as #DIV/0!: the beginning of a line with it is
#: a cell, not a comment. "#N/A" is "#NV" or "#N/D" in other languages.
SHEET_ERROR = re.compile(
    r"\s*#(?:[^\s,;#]*[!?]|N/?[A-Z]|NULL|GETTING_DATA)\s*(?:$|[,;\t]|\s[-+.\d#])"
)
#: A first line longer than this many characters is not a line of a table.
LONGEST_LINE = 1 << 22
#: Largest numbers of lines of data, and of characters in them, that are looked at.
LINES, CHARACTERS = 200, 1 << 23
#: Number of lines below a first line of whole numbers that show whether it holds names.
BELOW = 5
WHOLE = re.compile(r"[+-]?\d+")
#: A number as it is written where the comma is the decimal mark.
WITH_COMMA = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Layout:
    """The layout of a text file."""

    #: Mark between two cells; None for spaces.
    delimiter: str | None
    #: Names of the columns; "x0", "x1", ... where the file has none.
    names: tuple[str, ...]
    #: Whether the names are from the file.
    has_header: bool
    #: Number of the first line of data, from 1.
    first: int
    #: Decimal mark, a point or a comma.
    decimal: str = "."
    #: Whether numbers in the first line were taken as names.
    number_names: bool = False
    #: Positions of columns with text in the first lines of data.
    text: frozenset[int] = frozenset()

    @property
    def selection(self) -> dict[str, str]:
        """The decisions on header and decimal mark, for the record of the source."""
        how = ", numbers were taken as names" if self.number_names else ""
        decided = {"header": f"yes{how}" if self.has_header else "no"}
        if self.decimal == ",":
            decided["decimal"] = "commas were read as decimal points"
        return decided

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the user on decisions that could have been different."""
        notes = []
        if self.number_names:
            shown = printable(", ".join(self.names)[:60])
            notes.append(
                f"The first line ({shown}) was taken as names; header=False reads it as a point."
            )
        if self.decimal == ",":
            notes.append("Commas were read as decimal points.")
        return tuple(notes)


def open_text(path: Path) -> TextIO:
    """Open as UTF-8, with or without the byte order mark that some programs write first."""
    return open(path, encoding="utf-8-sig")


def not_text(path: Path, found: str) -> InputError:
    """Return the error for a file that is not a table in text."""
    return InputError(
        f"The file is not a text table; received {path.name!r} with {found}. Save it as UTF-8 "
        "text with one point per line, or name its format with `format`."
    )


def find_layout(path: Path, header: bool | str) -> Layout:
    """Return the layout of a file: delimiter, decimal mark, names and first line of data."""
    comment, number, lines = first_lines(path)
    layout, rows = layout_of(path, header, comment, number, lines)
    below = rows[1:] if layout.first > number else rows
    text = (place for row in below for place, cell in enumerate(row) if not is_number(cell))
    return replace(layout, text=frozenset(text))


def layout_of(
    path: Path, header: bool | str, comment: str, number: int, lines: list[str]
) -> tuple[Layout, list[list[str]]]:
    """Return the layout, and the cells of the first lines with points as decimal marks."""
    delimiter = find_delimiter(lines[0], path)
    rows = [split(line, delimiter) for line in lines]
    cells, below = rows[0], rows[1:]
    layout = Layout(delimiter, plain_names(len(cells)), False, number)
    # The first line is tested apart: it may hold names with commas, or the only decimal commas.
    if delimiter != "," and (are_decimal_commas(below) or are_decimal_commas(rows)):
        layout = replace(layout, decimal=",")
        rows = [[cell.replace(",", ".") for cell in row] for row in rows]
    if header != "auto":
        return with_names(layout, cells) if header else layout, rows
    first, *under = rows
    if looks_like_names(first, (under or rows)[0]) or are_whole_names(first, under[:BELOW]):
        numbers = any(is_number(cell) and cell.lower() not in MISSING for cell in rows[0])
        return with_names(replace(layout, number_names=numbers), cells), rows
    above = split(comment, delimiter)
    # numpy.savetxt writes the names into a comment above the data.
    if len(above) == len(cells) and not any(is_number(c) for c in above):
        return replace(layout, names=unique(above), has_header=True), rows
    refuse_half_numbers(rows, delimiter)
    return layout, rows


def with_names(layout: Layout, cells: list[str]) -> Layout:
    """Return the layout of a file whose first line holds names."""
    return replace(layout, names=unique(cells), has_header=True, first=layout.first + 1)


def first_lines(path: Path) -> tuple[str, int, list[str]]:
    """Return the last comment above the data, the number of the first line of data, and some lines.

    Lines without data are left out, and counted.
    """
    comment, first, found = "", 0, list[str]()
    with open_text(path) as stream:
        number = characters = 0
        while len(found) < LINES and characters < CHARACTERS:
            line = stream.readline(LONGEST_LINE)
            if not line:
                break
            number += 1
            if len(line) >= LONGEST_LINE:
                raise not_text(path, f"a line of more than {LONGEST_LINE:,} characters")
            if is_data(line):
                first = first or number
                characters += len(line)
                found.append(line)
            elif not found:
                comment = line.strip().lstrip("#") or comment
    if not found:
        raise no_rows("The file", f"{path.name!r} without any line of data")
    return comment, first, found


def looks_like_names(cells: list[str], below: list[str]) -> bool:
    """Tell whether the first row is a header: it has no numbers, or has text above a number.

    >>> from vbdm.io.text_layout import looks_like_names
    >>> looks_like_names(["id", "2020"], ["a", "1.5"]), looks_like_names(["id", "x"], ["a", "1.5"])
    (False, True)
    """
    names = [not is_number(cell) for cell in cells]
    numbers = [is_number(cell) for cell in below]
    over = any(name and number for name, number in zip(names, numbers, strict=False))
    return over or (any(names) and not any(is_number(cell) and cell for cell in cells))


def are_whole_names(cells: list[str], below: list[list[str]]) -> bool:
    """Tell whether whole numbers in the first line are names of columns, such as years.

    They are names if they are 0, 1, 2, ..., as pandas names columns, with a fraction below them or
    an empty cell before them (above row labels); or if they increase and all cells below are
    fractions. Whole numbers above whole numbers are data.

    >>> from vbdm.io.text_layout import are_whole_names
    >>> are_whole_names(["0", "1"], [["0.5", "3"]]), are_whole_names(["0", "1"], [["1", "0"]])
    (True, False)
    >>> are_whole_names(["1990", "1991"], [["0.5", "1e3"]])
    True
    >>> are_whole_names(["", "0"], [["0", "5"]])
    True
    """
    labels = 1 if cells[0] == "" else 0
    names = cells[labels:]
    if len(cells) < 2 or not all(WHOLE.fullmatch(name) for name in names):
        return False
    under = [cell for row in below for cell in row[labels:] if cell.lower() not in MISSING]
    fractions = [cell for cell in under if is_number(cell) and re.search(r"[.eE]", cell)]
    if names == [str(number) for number in range(len(names))]:
        return bool(labels or fractions)
    rising = all(low < high for low, high in pairwise(int(name[:30]) for name in names))
    return rising and bool(under) and len(fractions) == len(under)


def are_decimal_commas(rows: list[list[str]]) -> bool:
    """Tell whether commas are decimal marks: some numbers have one, and none has a point.

    >>> from vbdm.io.text_layout import are_decimal_commas
    >>> are_decimal_commas([["1,5", "2"], ["a", "-0,25"]]), are_decimal_commas([["1,5", "2.5"]])
    (True, False)
    """
    cells = [cell for row in rows for cell in row]
    with_comma = [cell for cell in cells if "," in cell]
    with_point = any("." in cell and is_number(cell) for cell in cells)
    return bool(with_comma) and not with_point and all(map(WITH_COMMA.fullmatch, with_comma))


def refuse_half_numbers(rows: list[list[str]], delimiter: str | None) -> None:
    """Refuse pairs of whole numbers such as 0,0652: probably one number with a decimal comma.

    Nobody writes whole numbers with leading zeros, but one in ten decimals begins with a zero.
    """
    pairs = [row for row in rows if len(row) == 2 and all(map(WHOLE.fullmatch, row))]
    padded = [row for row in pairs if re.fullmatch(r"0\d+", row[1]) or row[0] == "-0"]
    if delimiter == "," and len(pairs) == len(rows) and padded:
        raise InputError(
            f"The commas can be read in two ways; received lines such as {','.join(padded[0])}. "
            "For one column write points in place of the commas, or a line with its name above; "
            "two columns of whole numbers are read with header=False."
        )


def is_data(line: str) -> bool:
    """Tell whether a line holds data: it is neither empty nor a comment."""
    if line.lstrip().startswith("#"):
        return SHEET_ERROR.match(line) is not None
    return not line.isspace()


def find_delimiter(line: str, path: Path) -> str | None:
    """Return the mark between cells in a line, None for spaces; the suffix .tsv prefers tabs."""
    # Semicolons are tried before commas: where they separate, commas may be decimal marks.
    marks = ("\t", ";", ",") if path.suffix.lower() == ".tsv" else (";", "\t", ",")
    mark = next((mark for mark in marks if mark in line), None)
    words = line.split()
    # In "0,5 1,5" the space separates, and the commas are decimal marks.
    spaced = len(words) > 1 and all(re.fullmatch(r"[+-]?\d+(,\d+)?", word) for word in words)
    return None if mark == "," and spaced else mark


def split(line: str, delimiter: str | None) -> list[str]:
    """Return the cells of one line without the spaces around them."""
    if delimiter is None:
        return line.split()
    if '"' in line:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
    return [cell.strip() for cell in line.split(delimiter)]


def is_number(cell: str) -> bool:
    """Tell whether a cell is a number or a missing value."""
    return number_in(cell) is not None


def number_in(cell: str) -> float | None:
    """Return the number in a cell, NaN where it is missing, and None where it is text.

    Python reads 12_3 as 123, and digits of all scripts; here they are text.

    >>> from vbdm.io.text_layout import number_in
    >>> number_in("1e3"), number_in("NA"), number_in("12_3")
    (1000.0, nan, None)
    """
    try:
        if cell.isascii() and "_" not in cell:
            return float(cell)
    except ValueError:
        if cell.lower() in MISSING:
            return math.nan
    return None
