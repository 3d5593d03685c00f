"""The kernel room: K on the pairs of the graph, and the density it measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .arrays import FloatArray
from .bandwidth import Bandwidth
from .graph import NeighborGraph
from .pairs import PairMatrix
from .search.exact import chunks
from .shapes import Shape

#: What counts as decayed: a kernel value of a thousandth of its peak.
NEGLIGIBLE = 1e-3


@dataclass(frozen=True, eq=False)
class Kernel:
    """The kernel matrix K with what made it.

    Attributes
    ----------
    weights : PairMatrix
        K, symmetrised if the form is symmetric.
    bandwidth, epsilon, shape
        The ingredients: K = h(|x-y|² / (ε a(x) b(y))).
    saturated : float
        Share of points whose neighbour list ends before the kernel has decayed to 1e-3.
    """

    weights: PairMatrix
    bandwidth: Bandwidth
    epsilon: float
    shape: Shape
    saturated: float

    @cached_property
    def row_sums(self) -> FloatArray:
        """Σ_j K(x_i, x_j)."""
        return self.weights.row_sums()

    def density(self, dim: float) -> FloatArray:
        r"""Return the kernel density estimate, in the tree's order.

        Notes
        -----
        Implements :math:`q(x_i) = \frac{1}{N ε^{d/2} m_0 (ab)^{d/2}} Σ_j K(x_i, x_j)`, the leading
        term of Eq. "GSeq1". With the symmetric form :math:`(ab)^{d/2} = ρ^d`; the paper's
        pilot, Eq. "preestimate", is this with ρ0 and ε = 1/2.
        """
        volume = self.shape.moments(dim).m0 * (self.epsilon * self.bandwidth.squared) ** (dim / 2)
        return self.row_sums / (len(volume) * volume)


def evaluate_kernel(
    graph: NeighborGraph,
    bandwidth: Bandwidth,
    epsilon: float,
    shape: Shape,
) -> Kernel:
    """Evaluate K on every listed pair and, if the form is symmetric, replace it by (K + Kᵀ)/2.

    Cost: one evaluation of h per pair, N k in all; 8 bytes per pair.
    """
    values = np.empty_like(graph.tree_sqdist)
    for rows, scaled in scaled_distances(graph, bandwidth):
        values[rows] = shape(scaled / epsilon)
    saturated = 0.0
    if graph.n_neighbors < graph.n_points:
        saturated = float(np.mean(values[:, -1] > NEGLIGIBLE * shape(np.zeros(1))[0]))
    if bandwidth.is_symmetric:
        weights = PairMatrix.symmetrised(graph, values, share=0.5)
    else:
        weights = PairMatrix(graph, values)
    return Kernel(weights, bandwidth, epsilon, shape, saturated)


def scaled_distances(
    graph: NeighborGraph, bandwidth: Bandwidth
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield (rows, |x-y|²/(a(x) b(y))) in blocks that fit the processor's cache."""
    for rows in chunks(graph.n_points, size=max(1, 262_144 // graph.n_neighbors)):
        scale = bandwidth.column[graph.tree_indices[rows]]
        scale *= bandwidth.row[rows, None]
        yield rows, graph.tree_sqdist[rows] / scale
