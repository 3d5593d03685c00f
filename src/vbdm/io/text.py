"""Text with one point per line: comma, semicolon, tab or spaces; with a header line or without.

The fast road is NumPy's reader in C. Where it stumbles, a patient one in Python goes over the file
again: it takes empty cells and "NA" for missing values, and names the first cell that is neither.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from ..arrays import FloatArray
from ..errors import InputError, bad_input
from ..progress import report
from .columns import choose
from .table import Content, Options, listed, no_rows, plain_names

#: Cells that mean "missing", in lower case.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
#: A first line longer than this many characters is not a line of a table.
LONGEST_LINE = 1 << 22
#: So much of a file is looked at to see whether it is text at all.
FIRST_BYTES = 1 << 16
#: Lines between two reports of progress.
REPORT_EVERY = 1 << 16


@dataclass(frozen=True)
class Layout:
    """How the file is laid out: found by looking at its first lines.

    `delimiter` is None for spaces; `first` is the number of the first line of data, from 1.
    """

    delimiter: str | None
    names: tuple[str, ...]
    has_header: bool
    first: int


def read(path: Path, options: Options) -> Content:
    """Read a text file."""
    check_header(options.header)
    check_is_text(path)
    try:
        layout = find_layout(path, options.header)
        taken = choose(options.columns, layout.names)
        values = read_fast(path, layout, taken)
        if values is None:
            values = read_patiently(path, layout, taken)
    except UnicodeDecodeError as error:
        raise not_text(path, f"bytes that are not UTF-8 ({error.reason})") from error
    if len(values) == 0:
        raise no_rows("The file", f"{path.name!r} with a header and no lines of numbers")
    names = tuple(layout.names[position] for position in taken)
    selection = {"header": "yes" if layout.has_header else "no"}
    if options.columns is not None:
        selection["columns"] = listed(names)
    return Content(values, names, selection, columns_taken=True)


def check_header(header: bool | str) -> None:
    """Refuse a word that could mean yes or no."""
    if header not in ("auto", True, False):
        raise bad_input(
            "`header` is 'auto', True or False.",
            received=repr(header),
            because="It tells whether the first line holds the names of the columns.",
            hint="Leave it out to have it found out.",
        )


def open_text(path: Path) -> TextIO:
    """Open as UTF-8, with or without the mark that some programs put first."""
    return open(path, encoding="utf-8-sig")


def check_is_text(path: Path) -> None:
    """Refuse files of other kinds by their first bytes."""
    with open(path, "rb") as stream:
        if b"\0" in stream.read(FIRST_BYTES):
            raise not_text(path, "zero bytes")


def not_text(path: Path, found: str) -> InputError:
    """Return the error for a file that is no table of text."""
    return bad_input(
        "The file is not a text table.",
        received=f"{path.name!r} with {found}",
        because="It is of another kind, or in an encoding other than UTF-8.",
        hint="Save it as UTF-8 text with one point per line, or name its format with --format.",
    )


def find_layout(path: Path, header: bool | str) -> Layout:
    """Find the delimiter, the names and where the data begins."""
    comment, number, line, below = first_lines(path)
    delimiter = find_delimiter(line, path)
    cells = split(line, delimiter)
    has_header = looks_like_names(cells, split(below, delimiter)) if header == "auto" else header
    if has_header:
        return Layout(delimiter, unique(cells), True, number + 1)
    above = split(comment, delimiter)
    # The way numpy.savetxt writes a header: in a comment.
    if header == "auto" and len(above) == len(cells) and not any(is_number(c) for c in above):
        return Layout(delimiter, unique(above), True, number)
    return Layout(delimiter, plain_names(len(cells)), False, number)


def first_lines(path: Path) -> tuple[str, int, str, str]:
    """Return the last comment above the data, and number and text of the first line and the next.

    The next is the first line again, if there is only one.
    """
    comment, first, found = "", 0, ""
    with open_text(path) as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE):
            number += 1
            if len(line) >= LONGEST_LINE:
                raise not_text(path, f"a line of more than {LONGEST_LINE:,} characters")
            if not is_data(line):
                comment = comment if found else line.strip().lstrip("#") or comment
            elif found:
                return comment, first, found, line
            else:
                first, found = number, line
    if not found:
        raise no_rows("The file", f"{path.name!r} without any line of data")
    return comment, first, found, found


def looks_like_names(cells: list[str], below: list[str]) -> bool:
    """Tell a header: it has no numbers, or text above a number.

    >>> from vbdm.io.text import looks_like_names
    >>> looks_like_names(["id", "2020"], ["a", "1.5"]), looks_like_names(["id", "x"], ["a", "1.5"])
    (False, True)
    """
    names = [not is_number(cell) for cell in cells]
    numbers = [is_number(cell) for cell in below]
    over = any(name and number for name, number in zip(names, numbers, strict=False))
    return over or (any(names) and not any(is_number(cell) and cell for cell in cells))


def is_data(line: str) -> bool:
    """Tell lines of data from empty lines and comments."""
    return not line.isspace() and not line.lstrip().startswith("#")


def find_delimiter(line: str, path: Path) -> str | None:
    """Return what separates the cells, by the suffix or by what the line contains."""
    # Semicolons before commas: where they separate, commas may be decimal points.
    marks = ("\t", ";", ",") if path.suffix.lower() == ".tsv" else (";", "\t", ",")
    return next((mark for mark in marks if mark in line), None)


def split(line: str, delimiter: str | None) -> list[str]:
    """Return the cells of one line without the spaces around them."""
    if delimiter is None:
        return line.split()
    if '"' in line:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
    return [cell.strip() for cell in line.split(delimiter)]


def is_number(cell: str) -> bool:
    """Tell whether a cell is a number or a missing value."""
    try:
        float(cell)
    except ValueError:
        return cell.lower() in MISSING
    return True


def unique(cells: list[str]) -> tuple[str, ...]:
    """Return names for columns: none empty, none twice.

    >>> from vbdm.io.text import unique
    >>> unique(["", "x", "x"])
    ('x0', 'x', 'x_2')
    """
    names: dict[str, None] = {}
    for position, cell in enumerate(cells):
        name, count = cell or f"x{position}", 1
        while name in names:
            count += 1
            name = f"{cell}_{count}"
        names[name] = None
    return tuple(names)


def data_lines(stream: TextIO, layout: Layout) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line of data; each must have the same number of cells."""
    wanted = len(layout.names)
    for number, line in enumerate(stream, 1):
        if number < layout.first or not is_data(line):
            continue
        if number % REPORT_EVERY == 0:
            report("reading", number, None, "lines")
        if layout.delimiter is None or '"' in line:
            count = len(split(line, layout.delimiter))
        else:
            count = line.count(layout.delimiter) + 1
        if count != wanted:
            raise bad_input(
                "All lines must have the same number of cells.",
                received=f"line {number} with {count} cell(s), where {wanted} are expected",
                because="A line was cut off, a cell holds the delimiter, or the file has text "
                "around the table.",
                hint=f"Look at line {number}; lines that start with # are skipped.",
            )
        yield number, line


def read_fast(path: Path, layout: Layout, taken: list[int]) -> FloatArray | None:
    """Read with NumPy's reader in C; None if it meets a cell that is no number."""
    with open_text(path) as stream:
        try:
            return np.loadtxt(
                (line for _, line in data_lines(stream, layout)),
                delimiter=layout.delimiter,
                usecols=taken,
                comments=None,
                quotechar='"',
                ndmin=2,
            )
        except (InputError, UnicodeDecodeError):
            raise
        except ValueError:
            return None


def read_patiently(path: Path, layout: Layout, taken: list[int]) -> FloatArray:
    """Read cell by cell: missing values become NaN, the first other text is named."""
    numbers = array("d")
    with open_text(path) as stream:
        for number, line in data_lines(stream, layout):
            cells = split(line, layout.delimiter)
            for position in taken:
                cell = cells[position]
                try:
                    numbers.append(float(cell))
                except ValueError:
                    if cell.lower() not in MISSING:
                        raise no_number(cell, number, position, layout) from None
                    numbers.append(np.nan)
    return np.frombuffer(numbers, dtype=np.float64).reshape(-1, len(taken))


def no_number(cell: str, number: int, position: int, layout: Layout) -> InputError:
    """Return the error for a cell that holds text."""
    name = layout.names[position]
    others = [other for other in layout.names if other != name]
    return bad_input(
        "A cell is not a number.",
        received=f"{cell[:60]!r} in line {number}, column {name!r} (number {position})",
        because="Decimal commas must be points, and columns of labels or dates are no coordinates."
        if "," in cell
        else "Columns of labels or dates are no coordinates; missing values may be empty or NA.",
        hint=f"Choose other columns with --columns, such as --columns {','.join(others[:3])}."
        if others
        else "Correct the cell.",
    )
