"""Which leaves of the tree lie near a block of leaves: walks over pairs of nodes.

One node of each pair is inside the block, the other outside. A pair that is not near is given up
with everything below it, so that little more than the rim of the block is looked at.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray
from .numpy_pairs import gaps
from .tree import Reach, Tree, from_leaves

#: Whether two nodes are near, for arrays of nodes inside and outside.
Near = Callable[[NDArray[np.intp], NDArray[np.intp]], BoolArray]
#: Bounds on distances to neighbours are widened by this share, which rounding cannot exceed.
ROUNDING = 1e-9
#: Levels of the tree between leaves and the smallest nodes inside the block that are looked at.
COARSER = 2


def leaves_within_reach(reach: Reach, own: slice) -> NDArray[np.intp]:
    """Return the leaves outside `own` that may hold points within reach of points inside."""
    tree, widest = reach.tree, reach.widest

    def near(inside: NDArray[np.intp], outside: NDArray[np.intp]) -> BoolArray:
        bound = reach.cut * (widest[inside] * widest[outside])
        return np.asarray(gaps(tree, tree.low, tree.high, inside, outside) < bound)

    return near_leaves(tree.depth, own, near)


def leaves_of_nearest(tree: Tree, bounds: FloatArray, own: slice) -> NDArray[np.intp]:
    """Return the leaves outside `own` that may hold a nearest neighbour of a point inside.

    `bounds` come from `bounds_of_nearest`.
    """

    def near(inside: NDArray[np.intp], outside: NDArray[np.intp]) -> BoolArray:
        return np.asarray(gaps(tree, tree.low, tree.high, inside, outside) <= bounds[inside])

    return near_leaves(tree.depth, own, near)


def bounds_of_nearest(tree: Tree, k: int) -> FloatArray:
    """Return bounds on the squared distances to the k-th neighbours, for the points of each node.

    A box that holds k points has all of them within its diagonal.
    """
    level = 0
    while level < tree.depth and tree.n_points >> (level + 1) >= k:
        level += 1
    nodes = slice((1 << level) - 1, (2 << level) - 1)
    diagonal = np.square(tree.high[nodes] - tree.low[nodes]).sum(axis=1)
    return from_leaves(np.repeat(diagonal * (1 + ROUNDING), 1 << (tree.depth - level)), np.maximum)


def near_leaves(depth: int, own: slice, near: Near) -> NDArray[np.intp]:
    """Return the leaves outside `own`, ascending, that are near a node of a few leaves inside."""
    n_leaves, finest = 1 << depth, (1 << max(0, depth - COARSER)) - 1
    cover = nodes_over(own.start, own.stop, depth)
    others = nodes_over(0, own.start, depth) + nodes_over(own.stop, n_leaves, depth)
    inside, outside = np.repeat(cover, len(others)), np.tile(others, len(cover)).astype(np.intp)
    found = np.zeros(n_leaves, dtype=np.bool_)
    while len(inside):
        kept = near(inside, outside)
        inside, outside = inside[kept], outside[kept]
        leaves = (inside >= finest) & (outside >= n_leaves - 1)
        found[outside[leaves] - (n_leaves - 1)] = True
        inside, outside = inside[~leaves], outside[~leaves]
        # Numbers ascend from level to level: of two nodes, the one with the smaller number is the
        # larger node, or of the same level.
        larger = (inside < finest) & (inside < outside)
        inside, outside = split(inside, larger), split(outside, ~larger)
    return np.flatnonzero(found)


def split(nodes: NDArray[np.intp], which: BoolArray) -> NDArray[np.intp]:
    """Return each node twice, or its two children where `which` says so."""
    children = np.where(which, 2 * nodes + 1, nodes)
    result = np.repeat(children, 2)
    result[1::2] += which
    return result


def nodes_over(start: int, stop: int, depth: int) -> list[int]:
    """Return the fewest nodes whose leaves are start, ..., stop - 1.

    Examples
    --------
    >>> nodes_over(1, 8, 3)
    [8, 4, 2]
    """
    nodes, level = [], depth
    while start < stop:
        if start & 1:
            nodes.append((1 << level) - 1 + start)
            start += 1
        if stop & 1:
            stop -= 1
            nodes.append((1 << level) - 1 + stop)
        start, stop, level = start >> 1, stop >> 1, level - 1
    return nodes
