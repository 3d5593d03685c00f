"""The walk through the rooms: from the first graph to the operator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.memory import give_back
from ..base.versions import __version__, library_versions
from ..graph.neighbor_graph import NeighborGraph
from ..kernel.bandwidth import at_the_data
from ..kernel.kernel import Kernel, evaluate_kernel
from ..kernel.scaled import ENOUGH_POINTS, MOST_NEIGHBORS, SLACK
from ..kernel.within_reach import kernel_within_reach
from ..operator.arguments import Request
from ..operator.normalise import normalise
from ..operator.operator import Operator
from ..operator.record import Settings
from ..operator.weights import Weighting
from ..placement import Placement, in_words
from ..rows.place import no_lists
from ..theory import exponents_for
from ..trust.diagnose import warn_of
from .first_graph import BY_EPSILON, BY_REACH, first_graph
from .scales import Scales, find_scales, has_no_lists

#: Versions of this package and of the libraries under it, which stay the same within a process.
VERSIONS = {"vbdm": __version__, **library_versions()}


def walk(
    request: Request, points: Any, placement: Placement | None = None, engine_reason: str = ""
) -> Operator:
    """Go from points, distances or a graph through the rooms to the operator.

    Nobody but this function holds the lists of neighbours, so that it can give them up.
    """
    method, shape = request.method, request.shape
    graph, k_from = first_graph(request, points, placement, engine_reason)
    weighting, potential, multiplicity = enter_weights(request, graph)
    graph, scales = find_scales(request, graph, k_from)
    graph = graph.without_distances()
    if scales.within_reach:
        k_from = BY_REACH
        if graph.n_points > ENOUGH_POINTS or graph.point_set.rows is not None:
            # The lists served the density, and are not needed any more.
            graph = graph.released()
            give_back()
        kernel = kernel_within_reach(
            graph, scales.bandwidth, scales.epsilon, shape, cutoff=scales.cutoff,
            leave_one_out=method.leave_one_out, precision=request.run.precision,
        )  # fmt: skip
    else:
        graph = enough_for_kernel(graph, scales, k_from)
        kernel = evaluate_kernel(
            graph, scales.bandwidth, scales.epsilon, shape, leave_one_out=method.leave_one_out,
            cutoff=scales.cutoff, one_way_share=method.lists.one_way_share,
        )  # fmt: skip
        if graph.n_points > ENOUGH_POINTS and not isinstance(points, NeighborGraph):
            kernel = kernel.without_lists()
    result = normalise(
        kernel, pilot=scales.pilot, dimension=scales.dimension, tuning=scales.tuning,
        settings=decided(request, scales, kernel, k_from, weighting),
        potential=potential, multiplicity=multiplicity,
    )  # fmt: skip
    warn_of(result)
    return result


def enter_weights(
    request: Request, graph: NeighborGraph
) -> tuple[Weighting, FloatArray | None, FloatArray | None]:
    """Return how weights enter, U and numbers of copies, both (M,); a potential is U, too."""
    U = None if request.potential is None else at_the_data(request.potential, graph, "potential")
    if request.weights is None:
        return Weighting(), U, None
    weighting, multiplicity = request.weights.settled(graph), None
    if weighting.kind == "measure":
        U = request.weights.as_potential(graph, request.c1)
    elif weighting.kind == "counts":
        multiplicity = graph.order.to_inside(request.weights.values)
    return weighting, U, multiplicity


def enough_for_kernel(graph: NeighborGraph, scales: Scales, k_from: str) -> NeighborGraph:
    """Return the graph with lists over which the kernel can be evaluated."""
    if has_no_lists(graph):
        raise no_lists(
            f"a kernel cut at {scales.share}, with {scales.n_needed} neighbours per point"
        )
    if k_from != BY_EPSILON:
        return graph
    # Of a whole matrix of distances, the kernel has all pairs within its reach.
    if graph.is_whole and np.isfinite(scales.cutoff) and scales.n_needed < MOST_NEIGHBORS:
        return graph.with_neighbors(graph.n_points)
    # Lists that are too short by a part of the rim will do.
    needed, listed = scales.n_needed, graph.n_neighbors
    return graph.with_neighbors(min(needed, listed) if needed / SLACK <= listed else needed)


def decided(
    request: Request, scales: Scales, kernel: Kernel, k_from: str, weighting: Weighting
) -> Settings:
    """Return the record of what was asked for and what was decided."""
    method, points = request.method, kernel.graph.point_set
    rule, d = scales.rule, scales.dimension.value
    exponents = exponents_for(request.c1, request.alpha, rule.beta, d, request.form)
    # The correction is derived for powers of the density: without c1 there is none.
    corrects = method.finite_sample and exponents.c1 is not None
    return Settings(
        method=replace(method, bandwidth=rule, finite_sample=corrects),
        exponents=exponents, form=request.form, shape=request.shape, truncation=scales.share,
        n_density_neighbors=scales.k0, neighbors_from=k_from,
        search=points.search, search_reason=points.search_reason,
        engine=points.engine.credit, engine_reason=points.engine_reason,
        precision=kernel.precision, placement=in_words(points.rows),
        output=request.run.output, given=request.given, versions=VERSIONS, series=request.series,
        weighting=weighting,
    )  # fmt: skip
