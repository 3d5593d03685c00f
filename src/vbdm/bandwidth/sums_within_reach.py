"""Sums of a kernel over all pairs within its reach, without storing the pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.shapes import Shape
from ..base.threads import for_each
from ..engines.tree import ROWS_AT_ONCE
from ..graph.neighbor_graph import NeighborGraph
from ..graph.neighbourhood import Neighbourhood, within_reach
from ..graph.point_set import needed_rows
from ..rows.block_array import BlockArray


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
    points = graph.point_set
    near = within_reach(points, rho, cutoff * epsilon, with_self=not leave_one_out)
    if isinstance(near, Neighbourhood):
        return sums_of_rows(near, epsilon, shape, "density")
    rows = needed_rows(points)
    handles = rows.run(sums_of_rows, near, epsilon, shape, stage="density")[0]
    return np.asarray(BlockArray(rows, handles, ((), np.dtype(np.float64))))


def sums_of_rows(
    near: Neighbourhood, epsilon: float, shape: Shape, stage: str | None = None
) -> FloatArray:
    """Return the sums of rows over the points within their reach."""
    reach, engine, tree = near.reach, near.engine, near.reach.tree
    places = tree.rows_of(near.leaves)
    sums = np.zeros(places.stop - places.start)

    def work(leaves: slice) -> None:
        found = engine.count_within(reach, leaves)
        neighbors, scaled = engine.pairs_within(reach, leaves, int(found.sum()))
        scaled /= epsilon
        values = shape(scaled)
        if near.counts is not None:
            values *= near.counts[neighbors]
        rows = tree.rows_of(leaves)
        out = sums[rows.start - places.start : rows.stop - places.start]
        sum_rows(values, np.cumsum(found) - found, out)

    for_each(work, tree.leaf_blocks(ROWS_AT_ONCE // 4, near.leaves), stage)
    return near.of_rows(sums)


def sum_rows(entries: FloatArray, start: NDArray[np.integer], out: FloatArray) -> None:
    """Write the sums of rows, which begin at `start` among the entries, into `out`; 0 if empty."""
    filled = np.flatnonzero(np.diff(start, append=len(entries)))
    if filled.size:
        out[filled] = np.add.reduceat(entries, start[filled])
