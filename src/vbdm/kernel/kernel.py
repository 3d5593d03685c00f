"""The kernel K with its ingredients, its values on lists of neighbours, and its density."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from ..base.arrays import FloatArray, quotients
from ..graph.lists import ListedRows
from ..graph.neighbor_graph import NeighborGraph
from ..graph.order import Order
from ..shapes import Moments, Shape
from .bandwidth import Bandwidth
from .block_matrix import BlockMatrix
from .pair_matrix import PairMatrix
from .scaled import NEGLIGIBLE, rim, scaled_distances


@dataclass(frozen=True, eq=False, kw_only=True)
class Kernel:
    """The kernel matrix K with its ingredients."""

    graph: NeighborGraph  # the pairs on which it was evaluated
    # K, symmetrised if the form is symmetric, in the order inside
    weights: PairMatrix | BlockMatrix
    # The ingredients: ``K = h(|x-y|² / (ε a(x) b(y)))``
    bandwidth: Bandwidth
    epsilon: float
    shape: Shape
    # Share of points whose neighbour list ends before the kernel has decayed to 1e-3 of its peak
    saturated: float = 0.0
    leave_one_out: bool = False  # whether K_ii was set to 0: a point does not vouch for itself
    cutoff: float = np.inf  # the scaled squared distance s beyond which h was set to 0
    # Weight of a pair (i, j) when j is among i's neighbours but not the other way round
    one_way_share: float = 0.5
    # Whether the pairs are all those within reach; otherwise they are those in lists of nearest
    # neighbours
    by_reach: bool = False
    # Σ_j K(x_i, x_j) and Σ_j K(x_i, x_j)², if they were summed up when K was evaluated
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
            return cast(FloatArray, self.weights @ counts)
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
        return cast(FloatArray, quotients(squares, sums**2, sums > 0))

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
    def is_symmetric(self) -> bool:
        """Whether K = Kᵀ: then L has a symmetric conjugate, error bars and an extension."""
        return self.bandwidth.is_symmetric

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


def density_from(
    sums: FloatArray, volume: FloatArray, order: Order, leave_one_out: bool
) -> FloatArray:
    """Return the density: sums of a kernel over its volume and the number of rows summed over."""
    # A point is left out of its own sum with all its copies.
    own = leave_one_out * (1.0 if order.counts is None else order.counts)
    return sums / ((order.n_rows - own) * volume)


def evaluate_kernel(
    graph: NeighborGraph,
    bandwidth: Bandwidth,
    epsilon: float,
    shape: Shape,
    *,
    leave_one_out: bool = False,
    cutoff: float = np.inf,
    one_way_share: float = 0.5,
) -> Kernel:
    """Evaluate K on every listed pair and, if the form is symmetric, symmetrise it.

    With `leave_one_out` K_ii = 0. The point itself is not a sample of its surroundings: with n
    neighbours inside the kernel, keeping it shrinks every eigenvalue by about 1/(n+1). Beyond the
    `cutoff` of s K = 0; such a cut is symmetric, unlike one at the k-th neighbour. A pair (i, j)
    has the weight `one_way_share` when j is among i's neighbours but not the other way round: 1/2
    is the paper's (K + Kᵀ)/2; 1 keeps it whole.

    Notes
    -----
    Cost: one evaluation of h per pair, N k in all; 12 bytes per pair within the cutoff.
    """
    peak = float(shape(np.zeros(1))[0])
    cut_rows = np.zeros(graph.n_points, dtype=np.bool_)

    def evaluate(block: ListedRows) -> FloatArray:
        s = scaled_distances(block, bandwidth)
        s /= epsilon
        values = shape(s)
        if np.isfinite(cutoff):
            values[s >= cutoff] = 0.0
        cut_rows[block.rows] = rim(values) > NEGLIGIBLE * peak
        if leave_one_out:
            values[:, 0] = 0.0
        return values

    share = one_way_share if bandwidth.is_symmetric else None
    weights = PairMatrix.evaluated(graph.with_lists(), evaluate, share)
    return Kernel(
        graph=graph, weights=weights, bandwidth=bandwidth, epsilon=epsilon, shape=shape,
        saturated=float(cut_rows.mean()) if graph.n_neighbors < graph.n_points else 0.0,
        leave_one_out=leave_one_out, cutoff=cutoff, one_way_share=one_way_share,
    )  # fmt: skip
