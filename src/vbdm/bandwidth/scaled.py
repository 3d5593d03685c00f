"""Scaled squared distances t = |x-y|²/(a(x) b(y)): what is known of the pairs before ε is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..base.checks import FloatArray
from ..base.shapes import Shape, radius_of
from ..graph.lists import ListedRows
from ..graph.neighbor_graph import NeighborGraph
from .bandwidth import Bandwidth

#: What counts as decayed: a kernel value of a thousandth of its peak.
NEGLIGIBLE = 1e-3


@dataclass(frozen=True, eq=False)
class ScaledPairs:
    """What a rule for ε is given: the pairs with their scaled distances, and the kernel's shape.

    Attributes
    ----------
    graph : NeighborGraph
        The points and their nearest neighbours.
    bandwidth : Bandwidth
        a(x) and b(y).
    shape : Shape
        h; the kernel will be h(t/ε).
    cutoff : float
        The s = t/ε beyond which the kernel is set to 0; infinite: nowhere.
    effort : float
        By how much the user multiplied the automatic numbers of neighbours.
    """

    graph: NeighborGraph
    bandwidth: Bandwidth
    shape: Shape
    cutoff: float = np.inf
    effort: float = 1.0

    @property
    def reach(self) -> float:
        """The s = t/ε that a list of neighbours must hold: the cutoff, or where h has decayed."""
        return self.cutoff if np.isfinite(self.cutoff) else radius_of(self.shape, NEGLIGIBLE)

    def blocks(self) -> Iterator[FloatArray]:
        """Yield t for all listed pairs, (m, k) arrays that fit the processor's cache."""
        for rows in self.graph.row_blocks():
            yield scaled(self.graph.block(rows), self.bandwidth)


def scaled(block: ListedRows, bandwidth: Bandwidth) -> FloatArray:
    """Return t for a block of the lists."""
    scale = np.take(bandwidth.column, block.neighbors)
    scale *= bandwidth.row[block.rows, None]
    return np.divide(block.sqdist, scale, out=scale)


def rim(table: FloatArray) -> FloatArray:
    """Return what is typical of the end of each row, (m,): the median over its last sixteenth.

    The last entry alone may belong to a point much wider than the others.
    """
    n_last = max(1, table.shape[1] // 16)
    return np.asarray(np.median(table[:, -n_last:], axis=1))
