"""Pairs within reach on a device: |x-y|² < cut ρ(x) ρ(y)."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...base.arrays import contiguous, row_pointer
from ..tree import Reach
from .device import device_of
from .nearest import walked

#: Where the pairs of points begin that were counted last: the points, and the beginnings.
COUNTED: WeakKeyDictionary[Reach, tuple[slice, Any]] = WeakKeyDictionary()


def count_within(reach: Reach, leaves: slice) -> Any:
    """Return the number of points within reach of each point of some leaves, (m,)."""
    counts = counted(reach, leaves)
    COUNTED[reach] = reach.tree.rows_of(leaves), row_pointer(counts)
    return counts


def counted(reach: Reach, leaves: slice) -> Any:
    """Count the points within reach of each point of some leaves, (m,)."""
    rows = reach.tree.rows_of(leaves)
    counts = device_of(reach.rho).empty(rows.stop - rows.start, np.intp)
    launch_leaves(reach, leaves, "count_pairs", counts)
    return counts


def pairs_within(reach: Reach, leaves: slice, n_pairs: int) -> tuple[Any, Any]:
    """Return the pairs of the points of some leaves, row by row: neighbours and distances."""
    device, rows = device_of(reach.rho), reach.tree.rows_of(leaves)
    known, pointer = COUNTED.get(reach, (slice(0, 0), None))
    if not known.start <= rows.start < rows.stop <= known.stop:
        # What another thread counts meanwhile must not come between.
        known, pointer = rows, row_pointer(counted(reach, leaves))
    neighbors, scaled = device.empty(n_pairs, np.int32), device.empty(n_pairs)
    begins = pointer[rows.start - known.start :]
    launch_leaves(reach, leaves, "write_pairs", begins, neighbors, scaled)
    return neighbors, scaled


def launch_leaves(reach: Reach, leaves: slice, kernel: str, *args: Any) -> None:
    """Run a kernel on leaves, two of them, of at most 32 points together, for each warp."""
    tree, rows = reach.tree, reach.tree.rows_of(leaves)
    first, end = leaves.start, leaves.stop
    if tree.depth > 0:
        first, end = first >> 1, (end + 1) >> 1
    device_of(reach.rho).launch(
        "walks", kernel, end - first, *parts_of(reach), np.int32(reach.with_self), first, end,
        rows.start, rows.stop, *args, columns=tree.columns.shape[0], per_warp=True,
    )  # fmt: skip


def pairs_to(reach: Reach, points: Any, rho: Any) -> tuple[Any, Any, Any]:
    """Return the pairs of new points: their numbers, (m,), neighbours, and distances."""
    device, (m, n) = device_of(reach.rho), points.shape
    new = m, contiguous(points), contiguous(rho)
    counts = device.empty(m, np.intp)

    def launch(*args: Any) -> None:
        device.launch(
            "walks", "pairs_of_points", m, *parts_of(reach), *new, *args, columns=n, per_warp=True
        )

    launch(counts, None, None, None)
    pointer = row_pointer(counts)
    n_pairs = int(pointer[-1])
    neighbors, scaled = device.empty(n_pairs, np.int32), device.empty(n_pairs)
    launch(None, pointer, neighbors, scaled)
    return counts, neighbors, scaled


def parts_of(reach: Reach) -> tuple[Any, ...]:
    """Return a reach as kernels take it."""
    return *walked(reach.tree), reach.rho, reach.widest, float(reach.cut)
