"""Sparse matrices times blocks of vectors."""

from __future__ import annotations

from typing import Any

from .compile import compiled


@compiled
def product(
    pointer: Any,
    columns: Any,
    values: Any,
    left: Any,
    right: Any,
    power: int,
    block: Any,
    first: int,
    last: int,
    out: Any,
) -> None:
    """Write rows first, ..., last - 1 of diag(left) A^power diag(right) · block into `out`.

    The power is taken entry by entry. A factor of length 1 counts as 1. Eight columns of the block
    at a time are summed up in registers, along the row, in double precision.
    """
    m = block.shape[1]
    scaled = len(right) > 1
    for i in range(first, last):
        start, stop = pointer[i], pointer[i + 1]
        factor = left[i] if len(left) > 1 else 1.0
        c = 0
        while c + 8 <= m:
            a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
            for p in range(start, stop):
                j = columns[p]
                w = float(values[p])
                if power != 1:
                    w = w**power
                if scaled:
                    w *= right[j]
                a0 += w * block[j, c]
                a1 += w * block[j, c + 1]
                a2 += w * block[j, c + 2]
                a3 += w * block[j, c + 3]
                a4 += w * block[j, c + 4]
                a5 += w * block[j, c + 5]
                a6 += w * block[j, c + 6]
                a7 += w * block[j, c + 7]
            out[i, c], out[i, c + 1] = factor * a0, factor * a1
            out[i, c + 2], out[i, c + 3] = factor * a2, factor * a3
            out[i, c + 4], out[i, c + 5] = factor * a4, factor * a5
            out[i, c + 6], out[i, c + 7] = factor * a6, factor * a7
            c += 8
        while c + 4 <= m:
            a0 = a1 = a2 = a3 = 0.0
            for p in range(start, stop):
                j = columns[p]
                w = float(values[p])
                if power != 1:
                    w = w**power
                if scaled:
                    w *= right[j]
                a0 += w * block[j, c]
                a1 += w * block[j, c + 1]
                a2 += w * block[j, c + 2]
                a3 += w * block[j, c + 3]
            out[i, c], out[i, c + 1] = factor * a0, factor * a1
            out[i, c + 2], out[i, c + 3] = factor * a2, factor * a3
            c += 4
        while c < m:
            a0 = 0.0
            for p in range(start, stop):
                j = columns[p]
                w = float(values[p])
                if power != 1:
                    w = w**power
                if scaled:
                    w *= right[j]
                a0 += w * block[j, c]
            out[i, c] = factor * a0
            c += 1
