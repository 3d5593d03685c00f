"""The walk through the rooms: from the first graph to the operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..bandwidth.bandwidth import (
    Bandwidth,
    evaluated,
)
from ..bandwidth.dimension import found_by
from ..bandwidth.epsilon_by_degree import ByDegree, GivenEpsilon
from ..bandwidth.pilot import by_reach, look_first, neighbors_within, pilot_bandwidth, pilot_cutoff
from ..bandwidth.scaled import (
    ENOUGH_POINTS,
    MOST_NEIGHBORS,
    SLACK,
    ScaledPairs,
)
from ..bandwidth.tuning import Tuning, chosen_by
from ..base.checks import check_count, is_auto
from ..base.shapes import radius_of
from ..base.versions import __version__, library_versions
from ..graph.neighbor_graph import NeighborGraph
from ..kernel.listed import evaluate_kernel
from ..kernel.within_reach import kernel_within_reach
from ..operator.operator import Operator, normalise
from ..operator.theory import exponents_for
from ..rows.placement import in_words
from ..rows.refused import no_lists
from ..settings.arguments import Request
from ..settings.method import Lists
from ..settings.record import Settings
from ..settings.weights import Weighting
from ..trust.diagnose import warn_of
from .first_graph import BY_EPSILON, BY_REACH
from .on_device import for_rule, from_rule, has_no_lists

#: Versions of this package and of the libraries under it, which stay the same within a process.
VERSIONS = {"vbdm": __version__, **library_versions()}


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
