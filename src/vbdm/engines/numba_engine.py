"""The fast engine: inner loops compiled by numba."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..base.arrays import BoolArray, FloatArray, IntArray
from ..base.references import NUMBA, Credit
from ..base.threads import for_each, in_order, slices
from .tree import ROWS_AT_ONCE, Reach, Tree

#: Nodes of the upper levels are split one level after the other; below this one, each with all
#: its children.
UPPER = 6


@dataclass(frozen=True)
class NumbaEngine:
    """Compiled loops over the leaves of the tree and the rows of matrices."""

    credit: ClassVar[Credit] = Credit(
        "numba", "loops compiled by numba (Lam, Pitrou and Seibert 2015)", (NUMBA,)
    )

    def placed(self, points: Any) -> Any:
        """Return points as they are: this machine's memory is the place."""
        return points

    def order(self, columns: FloatArray, depth: int) -> NDArray[np.intp]:
        """Return the points in tree order."""
        from .compiled.order import split_below

        n = columns.shape[1]
        order, keys, spare = np.arange(n), np.empty(n), np.empty(n, dtype=np.intp)
        upper = min(depth, UPPER)
        levels = [(level, level + 1) for level in range(upper)] + [(upper, depth)]
        for level, end in levels:

            def work(node: int, level: int = level, end: int = end) -> None:
                split_below(columns, order, keys, spare, level, node, end)

            for_each(work, range(1 << level))
        return order

    def nearest(self, tree: Tree) -> CompiledIndex:
        """Return the index that finds nearest points."""
        return CompiledIndex(tree)

    def count_within(self, reach: Reach, leaves: slice) -> NDArray[np.intp]:
        """Return the number of points within reach of each point of some leaves."""
        from .compiled.pairs import count_within

        rows = reach.tree.rows_of(leaves)
        counts = np.empty(rows.stop - rows.start, dtype=np.intp)
        count_within(*parts_of(reach), leaves.start, leaves.stop, counts)
        return counts

    def pairs_within(
        self, reach: Reach, leaves: slice, n_pairs: int
    ) -> tuple[IntArray, FloatArray]:
        """Return the pairs of the points of some leaves."""
        from .compiled.pairs import write_within

        neighbors, scaled = np.empty(n_pairs + 1, dtype=np.int32), np.empty(n_pairs + 1)
        write_within(*parts_of(reach), leaves.start, leaves.stop, neighbors, scaled)
        return neighbors[:-1], scaled[:-1]

    def pairs_to(
        self, reach: Reach, points: FloatArray, rho: FloatArray
    ) -> tuple[NDArray[np.intp], IntArray, FloatArray]:
        """Return the pairs of new points with the points of the tree."""
        from .compiled.new_pairs import pairs_to

        counts = np.empty(len(points), dtype=np.intp)
        new = np.ascontiguousarray(points), np.ascontiguousarray(rho)
        neighbors, scaled = pairs_to(*parts_of(reach)[:-1], *new, counts)
        return counts, neighbors, scaled

    def multiply(
        self,
        matrix: Any,
        block: FloatArray,
        left: FloatArray | None = None,
        right: FloatArray | None = None,
        power: int = 1,
        diagonal: FloatArray | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return a product; rows are summed up in double precision."""
        from .compiled.products import product

        one = np.ones(1)
        result = np.empty((matrix.shape[0], block.shape[1])) if out is None else out
        left, right = one if left is None else left, one if right is None else right
        none = np.empty(0) if diagonal is None else diagonal

        def work(rows: slice) -> None:
            product(
                matrix.indptr, matrix.indices, matrix.data, left, right, power, none, block,
                rows.start, rows.stop, result,
            )  # fmt: skip

        for_each(work, slices(len(result), size=ROWS_AT_ONCE))
        return result

    def jacobi(
        self,
        matrix: Any,
        block: FloatArray,
        added: FloatArray,
        divisor: FloatArray,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return (matrix · block + added) / divisor."""
        from .compiled.products import jacobi

        result = np.empty((matrix.shape[0], block.shape[1])) if out is None else out

        def work(rows: slice) -> None:
            jacobi(
                matrix.indptr, matrix.indices, matrix.data, block, added, divisor,
                rows.start, rows.stop, result,
            )  # fmt: skip

        for_each(work, slices(len(result), size=ROWS_AT_ONCE))
        return result

    def sums_over_cells(self, matrix: Any, factor: FloatArray, labels: IntArray) -> Any:
        """Return diag(f) A diag(f) P as CSR, in single precision."""
        from .compiled.cells import sum_over_cells

        n_cells = int(labels.max()) + 1

        def work(rows: slice) -> tuple[IntArray, NDArray[np.float32], IntArray]:
            most = int(matrix.indptr[rows.stop] - matrix.indptr[rows.start])
            columns, values = np.empty(most, dtype=np.int32), np.empty(most)
            counts = np.empty(rows.stop - rows.start, dtype=np.int32)
            found = sum_over_cells(
                matrix.indptr, matrix.indices, matrix.data, factor, labels, rows.start, rows.stop,
                np.full(n_cells, -1, dtype=np.int32), columns, values, counts,
            )  # fmt: skip
            return columns[:found].copy(), values[:found].astype(np.float32), counts

        parts = list(in_order(work, slices(matrix.shape[0], size=4 * ROWS_AT_ONCE)))
        columns, values, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
        short = np.int32 if len(columns) < 2**31 else np.int64
        pointer = np.zeros(len(counts) + 1, dtype=short)
        np.cumsum(counts, out=pointer[1:])
        return csr_array((values, columns, pointer), shape=(matrix.shape[0], n_cells))

    def parts_of_cells(
        self,
        links: list[Any],
        labels: IntArray,
        root: FloatArray,
        apart: BoolArray,
        least: float,
    ) -> IntArray:
        """Return the connected parts of cells."""
        from .compiled.cells import join_within, roots

        parents = np.arange(len(labels))
        for part in links:
            join_within(part.indptr, part.indices, part.data, labels, root, apart, least, parents)
        roots(parents)
        number = np.cumsum(parents == np.arange(len(parents)), dtype=np.int32) - 1
        return np.asarray(number[parents], dtype=np.int32)

    def pieces(self, matrix: Any, scale: FloatArray, least: float, few: int) -> NDArray[np.intp]:
        """Return the first point of the piece of each point."""
        from .compiled.cells import join, roots

        parents = np.arange(matrix.shape[0])
        for links in (few, matrix.nnz):
            join(matrix.indptr, matrix.indices, matrix.data, scale, least, links, parents)
            if roots(parents) == 1:
                break
        return parents


def parts_of(reach: Reach) -> tuple[Any, ...]:
    """Return what the compiled walks over pairs take."""
    tree = reach.tree
    return (
        tree.columns, reach.rho, tree.low, tree.high, reach.widest, tree.period, tree.depth,
        reach.cut, reach.with_self,
    )  # fmt: skip


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
        from .compiled.nearest import nearest

        tree = self.tree
        indices, sqdist = np.empty((len(points), k), dtype=np.int32), np.empty((len(points), k))
        # A copy, because numba would compile anew for arrays that cannot be written to.
        queries = np.array(points, order="C")
        # Leaves of twice the size are best here: each costs a look at its box.
        depth = max(0, tree.depth - 1)
        nearest(tree.columns, tree.low, tree.high, tree.period, depth, queries, k, indices, sqdist)
        return indices, sqdist
