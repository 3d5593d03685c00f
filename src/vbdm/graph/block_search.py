"""Nearest neighbours of rows in blocks: distances, without the names of the neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.threads import for_each, slices
from ..engines.engine import Engine
from ..engines.near_leaves import bounds_of_nearest, leaves_of_nearest
from ..engines.tree import Tree
from ..engines.tree_part import TreePart
from ..rows.block_array import BlockArray, PerBlock, Rows
from ..rows.store import worth_keeping
from ..search import KDTree, PeriodicTree
from ..search.exact import distances_by_column


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
