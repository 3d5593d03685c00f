"""From points or distances to a graph of neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..base.arrays import to_host
from ..base.checks import a_count, is_auto
from ..base.points import check_points
from ..base.wording import percent
from ..errors import InputError, RecallWarning, warn_user
from ..search import NeighborSearch
from ..search.brute import recall_of
from .lists import search_lists
from .neighbor_graph import NeighborGraph
from .point_set import PRECOMPUTED, Distance, Metric, PointSet

#: Share of the true neighbours that an approximate search should find; below it, users are warned.
LOW_RECALL = 0.95
#: Fewest points from which a dimension is estimated. Of 320 estimates with up to 10 points (circle,
#: normal in 1, 2 and 5 columns, two groups; both operators) none had three eigenvalues that are
#: numbers, with 12 points 9 of 80. Ten are what scikit-learn's contract asks for.
FEWEST_POINTS = 10


def neighbors(
    X: Any,
    n_neighbors: int = 64,
    search: NeighborSearch | str | None = None,
    *,
    metric: Metric = "euclidean",
    period: Any = None,
) -> NeighborGraph:
    """Find the k nearest neighbours of every point.

    Parameters
    ----------
    X : (N, n) array, or an (N, N) matrix of distances with ``metric="precomputed"``
        The points, or their distances, in memory: lists of neighbours live there.
    n_neighbors : int
        k, the point itself included; ``n_neighbors=N`` gives the dense method.
    search : {"auto", "kd-tree", "brute", "projected", "pynndescent"} or NeighborSearch, optional
        Who finds them; by default chosen by `vbdm.search.Auto`. All but "pynndescent" are exact.
    metric : str or callable
        "euclidean"; any metric of scikit-learn, or a function of two points; or "precomputed",
        see `NeighborGraph.from_sparse`. It should be a length: "cosine" and "sqeuclidean" are
        squares of lengths at short range, and would halve the dimension.
    period : float or one per column, optional
        Length after which a column comes back to the same place: 360 or 2π for angles, the edges
        of a simulation cell; None, 0 or infinity for a column that is not periodic. Points may
        lie outside the box; they are wrapped into it.

    Returns
    -------
    NeighborGraph

    Notes
    -----
    Cost O(N k log N) for low-dimensional data. Copies of a point are neighbours at distance 0;
    each point still comes first in its own list.

    Examples
    --------
    >>> graph = neighbors([[0.0], [1.0], [3.0]], n_neighbors=2)
    >>> graph.indices.tolist(), graph.sqdist.tolist()
    ([[0, 1], [1, 0], [2, 1]], [[0.0, 1.0], [0.0, 1.0], [0.0, 4.0]])
    >>> neighbors([[10.0], [90.0], [350.0]], n_neighbors=2, period=360).indices.tolist()
    [[0, 2], [1, 0], [2, 0]]
    """
    if is_precomputed(metric):
        return given_graph(X, n_neighbors, search, period)
    points = check_points(X, placed=to_host)
    k = a_count(2, len(points))(n_neighbors, "n_neighbors")
    distance = Distance.checked(metric, period, points.shape[1])
    return graph_of(PointSet.of(points, k, search, distance), k)


def graph_of(points: PointSet, k: int, *, keep: bool = False) -> NeighborGraph:
    """Return the graph of the k nearest; an approximate search is checked on a sample.

    `keep` asks for distances to be kept, for a graph that is given up soon.
    """
    graph = NeighborGraph(points, search_lists(points, k, keep=keep), exact=points.is_exact)
    X = points.coordinates
    # An exact search needs no measurement; a metric other than the Euclidean gets none.
    if graph.exact or graph.metric != "euclidean" or X is None:
        return graph
    recall = recall_of(X, graph.kept.indices)
    if recall < LOW_RECALL:
        warn_user(recall_in_words(recall), RecallWarning)
    return replace(graph, recall=recall)


def is_precomputed(metric: Any) -> bool:
    """Tell whether distances are given instead of points."""
    return isinstance(metric, str) and metric == PRECOMPUTED


def given_graph(X: Any, n_neighbors: Any, search: Any, period: Any) -> NeighborGraph:
    """Return the graph of given distances; options of a search are refused."""
    for name, value in (("search", search), ("period", period)):
        if value is not None:
            raise InputError(
                f"`{name}` and metric='precomputed' contradict each other; received "
                f"{name}={value!r}. Leave out `{name}`, or pass points instead of distances."
            )
    if isinstance(X, NeighborGraph):
        return X if n_neighbors is None else X.with_neighbors(n_neighbors)
    return NeighborGraph.from_sparse(X, n_neighbors)


def recall_in_words(recall: float) -> str:
    """Say how many of the true neighbours an approximate search found and, if few, what to do."""
    found = f"The approximate search found {percent(recall)} of the true neighbours."
    if recall >= LOW_RECALL:
        return found
    return (
        f"{found} Densities come out too low, and far pairs stand in for near ones. Use an exact "
        "search, search='auto', or raise the effort of this one."
    )


def refuse_few(n_points: int, n_columns: int) -> None:
    """Raise if there are too few points to find density, dimension and ε from them."""
    if n_points >= FEWEST_POINTS:
        return
    many = n_columns >= FEWEST_POINTS
    turned = f", or X.T, which has {n_columns} rows, if those are the points" if many else ""
    raise InputError(
        f"The dimension cannot be estimated from fewer than {FEWEST_POINTS} points; received "
        f"{n_points} points in {n_columns} column(s). Give `dim` or more points{turned}."
    )


def refuse_one_place(n_points: int, n_rows: int) -> None:
    """Refuse data whose rows are all copies of one point."""
    if n_points < 2:
        raise InputError(
            f"All points are the same; received {n_rows} copies of one point. Check the columns "
            "that were selected."
        )


def refuse_changes(
    graph: NeighborGraph, n_neighbors: Any, search: Any, metric: Any, period: Any
) -> None:
    """Refuse arguments that would change a graph that is already built."""
    same_metric = metric in ("euclidean", "precomputed") or metric == graph.metric
    asked = {
        "n_neighbors": (n_neighbors, is_auto(n_neighbors) or n_neighbors == graph.n_neighbors),
        "search": (search, search is None or is_auto(search)),
        "metric": (metric, same_metric),
        "period": (period, period is None),
    }
    for name, (value, is_fine) in asked.items():
        if not is_fine:
            raise InputError(
                f"`{name}` cannot change a graph that is already built; received {name}={value!r} "
                f"and {graph!r}. Leave `{name}` out, or pass the points."
            )
