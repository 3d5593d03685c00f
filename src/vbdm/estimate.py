"""The walk through the rooms: from points to the operator, and again at other ε."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bandwidth.bandwidth import (
    Bandwidth,
    BandwidthRule,
    FromPotential,
    GivenBandwidth,
    PerPoint,
    PowerOfDensity,
    TwoBandwidths,
    evaluated,
)
from .bandwidth.dimension import ByRatios, DimensionRule, GivenDimension, found_by
from .bandwidth.epsilon_by_degree import ByDegree, GivenEpsilon
from .bandwidth.pilot import by_reach, look_first, neighbors_within, pilot_bandwidth, pilot_cutoff
from .bandwidth.scaled import (
    ENOUGH_POINTS,
    MOST_NEIGHBORS,
    SLACK,
    ScaledPairs,
    TruncationRule,
)
from .bandwidth.tuning import EpsilonRule, Tuning, chosen_by
from .base.accepts import a_count, a_number, accepts, an, numbers
from .base.arrays import FloatArray, is_elsewhere, to_host
from .base.checks import check_count, check_points, is_auto
from .base.errors import EngineWarning, OutOfMemoryError, warn_user
from .base.memory import TREE_COLUMNS
from .base.progress import LOGGER
from .base.shapes import radius_of
from .base.versions import __version__, library_versions
from .engines.at_work import at_work
from .engines.choose import arrived, chosen_engine, computes_on_device
from .engines.off_device import (
    no_device_output,
    not_on_device,
    refuse_many_columns,
    refuse_off_device,
)
from .graph.build import (
    given_graph,
    graph_of,
    is_precomputed,
    refuse_changes,
    refuse_few,
    refuse_one_place,
)
from .graph.distance import Distance, Metric
from .graph.long_lists import needs_long_lists
from .graph.neighbor_graph import NeighborGraph
from .graph.on_host import Moved, brought
from .graph.point_set import PointSet
from .graph.search import NeighborSearch
from .kernel.listed import evaluate_kernel
from .kernel.within_reach import kernel_within_reach
from .operator.operator import Operator, normalise
from .operator.theory import exponents_for
from .rows.placement import Dask, Disk, Memory, Placement, as_placement, in_words, placed_points
from .rows.refused import NeedsLists, no_lists
from .settings.arguments import Request, read_arguments
from .settings.method import METHODS, Limiter, Lists
from .settings.record import Settings
from .settings.series import read_series, rows_of
from .settings.weights import Weighting, Weights, read_weights
from .spectrum.spectrum import Spectrum
from .trust.diagnose import warn_of
from .trust.epsilon_scan import FACTORS, EpsilonScan, scan_modes, why_no_scan


@at_work("the operator")
def estimate_operator(
    X: ArrayLike | Sequence[ArrayLike] | NeighborGraph,
    operator: str | float | None = None,
    method: str = "resolved",
    *,
    beta: float | str = "auto",
    dim: float | str | DimensionRule = "auto",
    epsilon: float | str | EpsilonRule = "auto",
    n_neighbors: int | str = "auto",
    n_density_neighbors: int | str = "auto",
    alpha: float | None = None,
    bandwidth: PerPoint | tuple[PerPoint, PerPoint] | BandwidthRule | None = None,
    potential: PerPoint | None = None,
    weights: ArrayLike | None = None,
    weights_as: str = "auto",
    form: str = "symmetric",
    shape: object = "gaussian",
    leave_one_out: bool | str = "auto",
    truncation: float | str | TruncationRule | None = "auto",
    limiter: Limiter | bool | str = "auto",
    finite_sample: bool | str = "auto",
    effort: float = 1.0,
    search: NeighborSearch | str | None = None,
    metric: Metric = "euclidean",
    period: Any = None,
    engine: str = "auto",
    precision: str = "auto",
    placement: Any = "auto",
    output: str = "numpy",
    lengths: Sequence[int] | None = None,
    series: bool | str = "auto",
) -> Operator:
    r"""Estimate the operator L f = Δf + c1 ∇f·∇q/q from points sampled with density q.

    Parameters
    ----------
    X : (N, n) array, path, NeighborGraph, or (N, N) distances with ``metric="precomputed"``
        The points, or their neighbours (to search once and estimate many times). A list of arrays
        with the same n columns are points of several time series. Of an
        AnnData object the coordinates in ``obsm["X_pca"]`` are taken. Arrays of CuPy, and of torch
        and others on a GPU (through DLPack), are computed with there. Paths are those of .npy, Zarr
        and Parquet files with nothing but points in them; these, and arrays of Zarr, HDF5 and Dask,
        are read chunk by chunk; work that chunks of Dask share is repeated for each, unless
        ``X = X.persist()`` went before. `vbdm.io.read` reads all other files.
    operator : {"laplacian", "generator"} or float, optional
        c1: 0 for the Laplacian, the default, which does not depend on q; 1 for the generator of the
        gradient flow whose invariant density is q; or any real number.
    method : {"resolved", "paper"}
        "resolved": right without tuning. "paper": Section 3 of the paper to the letter,
        with ε and d from the slope of S (Section 5).
    beta : float or "auto"
        Exponent of the bandwidth ρ = q^β. Resolved: -min(1/2, 1/d); paper: -1/2. 0 is the fixed
        kernel (diffusion maps).
    dim : float, rule or "auto"
        Intrinsic dimension d, a real number. Resolved: from neighbour distance ratios; paper: twice
        the largest slope of S(ε).
    epsilon : float, rule or "auto"
        ε, or a rule such as ``vbdm.rules.ByDegree(30)``. Resolved: the 1 % quantile of the degrees
        is 1.7 N^{1/4}, beyond 10⁴ points 17 (N/10⁴)^{1/(4d+4)}; paper: where S(ε) is steepest.
    n_neighbors : int or "auto"
        k, the point included: the kernel's pairs are those in lists of k nearest neighbours.
        Resolved: no lists, but all pairs within the kernel's reach; paper: 64. N gives the dense
        method.
    n_density_neighbors : int or "auto"
        k0 of the pilot density. Resolved: 16; paper: 8.
    alpha : float, optional
        α directly, instead of `operator`.
    bandwidth : array, callable on X, or rule, optional
        An arbitrary ρ; a pair (ρ1, ρ2) for the two-sided form. α is then 1 - c1/2 with c1 from
        `operator`, so 1 by default, and (d+2) ∇f·∇ρ/ρ joins the limit.
    potential : array or callable on X, optional
        U, in units of kT: the limit is Δf - ∇U·∇f whatever the sampling density. Resolved: pairs
        are weighted by exp(-U/2) at both points, and only U at the data is needed; paper: ρ =
        exp(-U/(d+2)), α = 1.
    weights : (N,) array, optional
        w, one positive number per point, where these were sampled with density q and the operator
        of π = w q is wanted, as after a biased simulation: the limit is Δf + c1 ∇f·∇π/π. A
        constant factor cancels. At c1 = 0 the limit does not depend on the density, and weights
        change nothing in it.
    weights_as : {"auto", "measure", "counts"}
        "measure": w is a function of the place, and pairs are multiplied by w^{c1/2} at both
        points. "counts": w jumps from point to point, and each point counts as if it occurred w
        times. By default a look at neighbours decides (`vbdm.settings.weights`).
    form : {"symmetric", "left", "right", "two-sided"}
        Where ρ stands in the kernel; only the symmetric form has a fast spectrum, and only
        ``method="paper"`` has the others.
    shape : {"gaussian", "broad", "compact"}, shape object or callable
        h, the kernel's shape, with h(s) < a·exp(-s/σ).
    leave_one_out : bool or "auto"
        Whether a point is left out of its own sums. Resolved: True. Right for independent samples;
        on regular grids the point is a true quadrature node, and False is better.
    truncation : float, rule, None or "auto"
        Share of its peak at which the kernel is cut, by radius; its moments are corrected.
        Resolved: 1e-3, or e⁻⁵ for more than 10⁴ points without noise. None: the kernel ends only
        where the neighbour list does.
    limiter : Limiter, bool or "auto"
        Whether `spectrum` keeps sparse points from carrying modes of their own. Resolved: True.
    finite_sample : bool or "auto"
        Whether `spectrum` corrects the eigenvalues for the randomness of the sample, a term of
        order 1/n. Resolved: True, unless leave_one_out is off.
    effort : float
        From fast to accurate: multiplies the numbers of neighbours, in the kernel and in the
        density, hence time and memory. 1/2 halves both; at N = 10⁵ efforts 1/2, 1, 2, 4 give
        errors of .17, .09, .06, .06 % on the circle, .14, .03, .04, .09 % on the sphere.
    search : {"auto", "kd-tree", "brute", "projected", "pynndescent"} or NeighborSearch, optional
        Who finds the nearest neighbours; by default the fastest exact search (`vbdm.search`). If it
        is brute force, or misses neighbours, its lists are the kernel's pairs, too.
    metric : str or callable
        How distances are measured: "euclidean"; any metric of scikit-learn, such as "manhattan"
        or "haversine"; a function of two points; or "precomputed", if X is a square matrix of
        distances, dense or sparse (stored entries are the known ones). See `vbdm.neighbors`.
    period : float or one per column, optional
        Periods of the columns: 2π or 360 for angles, the edges of a simulation cell; None for
        those that are not periodic.
    engine : {"auto", "scipy", "numba", "cuda"}
        Who computes: NumPy and SciPy, loops compiled by numba (``pip install vbdm[fast]``), which
        are faster, or an NVIDIA GPU (``pip install vbdm[cuda]``), some hundred times faster; it
        takes points with Euclidean distances and up to 64 columns. By default the GPU if X lives
        there, else numba from 20,000 points on, if it is installed.
        All give the same pairs, and the same eigenvalues up to rounding.
    precision : {"auto", "single", "double"}
        How kernel values are stored where the pairs are those within reach; single by default,
        which moves eigenvalues by less than 1e-8 of their size. They are computed and summed up in
        double precision. Values on lists are always stored in double precision.
    placement : {"auto", "memory", "disk"}, Dask client, address or `vbdm.placement` object
        Where the rows of large arrays live: in memory, in a scratch file, or on the workers of a
        Dask cluster, by its client or by the address of its scheduler, "tcp://…". By default in
        memory if the estimate fits there, else on disk; of an array of Dask, with the current
        client if there is one; an estimate that needs lists of neighbours stays in memory. Where
        rows live elsewhere, eigenfunctions, density and bandwidth are arrays of Zarr (disk) or Dask
        (cluster). All give the same numbers, up to rounding and the solver's tolerance.
    output : {"numpy", "device"}
        What results are handed out as: NumPy arrays or, if a GPU computes, CuPy arrays that stay
        there. In both cases rows are in the order of X.
    lengths : sequence of int, optional
        Numbers of rows of several time series that follow each other in X.
    series : bool or "auto"
        Whether the rows are steps in time, so that error bars are those of time series
        (`vbdm.trust.series`). By default they are if there are several series, or if consecutive
        rows are alike.

    Returns
    -------
    Operator

    Notes
    -----
    The limit is Δf + 2(1-α) ∇f·∇q/q + (d+2) ∇f·∇ρ*/ρ*, with ρ* = ρ for the symmetric and right
    forms, ρ2 for the two-sided one, 1 for the left one (Theorem "mainresult" and appendices).
    The resolved method departs from the paper in its rules for β, k0, d, ε, k and the cut, and in
    the switches `leave_one_out`, `limiter` and `finite_sample`; each has its reason where it is
    implemented (the rooms `bandwidth`, `kernel` and `spectrum`). Cost O(N k log N) time; about 20
    bytes per pair, spectrum included.

    Examples
    --------
    >>> sample = vbdm.datasets.sphere(2000, random_state=0)
    >>> op = vbdm.estimate_operator(sample.points, "laplacian")
    >>> op.spectrum(5).eigenvalues.round(0).tolist()
    [0.0, -2.0, -2.0, -2.0, -6.0]
    """
    request = read_arguments(method, {
        "operator": operator, "beta": beta, "dim": dim, "epsilon": epsilon, "alpha": alpha,
        "bandwidth": bandwidth, "potential": potential, "weights": weights,
        "weights_as": weights_as, "form": form, "shape": shape,
        "leave_one_out": leave_one_out, "truncation": truncation, "limiter": limiter,
        "finite_sample": finite_sample, "effort": effort, "n_neighbors": n_neighbors,
        "n_density_neighbors": n_density_neighbors, "search": search, "metric": metric,
        "period": period, "engine": engine, "precision": precision, "placement": placement,
        "output": output, "lengths": lengths, "series": series,
    })  # fmt: skip
    X = arrived(X, engine)
    may_move = suits_blocks(X, request, n_neighbors, search, metric)
    on_device = computes_on_device(X, engine)
    if on_device:
        # Blocks live in the memory of this machine, on its disk, or on workers.
        may_move = False
        in_blocks = as_placement(placement) not in (None, Memory())
        refuse_off_device(X, metric, search, placement if in_blocks else None)
    elif output == "device":
        raise no_device_output(engine)
    cloud, placed = placed_points(
        X, as_placement(placement), request.method.lists.effort, may_move=may_move
    )
    if is_auto(placement):
        tell_of_disk(placed)
    cloud, rows = read_series(cloud, lengths, series)
    if on_device:
        refuse_many_columns(cloud)
    known = read_weights(weights, weights_as, rows_of(cloud))
    request = replace(request, series=rows, weights=known)
    search_first = partial(
        first_graph, request=request, n_neighbors=n_neighbors, search=search, metric=metric,
        period=period,
    )  # fmt: skip
    first = partial(search_first, cloud, engine=engine)
    on = partial(
        walk, request, n_density_neighbors=n_density_neighbors,
        keep_lists=isinstance(X, NeighborGraph), precision=precision,
    )  # fmt: skip
    if on_device:
        try:
            return on(first)
        except NeedsLists:
            # Only when dimension and ε are known is it known that lists are needed.
            refuse_output(request)
        warn_user(
            "The kernel needs lists of neighbours, as in many dimensions: the processor computes, "
            "which takes longer. engine='numba' silences this.",
            EngineWarning,
        )
        return on(partial(search_first, to_host(cloud), why=BY_LISTS))
    try:
        return on(partial(first, placement=placed))
    except (OutOfMemoryError, NeedsLists) as error:
        if not (is_auto(placement) and may_move and np.shape(cloud)[1] <= TREE_COLUMNS):
            raise
        # Disk helps where memory is too small, and memory where lists are needed.
        elsewhere = OutOfMemoryError if placed is None else NeedsLists
        if not isinstance(error, elsewhere):
            raise
        # What was made so far is given up with the error's traceback.
        before = error.with_traceback(None)
    # Only when the pairs have been counted is it known how much memory they take, and only when the
    # dimension is known, whether they are those of lists, which live in memory.
    placed = Disk() if placed is None else None
    tell_of_disk(placed)
    try:
        return on(partial(first, placement=placed))
    except NeedsLists:
        raise before from None


def tell_of_disk(placement: Placement | None) -> None:
    """Tell the logger that rows go to disk, which nobody asked for and which takes longer."""
    if isinstance(placement, Disk):
        LOGGER.info("the estimate does not fit into memory: its rows go to disk")


def suits_blocks(X: Any, request: Request, n_neighbors: Any, search: Any, metric: Metric) -> bool:
    """Tell whether rows may be moved to disk unasked: lists of neighbours stay in memory."""
    by_tree = search is None or (isinstance(search, str) and search in ("auto", "kd-tree"))
    euclidean = isinstance(metric, str) and metric == "euclidean"
    points = not isinstance(X, NeighborGraph)
    return points and request.method.lists.widen and is_auto(n_neighbors) and by_tree and euclidean


def walk(
    request: Request,
    first: Callable[[], tuple[NeighborGraph, str]],
    n_density_neighbors: int | str = "auto",
    *,
    keep_lists: bool = False,
    precision: str = "auto",
) -> Operator:
    """Go from the first graph through the rooms to the operator.

    `first` returns that graph, and what decides the number of neighbours. It is called here, so
    that nobody else holds the lists when they are given up.
    """
    method, lists, h = request.method, request.method.lists, request.shape
    graph, k_from = first()
    U = None if request.potential is None else evaluated(request.potential, graph, "potential")
    weighting, multiplicity = Weighting(), None
    if request.weights is not None:
        weighting = request.weights.settled(graph)
        if weighting.kind == "measure":
            U = request.weights.as_potential(graph, request.c1)
        elif weighting.kind == "counts":
            multiplicity = graph.order.to_inside(request.weights.values)
    near = graph
    if lists.widen and not (k_from == BY_EPSILON and is_auto(n_density_neighbors)):
        near = graph.with_neighbors(lists.n_neighbors)
    k0 = density_neighbors(n_density_neighbors, near, lists)
    rho0 = pilot_bandwidth(near, k0)
    dimension = found_by(method.dimension, *for_rule(method.dimension, graph.n_points, near, rho0))
    d = dimension.value
    end = pilot_cutoff(d) if lists.widen else np.inf
    near = enough_for_density(graph, lists, k0, d, end)
    pilot = look_first(
        near, rho0, k0, d, leave_one_out=method.leave_one_out, cutoff=end, even_ends=lists.widen
    )
    known, density = for_rule(method.bandwidth, graph.n_points, graph, pilot.density)
    rule = method.bandwidth.settled(known, d)
    rho = from_rule(rule.on_data(known, density), pilot.density)
    bandwidth = Bandwidth.of_form(request.form, rho)
    share = method.truncation.share(graph.n_points, dimension)
    cutoff = radius_of(h, share)
    # These two rules lengthen the rows that they look at; a rule of the user's own may not.
    if lists.widen and not isinstance(method.epsilon, ByDegree | GivenEpsilon):
        graph = graph.with_neighbors(max(lists.n_neighbors, graph.n_neighbors))
    pairs = ScaledPairs(graph, bandwidth, h, cutoff, lists.effort, d)
    tuning = chosen_by(method.epsilon, *for_rule(method.epsilon, graph.n_points, pairs))
    needed = neighbors_needed(pairs, tuning) if k_from == BY_EPSILON else 0
    without_lists = k_from == BY_EPSILON and reaches(pairs, needed)
    graph = graph.without_distances()
    if without_lists:
        k_from = BY_REACH
        if graph.n_points > ENOUGH_POINTS or graph.point_set.rows is not None:
            # The lists served the density, and are not needed any more.
            graph = graph.released()
            del near, pairs
        kernel = kernel_within_reach(
            graph, bandwidth, tuning.epsilon, h, cutoff=cutoff, leave_one_out=method.leave_one_out,
            precision=precision,
        )  # fmt: skip
    elif has_no_lists(graph):
        raise no_lists(f"a kernel cut at {share}, with {needed} neighbours per point")
    else:
        if k_from == BY_EPSILON:
            k = enough_neighbors(needed, graph.n_neighbors)
            # Of a whole matrix of distances, the kernel has all pairs within its reach.
            whole = graph.is_whole and np.isfinite(cutoff) and needed < MOST_NEIGHBORS
            graph = graph.with_neighbors(graph.n_points if whole else k)
        kernel = evaluate_kernel(
            graph, bandwidth, tuning.epsilon, h, leave_one_out=method.leave_one_out, cutoff=cutoff,
            one_way_share=lists.one_way_share,
        )  # fmt: skip
        if graph.n_points > ENOUGH_POINTS and not keep_lists:
            kernel = kernel.without_lists()
    exponents = exponents_for(request.c1, request.alpha, rule.beta, d, request.form)
    # The correction is derived for powers of the density: without c1 there is none.
    corrects = method.finite_sample and exponents.c1 is not None
    settings = Settings(
        method=replace(method, bandwidth=rule, finite_sample=corrects),
        exponents=exponents,
        form=request.form, shape=h, truncation=share, n_density_neighbors=k0, neighbors_from=k_from,
        search=graph.point_set.search, search_reason=graph.point_set.search_reason,
        engine=graph.point_set.engine.credit, engine_reason=graph.point_set.engine_reason,
        precision=kernel.precision, placement=in_words(graph.point_set.rows),
        output=request.output, given=request.given, versions=VERSIONS, series=request.series,
        weighting=weighting,
    )  # fmt: skip
    result = normalise(
        kernel, pilot=pilot, dimension=dimension, tuning=tuning, settings=settings, potential=U,
        multiplicity=multiplicity,
    )  # fmt: skip
    warn_of(result)
    return result


#: Versions of this package and of the libraries under it, which stay the same within a process.
VERSIONS = {"vbdm": __version__, **library_versions()}
#: What may decide the number of neighbours k, in words for the settings.
BY_EPSILON, BY_METHOD = "as many as ε needs", "the method's own number"
BY_REACH = "all pairs within the kernel's reach"
BY_USER, BY_GRAPH = "given", "those of the given graph"
#: Why the processor computes where a device was to, in words for the settings.
BY_LISTS = "kernels on lists of neighbours are worked on in memory"
#: Rules for d, ρ and ε that take arrays wherever they live; classes derived from them may not.
OWN_RULES = (
    ByRatios, GivenDimension, PowerOfDensity, GivenBandwidth, TwoBandwidths, FromPotential,
    ByDegree, GivenEpsilon,
)  # fmt: skip


def for_rule(rule: object, n_points: int, *args: Any) -> tuple[Any, ...]:
    """Return the arguments of a rule: one that is not among our own gets them in memory.

    The number of points decides which engine computes with them there.
    """
    if type(rule) in OWN_RULES:
        return args
    moved: Moved = {}
    return tuple(brought(arg, n_points, moved) for arg in args)


def from_rule(rho: Any, beside: FloatArray) -> Any:
    """Return what a rule gives for ρ, one array or two, in double precision beside another."""
    if isinstance(rho, tuple):
        return tuple(from_rule(part, beside) for part in rho)
    like = beside if is_elsewhere(beside) else None
    return np.asarray(rho, dtype=np.float64, like=cast(Any, like))


def has_no_lists(graph: NeighborGraph) -> bool:
    """Tell whether rows live in blocks, or on a device: there no kernel is evaluated on lists."""
    return graph.point_set.rows is not None or is_elsewhere(graph.order.permutation)


def first_graph(
    X: Any,
    request: Request,
    n_neighbors: Any,
    search: Any,
    metric: Metric,
    period: Any,
    engine: str = "auto",
    placement: Placement | None = None,
    why: str = "",
) -> tuple[NeighborGraph, str]:
    """Return the first graph, given or searched, and what decides the number of neighbours.

    Lists of a given length are searched where the points live, and brought into memory. `why` is
    the reason for the choice of the engine, if it is known.
    """
    lists = request.method.lists
    automatic = BY_EPSILON if lists.widen else BY_METHOD
    if isinstance(X, NeighborGraph):
        refuse_changes(X, n_neighbors, search, metric, period)
        refuse_blocks(placement, X.n_points, "a NeighborGraph")
        return computed_by(engine, X.on_host.with_lists()), BY_GRAPH
    if is_precomputed(metric):
        wanted = None if is_auto(n_neighbors) else n_neighbors
        graph = computed_by(engine, given_graph(X, wanted, search, period))
        refuse_blocks(placement, graph.n_points, "metric='precomputed'")
        if wanted is None and lists.widen and graph.is_whole:
            # As with points: lists begin short, and grow as they are needed.
            graph = graph.with_merged_copies() if lists.merge_copies else graph
            refuse_one_place(graph.n_points, graph.order.n_rows)
            graph = graph.with_neighbors(lists.n_nearest)
        return graph, automatic if wanted is None else BY_USER
    computes, reason = chosen_engine(engine, rows_of(X), X)
    points = check_points(X, placed=computes.placed)
    if lists.widen and not isinstance(request.method.dimension, GivenDimension):
        refuse_few(*points.shape)
    k = None
    if not is_auto(n_neighbors):
        k = check_count(n_neighbors, "n_neighbors", low=2, high=len(points))
    distance = Distance.checked(metric, period, points.shape[1])
    rows_for = None if placement is None else partial(placement.rows, effort=lists.effort)
    cloud = PointSet.of(
        points, k or min(64, len(points)), search, distance, merge_copies=lists.merge_copies,
        engine=computes, rows_for=rows_for,
    )  # fmt: skip
    cloud = replace(cloud, engine_reason=why or reason)
    refuse_one_place(cloud.n_points, len(points))
    if cloud.rows is not None and (k is not None or not lists.widen):
        raise no_lists("method='paper'" if k is None else f"n_neighbors={k}")
    if k is not None:
        return listed_in_memory(graph_of(cloud, k), request), BY_USER
    # The density may need no lists; the dimension and k0 do.
    near = lists.n_nearest if lists.widen and cloud.tree is not None else lists.n_neighbors
    longest = int(MOST_NEIGHBORS * SLACK)
    if lists.widen and needs_long_lists(cloud, longest):
        return graph_of(cloud, longest).with_neighbors(lists.n_neighbors), automatic
    graph = graph_of(cloud, min(cloud.n_points, near), keep=True)
    return graph if lists.widen else listed_in_memory(graph, request), automatic


def listed_in_memory(graph: NeighborGraph, request: Request) -> NeighborGraph:
    """Return a graph whose lists are the kernel's pairs: in memory, where kernels on them are."""
    if not is_elsewhere(graph.order.permutation):
        return graph
    refuse_output(request)
    graph = graph.on_host
    return replace(graph, point_set=replace(graph.point_set, engine_reason=BY_LISTS))


def refuse_output(request: Request) -> None:
    """Refuse to leave results on a device where the kernel is evaluated on lists."""
    if request.output == "device":
        raise not_on_device(
            "Results of an estimate by lists of neighbours",
            "output='device'",
            "Lists are needed for method='paper', `n_neighbors`, no `truncation`, and in many "
            "dimensions; kernels on them are evaluated in this machine's memory.",
            "Leave `output` out. ",
        )


def refuse_blocks(placement: Placement | None, n_points: int, received: str) -> None:
    """Refuse to put a graph into blocks that is there already."""
    # Of these two it is known without opening a file, or connecting to a cluster.
    elsewhere = isinstance(placement, Disk | Dask)
    if elsewhere or (placement is not None and placement.rows(n_points, 1) is not None):
        raise no_lists(received)


def computed_by(engine: str, graph: NeighborGraph) -> NeighborGraph:
    """Return a given graph with the engine that is to compute."""
    computes, reason = chosen_engine(engine, graph.n_points)
    points = replace(graph.point_set, engine=computes, engine_reason=reason)
    return replace(graph, point_set=points)


def reaches(pairs: ScaledPairs, needed: int) -> bool:
    """Tell whether the kernel's pairs can be found by its reach: points with a tree, a finite cut.

    An approximate search was asked for, or taken, to save time: then its lists are the pairs. In
    many dimensions far more points lie within reach than the longest lists hold: then, too.
    """
    graph = pairs.graph
    return (
        by_reach(graph)
        and pairs.bandwidth.is_symmetric
        and bool(np.isfinite(pairs.cutoff))
        and needed < MOST_NEIGHBORS
    )


def enough_for_density(
    graph: NeighborGraph, lists: Lists, k0: int, dim: float, cutoff: float
) -> NeighborGraph:
    """Return the graph with lists over which the pilot density can be summed, where it needs any.

    The paper's lists are what they are.
    """
    if not lists.widen or (np.isfinite(cutoff) and by_reach(graph)):
        return graph
    if has_no_lists(graph):
        raise no_lists(f"points in {dim:.2g} dimensions, whose density is summed over lists")
    held = lists.n_neighbors if np.isinf(cutoff) else neighbors_within(cutoff, k0, dim)
    if graph.is_whole and np.isfinite(cutoff):
        held = graph.n_points
    return graph.with_neighbors(held)


def neighbors_needed(pairs: ScaledPairs, tuning: Tuning) -> int:
    """Return the length of lists that hold the kernel at 99 % of the points."""
    # A rule may leave open how many neighbours its ε needs; then it is found out here.
    needed = tuning.n_neighbors or GivenEpsilon(tuning.epsilon).choose(pairs).n_neighbors
    return int(needed or pairs.graph.n_neighbors)


def enough_neighbors(needed: int, listed: int) -> int:
    """Return k: what ε needs, or the length of the lists if only a part of the rim is missing."""
    return min(needed, listed) if needed / SLACK <= listed else needed


def density_neighbors(wanted: int | str, graph: NeighborGraph, lists: Lists) -> int:
    """Return k0: the user's, or the method's, which is at most the length of the lists."""
    if is_auto(wanted):
        return max(2, min(lists.n_density_neighbors, graph.n_neighbors))
    return check_count(wanted, "n_density_neighbors", low=2, high=graph.n_neighbors)


def factors_of_scan(value: Any, name: str) -> list[float]:
    """Return the multiples of ε at which a scan looks: positive, and not absurdly far from 1."""
    factors = numbers(value, name).tolist()
    return [a_number(1e-6, 1e6)(factor, name) for factor in factors]


def estimate_again(operator: Operator, rows: NDArray[np.intp]) -> Operator:
    """Estimate the same operator from some of its points, with an ε chosen for these."""
    settings, graph = operator.settings, operator.graph
    points = to_host(cast(Any, graph.point_set.coordinates)[graph.order.inside_rows(rows)])
    rule: BandwidthRule = settings.method.bandwidth
    if operator.beta is None:
        rule = GivenBandwidth(np.asarray(to_host(operator.bandwidth))[rows])
    method = replace(
        settings.method, bandwidth=rule, dimension=GivenDimension(operator.dim),
        epsilon=METHODS[settings.method.name].epsilon,
    )  # fmt: skip
    exponents = settings.exponents
    U = operator.potential
    weights = weights_again(operator, rows)
    request = Request(
        method, exponents.c1, exponents.alpha if exponents.c1 is None else None, settings.form,
        settings.shape, settings.given,
        None if U is None or weights is not None else graph.order.to_caller(U)[rows],
        weights=weights,
    )  # fmt: skip
    period = None if graph.period is None else [p or None for p in graph.period.tolist()]
    k = "auto" if method.lists.widen else min(operator.n_neighbors, len(points))
    first = partial(first_graph, points, request, k, None, graph.metric, period)
    k0 = min(settings.n_density_neighbors, len(points))
    return walk(request, first, k0, precision=settings.precision)


def weights_again(operator: Operator, rows: NDArray[np.intp]) -> Weights | None:
    """Return the weights of some of an operator's points, which enter as they did before."""
    kind, U, c1 = operator.settings.weighting.kind, operator.potential, operator.c1
    if operator.multiplicity is not None:
        return Weights(operator.order.to_caller(operator.multiplicity)[rows], kind)
    if kind == "measure" and U is not None and c1:
        return Weights(np.exp(-operator.order.to_caller(U - U.min())[rows] / c1), kind)
    return None


@accepts(
    spectrum=an(Spectrum, "Call op.spectrum(10)."), factors=factors_of_scan, n_drawn=a_count(10)
)
def scan_epsilon(
    spectrum: Spectrum, factors: Sequence[float] = FACTORS, *, n_drawn: int = 5000
) -> EpsilonScan | None:
    """Solve at several ε around the one in use, and follow the modes: what does not move, stands.

    Parameters
    ----------
    spectrum : Spectrum
        The result.
    factors : sequence of float
        Multiples of the chosen ε; 1 is always among them. The largest are left out where they
        would need too many neighbours, and any where the solver fails.
    n_drawn : int
        Number of points at which eigenfunctions are kept. For clouds of more than 20,000 points,
        the operator is estimated again from this many points, and ε varied around the one that
        suits these.

    Returns
    -------
    EpsilonScan or None
        None where ε cannot be varied; `vbdm.trust.epsilon_scan.why_no_scan` says why.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.circle(300, random_state=0).points)
    >>> found = scan_epsilon(op.spectrum(3), factors=(0.5, 1, 2))
    >>> found.eigenvalues.shape, found.chosen
    ((3, 3), 1)
    """
    if why_no_scan(spectrum):
        return None
    return scan_modes(spectrum, factors, n_drawn=n_drawn, again=estimate_again)
