"""The first step of the walk: the graph, given or searched."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from ..base.checks import a_count, is_auto
from ..base.points import check_points
from ..engines.choose import chosen_engine
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
from ..graph.point_set import Distance, Metric, PointSet
from ..kernel.dimension import GivenDimension
from ..kernel.scaled import MOST_NEIGHBORS, SLACK
from ..operator.arguments import Request
from ..placement import Dask, Disk, Placement
from ..prepare.series import rows_of
from ..rows.refused import no_lists
from .on_device import listed_in_memory

#: What may decide the number of neighbours k, in words for the settings.
BY_EPSILON, BY_METHOD = "as many as ε needs", "the method's own number"
BY_REACH = "all pairs within the kernel's reach"
BY_USER, BY_GRAPH = "given", "those of the given graph"


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
        k = a_count(2, len(points))(n_neighbors, "n_neighbors")
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
