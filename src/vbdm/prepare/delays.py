"""Time-delay embedding: a row of a series together with rows before it is one point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class Delays:
    """How many rows make a point, and how many rows lie from one of them to the next."""

    count: int = 1
    step: int = 1

    @property
    def lags(self) -> tuple[int, ...]:
        """How many rows before the newest each part of a point is, the newest first."""
        return tuple(range(0, self.count * self.step, self.step))

    @property
    def reach(self) -> int:
        """Number of rows that a point needs before its newest."""
        return (self.count - 1) * self.step

    def rows(self, complete: BoolArray, lengths: Sequence[int] = ()) -> NDArray[np.intp]:
        """Return the rows that have a point: they and those they need are complete.

        No point reaches from one of several series, of these lengths, into another.

        Examples
        --------
        >>> Delays(2).rows(np.array([True, True, False, True, True]), [3, 2]).tolist()
        [1, 4]
        """
        n = len(complete)
        if n <= self.reach:
            return np.zeros(0, dtype=np.intp)
        usable = complete[self.reach :].copy()
        for lag in self.lags[1:]:
            usable &= complete[self.reach - lag : n - lag]
        if len(lengths) > 1:
            series = np.repeat(np.arange(len(lengths)), lengths)
            usable &= series[self.reach :] == series[: n - self.reach]
        return np.flatnonzero(usable) + self.reach

    def points(self, values: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
        """Return the points that end at these rows, (m, n · count), the newest values first.

        Examples
        --------
        >>> Delays(2).points(np.array([[1.0], [2.0], [3.0]]), np.array([1, 2])).tolist()
        [[2.0, 1.0], [3.0, 2.0]]
        """
        return np.hstack([values[rows - lag] for lag in self.lags])
