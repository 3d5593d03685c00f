"""Rows with missing or infinite values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray
from ..base.threads import rows_that_fit, slices
from ..errors import InputError
from .columns import as_slice
from .table import Table, listed

#: Numbers that are read or copied at a time, so that a mapped file need not fit into memory.
AT_A_TIME = 1 << 22


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Return slices of consecutive rows with at most `AT_A_TIME` numbers each."""
    return slices(n_rows, rows_that_fit(n_columns, most=AT_A_TIME))


def complete_rows(table: Table, taken: list[int], missing: str) -> BoolArray:
    """Return which rows have no missing value, (N,); raise if any value is infinite.

    Parameters
    ----------
    table : Table
        The table.
    taken : list of int
        Positions of the chosen columns; the others are not looked at.
    missing : {"error", "drop"}
        Whether to raise if a value is missing. If every row has missing values, it is an error
        in any case.
    """
    complete = np.empty(len(table.values), dtype=bool)
    with_gaps, infinite = np.zeros(len(taken), dtype=bool), np.zeros(len(taken), dtype=bool)
    first_infinite = -1
    for rows in row_blocks(*table.values.shape):
        part = np.asarray(table.values[rows][:, as_slice(taken)])
        with np.errstate(over="ignore"):
            # Numbers of higher precision may overflow; they are then refused as infinite.
            part = part.astype(np.float64, copy=False)
        gaps, beyond = np.isnan(part), np.isinf(part)
        complete[rows] = ~gaps.any(axis=1)
        with_gaps |= gaps.any(axis=0)
        infinite |= beyond.any(axis=0)
        if first_infinite < 0 and beyond.any():
            first_infinite = rows.start + int(np.argmax(beyond.any(axis=1)))
    if infinite.any():
        raise infinite_values(table, taken, infinite, first_infinite)
    if not complete.all() and (missing == "error" or not complete.any()):
        raise missing_values(table, taken, with_gaps, np.flatnonzero(~complete))
    return complete


def infinite_values(table: Table, taken: list[int], wrong: BoolArray, row: int) -> InputError:
    """Return the error for infinite values."""
    return InputError(
        "The values must be finite; received infinity in column(s) "
        f"{columns_where(table, taken, wrong)}, first in row {row} (rows count from 0). A "
        "division by zero or an overflow made it, or it stands for a missing value. Correct "
        "these values, store missing ones as NaN, or choose other columns."
    )


def missing_values(
    table: Table, taken: list[int], wrong: BoolArray, rows: NDArray[np.intp]
) -> InputError:
    """Return the error for missing values, which says how many rows have them, and where."""
    n = len(table.values)
    every = len(rows) == n
    hint = "Leave these rows out with missing='drop', or fill the gaps first."
    return InputError(
        f"{('Every row has missing values.' if every else 'Some rows have missing values.')}; "
        f"received {len(rows)} of {n} rows, the first: {listed(rows[:5].tolist())} (rows count "
        f"from 0), in column(s) {columns_where(table, taken, wrong)}. "
        f"{('Leave such columns out with `columns`.' if every else hint)}"
    )


def columns_where(table: Table, taken: list[int], wrong: BoolArray) -> str:
    """Return the names of those taken columns that are marked as wrong."""
    return listed([table.names[taken[place]] for place in np.flatnonzero(wrong)])
