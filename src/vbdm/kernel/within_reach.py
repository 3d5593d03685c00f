"""The kernel on all pairs within its reach, |x-y|² < s_c ε ρ(x) ρ(y), or only its sums over them.

Beyond s_c the kernel is cut, so these are all its pairs. The relation is symmetric, and so is the
matrix, exactly; there are no lists of neighbours that could end inside the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..base.arrays import (
    FloatArray,
    IntArray,
    beside_array,
    is_elsewhere,
    ones_for,
    row_pointer,
    to_host,
)
from ..base.memory import PAIRS_ON_DEVICE, PER_PAIR_AT_WORK, refuse_block, refuse_pairs
from ..base.threads import for_each, in_order, rows_that_fit, slices
from ..engines.engine import free_bytes
from ..engines.sparse import csr
from ..engines.tree import ROWS_AT_ONCE, Reach, Tree
from ..engines.tree_part import TreePart
from ..graph.neighbor_graph import NeighborGraph
from ..graph.neighbourhood import Neighbourhood, within_reach
from ..progress import report
from ..rows.block_array import BlockArray, Rows
from ..rows.workers import worth_keeping
from ..shapes import Gaussian, Shape, values_of
from .bandwidth import Bandwidth
from .block_matrix import BlockMatrix
from .kernel import Kernel, evaluate_kernel
from .pair_matrix import PairMatrix

#: Pairs that are evaluated at a time: several arrays as long stay in the cache.
PAIRS_AT_ONCE = 1 << 18
#: Least kernel value, as a share of the peak, that is stored in single precision: smaller ones may
#: underflow when powers of the density are taken.
SINGLE_DOWN_TO = 1e-30


def kernel_within_reach(
    graph: NeighborGraph,
    bandwidth: Bandwidth,
    epsilon: float,
    shape: Shape,
    *,
    cutoff: float,
    leave_one_out: bool,
    precision: str = "auto",
) -> Kernel:
    """Find all pairs within the kernel's reach, and evaluate it there.

    Lists of neighbours are not used, only the tree of the points. The `cutoff` is s_c, the finite s
    beyond which K = 0; with `leave_one_out` K_ii = 0: a point does not vouch for itself. Values are
    stored in the `precision` "single" (also "auto") or "double"; they are computed, and summed up,
    in double precision.

    Notes
    -----
    A first walk over the tree counts the pairs, a second one evaluates them, a few leaves after
    the others: 8 bytes per pair, or 12 in double precision.
    """
    points, n = graph.point_set, graph.n_points
    kind = stored_type(precision, shape, cutoff)
    near = within_reach(points, bandwidth.row, cutoff * epsilon, with_self=not leave_one_out)
    weights: PairMatrix | BlockMatrix
    if isinstance(near, Neighbourhood):
        values, neighbors, pointer, *known = kernel_of_rows(near, epsilon, shape, kind, report=True)
        weights = PairMatrix(csr(values, neighbors, pointer, (n, n)), engine=points.engine)
    else:
        rows = cast(Rows, points.rows)
        found = rows.run(kernel_of_block, near, epsilon, shape, kind, n_results=6, stage="kernel")
        data, indices, indptr, occurring, *sums = found
        others = [np.array(numbers) for numbers in rows.place.read(occurring)]
        weights = BlockMatrix.of_blocks(rows, data, indices, indptr, others, points.engine)
        number = np.dtype(np.float64)
        known = [np.asarray(BlockArray(rows, handles, ((), number))) for handles in sums]
    return Kernel(
        graph=graph, weights=weights, bandwidth=bandwidth, epsilon=epsilon, shape=shape,
        leave_one_out=leave_one_out, cutoff=cutoff, one_way_share=1.0, by_reach=True,
        known_sums=(known[0], known[1]),
    )  # fmt: skip


def kernel_of_rows(
    near: Neighbourhood, epsilon: float, shape: Shape, kind: DTypeLike, *, report: bool = False
) -> tuple[NDArray[Any], IntArray, NDArray[Any], FloatArray, FloatArray]:
    """Return the kernel of rows, as CSR arrays, its row sums, and those of its squares.

    Columns are places in the tree of the neighbourhood.
    """
    reach, engine, tree = near.reach, near.engine, near.reach.tree
    if is_elsewhere(reach.rho):
        return kernel_on_device(near, epsilon, shape, kind)
    parts, stage = tree.leaf_blocks(leaves=near.leaves), "pairs" if report else None
    found = in_order(lambda leaves: engine.count_within(reach, leaves), parts, stage)
    counts = np.concatenate(list(found))
    total, n_rows = int(counts.sum()), len(counts)
    if near.part is None:
        refuse_pairs(n_rows, total, tree.columns.shape[0])
    else:
        refuse_block(total)
    pointer, first = row_pointer(counts), tree.rows_of(near.leaves).start
    neighbors, values = np.empty(total, dtype=np.int32), np.empty(total, dtype=kind)
    sums, squares = np.zeros(n_rows), np.zeros(n_rows)

    def work(leaves: slice) -> None:
        places = tree.rows_of(leaves)
        rows = slice(places.start - first, places.stop - first)
        part = slice(int(pointer[rows.start]), int(pointer[rows.stop]))
        neighbors[part], scaled = engine.pairs_within(reach, leaves, part.stop - part.start)
        scaled /= epsilon
        values[part] = shape(scaled)
        np.copyto(scaled, values[part])
        start = pointer[rows.start : rows.stop] - part.start
        sum_rows(scaled, start, sums[rows])
        sum_rows(np.square(scaled, out=scaled), start, squares[rows])

    size = min(ROWS_AT_ONCE, rows_that_fit(total, n_rows, most=PAIRS_AT_ONCE))
    for_each(work, tree.leaf_blocks(size, near.leaves), "kernel" if report else None)
    if near.part is not None:
        # Places without a point have no pairs.
        pointer = np.append(near.of_rows(pointer[:-1]), pointer[-1:])
    return values, neighbors, pointer, near.of_rows(sums), near.of_rows(squares)


def kernel_on_device(
    near: Neighbourhood, epsilon: float, shape: Shape, kind: DTypeLike
) -> tuple[NDArray[Any], IntArray, NDArray[Any], FloatArray, FloatArray]:
    """Return what `kernel_of_rows` does of all rows, which are evaluated in a few large parts."""
    reach, engine, tree = near.reach, near.engine, near.reach.tree
    pointer = row_pointer(engine.count_within(reach, near.leaves))
    total, n = int(pointer[-1]), tree.n_points
    bytes_each = np.dtype(kind).itemsize
    refuse_pairs(n, total, tree.columns.shape[0], free_bytes(engine), bytes_each)
    neighbors = np.empty(total, dtype=np.int32, like=reach.rho)
    values = np.empty(total, dtype=kind, like=reach.rho)
    for leaves, _, pairs in large_parts(tree, pointer, free_bytes(engine), "kernel"):
        neighbors[pairs], scaled = engine.pairs_within(reach, leaves, pairs.stop - pairs.start)
        scaled /= epsilon
        values[pairs] = values_of(shape, scaled)
    matrix, one = csr(values, neighbors, pointer, (n, n)), ones_for(reach.rho)[:, None]
    sums, squares = (engine.multiply(matrix, one, power=power)[:, 0] for power in (1, 2))
    return values, neighbors, pointer, sums, squares


@worth_keeping
def kernel_of_block(
    near: Neighbourhood, epsilon: float, shape: Shape, kind: DTypeLike
) -> tuple[NDArray[Any], IntArray, NDArray[Any], IntArray, FloatArray, FloatArray]:
    """Return the kernel of a block, and the points of other blocks that occur in it.

    Its own points are columns 0, ..., n - 1; then come the others, in ascending order.
    """
    values, neighbors, pointer, sums, squares = kernel_of_rows(near, epsilon, shape, kind)
    part = cast(TreePart, near.part)
    return values, neighbors, pointer, to_columns(neighbors, part), sums, squares


def to_columns(neighbors: IntArray, part: TreePart) -> IntArray:
    """Replace places in a part of the tree by columns, in place.

    Returns the points of other blocks that occur, ascending.
    """
    own = part.own_places
    occurs = np.zeros(part.tree.n_points, dtype=np.bool_)
    occurs[neighbors] = True
    others = occurs & part.is_point
    others[own] = False
    column = np.zeros(len(occurs), dtype=np.int32)
    column[own] = np.arange(len(own))
    column[others] = np.arange(len(own), len(own) + np.count_nonzero(others))

    def work(pairs: slice) -> None:
        np.take(column, neighbors[pairs], out=neighbors[pairs], mode="clip")

    for_each(work, slices(len(neighbors), size=PAIRS_AT_ONCE))
    return part.numbers[others[part.is_point]].astype(np.int32)


def sums_of(matrix: Any) -> tuple[FloatArray, FloatArray]:
    """Return the row sums of a CSR matrix and of its squares, with the bits of an evaluation."""
    sums, squares = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[0])

    def work(rows: slice) -> None:
        part = slice(int(matrix.indptr[rows.start]), int(matrix.indptr[rows.stop]))
        entries = matrix.data[part].astype(np.float64)
        start = matrix.indptr[rows.start : rows.stop] - part.start
        sum_rows(entries, start, sums[rows])
        sum_rows(np.square(entries, out=entries), start, squares[rows])

    for_each(work, slices(len(sums), size=ROWS_AT_ONCE))
    return sums, squares


def rows_within_reach(kernel: Kernel, points: FloatArray, rho: FloatArray) -> Any:
    """Return K(x, x_j) for new points x, (m, n), and all points x_j within reach, as CSR (m, M).

    `rho` is ρ(x), (m,); a row with ρ = 0 is empty.
    """
    known, cut = kernel.graph.point_set, kernel.cutoff * kernel.epsilon
    reach = Reach.of(cast(Tree, known.tree), kernel.bandwidth.row, cut)
    counts, neighbors, scaled = known.engine.pairs_to(reach, known.distance.wrapped(points), rho)
    values = values_of(kernel.shape, scaled / kernel.epsilon)
    return csr(values, neighbors, row_pointer(counts), (len(points), known.n_points))


def stored_type(precision: str, shape: Shape, cutoff: float) -> DTypeLike:
    """Return the type of the stored values: double where single precision might underflow."""
    least = float(shape(np.array([cutoff]))[0]) / float(shape(np.zeros(1))[0])
    # Shapes with a finite support are 0 at their end, and exactly so.
    small = 0 < least < SINGLE_DOWN_TO
    return np.float64 if precision == "double" or small else np.float32


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
    rows = cast(Rows, points.rows)
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

    `pointer` tells where the pairs of each row begin. Parts are smaller where few bytes are `free`;
    after each, progress of the `stage` is reported.
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


def at_epsilon(kernel: Kernel, epsilon: float, graph: NeighborGraph | None = None) -> Kernel:
    """Evaluate the same kernel at another ε; if by lists, on this or another graph."""
    if kernel.by_reach:
        return kernel_within_reach(
            kernel.graph, kernel.bandwidth, epsilon, kernel.shape, cutoff=kernel.cutoff,
            leave_one_out=kernel.leave_one_out, precision=kernel.precision,
        )  # fmt: skip
    return evaluate_kernel(
        graph or kernel.graph, kernel.bandwidth, epsilon, kernel.shape,
        leave_one_out=kernel.leave_one_out, cutoff=kernel.cutoff,
        one_way_share=kernel.one_way_share,
    )  # fmt: skip


def at_half_epsilon(kernel: Kernel) -> Kernel:
    """Return the kernel at ε/2; for a Gaussian, without evaluating it.

    A Gaussian at half the ε is the square of itself, cut at the same distance. But the square of a
    one-way pair of weight 1/2 has weight 1/4: then the kernel is evaluated.
    """
    if not isinstance(kernel.shape, Gaussian) or kernel.one_way_share != 1.0:
        return at_epsilon(kernel, kernel.epsilon / 2)
    return replace(
        kernel, weights=kernel.weights.squared(), epsilon=kernel.epsilon / 2,
        cutoff=2 * kernel.cutoff, known_sums=None,
    )  # fmt: skip
