"""Sums, products and transposes of sparse matrices on the device, columns of rows ascending.

A row of a result is made by one warp, twice: first its entries are counted, then they are written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.arrays import row_pointer
from .products import lanes_for

#: The arrays and the shape of a CSR matrix.
Csr = tuple[Any, Any, Any, tuple[int, int]]
#: Warps that multiply at the same time, and the most bytes of all their tables; fewer, if few are
#: free.
WORKERS, TABLE_BYTES = 1 << 13, 1 << 29
#: Bytes of a table up to which it lies in the fast memory of a warp.
FAST_TABLE = 12 << 10


def sparse_sum(a: Any, b: Any, factor: float = 1.0) -> Csr:
    """Return a + factor · b."""
    a.sort_indices()
    b.sort_indices()
    counts = a.device.empty(a.shape[0], np.int64)
    a.on_rows("count_sum", *other(b), counts)
    columns, values, pointer = room_for(a.device, counts)
    a.on_rows("add", *other(b), float(factor), pointer, columns, values)
    return values, columns, pointer, a.shape


def sparse_product(a: Any, b: Any) -> Csr:
    """Return a · b.

    Each warp has a table of the columns that it met in its row, with room for twice as many as can
    occur. They are few where cells of neighbours are joined, and the tables small.
    """
    n = a.shape[0]
    counts = a.device.empty(n, np.int64)
    a.on_rows("count_products", b.indptr, counts)
    with_tables(a, b, "count_columns", min(largest(counts), b.shape[1]), counts)
    columns, values, pointer = room_for(a.device, counts)
    with_tables(a, b, "multiply_rows", largest(counts), pointer, columns, values)
    return values, columns, pointer, (n, b.shape[1])


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
        kernel, *other(b), workers, np.int32(lanes), np.int32(bits), tables, *args,
        n_warps=workers, shared_bytes=12 << bits if is_fast else 0,
    )  # fmt: skip


def largest(counts: Any) -> int:
    """Return the largest of some numbers; 0 if there are none."""
    return int(counts.max()) if len(counts) else 0


def transposed(a: Any) -> Csr:
    """Return the transpose: entries sorted by their columns, rows in the order that they have."""
    n, width = a.shape
    order = np.argsort(a.indices, kind="stable")
    columns = np.arange(width + 1, dtype=np.int32, like=a.indices)
    pointer = np.searchsorted(a.indices[order], columns)
    return a.data[order], a.row_numbers[order], pointer, (width, n)


def other(b: Any) -> tuple[Any, ...]:
    """Return a second matrix as kernels take it: its numbers are of one of two types."""
    both = (b.data, None) if b.dtype == np.float32 else (None, b.data)
    return b.indptr, b.indices, *both


def room_for(device: Any, counts: Any) -> tuple[Any, Any, Any]:
    """Return columns and values, not set yet, and row pointers, for rows of these lengths."""
    pointer = row_pointer(counts)
    total = int(pointer[-1])
    return device.empty(total, np.int32), device.empty(total), pointer
