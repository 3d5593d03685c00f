"""A part of the tree: a block of leaves with the leaves near it, as a tree of its own.

Whoever works on a block needs the points of other blocks near it. The leaves of both, in their
order, make a smaller tree, in which the engines walk as in the whole one: pairs come out in the
same order with the same bits. Leaves of the whole tree differ by one point, and those of a tree
must be aligned: so shorter leaves are filled up with places that hold no point, and the number of
leaves is rounded up to a power of two with empty ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, frozen
from .tree import Tree, from_leaves


@dataclass(frozen=True, eq=False)
class TreePart:
    """Some leaves of a tree, and those near them, as a tree.

    Attributes
    ----------
    tree : Tree
        The tree; coordinates are NaN at places without a point, which no search finds.
    leaves : slice
        The block's own leaves in it.
    first : (L,) int array
        The first point of each leaf, by its number in the whole tree.
    sizes : (L,) int array
        Number of points of each leaf.
    """

    tree: Tree
    leaves: slice
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
