"""Tree order on a device: all nodes of a level are split by one sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.arrays import contiguous
from .device import Device

#: Points that one thread looks at where extents are found, as in `order.cu`.
RUN = 16


def tree_order(device: Device, columns: Any, depth: int) -> Any:
    """Return the points, (n, N) by columns, in the order of the tree with this depth.

    It is the order of `vbdm.engines.numpy_order.tree_order`, point by point.

    Notes
    -----
    The place of a point along a column, ties by number, is found once. A node is then split by
    sorting unique whole numbers, one sort for all nodes of a level.
    """
    n, n_points = columns.shape
    if depth == 0:
        return np.arange(n_points, like=columns)
    by_rank, rank = ranks(device, columns)
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


def ranks(device: Device, columns: Any) -> tuple[Any, Any]:
    """Return the points of each column in its order, and their places in it, both (n, N)."""
    n, n_points = columns.shape
    by_rank, rank = (device.empty((n, n_points), np.int32) for _ in range(2))
    keys = device.empty(n_points, np.uint64)
    for c in range(n):
        column = contiguous(columns[c])
        device.launch("order", "ordered_keys", n_points, n_points, column, keys, columns=n)
        order = np.argsort(keys, kind="stable")
        args = n_points, order, by_rank[c], rank[c]
        device.launch("order", "rank_points", n_points, *args, columns=n)
    return by_rank, rank
