"""The first step of the walk: the graph, given or searched."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from ..base.arrays import is_elsewhere
from ..base.checks import a_count, is_auto
from ..base.points import check_points
from ..engines.choose import chosen_engine, not_on_device
from ..graph.build import (
    given_graph,
    graph_of,
    is_precomputed,
    refuse_changes,
    refuse_few,
    refuse_one_place,
)
from ..graph.lists import needs_long_lists
from ..graph.neighbor_graph import NeighborGraph
from ..graph.point_set import Distance, PointSet
from ..kernel.dimension import GivenDimension
from ..kernel.scaled import MOST_NEIGHBORS, SLACK
from ..operator.arguments import Request
from ..placement import Dask, Disk, Placement
from ..prepare.series import rows_of
from ..rows.place import no_lists

#: What may decide the number of neighbours k, in words for the settings.
BY_EPSILON, BY_METHOD = "as many as ε needs", "the method's own number"
BY_REACH = "all pairs within the kernel's reach"
BY_USER, BY_GRAPH = "given", "those of the given graph"
#: Why the processor computes where a device was to, in words for the settings.
BY_LISTS = "kernels on lists of neighbours are worked on in memory"


def first_graph(
    request: Request, X: Any, placement: Placement | None = None, engine_reason: str = ""
) -> tuple[NeighborGraph, str]:
    """Return the first graph, given or searched, and what decides the number of neighbours.

    Lists of a given length are searched where the points live, and copied into memory.
    """
    lists, search, engine = request.method.lists, request.run.search, request.run.engine
    metric, period, wanted = request.metric, request.period, request.n_neighbors
    automatic = BY_EPSILON if lists.widen else BY_METHOD
    if isinstance(X, NeighborGraph):
        refuse_changes(X, wanted, search, metric, period)
        refuse_blocks(placement, X.n_points, "a NeighborGraph")
        return with_engine(engine, X.on_host.with_lists()), BY_GRAPH
    if is_precomputed(metric):
        graph = given_graph(X, None if is_auto(wanted) else wanted, search, period)
        graph = with_engine(engine, graph)
        refuse_blocks(placement, graph.n_points, "metric='precomputed'")
        if is_auto(wanted) and lists.widen and graph.is_whole:
            # As with points: lists begin short, and grow as they are needed.
            graph = graph.with_merged_copies() if lists.merge_copies else graph
            refuse_one_place(graph.n_points, graph.order.n_rows)
            graph = graph.with_neighbors(lists.n_nearest)
        return graph, automatic if is_auto(wanted) else BY_USER
    computes, reason = chosen_engine(engine, rows_of(X), X)
    points = check_points(X, placed=computes.placed)
    if lists.widen and not isinstance(request.method.dimension, GivenDimension):
        refuse_few(*points.shape)
    k = None
    if not is_auto(wanted):
        k = a_count(2, len(points))(wanted, "n_neighbors")
    distance = Distance.checked(metric, period, points.shape[1])
    rows_for = None if placement is None else partial(placement.rows, effort=lists.effort)
    cloud = PointSet.of(
        points, k or min(64, len(points)), search, distance, merge_copies=lists.merge_copies,
        engine=computes, rows_for=rows_for,
    )  # fmt: skip
    cloud = replace(cloud, engine_reason=engine_reason or reason)
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


def refuse_blocks(placement: Placement | None, n_points: int, received: str) -> None:
    """Refuse to put a graph into blocks that is there already."""
    # Of these two it is known without opening a file, or connecting to a cluster.
    elsewhere = isinstance(placement, Disk | Dask)
    if elsewhere or (placement is not None and placement.rows(n_points, 1) is not None):
        raise no_lists(received)


def with_engine(engine: str, graph: NeighborGraph) -> NeighborGraph:
    """Return a given graph with the engine that is to compute."""
    computes, reason = chosen_engine(engine, graph.n_points)
    points = replace(graph.point_set, engine=computes, engine_reason=reason)
    return replace(graph, point_set=points)


def listed_in_memory(graph: NeighborGraph, request: Request) -> NeighborGraph:
    """Copy a graph whose lists are the kernel's pairs to the host: list kernels run there."""
    if not is_elsewhere(graph.order.permutation):
        return graph
    refuse_device_output(request)
    graph = graph.on_host
    return replace(graph, point_set=replace(graph.point_set, engine_reason=BY_LISTS))


def refuse_device_output(request: Request) -> None:
    """Refuse to leave results on a device where the kernel is evaluated on lists."""
    if request.run.output == "device":
        raise not_on_device(
            "Results of an estimate by lists of neighbours",
            "output='device'",
            "Lists are needed for method='paper', `n_neighbors`, no `truncation`, and in many "
            "dimensions: leave `output` out. ",
        )
