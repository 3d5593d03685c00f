"""The kernel room: K on the pairs of the graph, and the density it measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..bandwidth.bandwidth import Bandwidth
from ..base.checks import FloatArray
from ..base.shapes import Gaussian, Moments, Shape
from ..graph.graph import NeighborGraph, Piece
from .pair_matrix import PairMatrix, symmetric_row_sums

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
        The ingredients: ``K = h(|x-y|² / (ε a(x) b(y)))``.
    saturated : float
        Share of points whose neighbour list ends before the kernel has decayed to 1e-3.
    leave_one_out : bool
        Whether K_ii was set to 0: a point does not vouch for itself.
    cutoff : float
        The scaled squared distance s beyond which h was set to 0.
    one_way_share : float
        What a pair counts that only one end lists.
    """

    weights: PairMatrix
    bandwidth: Bandwidth
    epsilon: float
    shape: Shape
    saturated: float
    leave_one_out: bool = False
    cutoff: float = np.inf
    one_way_share: float = 0.5

    @cached_property
    def row_sums(self) -> FloatArray:
        """Σ_j K(x_i, x_j), each point counted as often as it occurs."""
        counts = self.weights.graph.counts
        return self.weights.row_sums() if counts is None else self.weights @ counts

    @cached_property
    def spread(self) -> FloatArray:
        """Σ_j K² / (Σ_j K)²: one over the number of points that each row averages."""
        sums, counts = self.row_sums, self.weights.graph.counts
        weight = np.ones_like(sums) if counts is None else counts**2
        squares = self.weights.product(weight, power=2)
        return np.divide(squares, sums**2, out=np.zeros_like(sums), where=sums > 0)

    def density(self, dim: float) -> FloatArray:
        r"""Return the kernel density estimate, in the tree's order.

        Notes
        -----
        Implements :math:`q(x_i) = \frac{1}{N ε^{d/2} m_0 (ab)^{d/2}} Σ_j K(x_i, x_j)`, the leading
        term of Eq. "GSeq1". With the symmetric form :math:`(ab)^{d/2} = ρ^d`; the paper's
        pilot, Eq. "preestimate", is this with ρ0 and ε = 1/2. Leaving a point out of its own sum
        leaves N - 1 of them; cutting the kernel takes m0 over what is left.
        """
        volume = self.moments(dim).m0 * (self.epsilon * self.bandwidth.squared) ** (dim / 2)
        return density_from(self.row_sums, volume, self.weights.graph, self.leave_one_out)

    def moments(self, dim: float) -> Moments:
        """Return the moments of the shape as it was cut."""
        return self.shape.moments(dim, self.cutoff)

    def without_table(self) -> Kernel:
        """Return the kernel on a graph that has given up its table: it is not needed any more."""
        return replace(self, weights=replace(self.weights, graph=self.weights.graph.released()))

    def halved(self) -> Kernel | None:
        """Return the kernel at ε/2 without evaluating it, if that can be.

        A Gaussian at half the ε is the square of itself, cut at the same distance. A pair that
        counts half would count a quarter.
        """
        if not isinstance(self.shape, Gaussian) or self.one_way_share != 1.0:
            return None
        return replace(
            self, weights=self.weights.squared(), epsilon=self.epsilon / 2, cutoff=2 * self.cutoff
        )


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

    Parameters
    ----------
    graph, bandwidth, epsilon, shape
        ``K = h(|x-y|² / (ε a(x) b(y)))``.
    leave_one_out : bool
        Set K_ii = 0. The point itself is not a sample of its surroundings: with n neighbours inside
        the kernel, keeping it shrinks every eigenvalue by about 1/(n+1).
    cutoff : float
        Set K = 0 beyond this s; symmetric by itself, unlike a cut at the k-th neighbour.
    one_way_share : float
        What a pair counts that only one end lists: 1/2 is the paper's (K + Kᵀ)/2; 1 keeps it whole.

    Notes
    -----
    Cost: one evaluation of h per pair, N k in all; 12 bytes per pair within the cutoff.
    """
    peak = float(shape(np.zeros(1))[0])
    cut_rows = np.zeros(graph.n_points, dtype=np.bool_)

    def evaluate(piece: Piece) -> FloatArray:
        scaled = scaled_piece(piece, bandwidth)
        scaled /= epsilon
        values = shape(scaled)
        if np.isfinite(cutoff):
            values[scaled >= cutoff] = 0.0
        cut_rows[piece.rows] = rim(values) > NEGLIGIBLE * peak
        if leave_one_out:
            values[:, 0] = 0.0
        return values

    share = one_way_share if bandwidth.is_symmetric else None
    weights = PairMatrix.evaluated(graph, evaluate, share)
    saturated = float(cut_rows.mean()) if graph.n_neighbors < graph.n_points else 0.0
    return Kernel(
        weights, bandwidth, epsilon, shape, saturated, leave_one_out, cutoff, one_way_share
    )


def pilot_density(
    graph: NeighborGraph, rho0: FloatArray, dim: float, *, leave_one_out: bool = False
) -> FloatArray:
    r"""Return q0, the first estimate of the density, in the tree's order.

    Notes
    -----
    Implements Eq. "preestimate": the density of the Gaussian kernel with bandwidth ρ0 and ε = 1/2.
    Left out of its own sum, a far outlier may see nobody; it then counts as one point, which is
    what the printed sum gives it.
    """
    bandwidth, shape = Bandwidth.of_form("symmetric", rho0), Gaussian()

    def evaluate(piece: Piece) -> FloatArray:
        values = shape(scaled_piece(piece, bandwidth) / 0.5)
        if leave_one_out:
            values[:, 0] = 0.0
        return values

    sums = np.maximum(symmetric_row_sums(graph, evaluate, share=0.5), 1.0)
    volume = shape.moments(dim).m0 * (0.5 * bandwidth.squared) ** (dim / 2)
    return density_from(sums, volume, graph, leave_one_out)


def density_from(
    sums: FloatArray, volume: FloatArray, graph: NeighborGraph, leave_one_out: bool
) -> FloatArray:
    """Return sums of a kernel over its volume and over the number of samples that were summed."""
    # Left out of its own sum is the point with all its copies.
    own = leave_one_out * (1.0 if graph.counts is None else graph.counts)
    return np.asarray(sums / ((graph.n_rows - own) * volume))


def rim(table: FloatArray) -> FloatArray:
    """Return what is typical of the end of each row: the median over its last sixteenth.

    The last entry alone may belong to a point much wider than the others.
    """
    n_last = max(1, table.shape[1] // 16)
    return np.asarray(np.median(table[:, -n_last:], axis=1))


def scaled_distances(
    graph: NeighborGraph, bandwidth: Bandwidth
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield (rows, |x-y|²/(a(x) b(y))) in blocks that fit the processor's cache."""
    for rows in graph.pieces():
        yield rows, scaled_piece(graph.piece(rows), bandwidth)


def scaled_piece(piece: Piece, bandwidth: Bandwidth) -> FloatArray:
    """Return |x-y|²/(a(x) b(y)) for some rows of the table."""
    scale = np.take(bandwidth.column, piece.neighbors)
    scale *= bandwidth.row[piece.rows, None]
    return np.divide(piece.sqdist, scale, out=scale)
