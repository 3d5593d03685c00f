"""A part of the tree: a block of leaves with the leaves near it, as a tree of its own.

Whoever works on a block needs the points of other blocks near it. The leaves of both, in their
order, make a smaller tree, in which the engines walk as in the whole one: pairs come out in the
same order with the same bits. Leaves of the whole tree differ by one point, and those of a tree
must be aligned: so shorter leaves are filled up with places that hold no point, and the number of
leaves is rounded up to a power of two with empty ones.

Which leaves are near is found by walks over pairs of nodes, one inside the block, one outside. A
pair that is not near is given up with everything below it, so that little more than the rim of the
block is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, frozen
from .numpy_pairs import gaps
from .tree import Reach, Tree, from_leaves

#: Whether two nodes are near, for arrays of nodes inside and outside.
Near = Callable[[NDArray[np.intp], NDArray[np.intp]], BoolArray]
#: Bounds on distances to neighbours are widened by this share, which rounding cannot exceed.
ROUNDING = 1e-9
#: Levels of the tree between leaves and the smallest nodes inside the block that are looked at.
COARSER = 2


@dataclass(frozen=True, eq=False)
class TreePart:
    """Some leaves of a tree, and those near them, as a tree.

    Coordinates are NaN at places without a point, which no search finds.
    """

    tree: Tree
    # The block's own leaves in it.
    leaves: slice
    # The first point of each leaf, (L,), by its number in the whole tree, and how many it has.
    first: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, whole: Tree, own: slice, near: NDArray[np.intp]) -> TreePart:
        """Copy a block of leaves and the leaves `near` it, which ascend, out of the whole tree."""
        n_below = int(np.searchsorted(near, own.start))
        used = np.concatenate([near[:n_below], np.arange(own.start, own.stop), near[n_below:]])
        depth = (len(used) - 1).bit_length()
        boxes, n = used + (1 << whole.depth) - 1, whole.n_points
        starts, ends = (used * n) >> whole.depth, ((used + 1) * n) >> whole.depth
        n_columns, n_leaves = whole.columns.shape[0], 1 << depth
        low, high = np.full((n_leaves, n_columns), np.inf), np.full((n_leaves, n_columns), -np.inf)
        low[: len(used)], high[: len(used)] = whole.low[boxes], whole.high[boxes]
        first, sizes = np.zeros((2, n_leaves), dtype=np.intp)
        first[: len(used)], sizes[: len(used)] = starts, ends - starts
        columns = np.full((n_columns, n_leaves * int(sizes.max())), np.nan)
        tree = Tree(
            frozen(columns), whole.period, depth,
            from_leaves(low, np.minimum), from_leaves(high, np.maximum),
        )  # fmt: skip
        part = cls(tree, slice(n_below, n_below + own.stop - own.start), first, sizes)
        is_point, numbers = part.is_point, part.numbers
        for column, values in zip(columns, whole.columns, strict=True):
            column[is_point] = values[numbers]
        return part

    @property
    def is_point(self) -> BoolArray:
        """Whether there is a point at each place, (P,)."""
        places = np.arange(self.tree.n_points // len(self.sizes))
        return np.asarray(places < self.sizes[:, None]).ravel()

    @property
    def numbers(self) -> NDArray[np.intp]:
        """Number in the whole tree of each point, ascending."""
        ends = np.cumsum(self.sizes)
        behind = np.repeat(self.first - ends + self.sizes, self.sizes)
        return behind + np.arange(ends[-1])

    @cached_property
    def own_places(self) -> NDArray[np.intp]:
        """The places of the block's own points."""
        places = self.tree.rows_of(self.leaves)
        return np.asarray(places.start + np.flatnonzero(self.is_point[places]))

    def placed(self, values: FloatArray) -> FloatArray:
        """Return the numbers of the part's points, given those of all; 0 where there is none."""
        result = np.zeros(self.tree.n_points)
        result[self.is_point] = values[self.numbers]
        return result

    def of_own_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what belongs to points, of values at all places of the block's own leaves."""
        return np.asarray(values[self.own_places - self.tree.rows_of(self.leaves).start])


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
