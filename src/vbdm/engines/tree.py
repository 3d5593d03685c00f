"""A balanced k-d tree without pointers, over points that stand in its order.

Node i of level l holds the points from ``i N >> l`` to ``(i + 1) N >> l``: halves by count,
whatever ties there are. So the tree is arithmetic: order, search, blocks of rows and the cells of
the solver are all read from the places of the points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, beside_array, is_elsewhere

#: The most points in a leaf that is searched.
LEAF = 16
#: Points in the leaves that are worked on at a time.
ROWS_AT_ONCE = 4096


def levels_to(n_points: int, most: int) -> int:
    """Return the level of the tree whose nodes hold at most `most` points.

    Examples
    --------
    >>> levels_to(1000, 16), levels_to(16, 16)
    (6, 0)
    """
    level = 0
    while -(-n_points >> level) > most:
        level += 1
    return level


def starts_of(n_points: int, level: int) -> NDArray[np.intp]:
    """Return where the nodes of a level begin, and the number of points as last entry."""
    return (np.arange((1 << level) + 1) * n_points) >> level


@dataclass(frozen=True, eq=False)
class Tree:
    """Points in tree order, with the boxes that hold the points of each node."""

    # Coordinates, (n, M), and periods of the columns, (n,), 0 for those that are not periodic.
    columns: FloatArray
    period: FloatArray
    # The level of the leaves.
    depth: int
    # The boxes, (2^(depth + 1) - 1, n), level after level: node i of level l has row 2^l - 1 + i,
    # its children have rows 2r + 1 and 2r + 2.
    low: FloatArray
    high: FloatArray

    @classmethod
    def over(cls, columns: FloatArray, period: FloatArray | None = None) -> Tree:
        """Return the tree of points that stand in tree order already.

        In any other order it is still right, but slow.
        """
        n, n_points = columns.shape
        depth = levels_to(n_points, LEAF)
        low = from_leaves(over_leaves(columns, depth, np.minimum).T, np.minimum)
        high = from_leaves(over_leaves(columns, depth, np.maximum).T, np.maximum)
        lengths = np.zeros(n) if period is None else period
        return cls(columns, beside_array(lengths, columns), depth, low, high)

    @property
    def n_points(self) -> int:
        """Number M of points."""
        return int(self.columns.shape[1])

    @property
    def starts(self) -> NDArray[np.intp]:
        """Where the leaves begin, and M as last entry."""
        return starts_of(self.n_points, self.depth)

    def leaf_blocks(
        self, n_rows: int = ROWS_AT_ONCE, leaves: slice | None = None
    ) -> Iterator[slice]:
        """Yield slices of all leaves, or of some, each with about `n_rows` points."""
        n_leaves = 1 << self.depth
        size = max(1, n_rows * n_leaves // self.n_points)
        wanted = slice(0, n_leaves) if leaves is None else leaves
        for first in range(wanted.start, wanted.stop, size):
            yield slice(first, min(first + size, wanted.stop))

    def rows_of(self, leaves: slice) -> slice:
        """Return the points of some leaves."""
        n = self.n_points
        return slice((leaves.start * n) >> self.depth, (leaves.stop * n) >> self.depth)


@dataclass(frozen=True, eq=False)
class Reach:
    """The pairs with |x-y|² < cut ρ(x) ρ(y): a symmetric relation."""

    tree: Tree
    # ρ, (M,), in the order of the tree, and the largest ρ in each node.
    rho: FloatArray
    widest: FloatArray
    # Bound on the scaled squared distance |x-y|²/(ρ(x) ρ(y)).
    cut: float
    # Whether a point is within its own reach.
    with_self: bool = True

    @classmethod
    def of(cls, tree: Tree, rho: FloatArray, cut: float, *, with_self: bool = True) -> Reach:
        """Find the largest ρ of each node."""
        widest = over_leaves(rho, tree.depth, np.maximum)
        return cls(tree, rho, from_leaves(widest, np.maximum), cut, with_self)


def over_leaves(values: Any, depth: int, join: np.ufunc) -> Any:
    """Return the least or largest of values, (…, M), in each leaf, (…, 2^depth)."""
    n_points = values.shape[-1]
    if not is_elsewhere(values):
        return join.reduceat(values, starts_of(n_points, depth)[:-1], axis=-1)
    # A device has no such sums over ranges. Leaves differ by one point at most: the last one of a
    # shorter leaf is looked at twice.
    leaf = np.arange(1 << depth, like=values)
    starts, ends = (leaf * n_points) >> depth, ((leaf + 1) * n_points) >> depth
    width = -(-n_points >> depth)
    places = np.minimum(starts[:, None] + np.arange(width, like=values), ends[:, None] - 1)
    found = np.take(values, places, axis=-1)
    return found.min(axis=-1) if join is np.minimum else found.max(axis=-1)


def from_leaves(leaves: FloatArray, join: np.ufunc) -> FloatArray:
    """Return values of all nodes, level after level, from those of the leaves."""
    first = len(leaves) - 1
    result = np.empty((2 * first + 1, *leaves.shape[1:]), like=leaves)
    result[first:] = leaves
    while first:
        above = first // 2
        children = result[first : 2 * first + 1]
        join(children[::2], children[1::2], out=result[above:first])
        first = above
    return result
