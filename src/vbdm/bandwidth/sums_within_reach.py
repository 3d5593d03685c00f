"""Sums of a kernel over all pairs within its reach, without storing the pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.shapes import Shape
from ..base.threads import for_each
from ..engines.tree import ROWS_AT_ONCE, Reach, Tree
from ..graph.neighbor_graph import NeighborGraph


def sums_within_reach(
    graph: NeighborGraph,
    rho: FloatArray,
    epsilon: float,
    shape: Shape,
    cutoff: float,
    *,
    leave_one_out: bool,
) -> FloatArray:
    """Return Σ_j h(|x_i-x_j|²/(ε ρ_i ρ_j)) over the pairs with s < `cutoff`, (M,).

    Each point counts as often as it occurs. A walk over the tree counts the pairs of a block of
    leaves, a second one evaluates them; nothing is kept.
    """
    tree, engine = needed_tree(graph), graph.point_set.engine
    counts = graph.order.counts
    reach = Reach.of(tree, rho, cutoff * epsilon, with_self=not leave_one_out)
    sums = np.zeros(graph.n_points)

    def work(leaves: slice) -> None:
        found = engine.count_within(reach, leaves)
        neighbors, scaled = engine.pairs_within(reach, leaves, int(found.sum()))
        scaled /= epsilon
        values = shape(scaled)
        if counts is not None:
            values *= counts[neighbors]
        sum_rows(values, np.cumsum(found) - found, sums[tree.rows_of(leaves)])

    for_each(work, list(tree.leaf_blocks(ROWS_AT_ONCE // 4)), "density")
    return sums


def sum_rows(entries: FloatArray, start: NDArray[np.integer], out: FloatArray) -> None:
    """Write the sums of rows, which begin at `start` among the entries, into `out`; 0 if empty."""
    filled = np.flatnonzero(np.diff(start, append=len(entries)))
    if filled.size:
        out[filled] = np.add.reduceat(entries, start[filled])


def needed_tree(graph: NeighborGraph) -> Tree:
    """Return the tree of the points."""
    if graph.point_set.tree is None:
        raise TypeError("pairs within reach need the tree of the points")
    return graph.point_set.tree
