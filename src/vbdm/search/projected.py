"""Filter and refine: search in the few directions that matter, prove the result in all columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..base.arrays import FloatArray, IntArray
from ..errors import InputError
from .brute import BruteForce, BruteIndex
from .exact import KDTree, NeighborIndex, NeighborSearch, nearest_of
from .rotation import Axes, along_and_rest, principal_axes

#: Most leading directions to search along: with more nothing is gained.
MOST_DIRECTIONS = 32


@dataclass(frozen=True)
class Projected:
    """An exact engine for data near few directions, with thin noise in all the others.

    Notes
    -----
    With z the coordinates in the leading directions and s the length of what is left over,
    ``|x - y|² >= |z_x - z_y|² + (s_x - s_y)²``. So the inner engine gives candidates in the order
    of a lower bound, and they are measured in all columns; once the k-th distance is below the
    bound of the last candidate, no neighbour was missed. Rows that would take too many candidates
    go to brute force.
    """

    #: The engine that searches the leading directions.
    inner: NeighborSearch = field(default_factory=KDTree)

    def __post_init__(self) -> None:
        """Refuse what is no search."""
        if isinstance(self.inner, (str, type, Sequence)) or not hasattr(self.inner, "index"):
            raise InputError(
                f"`inner` must be a search; received {self.inner!r}. Pass "
                "vbdm.search.KDTree() or vbdm.search.BruteForce()."
            )

    def index(self, cloud: FloatArray, k: int) -> ProjectedIndex:
        """Find the directions, and index them."""
        return self.index_along(cloud, k, principal_axes(cloud))

    def index_along(self, cloud: FloatArray, k: int, axes: Axes) -> ProjectedIndex:
        """Index the cloud along the leading ones of these directions."""
        basis = axes.basis[:, : min(axes.n_leading, MOST_DIRECTIONS)]
        centre = cloud.mean(axis=0)
        inner = self.inner.index(along_and_rest(cloud, centre, basis), first_candidates(k))
        return ProjectedIndex(inner, cloud, centre, basis, inner.rows_per_call, inner.parallel)


def first_candidates(k: int) -> int:
    """Return the number of candidates to measure at first."""
    return k + k // 4 + 8


@dataclass(frozen=True, eq=False)
class ProjectedIndex:
    """An index along the leading directions, and what is needed to measure in all columns."""

    inner: NeighborIndex
    cloud: FloatArray
    centre: FloatArray
    basis: FloatArray
    rows_per_call: int
    parallel: bool
    is_exact: bool = True

    @cached_property
    def brute(self) -> BruteIndex:
        """Index by brute force, for rows whose neighbours cannot be proven with few candidates."""
        return BruteForce().index(self.cloud, 1)

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        n = len(self.cloud)
        small = along_and_rest(points, self.centre, self.basis)
        indices, sqdist = np.empty((len(points), k), dtype=np.int32), np.empty((len(points), k))
        rows, wanted = np.arange(len(points)), min(n, first_candidates(k))
        while len(rows):
            if wanted > max(n // 8, 8 * k):
                indices[rows], sqdist[rows] = self.brute.query(points[rows], k)
                break
            candidates, bound = self.inner.query(small[rows], wanted)
            share = not self.parallel
            found, exact = nearest_of(points[rows], self.cloud, candidates, k, share=share)
            indices[rows], sqdist[rows] = found, exact
            # Both sides are rounded, so a k-th distance that equals the bound proves nothing.
            is_proven = exact[:, -1] < (1 - 1e-9) * bound[:, -1]
            rows = rows[~is_proven] if wanted < n else rows[:0]
            wanted = min(n, 2 * wanted)
        return indices, sqdist
