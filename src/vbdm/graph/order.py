"""The order in which points stand inside, copies merged, and the way back to the caller's rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from ..base.arrays import FloatArray, frozen


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows that are equal: merged into one point with a weight, and expanded again.

    Copies carry no news about distances, but they do about density: so geometry (neighbours,
    widths, dimension, ε) is read from the distinct points, and every sum over samples counts a
    point as often as it occurs. A point is left out of its own sums with all its copies, so a cloud
    in which every point occurs twelve times gives what the distinct points give.

    Attributes
    ----------
    point_of : (N,) array
        The distinct point of each row.
    first : (M,) array
        The first row of each distinct point.
    counts : (M,) array
        How often each occurs.
    """

    point_of: NDArray[np.intp]
    first: NDArray[np.intp]
    counts: FloatArray

    def expand(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give every row the value of its point."""
        return values[self.point_of]

    def average(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the mean over the copies of each point."""
        return np.asarray(self.averaging @ values.reshape(len(values), -1)).reshape(
            len(self.counts), *values.shape[1:]
        )

    @property
    def averaging(self) -> Any:
        """The matrix (M, N) that takes means over copies."""
        n = len(self.point_of)
        share = 1 / self.counts[self.point_of]
        return csr_array((share, (self.point_of, np.arange(n))), shape=(len(self.counts), n))


def find_copies(points: FloatArray) -> Copies | None:
    """Return which rows are equal, or None if all are distinct.

    Rows are hashed and the hashes sorted: much faster than sorting rows. Equal hashes are checked.
    """
    keys = row_hashes(points)
    unique, first, point_of, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    if len(unique) == len(points):
        return None
    if not np.array_equal(points[first[point_of]], points):
        # Two different rows with one hash, once in 10^8 clouds of 10^5 points: sort the rows.
        _, first, point_of, counts = np.unique(
            points, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        if len(first) == len(points):
            return None
    return Copies(point_of.reshape(-1), first, counts.astype(np.float64))


def row_hashes(points: FloatArray) -> NDArray[np.uint64]:
    """Return a 64-bit number per row; equal rows have equal numbers."""
    keys = np.zeros(len(points), dtype=np.uint64)
    for column in points.T:
        # Adding 0 makes -0 and 0 the same; the multipliers are those of splitmix64.
        keys ^= np.ascontiguousarray(column + 0.0).view(np.uint64)
        keys ^= keys >> np.uint64(30)
        keys *= np.uint64(0xBF58476D1CE4E5B9)
        keys ^= keys >> np.uint64(27)
        keys *= np.uint64(0x94D049BB133111EB)
        keys ^= keys >> np.uint64(31)
    return keys


@dataclass(frozen=True, eq=False)
class Order:
    """Two steps from the caller's rows to the points inside: copies are merged, then points sorted.

    Inside, points stand in the order of a k-d tree, so that neighbours lie close in memory and
    matrix products run several times faster. Whatever a user sees is in the caller's order.

    Attributes
    ----------
    permutation : (M,) int array
        Which distinct point stands at each place inside.
    copies : Copies or None
        Which of the caller's N rows were merged into one of M distinct points; None: M = N.
    """

    permutation: NDArray[np.intp]
    copies: Copies | None = None

    @classmethod
    def unchanged(cls, n_points: int) -> Order:
        """Return the order of points that stay as they are."""
        return cls(frozen(np.arange(n_points)))

    @property
    def n_points(self) -> int:
        """Number M of distinct points."""
        return len(self.permutation)

    @property
    def n_rows(self) -> int:
        """Number N of rows that the caller passed: all copies count."""
        return self.n_points if self.copies is None else len(self.copies.point_of)

    @cached_property
    def counts(self) -> FloatArray | None:
        """How often each point inside occurs among the caller's rows, (M,); None: once."""
        return None if self.copies is None else frozen(self.copies.counts[self.permutation])

    @property
    def caller_rows(self) -> NDArray[np.intp]:
        """The caller's row of each point inside, (M,); the first of its copies."""
        return self.permutation if self.copies is None else self.copies.first[self.permutation]

    def to_caller(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring rows (M, …) from the order inside into the caller's, (N, …)."""
        result = np.empty_like(values)
        result[self.permutation] = values
        return result if self.copies is None else self.copies.expand(result)

    def to_tree(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring rows (N, …) from the caller's order inside, (M, …); copies are averaged."""
        distinct = values if self.copies is None else self.copies.average(values)
        return distinct[self.permutation]

    def matrix_to_caller(self, matrix: Any, symmetric: bool = False) -> Any:
        """Return a CSR matrix whose rows and columns are numbered as the caller's points.

        Copies of a point have equal rows, and share its column; if the matrix is to stay
        symmetric, both by the square root of their number.
        """
        coo, place = matrix.tocoo(), self.permutation
        moved = csr_array((coo.data, (place[coo.row], place[coo.col])), shape=matrix.shape)
        if self.copies is not None:
            share, expanded = self.copies.averaging, self.copies.averaging.T
            root = diags_array(self.copies.counts ** (0.5 if symmetric else 1.0))
            moved = csr_array(expanded @ root @ moved @ (root @ share if symmetric else share))
        moved.sort_indices()
        return moved
