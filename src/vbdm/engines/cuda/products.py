"""Sparse matrices times blocks of vectors, a warp per row."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import WARP


def product(
    matrix: Any,
    block: Any,
    left: Any = None,
    right: Any = None,
    power: int = 1,
    diagonal: Any = None,
    *,
    added: Any = None,
    divisor: Any = None,
    out: Any = None,
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
