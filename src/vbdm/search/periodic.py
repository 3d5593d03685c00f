"""Neighbours in a periodic box: angles, simulation cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ..base.arrays import FloatArray, IntArray
from ..base.checks import a_count, numbers
from ..errors import InputError
from .exact import NeighborIndex, TreeIndex


@dataclass(frozen=True, eq=False)
class PeriodicTree:
    """SciPy's k-d tree with distances to the nearest image of each point.

    `period`, (n,), has one length per column, 0 for columns that are not periodic.
    """

    period: FloatArray
    leafsize: int = 16

    def __post_init__(self) -> None:
        """Refuse what cannot be lengths or counts."""
        a_count()(self.leafsize, "leafsize")
        object.__setattr__(self, "period", numbers(self.period, "period"))

    def index(self, cloud: FloatArray, k: int) -> PeriodicIndex:
        """Build the tree; the cloud must lie in the box."""
        if len(self.period) != cloud.shape[1] or (self.period < 0).any():
            raise InputError(
                "`period` must be one length for each column, 0 where there is none; received "
                f"{self.period.tolist()} for {cloud.shape[1]} column(s). Give `period` instead of "
                "`search`."
            )
        inside = (cloud >= 0) & ((cloud < self.period) | (self.period == 0))
        if not inside[:, self.period > 0].all():
            raise InputError(
                "The points must lie in the box; received coordinates below 0, or beyond the "
                "period. Give `period` instead of `search`."
            )
        tree = cKDTree(cloud, leafsize=self.leafsize, boxsize=self.period)
        return PeriodicIndex(TreeIndex(tree), self.period)


@dataclass(frozen=True, eq=False)
class PeriodicIndex:
    """A tree that takes points from anywhere: they are wrapped into the box first.

    SciPy would wrap them as well, but with other last digits: a point would not be at distance 0
    from its image one period further on.
    """

    inner: NeighborIndex
    period: FloatArray
    rows_per_call: int = 1024
    parallel: bool = True
    is_exact: bool = True

    @property
    def is_measured(self) -> bool:
        """Whether squared distances have the bits of measured ones."""
        return bool(getattr(self.inner, "is_measured", False))

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        return self.inner.query(wrap(points, self.period), k)


def wrap(points: FloatArray, period: FloatArray) -> FloatArray:
    """Return coordinates in [0, period) of the periodic columns, the others as they are."""
    result = points.copy()
    for column in np.flatnonzero(period):
        inside = np.mod(points[:, column], period[column])
        # np.mod rounds numbers such as -1e-20 up to the period itself.
        result[:, column] = np.where(inside >= period[column], 0.0, inside)
    return result
