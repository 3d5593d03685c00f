"""A sparse matrix on the device: three arrays, and what rooms use of SciPy's matrices.

CuPy's own sparse matrices would not do: their products take milliseconds even if they are small,
fail where most rows are empty, and sum up in an order that is not said. A row of a result is made
by one warp; where its entries are not known, twice: they are counted, then written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from ...base.arrays import contiguous, filled, row_pointer
from .device import WARP, Device, device_of

#: Warps that multiply at the same time, and the most bytes of all their tables; fewer, if few are
#: free.
WORKERS, TABLE_BYTES = 1 << 13, 1 << 29
#: Bytes of a table up to which it lies in the fast memory of a warp.
FAST_TABLE = 12 << 10


@dataclass(eq=False)
class DeviceCsr:
    """A CSR matrix whose arrays live on a device; a row has no column twice.

    The arrays are those of SciPy's matrix; row pointers have 64 bits, indices have 32.
    """

    data: Any
    indices: Any
    indptr: Any
    shape: tuple[int, int]
    # Whether the columns of rows are known to ascend.
    is_sorted: bool = False

    def __post_init__(self) -> None:
        """Bring indices and row pointers into the types that kernels take."""
        self.indices = self.indices.astype(np.int32, copy=False)
        self.indptr = self.indptr.astype(np.int64, copy=False)

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return len(self.data)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the stored numbers."""
        kind: np.dtype[Any] = self.data.dtype
        return kind

    @property
    def device(self) -> Device:
        """Where the arrays live."""
        return device_of(self.data)

    @property
    def row_numbers(self) -> Any:
        """The row of each entry."""
        result = self.device.empty(self.nnz, np.int32)
        self.on_rows("number_rows", result)
        return result

    def get(self) -> csr_array:
        """Return SciPy's matrix of the same entries, in this machine's memory."""
        # SciPy would copy all indices into the type of the row pointers.
        short = np.int32 if self.nnz < 2**31 else np.int64
        arrays = self.data.get(), self.indices.get(), self.indptr.get().astype(short, copy=False)
        return csr_array(arrays, shape=self.shape)

    def toarray(self) -> Any:
        """Return the matrix as a dense array on the device."""
        result = np.zeros(self.shape, dtype=self.dtype, like=self.data)
        result[self.row_numbers, self.indices] = self.data
        return result

    # ---- the same pattern ----

    def with_data(self, data: Any) -> DeviceCsr:
        """Return a matrix with other numbers at the same places."""
        return DeviceCsr(data, self.indices, self.indptr, self.shape, self.is_sorted)

    def astype(self, kind: DTypeLike, copy: bool = True) -> DeviceCsr:
        """Return the matrix with numbers of another type."""
        return self.with_data(self.data.astype(kind, copy=copy))

    def power(self, exponent: int) -> DeviceCsr:
        """Return the matrix with its entries raised to a power."""
        return self.with_data(self.data**exponent)

    def __neg__(self) -> DeviceCsr:
        return self.with_data(-self.data)

    def __abs__(self) -> DeviceCsr:
        return self.with_data(np.abs(self.data))

    def scaled(self, left: Any = None, right: Any = None) -> DeviceCsr:
        """Return diag(left) · matrix · diag(right) in double precision; None counts as 1."""
        data = self.device.empty(self.nnz)
        self.on_rows("scale", left, right, data)
        return self.with_data(data)

    def diagonal(self) -> Any:
        """Return the diagonal in double precision."""
        result = self.device.empty(min(self.shape))
        self.on_rows("diagonal", result, n_rows=len(result))
        return result

    def sum(self, axis: Literal[1]) -> Any:
        """Return the sums of rows."""
        return self @ filled(self.shape[1], 1.0, self.data)

    # ---- other patterns ----

    @property
    def T(self) -> DeviceCsr:
        """The transpose: entries sorted by their columns, rows in the order that they have."""
        order = np.argsort(self.indices, kind="stable")
        columns = np.arange(self.shape[1] + 1, dtype=np.int32, like=self.indices)
        pointer = np.searchsorted(self.indices[order], columns)
        shape = self.shape[1], self.shape[0]
        rows = self.row_numbers[order]
        return DeviceCsr(self.data[order], rows, pointer, shape, is_sorted=True)

    def eliminate_zeros(self) -> None:
        """Drop entries that are zero, in place."""
        found = self.only(self.data != 0)
        self.data, self.indices, self.indptr = found.data, found.indices, found.indptr

    def sort_indices(self) -> None:
        """Bring the columns of each row into ascending order; other matrices may share the old."""
        if not self.ascends:
            self.data, self.indices = self.data.copy(), self.indices.copy()
            self.on_rows("sort_rows")
            self.is_sorted = True

    @property
    def ascends(self) -> bool:
        """Whether the columns of all rows ascend."""
        if not self.is_sorted:
            descends = np.zeros(1, dtype=np.int32, like=self.data)
            self.on_rows("find_descent", descends)
            self.is_sorted = not int(descends[0])
        return self.is_sorted

    def only(self, wanted: Any) -> DeviceCsr:
        """Return the matrix with some of its entries, marked in a boolean array."""
        before = np.zeros(self.nnz + 1, dtype=np.int64, like=self.data)
        before[1:] = np.cumsum(wanted, dtype=np.int64)
        return DeviceCsr(
            self.data[wanted], self.indices[wanted], before[self.indptr], self.shape, self.is_sorted
        )

    def __getitem__(self, key: Any) -> DeviceCsr:
        """Return rows, ``[rows]``, columns, ``[:, columns]``, or ``[np.ix_(rows, columns)]``."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if (
            isinstance(columns, slice)
            and columns == slice(None)
            and isinstance(rows, slice)
            and rows.step in (None, 1)
        ):
            return self.rows_in(rows)
        return self.taken(self.numbers(rows, 0), self.numbers(columns, 1))

    def rows_in(self, rows: slice) -> DeviceCsr:
        """Return consecutive rows; entries are not copied."""
        first, last, _ = rows.indices(self.shape[0])
        last = max(first, last)
        begin, end = int(self.indptr[first]), int(self.indptr[last])
        return DeviceCsr(
            self.data[begin:end], self.indices[begin:end], self.indptr[first : last + 1] - begin,
            (last - first, self.shape[1]), self.is_sorted,
        )  # fmt: skip

    def taken(self, rows: Any, columns: Any) -> DeviceCsr:
        """Return rows with these numbers, in any order, and of them these columns."""
        place = filled(self.shape[1], -1, self.data, np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32, like=self.data)
        counts = self.device.empty(len(rows), np.int64)
        self.on_rows("count_taken", rows, place, counts, n_rows=len(rows))
        pointer = row_pointer(counts)
        total = int(pointer[-1])
        data, indices = self.device.empty(total, self.dtype), self.device.empty(total, np.int32)
        self.on_rows("take", rows, place, pointer, indices, data, n_rows=len(rows))
        result = DeviceCsr(data, indices, pointer, (len(rows), len(columns)))
        result.sort_indices()
        return result

    def numbers(self, chosen: Any, axis: int) -> Any:
        """Return the numbers of the chosen rows or columns, on the device."""
        n = self.shape[axis]
        if isinstance(chosen, slice):
            return np.arange(*chosen.indices(n), dtype=np.int64, like=self.data)
        chosen = self.device.array(chosen).reshape(-1)
        if chosen.dtype == np.bool_:
            return np.flatnonzero(chosen)
        chosen = chosen.astype(np.int64, copy=False)
        return np.where(chosen < 0, chosen + n, chosen)

    # ---- differences and products ----

    def __sub__(self, other: DeviceCsr) -> DeviceCsr:
        self.sort_indices()
        other.sort_indices()
        counts = self.device.empty(self.shape[0], np.int64)
        self.on_rows("count_sum", *as_other(other), counts)
        columns, values, pointer = room_for(self.device, counts)
        self.on_rows("add", *as_other(other), -1.0, pointer, columns, values)
        return DeviceCsr(values, columns, pointer, self.shape, is_sorted=True)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, DeviceCsr):
            return self.times(other)
        block = other.reshape(len(other), -1).astype(np.float64, copy=False)
        return product(self, contiguous(block)).reshape(-1, *other.shape[1:])

    def times(self, other: DeviceCsr) -> DeviceCsr:
        """Return the product with another matrix.

        Each warp has a table of the columns that it met in its row, with room for twice as many as
        can occur. They are few where cells of neighbours are joined, and the tables small.
        """
        counts = self.device.empty(self.shape[0], np.int64)
        self.on_rows("count_products", other.indptr, counts)
        most = min(largest(counts), other.shape[1])
        with_tables(self, other, "count_columns", most, counts)
        columns, values, pointer = room_for(self.device, counts)
        with_tables(self, other, "multiply_rows", largest(counts), pointer, columns, values)
        shape = self.shape[0], other.shape[1]
        return DeviceCsr(values, columns, pointer, shape, is_sorted=True)

    def on_rows(
        self, kernel: str, *args: Any,
        n_rows: int | None = None, n_warps: int | None = None, shared_bytes: int = 0,
    ) -> None:  # fmt: skip
        """Run a kernel on this matrix, or on some rows, a warp per row or as many as are named."""
        n = self.shape[0] if n_rows is None else n_rows
        self.device.launch(
            "rows", kernel, n if n_warps is None else n_warps, n, self.indptr, self.indices,
            self.data, *args, columns=8 * self.data.itemsize, per_warp=True,
            shared_bytes=shared_bytes,
        )  # fmt: skip


def product(
    matrix: Any,
    block: Any,
    left: Any = None,
    right: Any = None,
    power: int = 1,
    diagonal: Any = None,
    out: Any = None,
    *,
    added: Any = None,
    divisor: Any = None,
) -> Any:
    """Return diag(left) · matrix^power · diag(right) · block, (N, m), or what follows from it.

    With a `diagonal` it is subtracted from that times the block; with `added` and `divisor` it is
    (product + added) / divisor. Sums run along the row in an order that depends on m alone.
    """
    n, m = matrix.shape[0], block.shape[1]
    fits = out is not None and out.flags.c_contiguous and out.dtype == np.float64
    result = out if fits else matrix.device.empty((n, m))
    if m > 0:
        matrix.on_rows(
            "multiply", np.int32(m), np.int32(lanes_for(m)), np.int32(power), block, left, right,
            diagonal, added, divisor, result,
        )  # fmt: skip
    if out is None or fits:
        return result
    out[...] = result
    return out


def lanes_for(n_columns: int) -> int:
    """Return how many lanes of a warp share the columns; the others share the entries of the row.

    Examples
    --------
    >>> lanes_for(1), lanes_for(12), lanes_for(150)
    (1, 16, 32)
    """
    lanes = 1
    while lanes < min(n_columns, WARP):
        lanes *= 2
    return lanes


def with_tables(a: Any, b: Any, kernel: str, most: int, *args: Any) -> None:
    """Run a kernel on the rows of a product that have at most so many columns."""
    bits = max(4, (2 * most).bit_length())
    is_fast = 12 << bits <= FAST_TABLE
    workers = min(a.shape[0], WORKERS)
    if not is_fast:
        workers = min(workers, min(TABLE_BYTES, a.device.free_bytes() // 4) // (12 << bits))
    workers = max(1, workers)
    tables = None if is_fast else a.device.empty((workers, 3 << bits), np.int32)
    lanes = lanes_for(max(1, b.nnz // max(1, b.shape[0])))
    a.on_rows(
        kernel, *as_other(b), workers, np.int32(lanes), np.int32(bits), tables, *args,
        n_warps=workers, shared_bytes=12 << bits if is_fast else 0,
    )  # fmt: skip


def largest(counts: Any) -> int:
    """Return the largest of some numbers; 0 if there are none."""
    return int(counts.max()) if len(counts) else 0


def as_other(b: Any) -> tuple[Any, ...]:
    """Return a second matrix as kernels take it: its numbers are of one of two types."""
    both = (b.data, None) if b.dtype == np.float32 else (None, b.data)
    return b.indptr, b.indices, *both


def room_for(device: Any, counts: Any) -> tuple[Any, Any, Any]:
    """Return columns and values, not set yet, and row pointers, for rows of these lengths."""
    pointer = row_pointer(counts)
    total = int(pointer[-1])
    return device.empty(total, np.int32), device.empty(total), pointer
