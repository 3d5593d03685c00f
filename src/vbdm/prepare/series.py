"""What the user says about the order of the rows: one time series, several, or none."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import beside_array, is_elsewhere, shape_of, to_host
from ..base.checks import as_floats, is_auto
from ..base.points import refuse_masked
from ..errors import InputError


@dataclass(frozen=True)
class Series:
    """How the caller's rows follow each other."""

    #: Numbers of rows of the series that follow each other; empty: one series of all rows.
    lengths: tuple[int, ...] = ()
    #: Whether the rows are steps in time; None: a check of the rows decides.
    known: bool | None = None


def read_series(X: Any, lengths: Any = None, series: Any = "auto") -> tuple[Any, Series]:
    """Return the points as one table, and how its rows follow each other.

    Arrays in a list are series of their own, and are put one below the other.

    Examples
    --------
    >>> X, found = read_series([np.zeros((3, 2)), np.ones((2, 2))])
    >>> X.shape, found
    ((5, 2), Series(lengths=(3, 2), known=True))
    """
    known = None if is_auto(series) else bool(series)
    if isinstance(X, (list, tuple)) and X and all(np.ndim(part) == 2 for part in X):
        if lengths is not None:
            raise wrong_lengths(f"`lengths` and a list of {len(X)} arrays")
        lengths = [len(part) for part in X]
        for part in X:
            refuse_masked(part, "points")
        X = one_table(X)
    if lengths is None:
        return X, Series(known=known)
    # Whoever knows where series begin knows that they are some.
    return X, Series(check_lengths(lengths, rows_of(X)), known is None or known)


def one_table(parts: Sequence[Any]) -> Any:
    """Return tables with the same columns, one below the other."""
    columns = sorted({np.shape(part)[1] for part in parts})
    if len(columns) > 1:
        raise InputError(
            "All series must have the same columns; received arrays with "
            f"{', '.join(map(str, columns))} columns. One may have to be transposed."
        )
    there = next(filter(is_elsewhere, parts), None)
    if there is not None:
        tables = [as_floats(part, there=True) for part in parts]
        # What is not made of numbers is refused in words where points are checked.
        if all(table is not None for table in tables):
            return np.concatenate(beside_array(tables, there))
    return np.concatenate([np.asarray(to_host(part)) for part in parts])


def rows_of(X: Any) -> int:
    """Return the number of rows of an array, a matrix, a list or a graph."""
    order = getattr(X, "order", None)
    if order is not None:
        return int(order.n_rows)
    if hasattr(X, "shape"):
        return int(next(iter(shape_of(X)), 0))
    return len(X) if isinstance(X, Sized) else 0


def check_lengths(lengths: Any, n_rows: int) -> tuple[int, ...]:
    """Return the numbers of rows of several series; they are positive, and add up to all rows."""
    try:
        numbers = np.atleast_1d(lengths)
    except ValueError:  # lists of unequal length
        raise wrong_lengths(f"{lengths!r:.80}") from None
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.size == 0:
        raise wrong_lengths(f"{lengths!r:.80}")
    if numbers.min() < 1:
        raise wrong_lengths(f"a length of {numbers.min()}")
    if numbers.sum() != n_rows:
        raise wrong_lengths(f"lengths that add up to {numbers.sum():,}, and {n_rows:,} rows")
    return tuple(numbers.tolist())


def wrong_lengths(received: str) -> InputError:
    """Return the error for lengths that do not cut the rows into series."""
    return InputError(
        f"`lengths` must cut the rows into series; received {received}. Pass whole numbers that "
        "add up to the number of rows, or a list of arrays in place of one array."
    )
