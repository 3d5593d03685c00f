"""Tree order with NumPy: all nodes of a level are split at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from .tree import starts_of


def tree_order(columns: FloatArray, depth: int) -> NDArray[np.intp]:
    """Return the points in the order of the tree: every node is split at its widest column.

    Parameters
    ----------
    columns : (n, N) array
        Coordinates.
    depth : int
        The level down to which nodes are split.

    Notes
    -----
    Points of a node whose coordinate is below the median go to its first child; ties are told apart
    by their present places, and the others keep theirs. So the order is unique.
    """
    order = np.arange(columns.shape[1])
    sorted_columns = columns
    for level in range(depth):
        place = split_level(sorted_columns, level)
        order = order[place]
        sorted_columns = np.take(sorted_columns, place, axis=1)
    return order


def split_level(columns: FloatArray, level: int) -> NDArray[np.intp]:
    """Return the points, by places, after all nodes of a level were split."""
    n = columns.shape[1]
    starts, below = starts_of(n, level), starts_of(n, level + 1)
    begin, sizes = starts[:-1], np.diff(starts)
    spread = np.maximum.reduceat(columns, begin, axis=1)
    spread -= np.minimum.reduceat(columns, begin, axis=1)
    node = np.repeat(np.arange(len(sizes)), sizes)
    keys = columns[spread.argmax(axis=0)[node], np.arange(n)]
    n_first = below[1:-1:2] - begin
    split = medians(keys, node, begin, sizes, n_first)[node]
    lower, tied = keys < split, keys == split
    # Of the ties, each node sends as many to its first child as are missing there.
    missing = n_first - np.add.reduceat(lower, begin)
    rank = np.cumsum(tied)
    rank -= (rank[begin] - tied[begin])[node]
    lower |= tied & (rank <= missing[node])
    count = np.cumsum(lower)
    count -= (count[begin] - lower[begin])[node]
    place = np.arange(n)
    goal = np.where(lower, begin[node] + count - 1, n_first[node] + place - count)
    result = np.empty(n, dtype=np.intp)
    result[goal] = place
    return result


def medians(
    keys: FloatArray,
    node: NDArray[np.intp],
    begin: NDArray[np.intp],
    sizes: NDArray[np.intp],
    n_first: NDArray[np.intp],
) -> FloatArray:
    """Return the largest key of each node's first child: its n_first-th smallest key."""
    table = np.full((len(sizes), int(sizes.max())), np.inf)
    table[node, np.arange(len(keys)) - begin[node]] = keys
    wanted = np.unique(n_first - 1)
    table.partition(wanted, axis=1)
    return np.asarray(table[np.arange(len(sizes)), n_first - 1])
