"""Rows with the points near them: what a walk over pairs needs.

Ordinarily these are all rows, and the whole tree. If rows live in blocks, each block gets a part of
the tree (`vbdm.engines.tree_part`), which is copied out of the whole one when the block's turn
comes: all points within reach of its own, or their k nearest. Both are walked alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.threads import for_each, slices
from ..engines.engine import Engine
from ..engines.tree import Reach, Tree
from ..engines.tree_part import TreePart, bounds_of_nearest, leaves_of_nearest, leaves_within_reach
from ..rows.block_array import BlockArray, PerBlock, Rows
from ..rows.store import worth_keeping
from ..search import KDTree, PeriodicTree
from ..search.exact import distances_by_column
from .point_set import PointSet


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Rows with all points within reach of them."""

    reach: Reach  # the tree of the rows and of all points within their reach
    leaves: slice  # the leaves of the rows
    engine: Engine  # who computes
    # (P,): how often the point at each place of the tree occurs; None: once
    counts: FloatArray | None = None
    part: TreePart | None = None  # which part of the whole tree this is; None: all of it

    def of_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values of the rows, given those of all places of their leaves."""
        return values if self.part is None else self.part.of_own_rows(values)


@dataclass(frozen=True, eq=False)
class PartsWithinReach(Sequence[Any]):
    """The neighbourhood of each block, made when it is asked for."""

    whole: Neighbourhood
    rows: Rows

    def __len__(self) -> int:
        return self.rows.n_blocks

    def __getitem__(self, block: Any) -> Any:
        whole, own = self.whole, self.rows.partition.leaves(block)
        part = TreePart.of(whole.reach.tree, own, leaves_within_reach(whole.reach, own))
        reach = Reach.of(
            part.tree, part.placed(whole.reach.rho), whole.reach.cut,
            with_self=whole.reach.with_self,
        )  # fmt: skip
        counts = None if whole.counts is None else part.placed(whole.counts)
        return Neighbourhood(reach, part.leaves, whole.engine, counts, part)


def within_reach(
    points: PointSet, rho: FloatArray, cut: float, *, with_self: bool
) -> Neighbourhood | PerBlock:
    """Return all rows with the points within |x-y|² < cut ρ(x) ρ(y); if in blocks, each of them."""
    tree = needed_tree(points)
    reach = Reach.of(tree, rho, cut, with_self=with_self)
    whole = Neighbourhood(reach, slice(0, 1 << tree.depth), points.engine, points.order.counts)
    return whole if points.rows is None else PerBlock(PartsWithinReach(whole, points.rows))


def needed_tree(points: PointSet) -> Tree:
    """Return the tree of the points."""
    if points.tree is None:
        raise TypeError("pairs within reach need the tree of the points")
    return points.tree


@dataclass(frozen=True, eq=False)
class PartsWithNearest(Sequence[Any]):
    """The part of the tree that holds the k nearest of a block, made when it is asked for."""

    tree: Tree
    rows: Rows
    bounds: FloatArray

    def __len__(self) -> int:
        return self.rows.n_blocks

    def __getitem__(self, block: Any) -> Any:
        own = self.rows.partition.leaves(block)
        return TreePart.of(self.tree, own, leaves_of_nearest(self.tree, self.bounds, own))


def nearest_distances(tree: Tree, rows: Rows, engine: Engine, k: int) -> BlockArray:
    """Return the squared distances from every point to its k nearest, (M, k), itself first."""
    parts = PerBlock(PartsWithNearest(tree, rows, bounds_of_nearest(tree, k)))
    handles = rows.run(distances_of_block, parts, engine, k, stage="neighbours")[0]
    return BlockArray(rows, handles, ((k,), np.dtype(np.float64)))


@worth_keeping
def distances_of_block(part: TreePart, engine: Engine, k: int) -> FloatArray:
    """Return the squared distances from the points of a block to their k nearest, ascending."""
    tree, own = part.tree, part.own_places
    columns, index = tree.columns, engine.nearest(tree)
    points = np.ascontiguousarray(columns[:, own].T)
    if index is None:
        # SciPy's tree takes points only, not places without one.
        columns = np.ascontiguousarray(columns[:, part.is_point])
        index = scipy_index(columns, tree.period, k)
    result = np.empty((len(points), k))

    def work(block: slice) -> None:
        neighbors, result[block] = index.query(points[block], k)
        if not getattr(index, "is_measured", False):
            result[block] = distances_by_column(points[block], columns, neighbors, tree.period)

    for_each(work, slices(len(points), size=index.rows_per_call))
    return result


def scipy_index(columns: FloatArray, period: FloatArray, k: int) -> Any:
    """Return SciPy's tree of points, given by columns."""
    cloud = np.ascontiguousarray(columns.T)
    return (PeriodicTree(period) if period.any() else KDTree()).index(cloud, k)
