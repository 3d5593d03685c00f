"""Rows of points with all points within their reach: what a walk over pairs needs.

Ordinarily these are all rows, and the whole tree. If rows live in blocks, each block gets a part of
the tree (`vbdm.engines.tree_part`), which is copied out of the whole one when the block's turn
comes. Both are walked alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..engines.engine import Engine
from ..engines.near_leaves import leaves_within_reach
from ..engines.tree import Reach, Tree
from ..engines.tree_part import TreePart
from ..rows.block_array import PerBlock, Rows
from .point_set import PointSet


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Rows with all points within reach of them.

    Attributes
    ----------
    reach : Reach
        The tree of the rows and of all points within their reach.
    leaves : slice
        The leaves of the rows.
    engine : Engine
        Who computes.
    counts : (P,) array or None
        How often the point at each place of the tree occurs; None: once.
    part : TreePart or None
        Which part of the whole tree this is; None: all of it.
    """

    reach: Reach
    leaves: slice
    engine: Engine
    counts: FloatArray | None = None
    part: TreePart | None = None

    def of_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values of the rows, given those of all places of their leaves."""
        return values if self.part is None else self.part.of_own_rows(values)


@dataclass(frozen=True, eq=False)
class PartsWithinReach(Sequence[Any]):
    """The neighbourhood of each block, made when it is asked for."""

    whole: Neighbourhood
    rows: Rows

    def __len__(self) -> int:
        return self.rows.n_blocks

    def __getitem__(self, block: Any) -> Any:
        whole, own = self.whole, self.rows.partition.leaves(block)
        part = TreePart.of(whole.reach.tree, own, leaves_within_reach(whole.reach, own))
        reach = Reach.of(
            part.tree, part.placed(whole.reach.rho), whole.reach.cut,
            with_self=whole.reach.with_self,
        )  # fmt: skip
        counts = None if whole.counts is None else part.placed(whole.counts)
        return Neighbourhood(reach, part.leaves, whole.engine, counts, part)


def within_reach(
    points: PointSet, rho: FloatArray, cut: float, *, with_self: bool
) -> Neighbourhood | PerBlock:
    """Return all rows with the points within |x-y|² < cut ρ(x) ρ(y); if in blocks, each of them."""
    tree = needed_tree(points)
    reach = Reach.of(tree, rho, cut, with_self=with_self)
    whole = Neighbourhood(reach, slice(0, 1 << tree.depth), points.engine, points.order.counts)
    return whole if points.rows is None else PerBlock(PartsWithinReach(whole, points.rows))


def needed_tree(points: PointSet) -> Tree:
    """Return the tree of the points."""
    if points.tree is None:
        raise TypeError("pairs within reach need the tree of the points")
    return points.tree
