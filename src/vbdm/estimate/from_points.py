"""The operator from points: the library's main door."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.checks import is_auto
from ..base.memory import TREE_COLUMNS
from ..engines.choose import (
    computes_on_device,
    no_device_output,
    refuse_many_columns,
    refuse_off_device,
    to_engine,
)
from ..engines.engine import at_work
from ..errors import OutOfMemoryError
from ..graph.neighbor_graph import NeighborGraph
from ..graph.point_set import Metric
from ..kernel.bandwidth import BandwidthRule, PerPoint
from ..kernel.dimension import DimensionRule
from ..kernel.scaled import TruncationRule
from ..kernel.tuning import EpsilonRule
from ..operator.arguments import Request, read_arguments
from ..operator.method import Limiter
from ..operator.operator import Operator
from ..operator.weights import read_weights
from ..placement import Disk, Memory, Placement, as_placement, placed_points
from ..prepare.series import read_series, rows_of
from ..progress import LOGGER
from ..rows.refused import NeedsLists
from ..search import NeighborSearch
from .first_graph import first_graph
from .on_device import there_if_possible
from .walk import walk


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
        times. By default a look at neighbours decides (`vbdm.operator.weights`).
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
        are faster, or an NVIDIA GPU (``pip install vbdm[cuda]``), faster by far; it
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
    X = to_engine(X, engine)
    on_device = computes_on_device(X, engine)
    if on_device:
        # Blocks live in the memory of this machine, on its disk, or on workers.
        in_blocks = as_placement(placement) not in (None, Memory())
        refuse_off_device(X, metric, search, placement if in_blocks else None)
    elif output == "device":
        raise no_device_output(engine)
    may_move = is_auto(placement) and not on_device
    may_move = may_move and suits_blocks(X, request, n_neighbors, search, metric)
    cloud, placed = placed_points(
        X, as_placement(placement), request.method.lists.effort, may_move=may_move
    )
    if may_move:
        tell_of_disk(placed)
    cloud, rows = read_series(cloud, lengths, series)
    if on_device:
        refuse_many_columns(cloud)
    known = read_weights(weights, weights_as, rows_of(cloud))
    request = replace(request, series=rows, weights=known)
    first = partial(
        first_graph, request=request, n_neighbors=n_neighbors, search=search, metric=metric,
        period=period,
    )  # fmt: skip
    go = partial(
        walk, request, n_density_neighbors=n_density_neighbors,
        keep_lists=isinstance(X, NeighborGraph), precision=precision,
    )  # fmt: skip
    if on_device:
        return there_if_possible(go, first, cloud, engine, request)
    return where_it_fits(go, partial(first, engine=engine), cloud, placed, may_move)


def where_it_fits(
    go: Callable[..., Operator],
    first: Callable[..., Any],
    cloud: Any,
    placed: Placement | None,
    may_move: bool,
) -> Operator:
    """Walk with rows in their place or, if that fails and they may move, on disk or in memory."""
    try:
        return go(partial(first, cloud, placement=placed))
    except (OutOfMemoryError, NeedsLists) as error:
        # Disk helps where memory is too small, and memory where lists are needed.
        elsewhere = OutOfMemoryError if placed is None else NeedsLists
        if not (may_move and np.shape(cloud)[1] <= TREE_COLUMNS and isinstance(error, elsewhere)):
            raise
        # What was made so far is given up with the error's traceback.
        before = error.with_traceback(None)
    # Only when the pairs have been counted is it known how much memory they take, and only when the
    # dimension is known, whether they are those of lists, which live in memory.
    placed = Disk() if placed is None else None
    tell_of_disk(placed)
    try:
        return go(partial(first, cloud, placement=placed))
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
