"""What is known without a forecast: the values that a column has had."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Climatology:
    """The known values of each column, in ascending order.

    Attributes
    ----------
    values : tuple of arrays
        One array for each column.
    """

    values: tuple[FloatArray, ...]

    @classmethod
    def of(cls, values: FloatArray) -> Climatology:
        """Return the climatology of a table (N, m)."""
        return cls(tuple(np.sort(column[np.isfinite(column)]) for column in values.T))

    def distance(self, j: int, y: FloatArray) -> FloatArray:
        """Return the mean distance of numbers y from the values of column j: E|C - y|."""
        own = self.values[j]
        n, sums = len(own), np.concatenate([[0.0], np.cumsum(own)])
        place = np.searchsorted(own, y)
        return np.asarray((y * (2 * place - n) + sums[-1] - 2 * sums[place]) / n)

    def spread(self, j: int) -> float:
        """Return the mean distance of two values of column j: E|C - C'|."""
        own = self.values[j]
        n = len(own)
        return float(2 * np.sum(own * (2 * np.arange(n) + 1 - n)) / n**2)

    def crps(self, j: int, y: FloatArray) -> FloatArray:
        """Return the continuous ranked probability score of what came, y."""
        return self.distance(j, y) - self.spread(j) / 2
