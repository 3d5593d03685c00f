"""The two methods, as settings handed to the same walk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray
from .bandwidth import Bandwidth
from .degrees import (
    Rows,
    choose_epsilon,
    degree_curve,
    degree_target,
    grow_rows,
    neighbors_needed,
)
from .dimension import Dimension, ratio_dimension
from .graph import NeighborGraph
from .limiter import Limiter
from .shapes import Gaussian, Shape, radius_of
from .theory import FORMS
from .tuning import Tuning, steepest


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
        From graph, bandwidth, shape, cutoff and a given ε (or None) to a `Tuning`.
    n_density_neighbors : int
        k0 of the pilot density.
    n_neighbors : int
        k of the first graph.
    widen : bool
        Whether the graph is searched again with as many neighbours as ε needs.
    leave_one_out : bool
        K_ii = 0 in the kernel, the density and the tuning.
    truncation : float or None
        Share of its peak below which the kernel is cut.
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
    """

    beta: Callable[[float], float]
    dimension: Callable[[NeighborGraph, FloatArray], Dimension]
    tuner: Callable[[NeighborGraph, Bandwidth, Shape, float, float | None], Tuning]
    n_density_neighbors: int
    n_neighbors: int
    widen: bool
    leave_one_out: bool
    truncation: float | None
    limiter: Limiter | None
    finite_sample: bool
    one_way_share: float
    forms: tuple[str, ...]
    smallest_piece: int | None


def slope_dimension(graph: NeighborGraph, rho0: FloatArray) -> Dimension:
    """Return twice the largest slope of S(ε) with bandwidth ρ0: the paper's first visit."""
    return Dimension(steepest(graph, Bandwidth.of_form("symmetric", rho0), Gaussian()).dim)


def tune_by_slope(
    graph: NeighborGraph, bandwidth: Bandwidth, shape: Shape, cutoff: float, given: float | None
) -> Tuning:
    """Choose ε where S(ε) is steepest: the paper's second visit."""
    return Tuning.given(given) if given is not None else steepest(graph, bandwidth, shape)


def tune_by_degree(
    graph: NeighborGraph, bandwidth: Bandwidth, shape: Shape, cutoff: float, given: float | None
) -> Tuning:
    """Choose ε so that the 1 % quantile of the degrees is 1.7 N^{1/4}, and k to hold the kernel."""
    target = degree_target(graph.n_points)

    def choose(rows: Rows) -> float:
        return choose_epsilon(rows, shape, target) if given is None else given

    reach = cutoff if np.isfinite(cutoff) else radius_of(shape, 1e-3)
    epsilon, rows = grow_rows(graph, bandwidth, reach, choose)
    curve = degree_curve(graph, bandwidth, rows, epsilon)
    return Tuning(
        epsilon,
        curve.dim_at(epsilon),
        curve.epsilons,
        curve.sums,
        curve.slopes,
        rule="given" if given is not None else "degree",
        curve=curve,
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
        truncation=None,
        limiter=None,
        finite_sample=False,
        one_way_share=0.5,
        forms=FORMS,
        smallest_piece=1,
    ),
    "resolved": Method(
        beta=lambda dim: -min(0.5, 1 / dim),
        dimension=lambda graph, rho0: ratio_dimension(graph),
        tuner=tune_by_degree,
        n_density_neighbors=16,
        n_neighbors=64,
        widen=True,
        leave_one_out=True,
        truncation=1e-3,
        limiter=Limiter(),
        finite_sample=True,
        one_way_share=1.0,
        forms=("symmetric",),
        smallest_piece=None,
    ),
}
