"""A second look at the columns: row numbers are refused, and notes name what looks odd."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.arrays import BoolArray, FloatArray
from ..errors import InputError
from .columns import as_choice
from .table import Table, listed

#: With fewer rows than this, whole numbers in a row may be chance.
FEWEST_ROWS = 10
#: A table with fewer than FEW_ROWS rows, and more than TIMES as many columns, may be transposed.
FEW_ROWS, TIMES = 50, 4
#: A value may be a code for missing values if it is in at least CODES rows, and further from all
#: other values than FAR times their range.
CODES, FAR = 3, 10.0
#: Number of rows that are looked at first; they exclude such a code in nearly all columns.
GLANCE = 200


def refuse_row_numbers(table: Table) -> None:
    """Refuse columns that only count the rows, unless columns were chosen.

    Such a column would be the longest direction of the cloud, and the first eigenfunction would be
    the order of the file. A table in which all columns count is a regular grid, and allowed.
    """
    n = len(table.names)
    counting = [place for place, counts in steady(table.values).items() if counts]
    if table.chosen or not counting or len(counting) == n:
        return
    others = [place for place in range(n) if place not in counting]
    name = table.names[counting[0]]
    first, second = (f"{table.values[row, counting[0]]:.0f}" for row in (0, 1))
    raise InputError(
        f"A column only counts the rows; received column {name!r} (number {counting[0]}), with "
        f"{first}, {second} and so on. It is an index, an identifier or a time, which is no "
        f"coordinate of the points. Leave it out with columns={as_choice(others, table.names)!r}; "
        "if it is meant as a coordinate, keep it with "
        f"columns={as_choice(range(n), table.names)!r}."
    )


def steady(values: Any) -> dict[int, bool]:
    """Return the columns that change by the same amount in every row, and whether they count rows.

    A column counts rows if it holds whole numbers that change by exactly 1 or -1. Other differences
    may be inexact, by the digits with which they were written.

    >>> from vbdm.io.odd_columns import steady
    >>> rows = np.arange(20)
    >>> steady(np.column_stack([rows, rows / 4, rows**2, 7 - rows]))
    {0: True, 1: False, 3: True}
    """
    if len(values) < FEWEST_ROWS:
        return {}
    found = {}
    # The first rows exclude most columns, so that a mapped file is not read through.
    head = np.asarray(values[:FEWEST_ROWS], np.float64)
    for place in np.flatnonzero(on_a_line(head)).tolist():
        column = np.asarray(values[:, place : place + 1], np.float64)
        if on_a_line(column)[0]:
            steps = np.diff(column[:, 0])
            whole = column[0, 0] == np.round(column[0, 0])
            found[place] = bool(whole and abs(steps[0]) == 1 and (steps == steps[0]).all())
    return found


def on_a_line(values: FloatArray) -> BoolArray:
    """Return which columns are linear, and not constant, in the row number."""
    part = np.arange(len(values))[:, None] / (len(values) - 1)
    with np.errstate(over="ignore", invalid="ignore"):
        span = values[-1] - values[0]
        off = np.abs(values - (values[0] + span * part)).max(axis=0)
        return np.asarray((span != 0) & (off <= 0.01 * np.abs(span) / (len(values) - 1)))


def remarks(table: Table, taken: list[int], points: FloatArray, asked: bool) -> Iterator[str]:
    """Yield sentences about what looks odd: shape, times, constant columns, codes.

    Parameters
    ----------
    table : Table
        The table.
    taken : list of int
        Positions of the columns that are coordinates.
    points : (N, n) array
        Those columns, of the rows that are used.
    asked : bool
        Whether the user chose the columns.
    """
    names = tuple(table.names[place] for place in taken)
    n_rows, n_columns = table.values.shape
    if n_rows < FEW_ROWS and TIMES * n_rows < n_columns and table.source.format != "trajectory":
        yield f"{n_rows} rows and {n_columns:,} columns: is the table transposed?"
    even = [] if asked else list(steady(table.values))
    if 0 < len(even) < len(names):
        yield (
            f"{listed([names[place] for place in even])} changes by the same step in every row: a "
            "time, which is no coordinate? Leave it out with `columns`."
        )
    low, high = points.min(axis=0), points.max(axis=0)
    level = [name for name, same in zip(names, low == high, strict=True) if same]
    if level and len(points) > 1:
        yield f"{'Column' if len(level) == 1 else 'Columns'} {listed(level)} {do_not_vary(level)}."
    yield from codes(points, names, low, high)


def do_not_vary(names: list[str]) -> str:
    """Return "does not vary" or "do not vary", by the number of names."""
    return "does not vary" if len(names) == 1 else "do not vary"


def codes(
    points: FloatArray, names: tuple[str, ...], low: FloatArray, high: FloatArray
) -> Iterator[str]:
    """Yield a sentence for each value that may stand for missing ones, such as -999 or 1e20."""
    found: dict[float, list[int]] = {}
    for code, end in ((low, high), (high, low)):
        # If an end of the range is a code, all other values lie near the other end. The first
        # rows exclude that in nearly all columns.
        part = points[:GLANCE]
        with np.errstate(over="ignore", invalid="ignore"):
            near = np.abs(part - end) <= np.abs(end - code) / (FAR + 1)
        for place in np.flatnonzero(((part == code) | near).all(axis=0) & (low < high)).tolist():
            if is_code(code[place], points[:, place]):
                found.setdefault(float(code[place]), []).append(place)
    for value, places in found.items():
        count = int((points[:, places] == value).any(axis=1).sum())
        yield (
            f"{count:,} rows hold exactly {value:.7g} in {listed([names[p] for p in places])}: a "
            "code for missing values?"
        )


def is_code(value: float, column: FloatArray) -> bool:
    """Tell whether a value is frequent, larger in size than all others, and far from them."""
    rest = column[column != value]
    span = np.ptp(rest)
    return bool(
        len(column) - len(rest) >= CODES
        and span > 0
        and abs(value) > np.abs(rest).max()
        and np.abs(rest - value).min() > FAR * span
    )
