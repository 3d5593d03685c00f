"""Lists of nearest neighbours: kept, released, or a few rows of them; and how long they will be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, IntArray, frozen
from ..base.memory import MEASURED_COLUMNS, lists_fit, refuse_lists
from ..base.threads import in_order, rows_that_fit, slices
from ..engines.engine import free_bytes
from ..rows.block_array import BlockArray
from ..search.brute import BruteIndex
from ..search.exact import NeighborIndex, search_all
from .neighbourhood import nearest_distances
from .point_set import PointSet


@dataclass(frozen=True, eq=False)
class KeptLists:
    """The neighbours of every point, in the order inside."""

    # (M, k): neighbours of each point, nearest first; column 0 is the point itself
    indices: IntArray
    # (M, k): their squared distances; None where they are measured from the points when needed
    sqdist: FloatArray | None = None
    # Longer lists of which these are the beginning, where such were searched for
    whole: KeptLists | None = None

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours k per point, the point itself included."""
        return int(self.indices.shape[1])

    @property
    def longest(self) -> int:
        """Number of neighbours that are known."""
        return self.n_neighbors if self.whole is None else self.whole.n_neighbors

    def first(self, k: int) -> KeptLists:
        """Return the k nearest of the neighbours that are known."""
        whole = self.whole or self
        sqdist = None if whole.sqdist is None else whole.sqdist[:, :k]
        return KeptLists(whole.indices[:, :k], sqdist, whole)

    def without_distances(self) -> KeptLists:
        """Return the lists alone."""
        return KeptLists(self.indices, None, self.whole and self.whole.without_distances())


@dataclass(frozen=True, eq=False)
class ReleasedLists:
    """Lists that were given up to save 4 bytes per pair; they can be searched for again."""

    n_neighbors: int  # number of neighbours k that each list had, the point itself included
    radii: FloatArray  # (M,): squared distance of each point's last neighbour
    # Squared distances of the neighbours, (M, k), if the rows live in blocks and these are still
    # needed. Who the neighbours are is not kept there.
    sqdist: BlockArray | None = None


#: Relative difference, by rounding, that the distances from the two ends of a pair may have.
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class ListedRows:
    """A block of rows of the lists."""

    rows: slice  # the m points of the block, in the order inside
    neighbors: NDArray[np.intp]  # (m, k): their neighbours, in the order inside
    sqdist: FloatArray  # (m, k): squared distances of these

    @property
    def at_the_end(self) -> BoolArray:
        """Marks, (m, k), of those that are as far as the last one, up to rounding.

        Of points at that distance some may not be listed, and order or rounding decides which.
        """
        return np.asarray(self.sqdist >= (1 - ROUNDING) * self.sqdist[:, -1:])


def search_lists(points: PointSet, k: int, *, keep: bool = False) -> KeptLists | ReleasedLists:
    """Find the k nearest neighbours of all points; refuse if the result would not fit in memory.

    Distances are kept where they cannot be measured again, or if that is asked for and the index
    gives them with the same bits. In blocks, they are all that is kept.
    """
    if points.rows is not None and points.tree is not None:
        distances = nearest_distances(points.tree, points.rows, points.engine, k)
        return ReleasedLists(k, frozen(distances[:, k - 1]), distances)
    X = cast(FloatArray, points.coordinates)
    # The memory estimate counts 8 bytes per pair for kept distances where columns are many.
    columns = max(X.shape[1], MEASURED_COLUMNS + 1) if points.keeps_distances else X.shape[1]
    refuse_lists(points.n_points, k, columns, available=free_bytes(points.engine))
    kept = points.keeps_distances or (keep and getattr(points.index, "is_measured", False))
    indices, sqdist = search_all(cast(NeighborIndex, points.index), X, k, keep=kept)
    return KeptLists(frozen(indices), sqdist)


def of_distances(
    sqdist: FloatArray, function: Callable[..., FloatArray], which: slice, args: tuple[Any, ...]
) -> FloatArray:
    """Return what a function makes of the distances of a block, (r, m), a few rows at a time."""

    def work(rows: slice) -> FloatArray:
        return function(sqdist[rows, which], *args)

    blocks = slices(len(sqdist), size=rows_that_fit(sqdist.shape[1]))
    return np.asarray(np.concatenate(list(in_order(work, blocks)), axis=1))


#: Dimension from which the longest lists are nearly always needed, and the points and neighbours
#: that tell it.
MANY_DIMENSIONS, LOOKED_AT, NEAR = 10.0, 256, 33


def needs_long_lists(cloud: PointSet, longest: int) -> bool:
    """Tell whether lists of the greatest length will be needed.

    Brute force takes hardly longer for long lists than for short ones. In many dimensions, read
    from a few points here, degrees vary so much that the kernel needs the longest.
    """
    X, n = cloud.coordinates, cloud.n_points
    if X is None or not isinstance(cloud.index, BruteIndex) or n < longest:
        return False
    if not lists_fit(n, longest, X.shape[1]):
        return False
    rows = np.linspace(0, n - 1, LOOKED_AT).round().astype(np.intp)
    _, sqdist = cloud.nearest(rows, NEAR)
    ratios = 0.5 * np.log(sqdist[:, -1:] / np.maximum(sqdist[:, 1:-1], np.finfo(float).tiny))
    return bool(ratios.mean() < 1 / MANY_DIMENSIONS)
