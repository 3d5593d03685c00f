"""Size and sign of eigenfunctions: mean square 1, and positive where they are largest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, column_largest, column_sums, contiguous, filled
from ..base.threads import rows_that_fit, slices_of
from ..rows.block_array import beside, changed, each


def normalised(
    vectors: Any, rows: NDArray[np.intp] | None = None, counts: FloatArray | None = None
) -> Any:
    """Scale columns to mean square 1, and make the entry of largest absolute value positive.

    This is done in place. `rows` are the caller's rows, (M,), if the vectors are not in that order,
    and `counts` how often each occurs, if not once. Of entries that are equal up to rounding, the
    first counts, in the order of the caller's rows.
    """
    n = len(vectors) if counts is None else float(counts.sum())
    parts = each(squares_and_largest, vectors, beside(vectors, counts))
    squares, largest = zip(*parts, strict=True)
    least = (1 - 1e-6) * np.max(largest, axis=0)
    found = each(first_above, vectors, beside(vectors, rows), least)
    numbers, peaks = (np.array(part) for part in zip(*found, strict=True))
    peak = np.take_along_axis(peaks, numbers.argmin(axis=0)[None], axis=0)[0]
    factor = np.conj(peak) / np.abs(peak) / np.sqrt(sum(squares) / n)
    (scaled,), _ = changed(scale_columns, [vectors], factor)
    return scaled


def row_blocks(vectors: FloatArray) -> list[slice]:
    """Return blocks of rows that fit the cache."""
    return list(slices_of(vectors, rows_that_fit(vectors.shape[1])))


def squares_and_largest(
    vectors: FloatArray, counts: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the sum of squares of each column, and its largest absolute value, both (n,)."""
    square, largest = np.zeros((2, vectors.shape[1]), like=vectors)
    for rows in row_blocks(vectors):
        size = np.abs(vectors[rows])
        largest = np.maximum(largest, column_largest(size))
        size = np.square(size)
        square += column_sums(size if counts is None else counts[rows, None] * size)
    return square, largest


def first_above(
    vectors: FloatArray, numbers: NDArray[np.intp] | None, least: FloatArray
) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the lowest number of a row whose size is at least `least`, and the value there; (n,).

    Without such a row the number is larger than all, and the value 0.
    """
    none = np.iinfo(np.intp).max
    lowest = filled(vectors.shape[1], none, vectors, np.intp)
    peak = np.zeros(vectors.shape[1], dtype=vectors.dtype, like=vectors)
    for rows in row_blocks(vectors):
        own = np.arange(rows.start, rows.stop, like=vectors) if numbers is None else numbers[rows]
        columns = contiguous(vectors[rows].T)
        candidates = np.where(np.abs(columns) >= least[:, None], own, none)
        place = candidates.argmin(axis=1)[:, None]
        number, value = (
            np.take_along_axis(each, place, axis=1)[:, 0] for each in (candidates, columns)
        )
        better = number < lowest
        lowest, peak = np.where(better, number, lowest), np.where(better, value, peak)
    return lowest, peak


def scale_columns(vectors: FloatArray, factor: FloatArray) -> None:
    """Multiply columns by their factors, in place."""
    for rows in row_blocks(vectors):
        vectors[rows] *= factor
