"""The fast engine: inner loops compiled by numba."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..base.arrays import BoolArray, FloatArray, IntArray, row_pointer
from ..base.references import NUMBA, Credit
from ..base.threads import for_each, in_order, slices
from . import compiled
from .scipy_engine import in_memory
from .tree import ROWS_AT_ONCE, Reach, Tree

#: Nodes of the upper levels are split one level after the other; below this one, each with all
#: its children.
UPPER = 6


@dataclass(frozen=True, eq=False)
class CompiledIndex:
    """The tree, searched by compiled code; equal distances are told apart by number."""

    tree: Tree
    rows_per_call: int = 2048
    parallel: bool = True
    is_exact: bool = True
    #: Its squared distances have the bits of measured ones.
    is_measured: bool = True
    credit: ClassVar[Credit] = Credit("k-d tree (numba)", "a k-d tree (compiled by numba)")

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        tree = self.tree
        indices, sqdist = np.empty((len(points), k), dtype=np.int32), np.empty((len(points), k))
        # A copy, because numba would compile anew for arrays that cannot be written to.
        queries = np.array(points, order="C")
        # Leaves of twice the size are best here: each costs a look at its box.
        depth = max(0, tree.depth - 1)
        parts = tree.columns, tree.low, tree.high, tree.period
        compiled.nearest.nearest(*parts, depth, queries, k, indices, sqdist)
        return indices, sqdist


def tree_order(columns: FloatArray, depth: int) -> NDArray[np.intp]:
    """Return the points in tree order."""
    n = columns.shape[1]
    order, keys, spare = np.arange(n), np.empty(n), np.empty(n, dtype=np.intp)
    upper = min(depth, UPPER)
    levels = [(level, level + 1) for level in range(upper)] + [(upper, depth)]
    for level, end in levels:

        def work(node: int, level: int = level, end: int = end) -> None:
            compiled.order.split_below(columns, order, keys, spare, level, node, end)

        for_each(work, range(1 << level))
    return order


def count_within(reach: Reach, leaves: slice) -> NDArray[np.intp]:
    """Return the number of points within reach of each point of some leaves."""
    rows = reach.tree.rows_of(leaves)
    counts = np.empty(rows.stop - rows.start, dtype=np.intp)
    compiled.pairs.count_within(*reach_args(reach), leaves.start, leaves.stop, counts)
    return counts


def pairs_within(reach: Reach, leaves: slice, n_pairs: int) -> tuple[IntArray, FloatArray]:
    """Return the pairs of the points of some leaves."""
    neighbors, scaled = np.empty(n_pairs + 1, dtype=np.int32), np.empty(n_pairs + 1)
    compiled.pairs.write_within(*reach_args(reach), leaves.start, leaves.stop, neighbors, scaled)
    return neighbors[:-1], scaled[:-1]


def pairs_to(
    reach: Reach, points: FloatArray, rho: FloatArray
) -> tuple[NDArray[np.intp], IntArray, FloatArray]:
    """Return the pairs of new points with the points of the tree."""
    counts = np.empty(len(points), dtype=np.intp)
    new = np.ascontiguousarray(points), np.ascontiguousarray(rho)
    neighbors, scaled = compiled.pairs.pairs_to(*reach_args(reach)[:-1], *new, counts)
    return counts, neighbors, scaled


def multiply(
    matrix: Any,
    block: FloatArray,
    left: FloatArray | None = None,
    right: FloatArray | None = None,
    power: int = 1,
    diagonal: FloatArray | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Return a product; rows are summed up in double precision."""
    one = np.ones(1)
    result = np.empty((matrix.shape[0], block.shape[1])) if out is None else out
    left, right = one if left is None else left, one if right is None else right
    none = np.empty(0) if diagonal is None else diagonal

    def work(rows: slice) -> None:
        compiled.rows.product(
            matrix.indptr, matrix.indices, matrix.data, left, right, power, none, block,
            rows.start, rows.stop, result,
        )  # fmt: skip

    for_each(work, slices(len(result), size=ROWS_AT_ONCE))
    return result


def jacobi(
    matrix: Any,
    block: FloatArray,
    added: FloatArray,
    divisor: FloatArray,
    out: FloatArray | None = None,
) -> FloatArray:
    """Return (matrix · block + added) / divisor."""
    result = np.empty((matrix.shape[0], block.shape[1])) if out is None else out

    def work(rows: slice) -> None:
        compiled.rows.jacobi(
            matrix.indptr, matrix.indices, matrix.data, block, added, divisor,
            rows.start, rows.stop, result,
        )  # fmt: skip

    for_each(work, slices(len(result), size=ROWS_AT_ONCE))
    return result


def sums_over_cells(matrix: Any, factor: FloatArray, labels: IntArray) -> Any:
    """Return diag(f) A diag(f) P as CSR, in single precision."""
    n_cells = int(labels.max()) + 1

    def work(rows: slice) -> tuple[IntArray, NDArray[np.float32], IntArray]:
        most = int(matrix.indptr[rows.stop] - matrix.indptr[rows.start])
        columns, values = np.empty(most, dtype=np.int32), np.empty(most)
        counts = np.empty(rows.stop - rows.start, dtype=np.int32)
        found = compiled.rows.sum_over_cells(
            matrix.indptr, matrix.indices, matrix.data, factor, labels, rows.start, rows.stop,
            np.full(n_cells, -1, dtype=np.int32), columns, values, counts,
        )  # fmt: skip
        return columns[:found].copy(), values[:found].astype(np.float32), counts

    parts = list(in_order(work, slices(matrix.shape[0], size=4 * ROWS_AT_ONCE)))
    columns, values, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    return csr_array((values, columns, row_pointer(counts)), shape=(matrix.shape[0], n_cells))


def parts_of_cells(
    links: list[Any], labels: IntArray, root: FloatArray, apart: BoolArray, least: float
) -> IntArray:
    """Return the connected parts of cells."""
    parents = np.arange(len(labels))
    for part in links:
        compiled.rows.join_within(
            part.indptr, part.indices, part.data, labels, root, apart, least, parents
        )
    compiled.rows.roots(parents)
    number = np.cumsum(parents == np.arange(len(parents)), dtype=np.int32) - 1
    return np.asarray(number[parents], dtype=np.int32)


def pieces(matrix: Any, scale: FloatArray, least: float, few: int) -> NDArray[np.intp]:
    """Return the first point of the piece of each point."""
    parents = np.arange(matrix.shape[0])
    for links in (few, matrix.nnz):
        compiled.rows.join(matrix.indptr, matrix.indices, matrix.data, scale, least, links, parents)
        if compiled.rows.roots(parents) == 1:
            break
    return parents


def reach_args(reach: Reach) -> tuple[Any, ...]:
    """Return what the compiled walks over pairs take."""
    tree = reach.tree
    return (
        tree.columns, reach.rho, tree.low, tree.high, reach.widest, tree.period, tree.depth,
        reach.cut, reach.with_self,
    )  # fmt: skip


@dataclass(frozen=True)
class NumbaEngine:
    """Compiled loops over the leaves of the tree and the rows of matrices."""

    credit: ClassVar[Credit] = Credit(
        "numba", "loops compiled by numba (Lam, Pitrou and Seibert 2015)", (NUMBA,)
    )
    placed = staticmethod(in_memory)
    order = staticmethod(tree_order)
    nearest = CompiledIndex
    count_within = staticmethod(count_within)
    pairs_within = staticmethod(pairs_within)
    pairs_to = staticmethod(pairs_to)
    multiply = staticmethod(multiply)
    jacobi = staticmethod(jacobi)
    sums_over_cells = staticmethod(sums_over_cells)
    parts_of_cells = staticmethod(parts_of_cells)
    pieces = staticmethod(pieces)
