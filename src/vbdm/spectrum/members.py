"""Some of the points of a kernel, and their vectors back among those of all points.

In blocks, the members of a connected piece stay in the order that they have, and in their blocks;
blocks without members are left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, is_elsewhere
from ..graph.on_host import in_memory
from ..kernel.block_matrix import BlockMatrix
from ..kernel.pair_matrix import PairMatrix
from ..rows.block_array import BlockArray, PerBlock, Rows
from ..rows.halo import Halo
from ..rows.partition import Partition
from ..rows.sparse_blocks import SparseBlocks, arrays_of, on_csr


def blocks_of_members(partition: Partition, members: NDArray[np.intp]) -> dict[int, slice]:
    """Return which of the members, given in ascending order, are in each block that has some."""
    ends = np.searchsorted(members, partition.starts).tolist()
    return {
        block: slice(ends[block], ends[block + 1])
        for block in range(partition.n_blocks)
        if ends[block + 1] > ends[block]
    }


def matrix_of_members(matrix: BlockMatrix, members: NDArray[np.intp]) -> BlockMatrix:
    """Return the rows and columns of some points, in blocks as they are."""
    stored, whole = matrix.stored, matrix.rows
    inside = np.zeros(matrix.n_points, dtype=np.bool_)
    inside[members] = True
    number = (np.cumsum(inside) - 1).astype(np.int32)
    found, near = [], []
    blocks = blocks_of_members(whole.partition, members)
    for block in blocks:
        csr = [array.values[block] for array in stored.csr]
        kept = inside[stored.numbers(block)]
        found.append(whole.place.run(block, on_csr, (part_of_block, *csr, kept), n_results=3))
        points = stored.halo.near[block]
        near.append(number[points[inside[points]]])
    starts = np.array([0, *(part.stop for part in blocks.values())])
    rows = Rows(Partition(starts, starts), whole.place)
    data, indices, indptr = (list(handles) for handles in zip(*found, strict=True))
    left, right = (None if f is None else f[members] for f in (matrix.left, matrix.right))
    entries = SparseBlocks(rows, Halo(rows, near), data, indices, indptr)
    return BlockMatrix(entries, left, right, matrix.power, matrix.engine)


def pairs_among(matrix: PairMatrix, members: NDArray[np.intp]) -> PairMatrix:
    """Return the rows and columns of some points on a device, factors beside them as they are."""
    # A kernel on lists, which has returned pairs, is evaluated in this machine's memory.
    listed = matrix.listed[np.ix_(members, members)]
    left, right = (None if f is None else f[members] for f in (matrix.left, matrix.right))
    return replace(matrix, listed=listed, left=left, right=right)


def links_among(matrix: Any, members: NDArray[np.intp]) -> Any:
    """Return the rows and columns of some points as a SciPy matrix, in this machine's memory."""
    if isinstance(matrix, PairMatrix) and is_elsewhere(members):
        return in_memory(pairs_among(matrix, members), len(members)).merged()
    return matrix.rows_at(members)[:, members]


def part_of_block(matrix: Any, kept: NDArray[np.bool_]) -> tuple[Any, Any, Any]:
    """Return the kept rows and columns of a block, as CSR arrays."""
    part = matrix[np.flatnonzero(kept[: matrix.shape[0]])]
    return arrays_of(part[:, np.flatnonzero(kept)])


#: Members of a piece, columns in the result, columns of the piece's vectors, and these.
Placed = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], Any]


def among_all(
    labels: NDArray[np.intp],
    n_zeros: int,
    n_columns: int,
    placed: list[Placed],
    rows: Rows | None,
) -> Any:
    """Return the vectors of all points, (M, n), from those of the pieces; 0 outside each.

    `labels`, (M,), are the pieces; the first `n_zeros` columns are indicators of the first ones. If
    `rows` are given, the result lives there.
    """
    if rows is None:
        return columns_of_pieces(labels, n_zeros, n_columns, [list(part) for part in placed])
    parts: list[list[Any]] = [[] for _ in range(rows.n_blocks)]
    for members, columns, picked, vectors in placed:
        blocks = blocks_of_members(rows.partition, members)
        for order, (block, own) in enumerate(blocks.items()):
            values = vectors.handles[order] if isinstance(vectors, BlockArray) else vectors[own]
            places = members[own] - rows.partition.starts[block]
            parts[block].append([places, columns, picked, values])
    given = PerBlock([labels[own] for own in rows.partition.blocks()])
    found = rows.run(columns_of_pieces, given, n_zeros, n_columns, PerBlock(parts))[0]
    return BlockArray(rows, found, ((n_columns,), np.dtype(np.float64)))


def columns_of_pieces(
    labels: NDArray[np.intp], n_zeros: int, n_columns: int, parts: list[Any]
) -> FloatArray:
    """Return indicators of pieces and vectors of pieces, each in its columns and rows."""
    result = np.zeros((len(labels), n_columns), like=labels)
    for piece in range(n_zeros):
        result[:, piece] = labels == piece
    for places, columns, picked, vectors in parts:
        own = result[places]
        own[:, columns] = vectors[:, picked]
        result[places] = own
    return result
