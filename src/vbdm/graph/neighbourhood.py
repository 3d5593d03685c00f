"""Rows with the points near them: what a walk over pairs needs.

Ordinarily these are all rows, and the whole tree. If rows live in blocks, each block gets a part of
the tree (`vbdm.engines.tree_part`), which is copied out of the whole one when the block's turn
comes: all points within reach of its own, or their k nearest. Both are walked alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.threads import for_each, slices
from ..engines.engine import Engine
from ..engines.tree import Reach, Tree
from ..engines.tree_part import TreePart, bounds_of_nearest, leaves_of_nearest, leaves_within_reach
from ..rows.block_array import BlockArray, PerBlock, Rows
from ..rows.workers import worth_keeping
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
class PartOfEach(Sequence[Any]):
    """What belongs to each block, made from its leaves when it is asked for."""

    rows: Rows
    make: Callable[[slice], Any]

    def __len__(self) -> int:
        return self.rows.n_blocks

    def __getitem__(self, block: Any) -> Any:
        return self.make(self.rows.partition.leaves(block))


def within_reach(
    points: PointSet, rho: FloatArray, cut: float, *, with_self: bool
) -> Neighbourhood | PerBlock:
    """Return all rows with the points within |x-y|² < cut ρ(x) ρ(y); if in blocks, each of them."""
    tree = cast(Tree, points.tree)
    reach = Reach.of(tree, rho, cut, with_self=with_self)
    counts = points.order.counts
    if points.rows is None:
        return Neighbourhood(reach, slice(0, 1 << tree.depth), points.engine, counts)

    def around(leaves: slice) -> Neighbourhood:
        part = TreePart.of(tree, leaves, leaves_within_reach(reach, leaves))
        near = Reach.of(part.tree, part.placed(rho), cut, with_self=with_self)
        often = None if counts is None else part.placed(counts)
        return Neighbourhood(near, part.leaves, points.engine, often, part)

    return PerBlock(PartOfEach(points.rows, around))


def nearest_distances(tree: Tree, rows: Rows, engine: Engine, k: int) -> BlockArray:
    """Return the squared distances from every point to its k nearest, (M, k), itself first."""
    bounds = bounds_of_nearest(tree, k)

    def around(leaves: slice) -> TreePart:
        return TreePart.of(tree, leaves, leaves_of_nearest(tree, bounds, leaves))

    parts = PerBlock(PartOfEach(rows, around))
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
        search = PeriodicTree(tree.period) if tree.period.any() else KDTree()
        index = search.index(np.ascontiguousarray(columns.T), k)
    result = np.empty((len(points), k))

    def work(block: slice) -> None:
        neighbors, result[block] = index.query(points[block], k)
        if not getattr(index, "is_measured", False):
            result[block] = distances_by_column(points[block], columns, neighbors, tree.period)

    for_each(work, slices(len(points), size=index.rows_per_call))
    return result
