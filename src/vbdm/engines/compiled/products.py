"""Sparse matrices times blocks of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import compiled, inlined


@inlined
def sum_row(
    pointer: Any, columns: Any, values: Any, right: Any, power: int, block: Any, i: int, total: Any
) -> None:
    """Write row i of A^power diag(right) · block into `total`, (m,)."""
    scaled = len(right) > 1
    total[:] = 0.0
    for p in range(pointer[i], pointer[i + 1]):
        j = columns[p]
        w = np.float64(values[p])
        if power != 1:
            w = w**power
        if scaled:
            w *= right[j]
        for c in range(len(total)):
            total[c] += w * block[j, c]


@compiled
def product(
    pointer: Any,
    columns: Any,
    values: Any,
    left: Any,
    right: Any,
    power: int,
    diagonal: Any,
    block: Any,
    first: int,
    last: int,
    out: Any,
) -> None:
    """Write rows first, ..., last - 1 of diag(left) A^power diag(right) · block into `out`.

    The power is taken entry by entry. A factor of length 1 counts as 1. If there is a
    `diagonal`, the product is subtracted from it times the block. Sums run along the row, in double
    precision.
    """
    total = np.empty(block.shape[1])
    for i in range(first, last):
        sum_row(pointer, columns, values, right, power, block, i, total)
        factor = left[i] if len(left) > 1 else 1.0
        if len(diagonal) > 0:
            for c in range(len(total)):
                out[i, c] = diagonal[i] * block[i, c] - factor * total[c]
        else:
            for c in range(len(total)):
                out[i, c] = factor * total[c]


@compiled
def jacobi(
    pointer: Any,
    columns: Any,
    values: Any,
    block: Any,
    added: Any,
    divisor: Any,
    first: int,
    last: int,
    out: Any,
) -> None:
    """Write rows first, ..., last - 1 of (A · block + added) / divisor into `out`."""
    total, one = np.empty(block.shape[1]), np.ones(1)
    for i in range(first, last):
        sum_row(pointer, columns, values, one, 1, block, i, total)
        for c in range(len(total)):
            out[i, c] = (total[c] + added[i, c]) / divisor[i]
