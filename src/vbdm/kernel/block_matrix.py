"""A symmetric matrix on pairs of points whose rows live in blocks.

It has the methods of `vbdm.kernel.pair_matrix.PairMatrix`, for pairs within reach. Products have
the same bits, whatever the blocks (`vbdm.rows.sparse_blocks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from ..base.arrays import FloatArray
from ..base.memory import refuse_merging
from ..engines.engine import Engine
from ..rows.block_array import BlockArray, PerBlock, Rows, Tall
from ..rows.sparse_blocks import Halo, SparseBlocks, owned, with_local_columns
from .pair_matrix import Factored, PairMatrix, power_of


@dataclass(frozen=True, eq=False)
class BlockMatrix(Factored):
    """The matrix diag(left) · stored · diag(right), in the order inside."""

    stored: SparseBlocks  # one number per pair within reach; zeros are left out

    @classmethod
    def of_blocks(
        cls,
        rows: Rows,
        data: list[Any],
        indices: list[Any],
        indptr: list[Any],
        near: Sequence[NDArray[np.integer]],
        engine: Engine,
    ) -> BlockMatrix:
        """Return the matrix of CSR arrays that are in their places, given by handles.

        `near` are the points of other blocks that occur in each (`with_local_columns`).
        """
        return cls(SparseBlocks(rows, Halo(rows, near), data, indices, indptr), engine=engine)

    @classmethod
    def cut(cls, matrix: PairMatrix, rows: Rows) -> BlockMatrix:
        """Cut a symmetric matrix in memory into blocks; its factors and power stay as they are."""
        listed, keep = matrix.listed, rows.place.keep
        data, indices, indptr, all_near = [], [], [], []
        for block, own in enumerate(rows.partition.blocks()):
            pointer = listed.indptr[own.start : own.stop + 1]
            entries = slice(int(pointer[0]), int(pointer[-1]))
            columns, near = with_local_columns(listed.indices[entries], own)
            data.append(keep(block, listed.data[entries].copy()))
            indices.append(keep(block, columns))
            indptr.append(keep(block, pointer - pointer[0]))
            all_near.append(near)
        found = cls.of_blocks(rows, data, indices, indptr, all_near, matrix.engine)
        return replace(found, left=matrix.left, right=matrix.right, power=matrix.power)

    @property
    def rows(self) -> Rows:
        """Where the rows live."""
        return self.stored.rows

    @property
    def n_points(self) -> int:
        """Number M of rows."""
        return self.rows.partition.n_rows

    @property
    def nnz(self) -> int:
        """Number of stored pairs."""
        return sum(size for size, _ in self.stored.kinds)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the stored numbers."""
        return self.stored.kinds[0][1]

    @cached_property
    def factors(self) -> tuple[PerBlock | None, PerBlock | None]:
        """The factors of rows, and of columns, where the blocks are."""
        left = None if self.left is None else PerBlock(self.rows.spread(self.left).handles)
        right = None if self.right is None else PerBlock(self.stored.halo.with_near(self.right))
        return left, right

    def product(self, f: Tall, power: int = 1) -> Any:
        """Return the product with vectors (M,) or (M, m), all entries raised to a power first."""
        return self.multiplied(f, power)

    def subtracted_from(self, diagonal: Tall, block: Tall, out: Any = None) -> Any:
        """Return (diag(diagonal) - self) times vectors (M, m), in one pass.

        `out` takes the result only where both are ordinary arrays.
        """
        spread = diagonal if isinstance(diagonal, BlockArray) else self.rows.spread(diagonal)
        return self.multiplied(block, diagonal=spread, out=out)

    def multiplied(
        self,
        f: Tall,
        power: int = 1,
        diagonal: BlockArray | None = None,
        out: FloatArray | None = None,
    ) -> Any:
        """Return a product as a block array if `f` is one, else as an ordinary one."""
        handles = self.stored.applied(
            product_of_rows, f, self.engine, *self.factors, self.power, power, diagonal
        )
        if isinstance(f, BlockArray):
            return BlockArray(self.rows, handles, (f.kind[0], np.dtype(np.float64)))
        result = np.empty(f.shape) if out is None else out
        self.read_into(result, handles)
        return result

    def read_into(self, result: NDArray[Any], handles: list[Any]) -> None:
        """Write the rows of all blocks into an ordinary array."""
        values = self.rows.place.read(handles)
        for rows, block in zip(self.rows.partition.blocks(), values, strict=True):
            result[rows] = block

    def pairs_per_row(self) -> NDArray[np.intp]:
        """Return the number of stored pairs of each row with other points, (M,)."""
        count = np.empty(self.n_points, dtype=np.intp)
        self.read_into(count, self.stored.run(pairs_of_rows)[0])
        return count

    def diagonal(self) -> FloatArray:
        """Return the diagonal, (M,)."""
        found = np.empty(self.n_points)
        self.read_into(found, self.stored.run(diagonal_of_rows, self.power)[0])
        return self.on_diagonal(found)

    def merged(self) -> Any:
        """Return one canonical CSR matrix in the order inside: all blocks are fetched.

        They are refused if they would not fit into memory.
        """
        refuse_merging(self.nnz)
        return csr_array(self.rows_at(np.arange(self.n_points)))

    def rows_at(self, rows: NDArray[np.intp]) -> Any:
        """Return some rows, in any order, as a CSR matrix with all factors multiplied in."""
        wanted, place = np.unique(rows, return_inverse=True)
        found = self.stored.rows_at(wanted)
        if self.power != 1:
            found = found.astype(np.float64).power(self.power)
        left = np.ones(len(rows)) if self.left is None else self.left[rows]
        right = np.ones(self.n_points) if self.right is None else self.right
        return diags_array(left) @ found[place.reshape(-1)] @ diags_array(right)


def product_of_rows(
    matrix: Any,
    f: FloatArray,
    engine: Engine,
    left: FloatArray | None,
    right: FloatArray | None,
    stored_power: int,
    power: int,
    diagonal: FloatArray | None,
) -> FloatArray:
    """Return the rows of a block of a product, or of what is left of a diagonal without it."""
    block = np.ascontiguousarray(f.reshape(len(f), -1), dtype=np.float64)
    factors = power_of(owned(left), power), power_of(owned(right), power)
    result = engine.multiply(matrix, block, *factors, stored_power * power, owned(diagonal))
    return result.reshape(-1, *f.shape[1:])


def pairs_of_rows(matrix: Any) -> NDArray[np.intp]:
    """Return the number of pairs with other points of each row of a block."""
    return np.asarray(np.diff(matrix.indptr) - (matrix.diagonal() != 0), dtype=np.intp)


def diagonal_of_rows(matrix: Any, power: int) -> FloatArray:
    """Return the diagonal of a block, entries raised to a power."""
    return np.asarray(matrix.diagonal(), dtype=np.float64) ** power
