"""Walks on the tree on a device: its order, the k nearest points, and pairs within reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from ...base.arrays import contiguous, row_pointer
from ...base.references import Credit
from ...base.threads import slices
from ..tree import Reach, Tree
from .device import device_of

#: Points that one thread looks at where extents are found, as in `order.cu`.
RUN = 16
#: Bytes of nodes that wait while a warp walks down the tree, as in `walks.cu`.
WAITING_BYTES = 32 * 12
#: Bytes of a pair: its squared distance, and a number.
PAIR_BYTES = 12
#: The most pairs that a warp collects in memory of its own: with more, few warps would have room.
IN_SHARED = 2048
#: Bytes of device memory for pairs that are collected there, at a time; fewer if few are free.
AT_ONCE = 1 << 29
#: Where the pairs of points begin that were counted last: the points, and the beginnings.
COUNTED: WeakKeyDictionary[Reach, tuple[slice, Any]] = WeakKeyDictionary()


def tree_order(columns: Any, depth: int) -> Any:
    """Return the points, (n, N) by columns, in the order of the tree with this depth.

    It is the order of `vbdm.engines.scipy_engine.tree_order`, point by point.

    Notes
    -----
    The place of a point along a column, ties by number, is found once. A node is then split by
    sorting unique whole numbers, one sort for all nodes of a level.
    """
    device, (n, n_points) = device_of(columns), columns.shape
    if depth == 0:
        return np.arange(n_points, like=columns)
    by_rank, rank = ranks(columns)
    points, order = contiguous(columns.T), None
    keys = device.empty(n_points, np.uint64)

    def launch(kernel: str, units: int, *args: Any) -> None:
        device.launch("order", kernel, units, *args, columns=n)

    for level in range(depth):
        extent = np.zeros(2 * n << level, dtype=np.uint64, like=columns)
        launch("extents", -(-n_points // RUN), n_points, np.int32(level), points, order, extent)
        widest = device.empty(1 << level, np.int32)
        launch("widest_columns", 1 << level, 1 << level, extent, widest)
        launch("split_keys", n_points, n_points, np.int32(level), widest, rank, order, keys)
        keys.sort()
        order = device.empty(n_points, np.int32) if order is None else order
        launch("read_order", n_points, n_points, np.int32(level), widest, by_rank, keys, order)
    launch("leaf_keys", n_points, n_points, np.int32(depth), order, keys)
    keys.sort()
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.intp)


def ranks(columns: Any) -> tuple[Any, Any]:
    """Return the points of each column in its order, and their places in it, both (n, N)."""
    device, (n, n_points) = device_of(columns), columns.shape
    by_rank, rank = (device.empty((n, n_points), np.int32) for _ in range(2))
    keys = device.empty(n_points, np.uint64)
    for c in range(n):
        column = contiguous(columns[c])
        device.launch("order", "ordered_keys", n_points, n_points, column, keys, columns=n)
        order = np.argsort(keys, kind="stable")
        args = n_points, order, by_rank[c], rank[c]
        device.launch("order", "rank_points", n_points, *args, columns=n)
    return by_rank, rank


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
                *tree_args(self.tree), rows.stop - rows.start, points[rows], np.int32(k),
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


def tree_args(tree: Tree) -> tuple[Any, ...]:
    """Return a tree as kernels take it, with leaves of at most 32 points."""
    depth = np.int32(max(0, tree.depth - 1))
    return tree.n_points, depth, tree.columns, tree.low, tree.high, tree.period


def count_within(reach: Reach, leaves: slice) -> Any:
    """Return the number of points within reach of each point of some leaves, (m,)."""
    counts = count_pairs(reach, leaves)
    COUNTED[reach] = reach.tree.rows_of(leaves), row_pointer(counts)
    return counts


def count_pairs(reach: Reach, leaves: slice) -> Any:
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
        known, pointer = rows, row_pointer(count_pairs(reach, leaves))
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
        "walks", kernel, end - first, *reach_args(reach), np.int32(reach.with_self), first, end,
        rows.start, rows.stop, *args, columns=tree.columns.shape[0], per_warp=True,
    )  # fmt: skip


def pairs_to(reach: Reach, points: Any, rho: Any) -> tuple[Any, Any, Any]:
    """Return the pairs of new points: their numbers, (m,), neighbours, and distances."""
    device, (m, n) = device_of(reach.rho), points.shape
    new = m, contiguous(points), contiguous(rho)
    counts = device.empty(m, np.intp)

    def launch(*args: Any) -> None:
        device.launch(
            "walks", "pairs_of_points", m, *reach_args(reach), *new, *args, columns=n, per_warp=True
        )

    launch(counts, None, None, None)
    pointer = row_pointer(counts)
    n_pairs = int(pointer[-1])
    neighbors, scaled = device.empty(n_pairs, np.int32), device.empty(n_pairs)
    launch(None, pointer, neighbors, scaled)
    return counts, neighbors, scaled


def reach_args(reach: Reach) -> tuple[Any, ...]:
    """Return a reach as kernels take it."""
    return *tree_args(reach.tree), reach.rho, reach.widest, float(reach.cut)
