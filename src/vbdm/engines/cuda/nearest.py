"""The k nearest points of each of some points, on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...base.arrays import contiguous
from ...base.references import Credit
from ...base.threads import slices
from ..tree import Tree
from .device import device_of

#: Bytes of nodes that wait while a warp walks down the tree, as in `walks.cu`.
WAITING_BYTES = 32 * 12
#: Bytes of a pair: its squared distance, and a number.
PAIR_BYTES = 12
#: The most pairs that a warp collects in memory of its own: with more, few warps would have room.
IN_SHARED = 2048
#: Bytes of device memory for pairs that are collected there, at a time; fewer if few are free.
AT_ONCE = 1 << 29


@dataclass(frozen=True, eq=False)
class DeviceIndex:
    """The tree, searched by a warp for each point; equal distances are told apart by number."""

    tree: Tree
    #: Enough to keep a device at work; of all rows at once, results would be there twice.
    rows_per_call: int = 1 << 21
    parallel: bool = False
    is_exact: bool = True
    #: Its squared distances have the bits of measured ones.
    is_measured: bool = True
    credit: ClassVar[Credit] = Credit("k-d tree (CUDA)", "a k-d tree (walked on a GPU)")

    def query(self, points: Any, k: int) -> tuple[Any, Any]:
        """Return indices and squared distances of the k nearest."""
        device, room = device_of(self.tree.columns), room_for(k)
        points = contiguous(points)
        m, n = points.shape
        indices, sqdist = device.empty((m, k), np.int32), device.empty((m, k))
        collected: tuple[Any, Any] = None, None
        size, shared = max(1, m), WAITING_BYTES + room * PAIR_BYTES
        if room > IN_SHARED or shared > device.most_shared:
            most = min(AT_ONCE, device.free_bytes() // 4)
            size, shared = max(1, min(m, most // (room * PAIR_BYTES))), WAITING_BYTES
            collected = device.empty((size, room)), device.empty((size, room), np.int32)
        for rows in slices(m, size):
            device.launch(
                "walks", "nearest", rows.stop - rows.start,
                *walked(self.tree), rows.stop - rows.start, points[rows], np.int32(k),
                np.int32(room), np.int32(shared), *collected, indices[rows], sqdist[rows],
                columns=n, per_warp=True, shared_bytes=shared,
            )  # fmt: skip
        return indices, sqdist


def room_for(k: int) -> int:
    """Return for how many pairs there is room: a power of 2, well above k.

    Examples
    --------
    >>> room_for(1), room_for(33), room_for(1024)
    (128, 128, 2048)
    """
    return 1 << (63 + 3 * k // 2).bit_length()


def walked(tree: Tree) -> tuple[Any, ...]:
    """Return a tree as kernels take it, with leaves of at most 32 points."""
    depth = np.int32(max(0, tree.depth - 1))
    return tree.n_points, depth, tree.columns, tree.low, tree.high, tree.period
