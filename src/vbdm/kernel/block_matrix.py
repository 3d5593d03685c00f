"""A symmetric matrix on pairs of points whose rows live in blocks.

It has the methods of `vbdm.kernel.pair_matrix.PairMatrix`, for pairs within reach. Each block holds
the rows of its points as one CSR matrix. Entries of a row stand in the order of the points' numbers
but columns are numbered anew: the block's own points come first, then those of other blocks that
occur, ascending. So each sum runs over the same numbers in the same order, whatever the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from ..base.arrays import FloatArray, IntArray
from ..engines.engine import Engine
from ..engines.scipy_engine import ScipyEngine
from ..rows.block_array import BlockArray, PerBlock, Rows, Tall
from ..rows.halo import Halo, own_and_near
from .pair_matrix import PairMatrix, in_factors, power_of


@dataclass(frozen=True, eq=False)
class StoredBlocks:
    """The entries, shared by all matrices that differ by factors or powers.

    Attributes
    ----------
    data, indices, indptr : lists
        Handles of the CSR arrays of each block.
    halo : Halo
        The points of other blocks that occur in each.
    """

    data: list[Any]
    indices: list[Any]
    indptr: list[Any]
    halo: Halo

    @property
    def csr(self) -> tuple[PerBlock, PerBlock, PerBlock, PerBlock]:
        """CSR arrays and number of columns, as arguments for functions of blocks."""
        own = np.diff(self.halo.rows.partition.starts)
        widths = [int(n) + len(near) for n, near in zip(own, self.halo.near, strict=True)]
        arrays = PerBlock(self.data), PerBlock(self.indices), PerBlock(self.indptr)
        return *arrays, PerBlock(widths)

    @cached_property
    def kinds(self) -> list[tuple[int, np.dtype[Any]]]:
        """Number of entries of each block, and their type."""
        rows = self.halo.rows
        return list(rows.place.read(rows.run(size_and_type, PerBlock(self.data))[0]))


@dataclass(frozen=True, eq=False)
class BlockMatrix:
    """The matrix diag(left) · stored · diag(right), in the order inside.

    Attributes
    ----------
    stored : StoredBlocks
        One number per pair within reach; zeros are left out.
    left, right : (M,) arrays or None
        Factors of rows and columns; None if they are 1.
    power : int
        Power to which the stored numbers are raised when they are used.
    engine : Engine
        Who multiplies.
    """

    stored: StoredBlocks
    left: FloatArray | None = None
    right: FloatArray | None = None
    power: int = 1
    engine: Engine = field(default_factory=ScipyEngine)

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
        return cls(StoredBlocks(data, indices, indptr, Halo(rows, near)), engine=engine)

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
        return self.stored.halo.rows

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

    @property
    def factor(self) -> FloatArray:
        """The common factor of rows and columns, (M,), where left and right are equal."""
        return np.ones(self.n_points) if self.left is None else self.left

    @cached_property
    def factors(self) -> tuple[PerBlock | None, PerBlock | None]:
        """The factors of rows, and of columns, where the blocks are."""
        left = None if self.left is None else PerBlock(self.rows.spread(self.left).handles)
        right = None if self.right is None else PerBlock(self.stored.halo.with_near(self.right))
        return left, right

    def __matmul__(self, f: Tall) -> Any:
        """Return the product with one vector (M,) or several (M, m)."""
        return self.product(f)

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
        handles = self.rows.run(
            block_product, self.engine, *self.stored.csr, *self.factors, self.power, power,
            diagonal, *self.stored.halo.given(f),
        )[0]  # fmt: skip
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

    def row_sums(self, power: int = 1) -> FloatArray:
        """Return the sum of each row, (M,), all entries raised to a power first."""
        return np.asarray(self.product(np.ones(self.n_points), power))

    def pairs_per_row(self) -> NDArray[np.intp]:
        """Return the number of stored pairs of each row with other points, (M,)."""
        count = np.empty(self.n_points, dtype=np.intp)
        self.read_into(count, self.rows.run(block_pairs, *self.stored.csr)[0])
        return count

    def diagonal(self) -> FloatArray:
        """Return the diagonal, (M,)."""
        found = np.empty(self.n_points)
        self.read_into(found, self.rows.run(block_diagonal, *self.stored.csr, self.power)[0])
        return in_factors(self, found)

    def scaled(self, left: FloatArray, right: FloatArray) -> BlockMatrix:
        """Return diag(left) · self · diag(right); the entries are shared, not copied."""
        return replace(
            self,
            left=left if self.left is None else left * self.left,
            right=right if self.right is None else right * self.right,
        )

    def squared(self) -> BlockMatrix:
        """Return the matrix with stored entries squared, factors as they are; nothing is copied."""
        return replace(self, power=2 * self.power)

    def merged(self) -> Any:
        """Return one canonical CSR matrix in the order inside: all blocks are fetched."""
        return csr_array(self.rows_at(np.arange(self.n_points)))

    def rows_at(self, rows: NDArray[np.intp]) -> Any:
        """Return some rows, in any order, as a CSR matrix with all factors multiplied in."""
        partition, place, near = self.rows.partition, self.rows.place, self.stored.halo.near
        order = np.argsort(rows, kind="stable")
        wanted = rows[order]
        ends = np.searchsorted(wanted, partition.starts)
        blocks = np.flatnonzero(np.diff(ends)).tolist()
        found = []
        for block in blocks:
            part = wanted[ends[block] : ends[block + 1]] - partition.starts[block]
            csr = [array.values[block] for array in self.stored.csr]
            found += place.run(block, some_rows_of, (*csr, part))
        values: list[Any] = [np.empty(0, dtype=self.dtype)]
        columns: list[Any] = [np.empty(0, dtype=np.int32)]
        counts: list[Any] = [np.zeros(1, dtype=np.int32)]
        for block, (data, local, count) in zip(blocks, place.read(found), strict=True):
            own = partition.rows(block)
            number = np.concatenate([np.arange(own.start, own.stop), near[block]])
            values.append(data)
            columns.append(number[local].astype(np.int32))
            counts.append(count)
        data = np.concatenate(values).astype(np.float64) ** self.power
        pointer = np.cumsum(np.concatenate(counts), dtype=np.int32 if len(data) < 2**31 else None)
        shape = (len(rows), self.n_points)
        sorted_rows = csr_array((data, np.concatenate(columns), pointer), shape=shape)
        back = np.empty(len(rows), dtype=np.intp)
        back[order] = np.arange(len(rows))
        left = np.ones(len(rows)) if self.left is None else self.left[rows]
        right = np.ones(self.n_points) if self.right is None else self.right
        return diags_array(left) @ sorted_rows[back] @ diags_array(right)


def with_local_columns(
    columns: NDArray[np.integer], rows: slice
) -> tuple[IntArray, NDArray[np.int32]]:
    """Give columns new numbers for a block of rows; return them, and the near points that occur.

    The block's own points get 0, ..., n - 1, the others numbers from n on, in ascending order.

    Examples
    --------
    >>> columns, near = with_local_columns(np.array([3, 10, 11, 40, 3]), slice(10, 12))
    >>> columns.tolist(), near.tolist()
    ([2, 0, 1, 3, 2], [3, 40])
    """
    own = (columns >= rows.start) & (columns < rows.stop)
    near, place = np.unique(columns[~own], return_inverse=True)
    local = columns.astype(np.int32) - np.int32(rows.start)
    local[~own] = place.reshape(-1) + (rows.stop - rows.start)
    return local, near.astype(np.int32)


def csr_of(data: Any, indices: Any, indptr: Any, width: int) -> Any:
    """Return the CSR matrix of arrays that may be mapped from a file; nothing is copied."""
    arrays = tuple(np.asarray(array) for array in (data, indices, indptr))
    return csr_array(arrays, shape=(len(indptr) - 1, width))


def block_product(
    engine: Engine,
    data: Any,
    indices: Any,
    indptr: Any,
    width: int,
    left: FloatArray | None,
    right: FloatArray | None,
    stored_power: int,
    power: int,
    diagonal: FloatArray | None,
    *own_then_near: Any,
) -> FloatArray:
    """Return the rows of a block of a product, or of what is left of a diagonal without it."""
    f = own_and_near(*own_then_near)
    block = np.ascontiguousarray(f.reshape(len(f), -1), dtype=np.float64)
    matrix = csr_of(data, indices, indptr, width)
    factors = power_of(owned(left), power), power_of(owned(right), power)
    result = engine.multiply(matrix, block, *factors, stored_power * power, owned(diagonal))
    return result.reshape(-1, *f.shape[1:])


def owned(factor: FloatArray | None) -> FloatArray | None:
    """Return an array that may be written to: compiled code would be compiled anew for others."""
    return None if factor is None else np.require(np.asarray(factor), requirements="W")


def block_pairs(data: Any, indices: Any, indptr: Any, width: int) -> NDArray[np.intp]:
    """Return the number of pairs with other points of each row of a block."""
    matrix = csr_of(data, indices, indptr, width)
    return np.asarray(np.diff(matrix.indptr) - (matrix.diagonal() != 0), dtype=np.intp)


def block_diagonal(data: Any, indices: Any, indptr: Any, width: int, power: int) -> FloatArray:
    """Return the diagonal of a block, entries raised to a power."""
    found = csr_of(data, indices, indptr, width).diagonal()
    return np.asarray(found, dtype=np.float64) ** power


def some_rows_of(
    data: Any, indices: Any, indptr: Any, width: int, rows: NDArray[np.intp]
) -> tuple[Any, IntArray, IntArray]:
    """Return values, local columns and lengths of some rows of a block."""
    part = csr_of(data, indices, indptr, width)[rows]
    return part.data, part.indices, np.diff(part.indptr)


def size_and_type(data: NDArray[Any]) -> tuple[int, np.dtype[Any]]:
    """Return the number of entries and their type."""
    return data.size, data.dtype
