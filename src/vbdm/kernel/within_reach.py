"""The kernel on all pairs within its reach: |x-y|² < s_c ε ρ(x) ρ(y).

Beyond s_c the kernel is cut, so these are all its pairs. The relation is symmetric, and so is the
matrix, exactly; there are no lists of neighbours that could end inside the kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..base.arrays import FloatArray, IntArray, is_elsewhere, ones_for, row_pointer
from ..base.memory import refuse_block, refuse_pairs
from ..base.threads import for_each, in_order, rows_that_fit, slices
from ..engines.engine import free_bytes
from ..engines.sparse import csr
from ..engines.tree import ROWS_AT_ONCE, Reach
from ..engines.tree_part import TreePart
from ..graph.neighbor_graph import NeighborGraph
from ..graph.neighbourhood import Neighbourhood, needed_tree, within_reach
from ..graph.point_set import PointSet, needed_rows
from ..rows.block_array import BlockArray, PerBlock
from ..rows.store import worth_keeping
from ..shapes import Shape, values_of
from .bandwidth import Bandwidth
from .block_matrix import BlockMatrix
from .kernel import Kernel
from .pair_matrix import PairMatrix
from .sums_within_reach import large_parts, sum_rows

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

    Parameters
    ----------
    graph : NeighborGraph
        The points, with their tree. Its lists of neighbours are not used.
    bandwidth, epsilon, shape
        ``K = h(|x-y|² / (ε ρ(x) ρ(y)))``.
    cutoff : float
        s_c, the finite s beyond which K = 0.
    leave_one_out : bool
        Whether K_ii = 0: a point does not vouch for itself.
    precision : {"auto", "single", "double"}
        How the values are stored; single by default. They are computed, and summed up, in double
        precision.

    Notes
    -----
    A first walk over the tree counts the pairs, a second one evaluates them, a few leaves after
    the others: 8 bytes per pair, or 12 in double precision.
    """
    points, kind = graph.point_set, stored_type(precision, shape, cutoff)
    near = within_reach(points, bandwidth.row, cutoff * epsilon, with_self=not leave_one_out)
    weights: PairMatrix | BlockMatrix
    if isinstance(near, Neighbourhood):
        values, neighbors, pointer, *known = kernel_of_rows(near, epsilon, shape, kind, report=True)
        weights = PairMatrix(symmetric_csr(values, neighbors, pointer), engine=points.engine)
    else:
        weights, known = block_kernel(points, near, epsilon, shape, kind)
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


def block_kernel(
    points: PointSet, near: PerBlock, epsilon: float, shape: Shape, kind: DTypeLike
) -> tuple[BlockMatrix, list[FloatArray]]:
    """Return the kernel in blocks, its row sums, and those of its squares."""
    rows = needed_rows(points)
    found = rows.run(kernel_of_block, near, epsilon, shape, kind, n_results=6, stage="kernel")
    values, neighbors, pointer, occurring, *sums = found
    others = [np.array(numbers) for numbers in rows.place.read(occurring)]
    matrix = BlockMatrix.of_blocks(rows, values, neighbors, pointer, others, points.engine)
    number = np.dtype(np.float64)
    return matrix, [np.asarray(BlockArray(rows, handles, ((), number))) for handles in sums]


@worth_keeping
def kernel_of_block(
    near: Neighbourhood, epsilon: float, shape: Shape, kind: DTypeLike
) -> tuple[NDArray[Any], IntArray, NDArray[Any], IntArray, FloatArray, FloatArray]:
    """Return the kernel of a block, and the points of other blocks that occur in it.

    Its own points are columns 0, ..., n - 1; then come the others, in ascending order.
    """
    values, neighbors, pointer, sums, squares = kernel_of_rows(near, epsilon, shape, kind)
    if near.part is None:
        raise TypeError("a block needs a part of the tree")
    return values, neighbors, pointer, number_anew(neighbors, near.part), sums, squares


def number_anew(neighbors: IntArray, part: TreePart) -> IntArray:
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
    reach = Reach.of(needed_tree(known), kernel.bandwidth.row, cut)
    counts, neighbors, scaled = known.engine.pairs_to(reach, known.distance.wrapped(points), rho)
    values = values_of(kernel.shape, scaled / kernel.epsilon)
    return csr(values, neighbors, row_pointer(counts), (len(points), known.n_points))


def symmetric_csr(values: NDArray[Any], neighbors: IntArray, pointer: NDArray[Any]) -> Any:
    """Return the CSR matrix of the pairs; nothing is copied or checked."""
    n = len(pointer) - 1
    return csr(values, neighbors, pointer, (n, n))


def stored_type(precision: str, shape: Shape, cutoff: float) -> DTypeLike:
    """Return the type of the stored values: double where single precision might underflow."""
    least = float(shape(np.array([cutoff]))[0]) / float(shape(np.zeros(1))[0])
    # Shapes with a finite support are 0 at their end, and exactly so.
    small = 0 < least < SINGLE_DOWN_TO
    return np.float64 if precision == "double" or small else np.float32
