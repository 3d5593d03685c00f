"""A sparse matrix whose rows live in blocks, each a CSR matrix with columns of its own numbering.

Entries of a row stand in the order in which they stand in the whole matrix, but columns are
numbered anew: those that belong to the block come first, then those of other blocks that occur,
ascending. So each sum runs over the same numbers in the same order, whatever the blocks are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..base.arrays import FloatArray, IntArray, is_elsewhere
from .block_array import BlockArray, PerBlock, Rows, Tall, rows_of


@dataclass(frozen=True, eq=False)
class Halo:
    """The rows near each block: those of other blocks that it needs.

    Each block sends, in one array, all rows that any other block lists.
    """

    rows: Rows
    # For each block the numbers of the rows that it needs, ascending.
    near: Sequence[NDArray[np.integer]]

    @cached_property
    def sources(self) -> list[NDArray[np.intp]]:
        """For each block the blocks that its near rows are in, ascending."""
        partition = self.rows.partition
        return [np.unique(partition.block_of(near)) for near in self.near]

    @cached_property
    def sent(self) -> list[NDArray[np.intp]]:
        """For each block the rows that others need of it, ascending, counted from its first."""
        partition = self.rows.partition
        wanted = np.zeros(partition.n_rows, dtype=np.bool_)
        for near in self.near:
            wanted[near] = True
        return [np.flatnonzero(wanted[rows]) for rows in partition.blocks()]

    @cached_property
    def kept(self) -> tuple[list[Any], list[Any], list[list[int]]]:
        """Handles of `sent`, of the places of near rows in it, and how many come from each source.

        They are the same for all arrays, and are kept where the blocks are.
        """
        partition, place = self.rows.partition, self.rows.place
        position = np.zeros(partition.n_rows, dtype=np.int32)
        for rows, wanted in zip(partition.blocks(), self.sent, strict=True):
            position[rows][wanted] = np.arange(len(wanted), dtype=np.int32)
        sent = [place.keep(block, wanted) for block, wanted in enumerate(self.sent)]
        picked = [place.keep(block, position[near]) for block, near in enumerate(self.near)]
        counts = [
            np.bincount(partition.block_of(near), minlength=self.rows.n_blocks)[sources].tolist()
            for near, sources in zip(self.near, self.sources, strict=True)
        ]
        return sent, picked, counts

    def given(self, array: NDArray[Any] | BlockArray) -> tuple[Any, Any, Any, Any]:
        """Return arguments for functions of blocks that begin with `own_and_near` of these four."""
        if not isinstance(array, BlockArray):
            return PerBlock(OwnAndNear(self, array)), [], None, []
        sent, picked, counts = self.kept
        asked = {
            block: (array.handles[block], sent[block])
            for block in range(self.rows.n_blocks)
            if len(self.sent[block])
        }
        boundary = dict(zip(asked, self.rows.place.run_all(rows_of, asked), strict=True))
        parts = [[boundary[source][0] for source in sources.tolist()] for sources in self.sources]
        return array, PerBlock(parts), PerBlock(picked), PerBlock(counts)

    def with_near(self, values: NDArray[Any]) -> list[Any]:
        """Keep, for each block, its own rows of an array and the near ones; return handles."""
        place, parts = self.rows.place, OwnAndNear(self, values)
        return [place.keep(block, parts[block]) for block in range(self.rows.n_blocks)]


@dataclass(frozen=True, eq=False)
class OwnAndNear(Sequence[Any]):
    """The rows of each block of an ordinary array and those near it, made when they are asked for.

    They are arrays of their own.
    """

    halo: Halo
    values: NDArray[Any]

    def __len__(self) -> int:
        return self.halo.rows.n_blocks

    def __getitem__(self, block: Any) -> Any:
        own = self.values[self.halo.rows.partition.rows(block)]
        return np.concatenate([own, self.values[self.halo.near[block]]])


def own_and_near(
    own: NDArray[Any],
    parts: list[NDArray[Any]],
    picked: NDArray[np.int32] | None,
    counts: list[int],
) -> NDArray[Any]:
    """Return the rows of a block followed by those near it; `own` has them if `picked` is None.

    `picked` are the wanted rows of the `parts` that other blocks sent, one source after the other,
    and `counts` how many are wanted from each.
    """
    if picked is None:
        # Compiled code would be compiled anew for an array that cannot be written to.
        return np.require(own, requirements="W")
    at = len(own)
    result = np.empty((at + len(picked), *own.shape[1:]), dtype=own.dtype)
    result[:at] = own
    first = 0
    for part, count in zip(parts, counts, strict=True):
        np.take(part, picked[first : first + count], axis=0, out=result[at : at + count])
        at, first = at + count, first + count
    return result


@dataclass(frozen=True, eq=False)
class SparseBlocks:
    """A sparse matrix in blocks of rows."""

    rows: Rows
    # The columns, in as many blocks, and those of other blocks that occur in each.
    halo: Halo
    # Handles of the CSR arrays of each block.
    data: list[Any]
    indices: list[Any]
    indptr: list[Any]

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
        return list(self.rows.place.read(self.rows.run(size_and_type, PerBlock(self.data))[0]))

    def run(self, function: Callable[..., Any], *args: Any, n_results: int = 1) -> list[list[Any]]:
        """Call a function of the CSR matrix of each block; return handles as `Rows.run` does."""
        return self.rows.run(on_csr, function, *self.csr, *args, n_results=n_results)

    def applied(self, function: Callable[..., Any], f: Any, *args: Any) -> list[Any]:
        """Call a function of the CSR matrix of each block and the rows of `f` for its columns."""
        given = self.halo.given(f)
        return self.rows.run(on_csr_and_rows, function, *self.csr, *given, *args)[0]

    def numbers(self, block: int) -> NDArray[np.int32]:
        """Return the numbers of a block's columns in the whole matrix."""
        own = self.halo.rows.partition.rows(block)
        numbers = [np.arange(own.start, own.stop), self.halo.near[block]]
        return np.concatenate(numbers).astype(np.int32)

    def rows_at(self, rows: NDArray[np.intp]) -> Any:
        """Return some rows, in ascending order, as a CSR matrix with all columns."""
        partition, place = self.rows.partition, self.rows.place
        ends = np.searchsorted(rows, partition.starts)
        blocks = np.flatnonzero(np.diff(ends)).tolist()
        found = []
        for block in blocks:
            part = rows[ends[block] : ends[block + 1]] - partition.starts[block]
            csr = [array.values[block] for array in self.csr]
            found += place.run(block, on_csr, (some_rows_of, *csr, part))
        values: list[Any] = [np.empty(0, dtype=self.kinds[0][1])]
        columns: list[Any] = [np.empty(0, dtype=np.int32)]
        counts: list[Any] = [np.zeros(1, dtype=np.int32)]
        for block, (data, local, count) in zip(blocks, place.read(found), strict=True):
            values.append(data)
            columns.append(self.numbers(block)[local])
            counts.append(count)
        data = np.concatenate(values)
        short = np.int32 if len(data) < 2**31 else np.int64
        pointer = np.cumsum(np.concatenate(counts), dtype=short)
        shape = (len(rows), self.halo.rows.partition.n_rows)
        return csr_array((data, np.concatenate(columns), pointer), shape=shape)

    def fetched(self) -> Any:
        """Return the whole matrix as a CSR matrix; nothing is held twice."""
        partition, read = self.rows.partition, self.rows.place.read
        ends = np.cumsum([0, *(size for size, _ in self.kinds)])
        short = np.int32 if ends[-1] < 2**31 else np.int64
        data = np.empty(ends[-1], dtype=self.kinds[0][1])
        columns = np.empty(ends[-1], dtype=np.int32)
        pointer = np.zeros(partition.n_rows + 1, dtype=short)
        blocks = zip(read(self.data), read(self.indices), read(self.indptr), strict=True)
        for block, (values, local, starts) in enumerate(blocks):
            own, part = partition.rows(block), slice(ends[block], ends[block + 1])
            data[part], columns[part] = values, self.numbers(block)[local]
            pointer[own.start + 1 : own.stop + 1] = starts[1:] + ends[block]
        shape = (partition.n_rows, self.halo.rows.partition.n_rows)
        return csr_array((data, columns, pointer), shape=shape)


def applied(matrix: Any, function: Callable[..., Any], f: Any, *args: Any) -> Any:
    """Return what a function makes of a CSR matrix and an array with a row for each column.

    If the matrix lives in blocks, so does the result: as many rows, and as many columns as `f`.
    """
    if not isinstance(matrix, SparseBlocks):
        return function(matrix, f, *args)
    known = f.shape[1:], np.dtype(np.float64)
    return BlockArray(matrix.rows, matrix.applied(function, f, *args), known)


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


def arrays_of(matrix: Any) -> tuple[Any, Any, Any]:
    """Return the arrays of a CSR matrix."""
    return matrix.data, matrix.indices, matrix.indptr


def on_csr(
    function: Callable[..., Any], data: Any, indices: Any, indptr: Any, width: int, *args: Any
) -> Any:
    """Call a function of a CSR matrix, given by its arrays."""
    return function(csr_of(data, indices, indptr, width), *args)


def on_csr_and_rows(
    function: Callable[..., Any],
    data: Any,
    indices: Any,
    indptr: Any,
    width: int,
    own: Any,
    parts: Any,
    picked: Any,
    counts: Any,
    *args: Any,
) -> Any:
    """Call a function of a CSR matrix and of an array's own and near rows."""
    f = own_and_near(own, parts, picked, counts)
    return function(csr_of(data, indices, indptr, width), f, *args)


def some_rows_of(matrix: Any, rows: NDArray[np.intp]) -> tuple[Any, IntArray, IntArray]:
    """Return values, columns and lengths of some rows of a CSR matrix."""
    part = matrix[rows]
    return part.data, part.indices, np.diff(part.indptr)


def size_and_type(data: NDArray[Any]) -> tuple[int, np.dtype[Any]]:
    """Return the number of entries and their type."""
    return data.size, data.dtype


def made_square(matrix: Any) -> Any:
    """Return a block with an empty row for each column of another block."""
    n, width = matrix.shape
    pointer = np.concatenate([matrix.indptr, np.full(width - n, matrix.indptr[-1])])
    return csr_array((matrix.data, matrix.indices, pointer), shape=(width, width))


def owned(values: Any) -> Any:
    """Return an array that may be written to: compiled code would be compiled anew for others."""
    if values is None or is_elsewhere(values):
        return values
    return np.require(np.asarray(values), requirements="W")


def occurring(matrix: Any) -> tuple[Any, NDArray[np.intp]]:
    """Return a CSR matrix (m, M) without its empty columns, and the numbers of the others.

    Examples
    --------
    >>> small, columns = occurring(csr_array(np.array([[0.0, 2.0, 0.0, 3.0]])))
    >>> small.toarray().tolist(), columns.tolist()
    ([[2.0, 3.0]], [1, 3])
    """
    columns, place = np.unique(matrix.indices, return_inverse=True)
    arrays = matrix.data, place.reshape(-1), matrix.indptr
    return csr_array(arrays, shape=(matrix.shape[0], len(columns))), columns


def sparse_times(matrix: Any, f: Tall) -> FloatArray:
    """Return the product of a CSR matrix (m, M) with vectors (M, n), in memory."""
    if not isinstance(f, BlockArray):
        return np.asarray(matrix @ f)
    small, rows = occurring(matrix)
    return np.asarray(small @ f[rows])
