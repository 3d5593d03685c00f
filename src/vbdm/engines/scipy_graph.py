"""Graphs as SciPy's sparse matrices: rows, connected pieces, and connected parts of cells."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from ..base.arrays import BoolArray, FloatArray, IntArray
from ..base.threads import in_order, rows_that_fit, slices


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
    """Return the first point of the piece of each point (`vbdm.engines.engine.Engine.pieces`)."""
    labels = np.arange(matrix.shape[0], dtype=np.int32)
    blocks = list(slices(matrix.shape[0], rows_that_fit(matrix.nnz, matrix.shape[0])))
    for links in (few, None):
        work = partial(links_between, matrix, labels, scale, least, links)
        labels = joined(labels, np.hstack(list(in_order(work, blocks))))
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


def joined(labels: IntArray, links: IntArray) -> IntArray:
    """Return the labels of the points after joining pairs of labels, numbered by first points."""
    n = int(labels.max()) + 1
    graph = coo_array((np.ones(links.shape[1], dtype=np.int8), tuple(links)), shape=(n, n))
    parts = connected_components(graph, directed=False)[1]
    return np.asarray(parts[labels], dtype=np.int32)


def parts_of_cells(
    links: list[Any], labels: IntArray, root: FloatArray, apart: BoolArray, least: float
) -> IntArray:
    """Return the connected parts of cells (`vbdm.engines.engine.Engine.parts_of_cells`)."""
    n = len(labels)
    row, column, strength = inner_links(labels, links, root)
    tight = (strength >= least) & ~(apart[row] | apart[column])
    pairs = (np.ones(tight.sum(), dtype=np.int8), (row[tight], column[tight]))
    return np.asarray(connected_components(coo_array(pairs, shape=(n, n)), directed=False)[1])


def inner_links(
    labels: IntArray, links: list[Any], root: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the links that stay inside a cell, with their strengths |K_ij| root_i root_j."""

    def work(block: tuple[Any, int, IntArray, FloatArray]) -> tuple[IntArray, IntArray, FloatArray]:
        pointer, start, column, value = block
        count = np.diff(pointer)
        inside = np.flatnonzero(
            labels[column] == np.repeat(labels[start : start + len(count)], count)
        )
        row = np.searchsorted(pointer, inside, side="right").astype(np.int32) + (start - 1)
        column = column[inside]
        return row, column, np.abs(value[inside]) * root[row] * root[column]

    found = list(in_order(work, row_blocks(links)))
    row, column, strength = (np.concatenate(part) for part in zip(*found, strict=True))
    return row, column, strength


def row_blocks(matrices: list[Any]) -> Iterator[tuple[Any, int, IntArray, FloatArray]]:
    """Yield blocks of rows, as views: row pointer from 0, first row, columns, values."""
    for matrix in matrices:
        for rows in slices(matrix.shape[0], size=8192):
            pointer = matrix.indptr[rows.start : rows.stop + 1]
            entries = slice(pointer[0], pointer[-1])
            yield pointer - pointer[0], rows.start, matrix.indices[entries], matrix.data[entries]
