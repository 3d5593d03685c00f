"""The operator from points: the library's main door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import to_host
from ..base.checks import is_auto
from ..base.memory import TREE_COLUMNS
from ..base.parameters import answering
from ..engines.choose import (
    computes_on_device,
    no_device_output,
    refuse_many_columns,
    refuse_off_device,
    to_engine,
)
from ..engines.engine import at_work
from ..errors import EngineWarning, OutOfMemoryError, warn_user
from ..graph.neighbor_graph import NeighborGraph
from ..graph.point_set import Metric
from ..kernel.bandwidth import BandwidthRule, PerPoint
from ..kernel.dimension import DimensionRule
from ..kernel.tuning import EpsilonRule
from ..operator.arguments import Request, read_request
from ..operator.method import Paper, Resolved
from ..operator.operator import Operator
from ..operator.weights import read_weights
from ..placement import Disk, Memory, Placement, as_placement, placed_points
from ..prepare.series import read_series, rows_of
from ..progress import LOGGER
from ..rows.place import NeedsLists
from .first_graph import BY_LISTS, refuse_device_output
from .walk import walk


@answering
@at_work("the operator")
def estimate_operator(
    X: ArrayLike | Sequence[ArrayLike] | NeighborGraph,
    operator: str | float | None = None,
    *,
    weights: ArrayLike | None = None,
    potential: PerPoint | None = None,
    lengths: Sequence[int] | None = None,
    series: bool | str = "auto",
    epsilon: float | str | EpsilonRule = "auto",
    dim: float | str | DimensionRule = "auto",
    bandwidth: PerPoint | tuple[PerPoint, PerPoint] | BandwidthRule | str = "auto",
    effort: float = 1.0,
    metric: Metric = "euclidean",
    period: Any = None,
    method: str | Resolved | Paper = "resolved",
    run: Any = None,
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
    weights : (N,) array, optional
        w, one positive number per point, where these were sampled with density q and the operator
        of π = w q is wanted, as after a biased simulation: the limit is Δf + c1 ∇f·∇π/π. A
        constant factor cancels. At c1 = 0 the limit does not depend on the density, and weights
        change nothing in it.
    potential : array or callable on X, optional
        U, in units of kT: the limit is Δf - ∇U·∇f whatever the sampling density. Resolved: pairs
        are weighted by exp(-U/2) at both points, and only U at the data is needed; paper: ρ =
        exp(-U/(d+2)), α = 1.
    lengths : sequence of int, optional
        Numbers of rows of several time series that follow each other in X.
    series : bool or "auto"
        Whether the rows are steps in time, so that error bars are those of time series
        (`vbdm.trust.series`). By default they are if there are several series, or if consecutive
        rows are alike.
    epsilon : float, rule or "auto"
        ε, or a rule such as ``vbdm.rules.ByDegree(30)``. Resolved: the 1 % quantile of the degrees
        is 1.7 N^{1/4}, beyond 10⁴ points 17 (N/10⁴)^{1/(4d+4)}; paper: where S(ε) is steepest.
    dim : float, rule or "auto"
        Intrinsic dimension d, a real number. Resolved: from neighbour distance ratios; paper: twice
        the largest slope of S(ε).
    bandwidth : rule, array or callable on X, or "auto"
        ρ. ``vbdm.rules.PowerOfDensity(beta)`` is ρ = q^β: by default β is -min(1/2, 1/d), in the
        paper's method -1/2; 0 is the fixed kernel (diffusion maps). An array or a function is an
        arbitrary ρ; a pair of these (ρ1, ρ2) is for the two-sided form. α is then 1 - c1/2 with c1
        from `operator`, so 1 by default, and (d+2) ∇f·∇ρ/ρ joins the limit.
    effort : float
        From fast to accurate: multiplies the numbers of neighbours, in the kernel and in the
        density, hence time and memory. 1/2 halves both; at N = 10⁵ efforts 1/2, 1, 2, 4 give
        errors of .17, .09, .06, .06 % on the circle, .14, .03, .04, .09 % on the sphere.
    metric : str or callable
        How distances are measured: "euclidean"; any metric of scikit-learn, such as "manhattan"
        or "haversine"; a function of two points; or "precomputed", if X is a square matrix of
        distances, dense or sparse (stored entries are the known ones). See `vbdm.neighbors`.
    period : float or one per column, optional
        Periods of the columns: 2π or 360 for angles, the edges of a simulation cell; None for
        those that are not periodic.
    method : {"resolved", "paper"}, vbdm.Resolved or vbdm.Paper
        "resolved": right without tuning. "paper": Section 3 of the paper to the letter,
        with ε and d from the slope of S (Section 5). Their options are fields of
        ``vbdm.Resolved(…)`` and ``vbdm.Paper(…)``: the kernel's shape, cut and form, numbers of
        neighbours, and what is done about sparse points and small samples.
    run : {"scipy", "numba", "cuda", "memory", "disk", "dask"}, vbdm.Run, placement or client
        Who computes, and where large arrays live: an engine or a placement by its name, an object
        of `vbdm.placement`, a client of Dask or the address of its scheduler, or several choices
        together, ``vbdm.Run(engine="cuda", output="device")``. By default numba computes from
        20,000 points on, if it is installed, a GPU if X lives there, and rows live in memory if the
        estimate fits there, else on disk.

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
    request = read_request({
        "operator": operator, "weights": weights, "potential": potential, "lengths": lengths,
        "series": series, "epsilon": epsilon, "dim": dim, "bandwidth": bandwidth,
        "effort": effort, "metric": metric, "period": period, "method": method, "run": run,
    })  # fmt: skip
    how = request.run
    X, place = to_engine(X, how.engine), as_placement(how.placement)
    on_device = computes_on_device(X, how.engine)
    if on_device:
        # Blocks live in the memory of this machine, on its disk, or on workers.
        in_blocks = place not in (None, Memory())
        refuse_off_device(X, metric, how.search, how.placement if in_blocks else None)
    elif how.output == "device":
        raise no_device_output(how.engine)
    may_move = place is None and not on_device and suits_blocks(X, request)
    points, place = placed_points(X, place, request.method.lists.effort, may_move=may_move)
    if may_move:
        tell_of_disk(place)
    points, rows = read_series(points, lengths, series)
    if on_device:
        refuse_many_columns(points)
    known = read_weights(weights, request.weights_as, rows_of(points))
    request = replace(request, series=rows, weights=known)
    try:
        return walk(request, points, place)
    except (OutOfMemoryError, NeedsLists) as error:
        # Disk helps where memory is too small, and memory where lists are needed. Only when the
        # pairs have been counted is it known how much memory they take, and only when the
        # dimension is known, whether they are those of lists.
        if on_device:
            helps = isinstance(error, NeedsLists)
        else:
            elsewhere = OutOfMemoryError if place is None else NeedsLists
            few = may_move and np.shape(points)[1] <= TREE_COLUMNS
            helps = few and isinstance(error, elsewhere)
        if not helps:
            raise
        # What was made so far is given up with the error's traceback.
        failure = error.with_traceback(None)
    if on_device:
        refuse_device_output(request)
        warn_user(
            "The kernel needs lists of neighbours, as in many dimensions: the processor computes, "
            "which takes longer. run='numba' silences this.",
            EngineWarning,
        )
        request = replace(request, run=replace(how, engine="auto"))
        return walk(request, to_host(points), engine_reason=BY_LISTS)
    place = Disk() if place is None else None
    tell_of_disk(place)
    try:
        return walk(request, points, place)
    except NeedsLists:
        raise failure from None


def tell_of_disk(placement: Placement | None) -> None:
    """Tell the logger that rows go to disk, which nobody asked for and which takes longer."""
    if isinstance(placement, Disk):
        LOGGER.info("the estimate does not fit into memory: its rows go to disk")


def suits_blocks(X: Any, request: Request) -> bool:
    """Tell whether rows may be moved to disk unasked: lists of neighbours stay in memory."""
    search, metric = request.run.search, request.metric
    by_tree = search is None or (isinstance(search, str) and search in ("auto", "kd-tree"))
    euclidean = isinstance(metric, str) and metric == "euclidean"
    by_reach = request.method.lists.widen and is_auto(request.n_neighbors)
    return not isinstance(X, NeighborGraph) and by_reach and by_tree and euclidean
