"""Sums of a kernel over all pairs within its reach, without storing the pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, beside_array, is_elsewhere, ones_for, row_pointer, to_host
from ..base.memory import PAIRS_ON_DEVICE, PER_PAIR_AT_WORK
from ..base.threads import for_each
from ..engines.engine import free_bytes
from ..engines.sparse import csr
from ..engines.tree import ROWS_AT_ONCE, Tree
from ..graph.neighbor_graph import NeighborGraph
from ..graph.neighbourhood import Neighbourhood, within_reach
from ..graph.point_set import needed_rows
from ..progress import report
from ..rows.block_array import BlockArray
from ..shapes import Shape, values_of


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
    if is_elsewhere(reach.rho):
        return sums_on_device(near, epsilon, shape, stage)
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


#: The fewest pairs of a part on a device, however little memory is free: 2 MB.
FEWEST_PAIRS = 1 << 16


def sums_on_device(
    near: Neighbourhood, epsilon: float, shape: Shape, stage: str | None = None
) -> FloatArray:
    """Return the sums of all rows, in a few large parts: each is a matrix times a vector."""
    reach, engine, tree = near.reach, near.engine, near.reach.tree
    pointer = row_pointer(engine.count_within(reach, near.leaves))
    counts = ones_for(reach.rho) if near.counts is None else near.counts
    sums = np.empty(tree.n_points, like=reach.rho)
    for leaves, rows, pairs in large_parts(tree, pointer, free_bytes(engine), stage):
        neighbors, scaled = engine.pairs_within(reach, leaves, pairs.stop - pairs.start)
        scaled /= epsilon
        own = pointer[rows.start : rows.stop + 1] - pairs.start
        size = rows.stop - rows.start, tree.n_points
        part = csr(values_of(shape, scaled), neighbors, own, size)
        sums[rows] = engine.multiply(part, counts[:, None])[:, 0]
    return sums


def large_parts(
    tree: Tree, pointer: NDArray[Any], free: int | None, stage: str | None = None
) -> Iterator[tuple[slice, slice, slice]]:
    """Yield parts of all leaves with many pairs, in order: leaves, rows and pairs of each.

    Parameters
    ----------
    tree : Tree
        The points.
    pointer : (M + 1,) int array
        Where the pairs of each row begin.
    free : int or None
        Bytes that can be had: parts are smaller where these are few.
    stage : str or None
        What is reported after each part.
    """
    n_leaves, total = 1 << tree.depth, int(pointer[-1])
    size = PAIRS_ON_DEVICE
    if free is not None:
        # Half of them are left: some shapes take more. If hardly any are free, small parts help no
        # more, and would be too many to count.
        size = min(size, max(FEWEST_PAIRS, free // 2 // PER_PAIR_AT_WORK))
    cuts = np.array([0, n_leaves])
    if total > size:
        ends = beside_array(np.arange(size, total, size), pointer)
        rows = to_host(np.searchsorted(pointer, ends))
        cuts = np.unique(np.append(cuts, rows * n_leaves // tree.n_points))
    first = 0
    for done, (start, stop) in enumerate(pairwise(cuts.tolist()), start=1):
        leaves = slice(start, stop)
        last = total if stop == n_leaves else int(pointer[tree.rows_of(leaves).stop])
        yield leaves, tree.rows_of(leaves), slice(first, last)
        first = last
        if stage is not None:
            report(stage, done, len(cuts) - 1)


def sum_rows(entries: FloatArray, start: NDArray[np.integer], out: FloatArray) -> None:
    """Write the sums of rows, which begin at `start` among the entries, into `out`; 0 if empty."""
    filled = np.flatnonzero(np.diff(start, append=len(entries)))
    if filled.size:
        out[filled] = np.add.reduceat(entries, start[filled])
