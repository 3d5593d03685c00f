"""Points that occur more than once: merged into one point with a weight, and expanded again.

Copies carry no news about distances, but they do about density: so geometry (neighbours, widths,
dimension, ε) is read from the distinct points, and every sum over samples counts a point as often
as it occurs. A point is left out of its own sums with all its copies, so a cloud in which every
point occurs twelve times gives what the distinct points give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..base.checks import FloatArray


@dataclass(frozen=True, eq=False)
class Copies:
    """Which rows are copies of which distinct point.

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
