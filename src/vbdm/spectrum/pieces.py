"""Connected pieces of the data: points that the kernel joins by more than rounding.

In blocks, the members of a piece stay in the order that they have, and in their blocks; blocks
without members are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..base.arrays import BoolArray, FloatArray, beside_array, is_elsewhere, to_host
from ..engines.engine import Engine
from ..errors import InputError
from ..graph.on_host import in_memory
from ..kernel.block_matrix import BlockMatrix
from ..kernel.pair_matrix import PairMatrix
from ..rows.block_array import BlockArray, PerBlock, Rows
from ..rows.place import Partition
from ..rows.sparse_blocks import (
    Halo,
    OwnAndNear,
    SparseBlocks,
    arrays_of,
    made_square,
    on_csr,
    owned,
)
from ..solvers.multilevel.cells import to_power
from ..solvers.multilevel.finest import engine_of, parts_of
from ..solvers.pencil import Pencil

#: A link with K_ij / √(D_i D_j) below this changes no digit of the solution.
ROUNDING = 1e-15
#: Links of each point that are looked at first: they join nearly all that can be joined.
FEW_LINKS = 8


@dataclass(frozen=True, eq=False)
class Pieces:
    """A partition of the points, the largest piece first."""

    #: Number of the piece of each point, (N,).
    labels: NDArray[np.intp]
    #: Number of pieces that get modes, the largest ones; the points of the others are strays.
    n_solved: int

    @property
    def n_pieces(self) -> int:
        """Number of pieces."""
        return int(self.labels.max()) + 1

    @property
    def strays(self) -> BoolArray:
        """Points outside the pieces that are solved."""
        return self.labels >= self.n_solved


def find_pieces(pencil: Pencil, components: str, smallest: int) -> Pieces:
    """Partition the points, which are linked if K joins them by more than rounding.

    `components` tells which pieces to solve ("each" or "largest"), or to refuse more than one
    ("error"). Points of pieces of fewer than `smallest` points are strays: they could not even
    measure their own density.
    """
    labels = connected_pieces(pencil)
    # Mostly there is one: a device would count a million points at one place of its memory.
    size = np.array([len(labels)]) if labels.max() == 0 else to_host(np.bincount(labels))
    if size.max() == 1 < smallest:
        # No piece would be solved: all points are strays.
        raise InputError(
            f"No two points are joined; received {len(size)} points, each a piece of its own. "
            "`epsilon` is too small: leave it out to have it chosen, or raise it."
        )
    n_solved = max(1, int((size >= smallest).sum()))
    if components == "error" and n_solved > 1:
        raise InputError(
            f"The data is not connected; received {n_solved} pieces of "
            f"{', '.join(map(str, size[:5]))} points. Raise `epsilon` or `n_neighbors`, or pass "
            "components='each' or 'largest'."
        )
    return Pieces(labels, 1 if components == "largest" else n_solved)


def connected_pieces(pencil: Pencil) -> NDArray[np.intp]:
    """Return the piece of each point, numbered from the largest; no copy of the matrix is made."""
    matrices, factor = parts_of(pencil.weights)
    scale = np.sqrt(pencil.degrees) / factor
    engine = engine_of(pencil.weights)
    labels = pieces_of(matrices[0], scale, engine)
    for matrix in matrices[1:]:
        both = to_host([labels, pieces_of(matrix, scale, engine)])
        pairs = np.tile(np.arange(len(labels)), 2), np.concatenate(both)
        labels = beside_array(joined(*pairs, len(labels)), labels)
    if labels.max() == labels.min():
        return np.zeros(len(labels), dtype=np.intp, like=labels)
    number = np.unique(labels, return_inverse=True)[1].reshape(-1)
    size = np.bincount(number)
    rank = np.empty(len(size), dtype=np.intp, like=size)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size), like=size)
    found: NDArray[np.intp] = rank[number]
    return found


def pieces_of(matrix: Any, scale: FloatArray, engine: Engine) -> NDArray[np.intp]:
    """Return a number for the piece of each point, that of another point of the piece.

    In blocks, each finds the pieces of its own and near points, and these are joined.
    """
    if not isinstance(matrix, BlockMatrix):
        return engine.pieces(matrix, scale, ROUNDING, FEW_LINKS)
    stored = matrix.stored
    given = PerBlock(OwnAndNear(stored.halo, scale))
    found = matrix.rows.place.read(stored.run(pieces_in_block, given, engine, matrix.power)[0])
    numbers = [stored.numbers(block) for block in range(matrix.rows.n_blocks)]
    first = [points[own] for points, own in zip(numbers, found, strict=True)]
    return joined(np.concatenate(numbers), np.concatenate(first), matrix.n_points)


def pieces_in_block(matrix: Any, scale: FloatArray, engine: Engine, power: int) -> NDArray[np.intp]:
    """Return the first point of the piece of each own and near point, as far as a block knows."""
    return engine.pieces(made_square(to_power(matrix, power)), owned(scale), ROUNDING, FEW_LINKS)


def joined(one: NDArray[Any], other: NDArray[Any], n: int) -> NDArray[np.intp]:
    """Return the pieces of n points that pairs of points join."""
    graph = coo_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)


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
    return replace(matrix, stored=entries, left=left, right=right)


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
