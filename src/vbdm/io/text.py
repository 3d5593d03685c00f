"""Text with one point per line: comma, semicolon, tab or spaces; with a header line or without.

NumPy's reader in C is fast. Where it fails, a patient one in Python reads the file again: it takes
empty cells and "NA" for missing values, sets columns of labels and dates aside, and names the first
cell that is neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from ..base.arrays import FloatArray
from ..errors import InputError
from ..progress import report
from .columns import choose
from .set_aside import SetAside
from .table import Content, Options, listed, no_rows
from .text_cells import add_others, read_patiently
from .text_layout import Layout, find_layout, is_data, not_text, open_text, split

#: Bytes at the beginning of a file that show whether it is text.
FIRST_BYTES = 1 << 16
#: Lines between two reports of progress.
REPORT_EVERY = 1 << 16


def read(path: Path, options: Options) -> Content:
    """Read a text file."""
    check_header(options.header)
    check_is_text(path)
    try:
        layout = find_layout(path, options.header)
        taken = choose(options.columns, layout.names, not layout.has_header)
        aside = SetAside()
        values = read_fast(path, layout, taken)
        if values is None:
            with open_text(path) as stream:
                lines = data_lines(stream, layout)
                sort = options.columns is None
                values, taken = read_patiently(lines, layout, taken, aside if sort else None)
        notes = (*layout.notes, *aside.notes)
        if options.columns is not None and not hasattr(options.columns, "apply"):
            with open_text(path) as stream:
                add_others(data_lines(stream, layout), layout, taken, len(values), aside)
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from error
    if len(values) == 0:
        raise no_rows("The file", f"{path.name!r} with a header and no lines of numbers")
    names = tuple(layout.names[position] for position in taken)
    selection = layout.selection
    if options.columns is not None:
        selection["columns"] = listed(names)
    return Content(
        values,
        names,
        selection,
        columns_taken=True,
        notes=notes,
        made_up=not layout.has_header,
        about_rows=aside.row_notes,
    )


def check_header(header: bool | str) -> None:
    """Raise unless `header` is True, False or "auto"."""
    if header not in ("auto", True, False):
        raise InputError(
            f"`header` is 'auto', True or False; received {header!r}. Leave it out to have it "
            "found out."
        )


def not_utf8(path: Path, error: UnicodeDecodeError) -> InputError:
    """Return the error for text in an encoding other than UTF-8."""
    return InputError(
        f"The text is not in UTF-8; received {path.name!r} with the byte "
        f"0x{error.object[error.start]:02x} ({error.reason}). Letters such as µ or é are stored "
        "otherwise in Latin-1 and Windows-1252, which older programs write. Save it again as "
        "UTF-8; in Excel the file type is called 'CSV UTF-8'."
    )


def check_is_text(path: Path) -> None:
    """Raise if the first bytes of a file show that it is not text."""
    with open(path, "rb") as stream:
        if b"\0" in stream.read(FIRST_BYTES):
            raise not_text(path, "zero bytes")


def data_lines(stream: TextIO, layout: Layout) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line of data; raise if the number of cells changes."""
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
            raise InputError(
                f"All lines must have the same number of cells; received line {number} with "
                f"{count} cell(s), where {wanted} are expected. A line was cut off, a cell holds "
                f"the delimiter, or the file has text around the table. Look at line {number}; "
                "lines that start with # are skipped."
            )
        yield number, line


def read_fast(path: Path, layout: Layout, taken: list[int]) -> FloatArray | None:
    """Read with NumPy's reader in C; return None if it meets a cell that it cannot read."""
    if layout.decimal == ",":
        return None
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
