"""A sparse matrix on the device: three arrays, and what rooms use of SciPy's matrices.

CuPy's sparse matrices have 32-bit row pointers, and scaling one of them by a diagonal takes longer
than a product with ten vectors. So the matrix is ours, and CuPy's library is asked for what it does
well: products, sums and transposes, in pieces of rows where all would be too much for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from ...base.arrays import contiguous, filled
from .device import CsrArrays, Device, device_of
from .products import product


@dataclass(eq=False)
class DeviceCsr:
    """A CSR matrix whose arrays live on a device; a row has no column twice.

    Attributes
    ----------
    data, indices, indptr : arrays
        As of SciPy's matrix. Row pointers have 64 bits, indices have 32.
    shape : tuple of int
        Numbers of rows and columns.
    """

    data: Any
    indices: Any
    indptr: Any
    shape: tuple[int, int]

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
    def arrays(self) -> CsrArrays:
        """Arrays and shape, as a device's library takes them."""
        return self.data, self.indices, self.indptr, self.shape

    @property
    def lengths(self) -> Any:
        """Number of entries of each row."""
        return np.diff(self.indptr)

    @property
    def row_numbers(self) -> Any:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int32, like=self.data), self.lengths)

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
        return DeviceCsr(data, self.indices, self.indptr, self.shape)

    def copy(self) -> DeviceCsr:
        """Return a matrix whose numbers can be changed without changing these."""
        return self.with_data(self.data.copy())

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

    def __mul__(self, number: float) -> DeviceCsr:
        return self.with_data(self.data * number)

    __rmul__ = __mul__

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

    def sum(self, axis: int | None = None) -> Any:
        """Return the sums of rows (axis 1) or of columns (axis 0), or that of all entries."""
        if axis is None:
            return self.data.sum()
        if axis == 0:
            return self.T.sum(axis=1)
        return self @ filled(self.shape[1], 1.0, self.data)

    # ---- other patterns ----

    @property
    def T(self) -> DeviceCsr:
        """The transpose."""
        return DeviceCsr(*self.device.transposed(self.arrays))

    def eliminate_zeros(self) -> None:
        """Drop entries that are zero, in place."""
        found = self.only(self.data != 0)
        self.data, self.indices, self.indptr = found.data, found.indices, found.indptr

    def sort_indices(self) -> None:
        """Bring the columns of each row into ascending order, in place."""
        self.on_rows("sort_rows")

    sum_duplicates = sort_indices

    def only(self, wanted: Any) -> DeviceCsr:
        """Return the matrix with some of its entries, marked in a boolean array."""
        before = np.zeros(self.nnz + 1, dtype=np.int64, like=self.data)
        before[1:] = np.cumsum(wanted, dtype=np.int64)
        return DeviceCsr(self.data[wanted], self.indices[wanted], before[self.indptr], self.shape)

    def __getitem__(self, key: Any) -> DeviceCsr:
        if not isinstance(key, tuple):
            return self.rows_in(key) if isinstance(key, slice) else self.rows_at(key)
        rows, columns = key
        found = self if is_all(rows) else self[rows]
        return found if is_all(columns) else found.columns_at(columns)

    def rows_in(self, rows: slice) -> DeviceCsr:
        """Return consecutive rows; entries are not copied."""
        first, last, step = rows.indices(self.shape[0])
        if step != 1:
            return self.rows_at(np.arange(first, last, step))
        last = max(first, last)
        begin, end = int(self.indptr[first]), int(self.indptr[last])
        return DeviceCsr(
            self.data[begin:end], self.indices[begin:end], self.indptr[first : last + 1] - begin,
            (last - first, self.shape[1]),
        )  # fmt: skip

    def rows_at(self, rows: Any) -> DeviceCsr:
        """Return rows with these numbers, in any order."""
        rows = self.numbers(rows, self.shape[0])
        pointer = pointers(self.indptr[rows + 1] - self.indptr[rows])
        n_entries = int(pointer[-1])
        data = self.device.empty(n_entries, self.dtype)
        indices = self.device.empty(n_entries, np.int32)
        self.on_rows("take_rows", rows, pointer, indices, data, n_rows=len(rows))
        return DeviceCsr(data, indices, pointer, (len(rows), self.shape[1]))

    def columns_at(self, columns: Any) -> DeviceCsr:
        """Return columns with these numbers, in any order."""
        columns = self.numbers(columns, self.shape[1])
        place = filled(self.shape[1], -1, self.data, np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32, like=self.data)
        local = place[self.indices]
        every = DeviceCsr(self.data, local, self.indptr, (self.shape[0], len(columns)))
        found = every.only(local >= 0)
        found.sort_indices()
        return found

    def numbers(self, chosen: Any, n: int) -> Any:
        """Return whole numbers on the device; of a boolean array, the places where it is true."""
        chosen = self.device.array(chosen)
        if chosen.dtype == np.bool_:
            return np.flatnonzero(chosen)
        chosen = chosen.astype(np.int64, copy=False)
        return np.where(chosen < 0, chosen + n, chosen)

    # ---- sums and products ----

    def __add__(self, other: Any) -> DeviceCsr:
        if isinstance(other, int | float) and other == 0:
            return self
        return sparse_sum(self, other) if isinstance(other, DeviceCsr) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: DeviceCsr) -> DeviceCsr:
        return self + -other

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, DeviceCsr):
            return sparse_product(self, other)
        block = other.reshape(len(other), -1).astype(np.float64, copy=False)
        return product(self, contiguous(block)).reshape(-1, *other.shape[1:])

    def on_rows(self, kernel: str, *args: Any, n_rows: int | None = None) -> None:
        """Run a kernel on this matrix, a warp per row."""
        n = self.shape[0] if n_rows is None else n_rows
        self.device.launch(
            "rows", kernel, n, n, self.indptr, self.indices, self.data, *args,
            columns=8 * self.data.itemsize, per_warp=True,
        )  # fmt: skip


#: The most entries that a device's library counts.
MOST = 2**31 - 1
#: Bytes that its product of two matrices may take for each product of two entries.
BYTES_PER_PRODUCT = 64


def sparse_product(a: DeviceCsr, b: DeviceCsr) -> DeviceCsr:
    """Return the product of two sparse matrices, in pieces of rows if it is large."""
    shape, n = (a.shape[0], b.shape[1]), a.shape[0]
    if a.nnz == 0 or b.nnz == 0:
        nothing = np.zeros(0, dtype=np.result_type(a.dtype, b.dtype), like=a.data)
        return DeviceCsr(nothing, nothing.astype(np.int32), 0 * a.indptr, shape)
    # The library fails on matrices with hardly an entry in a row: these rows are left out.
    if a.nnz < n // 2:
        used = np.flatnonzero(a.lengths)
        return spread(sparse_product(a[used], b), used, n)
    if b.nnz < b.shape[0] // 2:
        used = np.flatnonzero(b.lengths)
        return sparse_product(a[:, used], b[used])
    counts = a.device.empty(n, np.int64)
    a.on_rows("count_products", b.indptr, counts)
    most = min(MOST, a.device.free_bytes() // BYTES_PER_PRODUCT)
    if n == 1 or (max(a.nnz, b.nnz) <= MOST and int(counts.sum()) <= most):
        return DeviceCsr(*a.device.sparse_product(a.arrays, b.arrays))
    return stacked([sparse_product(*trimmed(part, b)) for part in halves(a)])


def sparse_sum(a: DeviceCsr, b: DeviceCsr) -> DeviceCsr:
    """Return the sum of two sparse matrices, in pieces of rows if it is large."""
    if a.shape[0] == 1 or a.nnz + b.nnz <= MOST:
        kind = np.result_type(a.dtype, b.dtype)
        given = a.astype(kind, copy=False).arrays, b.astype(kind, copy=False).arrays
        return DeviceCsr(*a.device.sparse_sum(*given))
    return stacked([sparse_sum(*parts) for parts in zip(halves(a), halves(b), strict=True)])


def halves(a: DeviceCsr) -> list[DeviceCsr]:
    """Return the upper and the lower half of a matrix; entries are not copied."""
    middle = a.shape[0] // 2
    return [a[:middle], a[middle:]]


def trimmed(a: DeviceCsr, b: DeviceCsr) -> tuple[DeviceCsr, DeviceCsr]:
    """Return two factors without the rows of the second, before and after all, that play no role.

    If a holds the links of some points that stand together, few rows of b are left.
    """
    if a.nnz == 0:
        return a, b
    first, last = int(a.indices.min()), int(a.indices.max()) + 1
    own = DeviceCsr(a.data, a.indices - np.int32(first), a.indptr, (a.shape[0], last - first))
    return own, b[first:last]


def stacked(parts: list[DeviceCsr]) -> DeviceCsr:
    """Return the matrix of the rows of several, one after the other."""
    counts = pointers(np.concatenate([part.lengths for part in parts]))
    return DeviceCsr(
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.indices for part in parts]),
        counts,
        (len(counts) - 1, parts[0].shape[1]),
    )


def spread(a: DeviceCsr, rows: Any, n_rows: int) -> DeviceCsr:
    """Return a matrix with another's rows at some places, ascending, and empty ones between."""
    lengths = np.zeros(n_rows, dtype=np.int64, like=a.data)
    lengths[rows] = a.lengths
    return DeviceCsr(a.data, a.indices, pointers(lengths), (n_rows, a.shape[1]))


def pointers(lengths: Any) -> Any:
    """Return row pointers from the lengths of rows."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64, like=lengths)
    result[1:] = np.cumsum(lengths, dtype=np.int64)
    return result


def is_all(key: Any) -> bool:
    """Tell whether an index is the colon alone."""
    return isinstance(key, slice) and key == slice(None)
