"""The kernel K with its ingredients, and the density that it measures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base.arrays import FloatArray, quotients
from ..graph.neighbor_graph import NeighborGraph
from ..shapes import Moments, Shape
from .bandwidth import Bandwidth
from .block_matrix import BlockMatrix
from .pair_matrix import PairMatrix
from .pilot import density_from


@dataclass(frozen=True, eq=False, kw_only=True)
class Kernel:
    """The kernel matrix K with its ingredients.

    Attributes
    ----------
    graph : NeighborGraph
        The pairs on which it was evaluated.
    weights : PairMatrix or BlockMatrix
        K, symmetrised if the form is symmetric, in the order inside.
    bandwidth, epsilon, shape
        The ingredients: ``K = h(|x-y|² / (ε a(x) b(y)))``.
    saturated : float
        Share of points whose neighbour list ends before the kernel has decayed to 1e-3 of its
        peak.
    leave_one_out : bool
        Whether K_ii was set to 0: a point does not vouch for itself.
    cutoff : float
        The scaled squared distance s beyond which h was set to 0.
    one_way_share : float
        Weight of a pair (i, j) when j is among i's neighbours but not the other way round.
    by_reach : bool
        Whether the pairs are all those within reach; otherwise they are those in lists of nearest
        neighbours.
    known_sums : pair of (M,) arrays, or None
        Σ_j K(x_i, x_j) and Σ_j K(x_i, x_j)², if they were summed up when K was evaluated.
    """

    graph: NeighborGraph
    weights: PairMatrix | BlockMatrix
    bandwidth: Bandwidth
    epsilon: float
    shape: Shape
    saturated: float = 0.0
    leave_one_out: bool = False
    cutoff: float = np.inf
    one_way_share: float = 0.5
    by_reach: bool = False
    known_sums: tuple[FloatArray, FloatArray] | None = None

    @property
    def widths(self) -> FloatArray:
        """The kernel's width √(4ε)·ρ(x), (M,), in the data's own unit of length."""
        return np.sqrt(4 * self.epsilon * self.bandwidth.squared)

    @cached_property
    def row_sums(self) -> FloatArray:
        """Σ_j K(x_i, x_j), (M,), each point counted as often as it occurs."""
        counts = self.graph.order.counts
        if counts is not None:
            sums: FloatArray = self.weights @ counts
            return sums
        return self.weights.row_sums() if self.known_sums is None else self.known_sums[0]

    @cached_property
    def relative_variance(self) -> FloatArray:
        """s² = Σ_j K² / (Σ_j K)², (M,): one over the number of points that each row averages."""
        sums, counts = self.row_sums, self.graph.order.counts
        if counts is None and self.known_sums is not None:
            squares = self.known_sums[1]
        else:
            weight = np.ones_like(sums) if counts is None else counts**2
            squares = self.weights.product(weight, power=2)
        share: FloatArray = quotients(squares, sums**2, sums > 0)
        return share

    def density(self, dim: float) -> FloatArray:
        r"""Return the kernel density estimate, (M,) in the order inside.

        Notes
        -----
        Implements :math:`q(x_i) = \frac{1}{N ε^{d/2} m_0 (ab)^{d/2}} Σ_j K(x_i, x_j)`, the leading
        term of Eq. "GSeq1". With the symmetric form :math:`(ab)^{d/2} = ρ^d`; the paper's
        pilot, Eq. "preestimate", is this with ρ0 and ε = 1/2. If a point is left out of its own
        sum, N - 1 takes the place of N; if the kernel is cut, m0 is the integral of what is left.
        """
        volume = self.moments(dim).m0 * (self.epsilon * self.bandwidth.squared) ** (dim / 2)
        return density_from(self.row_sums, volume, self.graph.order, self.leave_one_out)

    def moments(self, dim: float) -> Moments:
        """Return the moments of the shape, cut where the kernel is."""
        return self.shape.moments(dim, self.cutoff)

    @property
    def n_neighbors(self) -> int:
        """Length k of the lists, the point itself included.

        The mean number of pairs, if no list ends anywhere: by reach, or of a whole matrix.
        """
        whole = self.graph.is_whole and self.graph.n_neighbors == self.graph.n_points
        if not self.by_reach and not (whole and np.isfinite(self.cutoff)):
            return self.graph.n_neighbors
        return round(float(self.weights.nnz / self.graph.n_points))

    @property
    def precision(self) -> str:
        """How the values are stored: "single" or "double"."""
        return "single" if self.weights.dtype == np.float32 else "double"

    def without_lists(self) -> Kernel:
        """Return the kernel on a graph without its lists, which are no longer needed."""
        return replace(self, graph=self.graph.released())
