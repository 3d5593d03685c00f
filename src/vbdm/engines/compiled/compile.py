"""The decorator of all compiled functions; gaps between boxes, and distances to a leaf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

#: Why numba keeps no compiled code on this machine; empty if it does.
NOT_KEPT: list[str] = []


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call, without the interpreter's lock; keep it on disk.

    Rounding is left as written: no reordering of sums and no fused multiply-adds, so that distances
    have the same bits as NumPy's. Numba refuses to keep code where it can write to no folder; the
    function is then compiled anew in every process.
    """
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError as error:
        NOT_KEPT.append(str(error))
        return numba.njit(nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small function into those that call it."""
    return numba.njit(nogil=True, inline="always")(function)


@inlined
def gap_of_boxes(low, high, period, a, b):
    """Return the squared distance between the boxes of two nodes."""
    total = 0.0
    for c in range(low.shape[1]):
        gap = max(low[a, c] - high[b, c], low[b, c] - high[a, c])
        if gap > 0:
            length = period[c]
            if length > 0:
                around = max(high[a, c] - low[b, c], high[b, c] - low[a, c])
                gap = max(min(gap, length - around), 0.0)
            total += gap * gap
    return total


@inlined
def gap_to_box(point, low, high, period, b):
    """Return the squared distance from a point to the box of a node."""
    total = 0.0
    for c in range(low.shape[1]):
        x = point[c]
        gap = max(low[b, c] - x, x - high[b, c])
        if gap > 0:
            length = period[c]
            if length > 0:
                around = max(high[b, c] - x, x - low[b, c])
                gap = max(min(gap, length - around), 0.0)
            total += gap * gap
    return total


@inlined
def measure(point, columns, period, start, stop, out):
    """Write the squared distances from a point to points[start:stop] into `out`."""
    x = point[0]
    if period[0] > 0:
        measure_periodic(point, columns, period, start, stop, out)
        return
    for j in range(start, stop):
        gap = columns[0, j] - x
        out[j - start] = gap * gap
    for c in range(1, columns.shape[0]):
        x = point[c]
        length = period[c]
        if length > 0:
            for j in range(start, stop):
                gap = columns[c, j] - x
                gap -= length * np.rint(gap / length)
                out[j - start] += gap * gap
        else:
            for j in range(start, stop):
                gap = columns[c, j] - x
                out[j - start] += gap * gap


@inlined
def measure_periodic(point, columns, period, start, stop, out):
    """As `measure`, where the first column is periodic."""
    for j in range(start, stop):
        out[j - start] = 0.0
    for c in range(columns.shape[0]):
        x = point[c]
        length = period[c]
        for j in range(start, stop):
            gap = columns[c, j] - x
            if length > 0:
                gap -= length * np.rint(gap / length)
            out[j - start] += gap * gap
