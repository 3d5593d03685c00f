"""The reference engine, on NumPy and SciPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array, vstack
from scipy.sparse.csgraph import connected_components

from ..base.arrays import FloatArray, IntArray
from ..base.credit import Credit
from ..base.threads import for_each, in_order, rows_that_fit, slices
from .numpy_new_pairs import pairs_to
from .numpy_order import tree_order
from .numpy_pairs import count_within, pairs_within
from .tree import Reach, Tree


@dataclass(frozen=True)
class ScipyEngine:
    """NumPy for pairs, SciPy's k-d tree for nearest points and its sparse matrices for products."""

    credit: ClassVar[Credit] = Credit("scipy", "NumPy and SciPy")

    def order(self, columns: FloatArray, depth: int) -> NDArray[np.intp]:
        """Return the points in tree order."""
        return tree_order(columns, depth)

    def nearest(self, tree: Tree) -> Any:
        """Return None: the search room has SciPy's tree."""
        return None

    def count_within(self, reach: Reach, leaves: slice) -> NDArray[np.intp]:
        """Return the number of points within reach of each point of some leaves."""
        return count_within(reach, leaves)

    def pairs_within(
        self, reach: Reach, leaves: slice, n_pairs: int
    ) -> tuple[IntArray, FloatArray]:
        """Return the pairs of the points of some leaves."""
        return pairs_within(reach, leaves)

    def pairs_to(
        self, reach: Reach, points: FloatArray, rho: FloatArray
    ) -> tuple[NDArray[np.intp], IntArray, FloatArray]:
        """Return the pairs of new points with the points of the tree."""
        return pairs_to(reach, points, rho)

    def multiply(
        self,
        matrix: Any,
        block: FloatArray,
        left: FloatArray | None = None,
        right: FloatArray | None = None,
        power: int = 1,
    ) -> FloatArray:
        """Return a product, one block of rows after the other."""
        inside = block if right is None else right[:, None] * block
        result = np.empty((matrix.shape[0], block.shape[1]))

        def work(rows: slice) -> None:
            product = some_rows(matrix, rows, power) @ inside
            np.multiply(product, 1.0 if left is None else left[rows, None], out=result[rows])

        for_each(work, slices(len(result), size=rows_per_product(len(result))))
        return result

    def sums_over_cells(self, matrix: Any, factor: FloatArray, labels: IntArray) -> Any:
        """Return diag(f) A diag(f) P as CSR, one block of rows after the other."""
        columns = diags_array(factor) @ piecewise_constant(labels)

        def work(rows: slice) -> Any:
            return diags_array(factor[rows]) @ (some_rows(matrix, rows) @ columns)

        return vstack(list(in_order(work, slices(matrix.shape[0], size=8192))), format="csr")

    def pieces(self, matrix: Any, scale: FloatArray, least: float, few: int) -> NDArray[np.intp]:
        """Return the first point of the piece of each point."""
        labels = np.arange(matrix.shape[0], dtype=np.int32)
        blocks = list(slices(matrix.shape[0], rows_that_fit(matrix.nnz, matrix.shape[0])))
        for links in (few, None):
            work = partial(links_between, matrix, labels, scale, least, links)
            labels = joined(labels, np.hstack(list(in_order(work, blocks))))
            if labels.max() == 0:
                break
        return np.asarray(np.unique(labels, return_index=True)[1][labels])


def piecewise_constant(labels: IntArray) -> Any:
    """Return P, (N, n_cells), the matrix that gives each point the value of its cell."""
    n = len(labels)
    pointer = np.arange(n + 1, dtype=np.int32)
    return csr_array((np.ones(n), labels, pointer), shape=(n, int(labels.max()) + 1))


def links_between(
    matrix: Any, labels: IntArray, scale: FloatArray, least: float, few: int | None, rows: slice
) -> IntArray:
    """Return the pairs of different labels, (2, m), that some rows link.

    Only the first `few` links of each row are looked at; None: all.
    """
    part = some_rows(matrix, rows)
    count = np.diff(part.indptr)
    row = np.repeat(np.arange(rows.start, rows.stop), count)
    wanted = labels[row] != labels[part.indices]
    if few is not None:
        wanted &= np.arange(len(row)) - np.repeat(part.indptr[:-1], count) < few
    row, column, value = row[wanted], part.indices[wanted], part.data[wanted]
    linked = value > least * scale[row] * scale[column]
    return np.stack([labels[row[linked]], labels[column[linked]]])


def joined(labels: IntArray, links: IntArray) -> IntArray:
    """Return the labels of the points after joining pairs of labels, numbered by first points."""
    n = int(labels.max()) + 1
    graph = coo_array((np.ones(links.shape[1], dtype=np.int8), tuple(links)), shape=(n, n))
    parts = connected_components(graph, directed=False)[1]
    return np.asarray(parts[labels], dtype=np.int32)


def rows_per_product(n_rows: int) -> int:
    """Return how many rows to multiply at a time: enough to outweigh making a matrix of them."""
    return min(max(n_rows // 16, 4096), 32_768)


def some_rows(matrix: Any, rows: slice, power: int = 1) -> Any:
    """Return rows of a CSR matrix, entries raised to a power; a view, if the power is 1."""
    pointer = matrix.indptr[rows.start : rows.stop + 1]
    entries = slice(pointer[0], pointer[-1])
    data = matrix.data[entries]
    if power != 1:
        data = data.astype(np.float64) ** power
    return csr_array(
        (data, matrix.indices[entries], pointer - pointer[0]),
        shape=(len(pointer) - 1, matrix.shape[1]),
    )
