"""The reference engine, on NumPy and SciPy alone: tree order, products, connected pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array, vstack
from scipy.sparse.csgraph import connected_components

from ..base.arrays import BoolArray, FloatArray, IntArray
from ..base.references import Credit
from ..base.threads import for_each, in_order, rows_that_fit, slices
from .numpy_pairs import count_within, pairs_to, pairs_within
from .sparse import piecewise_constant
from .tree import starts_of


def in_memory(points: Any) -> Any:
    """Return points as they are: this machine's memory is the place."""
    return points


def tree_order(columns: FloatArray, depth: int) -> NDArray[np.intp]:
    """Return the points, (n, N) by columns, in tree order: nodes are split at the widest column.

    Points of a node whose coordinate is below the median go to its first child; ties are told apart
    by their present places, and the others keep theirs. So the order is unique.
    """
    order = np.arange(columns.shape[1])
    sorted_columns = columns
    for level in range(depth):
        place = split_level(sorted_columns, level)
        order = order[place]
        sorted_columns = np.take(sorted_columns, place, axis=1)
    return order


def split_level(columns: FloatArray, level: int) -> NDArray[np.intp]:
    """Return the points, by places, after all nodes of a level were split."""
    n = columns.shape[1]
    starts, below = starts_of(n, level), starts_of(n, level + 1)
    begin, sizes = starts[:-1], np.diff(starts)
    spread = np.maximum.reduceat(columns, begin, axis=1)
    spread -= np.minimum.reduceat(columns, begin, axis=1)
    node = np.repeat(np.arange(len(sizes)), sizes)
    keys = columns[spread.argmax(axis=0)[node], np.arange(n)]
    n_first = below[1:-1:2] - begin
    # The largest key of each node's first child is its n_first-th smallest.
    table = np.full((len(sizes), int(sizes.max())), np.inf)
    table[node, np.arange(n) - begin[node]] = keys
    table.partition(np.unique(n_first - 1), axis=1)
    split = table[np.arange(len(sizes)), n_first - 1][node]
    lower, tied = keys < split, keys == split
    # Of the ties, each node sends as many to its first child as are missing there.
    missing = n_first - np.add.reduceat(lower, begin)
    rank = np.cumsum(tied)
    rank -= (rank[begin] - tied[begin])[node]
    lower |= tied & (rank <= missing[node])
    count = np.cumsum(lower)
    count -= (count[begin] - lower[begin])[node]
    place = np.arange(n)
    goal = np.where(lower, begin[node] + count - 1, n_first[node] + place - count)
    result = np.empty(n, dtype=np.intp)
    result[goal] = place
    return result


def multiply(
    matrix: Any,
    block: FloatArray,
    left: FloatArray | None = None,
    right: FloatArray | None = None,
    power: int = 1,
    diagonal: FloatArray | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Return a product, one block of rows after the other."""
    inside = block if right is None else right[:, None] * block
    result = np.empty((matrix.shape[0], block.shape[1])) if out is None else out

    def work(rows: slice) -> None:
        product = some_rows(matrix, rows, power) @ inside
        np.multiply(product, 1.0 if left is None else left[rows, None], out=result[rows])
        if diagonal is not None:
            np.subtract(diagonal[rows, None] * block[rows], result[rows], out=result[rows])

    for_each(work, slices(len(result), size=rows_per_product(len(result))))
    return result


def jacobi(
    matrix: Any,
    block: FloatArray,
    added: FloatArray,
    divisor: FloatArray,
    out: FloatArray | None = None,
) -> FloatArray:
    """Return (matrix · block + added) / divisor."""
    result = multiply(matrix, block, out=out)

    def work(rows: slice) -> None:
        result[rows] += added[rows]
        result[rows] /= divisor[rows, None]

    for_each(work, slices(len(result), size=rows_per_product(len(result))))
    return result


def sums_over_cells(matrix: Any, factor: FloatArray, labels: IntArray) -> Any:
    """Return diag(f) A diag(f) P as CSR, one block of rows after the other."""
    columns = diags_array(factor) @ piecewise_constant(labels)

    def work(rows: slice) -> Any:
        return diags_array(factor[rows]) @ (some_rows(matrix, rows) @ columns)

    return vstack(list(in_order(work, slices(matrix.shape[0], size=8192))), format="csr")


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


def pieces(matrix: Any, scale: FloatArray, least: float, few: int) -> NDArray[np.intp]:
    """Return the first point of the piece of each point."""
    labels = np.arange(matrix.shape[0], dtype=np.int32)
    blocks = list(slices(matrix.shape[0], rows_that_fit(matrix.nnz, matrix.shape[0])))
    for links in (few, None):
        work = partial(links_between, matrix, labels, scale, least, links)
        linked, n = np.hstack(list(in_order(work, blocks))), int(labels.max()) + 1
        graph = coo_array((np.ones(linked.shape[1], dtype=np.int8), tuple(linked)), shape=(n, n))
        # Pieces are numbered by their first points.
        parts = connected_components(graph, directed=False)[1]
        labels = np.asarray(parts[labels], dtype=np.int32)
        if labels.max() == 0:
            break
    return np.asarray(np.unique(labels, return_index=True)[1][labels])


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


def parts_of_cells(
    links: list[Any], labels: IntArray, root: FloatArray, apart: BoolArray, least: float
) -> IntArray:
    """Return the connected parts of cells."""
    n = len(labels)

    def inner(block: tuple[Any, int, IntArray, FloatArray]) -> tuple[Any, Any, Any]:
        """Return the links that stay inside a cell, with their strengths."""
        pointer, start, column, value = block
        count = np.diff(pointer)
        inside = np.flatnonzero(
            labels[column] == np.repeat(labels[start : start + len(count)], count)
        )
        row = np.searchsorted(pointer, inside, side="right").astype(np.int32) + (start - 1)
        column = column[inside]
        return row, column, np.abs(value[inside]) * root[row] * root[column]

    found = list(in_order(inner, row_blocks(links)))
    row, column, strength = (np.concatenate(part) for part in zip(*found, strict=True))
    tight = (strength >= least) & ~(apart[row] | apart[column])
    pairs = (np.ones(tight.sum(), dtype=np.int8), (row[tight], column[tight]))
    return np.asarray(connected_components(coo_array(pairs, shape=(n, n)), directed=False)[1])


def row_blocks(matrices: list[Any]) -> Iterator[tuple[Any, int, IntArray, FloatArray]]:
    """Yield blocks of rows, as views: row pointer from 0, first row, columns, values."""
    for matrix in matrices:
        for rows in slices(matrix.shape[0], size=8192):
            pointer = matrix.indptr[rows.start : rows.stop + 1]
            entries = slice(pointer[0], pointer[-1])
            yield pointer - pointer[0], rows.start, matrix.indices[entries], matrix.data[entries]


@dataclass(frozen=True)
class ScipyEngine:
    """NumPy for pairs, SciPy's k-d tree for nearest points and its sparse matrices for products."""

    credit: ClassVar[Credit] = Credit("scipy", "NumPy and SciPy")
    placed = staticmethod(in_memory)
    order = staticmethod(tree_order)
    nearest = staticmethod(lambda tree: None)  # the search room has SciPy's tree
    count_within = staticmethod(count_within)
    pairs_within = staticmethod(pairs_within)
    pairs_to = staticmethod(pairs_to)
    multiply = staticmethod(multiply)
    jacobi = staticmethod(jacobi)
    sums_over_cells = staticmethod(sums_over_cells)
    parts_of_cells = staticmethod(parts_of_cells)
    pieces = staticmethod(pieces)
