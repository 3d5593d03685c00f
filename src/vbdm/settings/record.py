"""The two methods, as settings handed to the same walk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .bandwidth.bandwidth import Bandwidth
from .bandwidth.curves import DegreeCurve
from .bandwidth.dimension import Dimension, ratio_dimension
from .bandwidth.epsilon_by_degree import (
    ENOUGH_POINTS,
    Rows,
    choose_epsilon,
    degree_target,
    grow_rows,
    neighbors_needed,
)
from .bandwidth.epsilon_by_slope import Tuning, steepest
from .base.checks import FloatArray
from .base.shapes import Gaussian, Shape, radius_of
from .graph.graph import NeighborGraph
from .operator.theory import FORMS
from .spectrum.limiter import Limiter

#: A dimension that changes by less than this with the scale is that of a clean manifold.
CLEAN = 0.05


@dataclass(frozen=True)
class Method:
    """Everything in which the methods differ.

    Attributes
    ----------
    beta : callable
        From the dimension to the exponent of ρ = q^β.
    dimension : callable
        From the graph and ρ0 to the dimension.
    tuner : callable
        From graph, bandwidth, shape, cutoff, a given ε (or None) and effort to a `Tuning`.
    n_density_neighbors : int
        k0 of the pilot density.
    n_neighbors : int
        k of the first graph.
    widen : bool
        Whether the graph is searched again with as many neighbours as ε needs.
    leave_one_out : bool
        K_ii = 0 in the kernel, the density and the tuning.
    truncation : callable
        From the number of points and the dimension to the share of its peak at which the kernel
        is cut; None: not at all.
    limiter : Limiter or None
        For the spectrum.
    finite_sample : bool
        Whether eigenvalues are corrected for the randomness of the sample.
    one_way_share : float
        Weight of a pair that only one end lists.
    forms : tuple of str
        Forms of the kernel that the method allows.
    smallest_piece : int or None
        Pieces with fewer points are strays; None: as many as measure the density.
    merge_copies : bool
        Whether equal points become one point with a weight.
    effort : float
        Multiplies the numbers of neighbours, from fast to accurate.
    """

    beta: Callable[[float], float]
    dimension: Callable[[NeighborGraph, FloatArray], Dimension]
    tuner: Callable[[NeighborGraph, Bandwidth, Shape, float, float | None, float], Tuning]
    n_density_neighbors: int
    n_neighbors: int
    widen: bool
    leave_one_out: bool
    truncation: Callable[[int, Dimension], float | None]
    limiter: Limiter | None
    finite_sample: bool
    one_way_share: float
    forms: tuple[str, ...]
    smallest_piece: int | None
    merge_copies: bool
    effort: float = 1.0

    def with_effort(self, effort: float) -> Method:
        """Return the method with more (or fewer) neighbours, for kernel and density alike."""
        return replace(
            self,
            n_density_neighbors=max(4, round(effort * self.n_density_neighbors)),
            n_neighbors=max(16, round(effort * self.n_neighbors)),
            effort=effort,
        )


def slope_dimension(graph: NeighborGraph, rho0: FloatArray) -> Dimension:
    """Return twice the largest slope of S(ε) with bandwidth ρ0: the paper's first visit."""
    return Dimension(steepest(graph, Bandwidth.of_form("symmetric", rho0), Gaussian()).dim)


def cut_where_clean(n_points: int, dimension: Dimension) -> float:
    """Return e⁻⁵ for many clean points, else e⁻⁶·⁹ = 1e-3.

    With its moments corrected the shorter kernel gives the same eigenvalues for three quarters of
    the pairs, unless the points scatter about the manifold: on a noisy circle the error doubles.
    """
    clean = abs(dimension.drift) < CLEAN
    return 0.0067 if clean and n_points > ENOUGH_POINTS else 1e-3


def tune_by_slope(
    graph: NeighborGraph,
    bandwidth: Bandwidth,
    shape: Shape,
    cutoff: float,
    given: float | None,
    effort: float,
) -> Tuning:
    """Choose ε where S(ε) is steepest: the paper's second visit."""
    return Tuning(given) if given is not None else steepest(graph, bandwidth, shape)


def tune_by_degree(
    graph: NeighborGraph,
    bandwidth: Bandwidth,
    shape: Shape,
    cutoff: float,
    given: float | None,
    effort: float,
) -> Tuning:
    """Choose ε so that sparse points have n* neighbours, and k to hold the kernel."""
    target = effort * degree_target(graph.n_points)

    def choose(rows: Rows) -> float:
        return choose_epsilon(rows, shape, target) if given is None else given

    reach = cutoff if np.isfinite(cutoff) else radius_of(shape, 1e-3)
    epsilon, rows = grow_rows(graph, bandwidth, reach, choose)
    # Far pairs can be measured if distances are those of the columns.
    cloud = graph.tree_points if graph.metric == "euclidean" else None
    return Tuning(
        epsilon,
        rule="degree" if given is None else "given",
        curve=DegreeCurve(cloud, bandwidth, rows, epsilon, graph.period),
        target=target if given is None else None,
        n_neighbors=min(graph.n_points, neighbors_needed(rows, epsilon, reach)),
    )


METHODS = {
    "paper": Method(
        beta=lambda dim: -0.5,
        dimension=slope_dimension,
        tuner=tune_by_slope,
        n_density_neighbors=8,
        n_neighbors=64,
        widen=False,
        leave_one_out=False,
        truncation=lambda n_points, dimension: None,
        limiter=None,
        finite_sample=False,
        one_way_share=0.5,
        forms=FORMS,
        smallest_piece=1,
        merge_copies=False,
    ),
    "resolved": Method(
        beta=lambda dim: -min(0.5, 1 / dim),
        dimension=lambda graph, rho0: ratio_dimension(graph),
        tuner=tune_by_degree,
        n_density_neighbors=16,
        n_neighbors=64,
        widen=True,
        leave_one_out=True,
        truncation=cut_where_clean,
        limiter=Limiter(),
        finite_sample=True,
        one_way_share=1.0,
        forms=("symmetric",),
        smallest_piece=None,
        merge_copies=True,
    ),
}
