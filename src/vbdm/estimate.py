"""The walk through the house: from points to the operator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .bandwidth.bandwidth import pilot_bandwidth
from .bandwidth.dimension import Dimension, given_dimension
from .bandwidth.epsilon_by_degree import ENOUGH_POINTS, SLACK, degree_target
from .bandwidth.neighbor_count import FEW_POINTS, guess_neighbors
from .base.checks import check_count, check_points, check_positive, is_auto
from .base.errors import bad_input
from .base.shapes import Shape, as_shape, radius_of
from .graph.distance import Distance, Metric
from .graph.graph import NeighborGraph, given_graph, is_precomputed, measured_recall, sorted_cloud
from .graph.search import NeighborSearch
from .kernel.kernel import evaluate_kernel, pilot_density
from .operator.operator import Operator, normalise
from .request import LAPLACIAN, PerPoint, Request, as_method, density_neighbors
from .settings import Method
from .spectrum.limiter import Limiter
from .trust.doubts import warn_of_doubts


def estimate_operator(
    X: ArrayLike | NeighborGraph,
    operator: str | float = LAPLACIAN,
    method: str = "resolved",
    *,
    beta: float | str = "auto",
    dim: float | str = "auto",
    epsilon: float | str = "auto",
    n_neighbors: int | str = "auto",
    n_density_neighbors: int | str = "auto",
    alpha: float | None = None,
    bandwidth: PerPoint | tuple[PerPoint, PerPoint] | None = None,
    potential: PerPoint | None = None,
    form: str = "symmetric",
    shape: object = "gaussian",
    leave_one_out: bool | str = "auto",
    truncation: float | str | None = "auto",
    limiter: Limiter | bool | str = "auto",
    finite_sample: bool | str = "auto",
    effort: float = 1.0,
    search: NeighborSearch | str | None = None,
    metric: Metric = "euclidean",
    period: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> Operator:
    r"""Estimate the operator L f = Δf + c1 ∇f·∇q/q from points sampled with density q.

    Parameters
    ----------
    X : (N, n) array, NeighborGraph, or (N, N) distances with ``metric="precomputed"``
        The points, or their neighbours (to search once and estimate many times).
    operator : {"laplacian", "generator"} or float
        c1: 0 for the Laplacian, which does not depend on q; 1 for the generator of the gradient
        flow whose invariant density is q; or any real number.
    method : {"resolved", "paper"}
        "resolved": right without tuning. "paper": Section 3 of the paper to the letter,
        with ε and d from the slope of S (Section 5).
    beta : float or "auto"
        Exponent of the bandwidth ρ = q^β. Resolved: -min(1/2, 1/d); paper: -1/2. 0 is the fixed
        kernel (diffusion maps).
    dim : float or "auto"
        Intrinsic dimension d, a real number. Resolved: from neighbour distance ratios; paper: twice
        the largest slope of S(ε).
    epsilon : float or "auto"
        ε. Resolved: the 1 % quantile of the degrees is 1.7 N^{1/4}, at most 17; paper: where S(ε)
        is steepest.
    n_neighbors : int or "auto"
        k, itself included. Resolved: as many as ε needs; paper: 64. N gives the dense method.
    n_density_neighbors : int or "auto"
        k0 of the pilot density. Resolved: 16; paper: 8.
    alpha : float, optional
        α directly, instead of `operator`.
    bandwidth : array or callable on X, optional
        An arbitrary ρ; a pair (ρ1, ρ2) for the two-sided form. α is then 1 - c1/2 with c1 from
        `operator`, so 1 by default, and (d+2) ∇f·∇ρ/ρ joins the limit.
    potential : array or callable on X, optional
        U: the limit is Δf - ∇U·∇f whatever the sampling density (ρ = exp(-U/(d+2)), α = 1).
    form : {"symmetric", "left", "right", "two-sided"}
        Where ρ stands in the kernel; only the symmetric form has a fast spectrum, and only
        ``method="paper"`` has the others.
    shape : {"gaussian", "broad", "compact"}, shape object or callable
        h, with h(s) < a·exp(-s/σ).
    leave_one_out : bool or "auto"
        Whether a point is left out of its own sums. Resolved: True. Right for independent samples;
        on regular grids the point is a true quadrature node, and False is better.
    truncation : float, None or "auto"
        Share of its peak at which the kernel is cut, by radius; its moments are corrected.
        Resolved: 1e-3, or e⁻⁵ for more than 10⁴ points without noise. None: no cut but the end of
        the neighbour list.
    limiter : Limiter, bool or "auto"
        Whether `spectrum` keeps sparse points from carrying modes of their own. Resolved: True.
    finite_sample : bool or "auto"
        Whether `spectrum` corrects the eigenvalues for the randomness of the sample, a term of
        order 1/n (`vbdm.spectrum.finite_sample`). Resolved: True, unless leave_one_out is off.
    effort : float
        From fast to accurate: multiplies the numbers of neighbours, in the kernel and in the
        density, hence time and memory. 1/2 halves both; at N = 10⁵ efforts 1/2, 1, 2, 4 give
        errors of 2, .4, .1, .03 % on the circle, 1, .4, .2, .1 % on the sphere.
    search : {"auto", "kd-tree", "brute", "projected", "pynndescent"} or NeighborSearch, optional
        Who finds the neighbours; by default the fastest exact engine (`vbdm.search`).
    metric : str or callable
        How distances are measured: "euclidean"; any metric of scikit-learn, such as "manhattan"
        or "haversine"; a function of two points; or "precomputed", if X is a square matrix of
        distances, dense or sparse (stored entries are the known ones). See `vbdm.neighbors`.
    period : float or one per column, optional
        Periods of the columns: 2π or 360 for angles, the edges of a simulation cell; None for
        those that are not periodic.
    random_state : int, Generator or None
        Kept for methods that draw samples; both methods are deterministic.

    Returns
    -------
    Operator

    Notes
    -----
    The limit is Δf + 2(1-α) ∇f·∇q/q + (d+2) ∇f·∇ρ*/ρ*, with ρ* = ρ for the symmetric and right
    forms, ρ2 for the two-sided one, 1 for the left one (Theorem "mainresult" and appendices).
    The resolved method departs from the paper in its rules for β, k0, d, ε and k, and in the three
    switches above; each has its reason where it is implemented (`vbdm.kernel.kernel`, `vbdm.bandwidth.epsilon_by_degree`,
    `vbdm.bandwidth.dimension`, `vbdm.spectrum.limiter`). Cost O(N k log N) time; about 20 bytes per pair, spectrum
    included.

    Examples
    --------
    >>> sample = vbdm.datasets.sphere(2000, random_state=0)
    >>> op = vbdm.estimate_operator(sample.points, "laplacian")
    >>> op.spectrum(5).eigenvalues.round(0).tolist()
    [0.0, -2.0, -2.0, -2.0, -6.0]
    """
    settings = as_method(method, leave_one_out, truncation, limiter, finite_sample, effort)
    request = Request.checked(operator, alpha, beta, bandwidth, potential, form, settings)
    h = as_shape(shape)
    given = None if is_auto(epsilon) else check_positive(epsilon, "epsilon")

    guess = partial(first_neighbors, request, settings, h, given)
    graph = as_graph(X, n_neighbors, guess, settings.merge_copies, search, metric, period)
    pilot_graph = graph.with_neighbors(settings.n_neighbors) if settings.widen else graph
    k0 = density_neighbors(n_density_neighbors, pilot_graph, settings)
    rho0 = pilot_bandwidth(pilot_graph, k0)
    dimension = (
        settings.dimension(pilot_graph, rho0)
        if is_auto(dim)
        else given_dimension(dim)
    )  # fmt: skip
    d = dimension.value
    pilot = pilot_density(pilot_graph, rho0, d, leave_one_out=settings.leave_one_out)
    rho = request.bandwidth_on(graph, pilot, d)
    cutoff = radius_of(h, settings.truncation(graph.n_points, dimension))
    tuning = settings.tuner(graph, rho, h, cutoff, given, settings.effort)
    if settings.widen and is_auto(n_neighbors) and not isinstance(X, NeighborGraph):
        enough = tuning.n_neighbors / SLACK <= graph.n_neighbors
        k = min(tuning.n_neighbors, graph.n_neighbors) if enough else tuning.n_neighbors
        graph = graph.with_neighbors(k)
    kernel = evaluate_kernel(
        graph, rho, tuning.epsilon, h, leave_one_out=settings.leave_one_out, cutoff=cutoff,
        one_way_share=settings.one_way_share,
    )  # fmt: skip
    if graph.n_points > ENOUGH_POINTS and not isinstance(X, NeighborGraph):
        kernel = kernel.without_table()
    source = request.source(pilot_graph, rho0, k0, d)
    result = normalise(
        kernel, source, dimension=dimension, alpha=request.alpha_in(d), beta=request.beta_in(d),
        c1=request.c1_in(d), tuning=tuning, limiter=settings.limiter,
        finite_sample=settings.finite_sample,
        smallest_piece=settings.smallest_piece or k0,
    )  # fmt: skip
    warn_of_doubts(result, pilot)
    return result


def first_neighbors(
    request: Request, settings: Method, shape: Shape, epsilon: float | None, cloud: NeighborGraph
) -> int:
    """Return how many neighbours to search for at first: enough for the density, or for all.

    Small clouds are searched twice, for density and kernel; for large ones the second number is
    guessed, if what it depends on is known.
    """
    n, beta = cloud.n_points, request.beta
    if n <= FEW_POINTS or not settings.widen or beta is None or epsilon is not None:
        return min(n, settings.n_neighbors)
    cutoff = radius_of(shape, settings.truncation(n, Dimension(1.0)))
    if not np.isfinite(cutoff):
        return settings.n_neighbors
    target = settings.effort * degree_target(n)
    return min(n, max(settings.n_neighbors, guess_neighbors(cloud, beta, target, shape, cutoff)))


def as_graph(
    X: Any,
    n_neighbors: int | str,
    choose: Callable[[NeighborGraph], int],
    merge_copies: bool,
    search: NeighborSearch | str | None = None,
    metric: Metric = "euclidean",
    period: Any = None,
) -> NeighborGraph:
    """Return the neighbour graph: given, or searched."""
    if isinstance(X, NeighborGraph):
        refuse_changes(X, n_neighbors, search, metric, period)
        return X
    if is_precomputed(metric):
        wanted = None if is_auto(n_neighbors) else n_neighbors
        return given_graph(X, wanted, search, period)
    points = check_points(X)
    k = None
    if not is_auto(n_neighbors):
        k = check_count(n_neighbors, "n_neighbors", low=2, high=len(points))
    distance = Distance.checked(metric, period, points.shape[1])
    cloud = sorted_cloud(
        points, k or min(64, len(points)), search, distance, merge_copies=merge_copies
    )
    if cloud.n_points < 2:
        raise bad_input(
            "All points are the same.",
            received=f"{len(points)} copies of one point",
            because="An operator compares points with their neighbours.",
            hint="Check the columns that were selected.",
        )
    return measured_recall(cloud.with_neighbors(k or choose(cloud)))


def refuse_changes(
    graph: NeighborGraph, n_neighbors: Any, search: Any, metric: Any, period: Any
) -> None:
    """Raise if a graph that is already built is asked to be another one."""
    same_metric = metric in ("euclidean", "precomputed") or metric == graph.metric
    asked = {
        "n_neighbors": (n_neighbors, is_auto(n_neighbors) or n_neighbors == graph.n_neighbors),
        "search": (search, search is None or is_auto(search)),
        "metric": (metric, same_metric),
        "period": (period, period is None),
    }
    for name, (value, is_fine) in asked.items():
        if not is_fine:
            raise bad_input(
                f"`{name}` cannot change a graph that is already built.",
                received=f"{name}={value!r} and {graph!r}",
                because="The graph carries its own neighbours and distances.",
                hint=f"Leave `{name}` out, or pass the points.",
            )
