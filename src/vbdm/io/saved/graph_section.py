"""The sections "graph" and "index": the points, their order and their neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import FloatArray, frozen
from ...engines.choose import chosen_engine
from ...engines.numba_engine import CompiledIndex
from ...engines.tree import LEAF, Tree
from ...graph.lists import KeptLists, ReleasedLists
from ...graph.neighbor_graph import NeighborGraph
from ...graph.order import Copies, Order
from ...graph.point_set import PRECOMPUTED, Distance, PointSet, faster, tree_of
from ...search.brute import BruteForce, BruteIndex
from ...search.directions import ProjectedIndex, RotatedIndex, along_and_rest
from ...search.exact import KDTree, NeighborIndex, PeriodicIndex, PeriodicTree, TreeIndex
from ...search.external import ApproximateIndex, MetricIndex, MetricSearch, PyNNDescent
from .archive import Source
from .fields import Array, Arrays, Maybe, Number, cannot_save, count, pack, part, require, unpack
from .settings_section import CREDIT

#: How many engines may sit inside each other.
DEEPEST = 8
#: Unit vectors by columns; there are no more of them than columns of the points.
DIRECTIONS = Array(("columns", "directions"), low=-2, high=2)
#: The options of each kind; points, metric and periods are those of the graph.
OPTIONS = {
    "tree": part(dict, leafsize=count(1)),
    "brute": part(dict),
    "periodic": part(dict, leafsize=count(1)),
    "metric": part(dict),
    "approximate": part(
        dict, spare=Number(0, 1e6), epsilon=Number(0, 1e6), n_neighbors=count(1, 30),
        random_state=count(0, 2**32 - 1),
    ),
    "rotated": part(dict, rotation=DIRECTIONS),
    "projected": part(dict, centre=Array(("columns",)), basis=DIRECTIONS),
}  # fmt: skip
KINDS: dict[type, str] = {
    TreeIndex: "tree", CompiledIndex: "tree", BruteIndex: "brute", PeriodicIndex: "periodic",
    MetricIndex: "metric", ApproximateIndex: "approximate", RotatedIndex: "rotated",
    ProjectedIndex: "projected",
}  # fmt: skip


def pack_index(index: Any, path: str, out: Arrays) -> dict[str, Any]:
    """Write down an engine; one of the user's own is refused."""
    kind = KINDS.get(type(index))
    if kind is None:
        raise cannot_save(index, "search")
    options = dict(vars(index))
    if kind in ("tree", "periodic"):
        tree = index.tree if kind == "tree" else index.inner.tree
        options["leafsize"] = LEAF if isinstance(tree, Tree) else int(tree.leafsize)
    elif kind == "approximate":
        options["n_neighbors"] = index.engine.n_neighbors
        options["random_state"] = index.engine.random_state
    stored = {"kind": kind, **pack(OPTIONS[kind], options, path, out)}
    if kind in ("rotated", "projected"):
        stored["inner"] = pack_index(index.inner, f"{path}/inner", out)
    return stored


def unpack_index(
    stored: Any, cloud: FloatArray, distance: Distance, path: str, source: Source
) -> NeighborIndex:
    """Build an engine again, from the points and by the distance of the graph."""
    require(isinstance(stored, dict) and path.count("/") < DEEPEST, path, "is no engine")
    kind = unpack(tuple(OPTIONS), stored["kind"], path, source)
    special = "periodic" if distance.metric == "euclidean" else "metric"
    fits = kind not in ("metric", "periodic") if distance.is_euclidean else kind == special
    require(fits, path, "does not fit the metric")
    sizes = {"columns": cloud.shape[1]}
    options = unpack(OPTIONS[kind], stored, path, Source(source.head, source.archive, sizes))
    match kind:
        case "tree":
            return KDTree(**options).index(cloud, 1)
        case "brute":
            return BruteForce(**options).index(cloud, 1)
        case "periodic":
            return PeriodicTree(np.asarray(distance.period), **options).index(cloud, 1)
        case "metric":
            return MetricSearch(distance.metric).index(cloud, 1)
        case "approximate":
            k = options.pop("n_neighbors")
            return PyNNDescent(**options).index(cloud, k)
    # So that the points inside take no more room than those outside.
    require(sizes["directions"] <= sizes["columns"], path, "has too many directions")
    inside = cloud @ options["rotation"] if kind == "rotated" else along_and_rest(cloud, **options)
    inner = unpack_index(stored["inner"], inside, Distance(), f"{path}/inner", source)
    made = RotatedIndex if kind == "rotated" else ProjectedIndex
    calls: dict[str, Any] = {"rows_per_call": inner.rows_per_call, "parallel": inner.parallel}
    return made(inner=inner, cloud=cloud, **options, **calls)


#: Coordinates beyond have squares that are no numbers.
FARTHEST = 1e153
GRAPH = part(
    dict, permutation=Array(("M",), "i", below="M"), point_of=Maybe(Array(("N",), "i", below="M")),
    points=Maybe(Array(("M", "n"), low=-FARTHEST, high=FARTHEST)), metric=str,
    period=Maybe(Array(("n",), low=0)), tree=bool, search=CREDIT, search_reason=str,
    n_neighbors=count(1), neighbors=Maybe(Array(("M", "k"), "i", below="M")),
    sqdist=Maybe(Array(("M", "k"), low=0)), radii=Maybe(Array(("M",), low=0)),
    exact=bool, recall=Maybe(Number(0, 1)),
)  # fmt: skip


def pack_graph(graph: NeighborGraph, out: Arrays) -> dict[str, Any]:
    """Return the sections of a graph."""
    points, lists, copies = graph.point_set, graph.lists, graph.copies
    if callable(graph.metric):
        raise cannot_save(graph.metric, "metric")
    parts = {
        "permutation": graph.order.permutation, "point_of": copies and copies.point_of,
        "points": points.coordinates, "metric": graph.metric, "period": graph.period,
        "tree": points.tree is not None,
        "search": points.search, "search_reason": points.search_reason,
        "n_neighbors": lists.n_neighbors, "neighbors": getattr(lists, "indices", None),
        "sqdist": getattr(lists, "sqdist", None), "radii": getattr(lists, "radii", None),
        "exact": graph.exact, "recall": graph.recall,
    }  # fmt: skip
    index = None if points.index is None else pack_index(points.index, "index", out)
    return {"graph": pack(GRAPH, parts, "graph", out), "index": index}


def unpack_graph(source: Source) -> NeighborGraph:
    """Make a graph again."""
    parts = unpack(GRAPH, source.head["graph"], "graph", source)
    points = make_points(parts, source)
    lists = make_lists(parts, points)
    return NeighborGraph(points, lists, exact=parts["exact"], recall=parts["recall"])


def make_points(parts: dict[str, Any], source: Source) -> PointSet:
    """Make the points with their order, their distance and the engine that searches them."""
    permutation, cloud, stored = parts["permutation"], parts["points"], source.head["index"]
    source.sizes.setdefault("N", len(permutation))
    require((np.bincount(permutation) == 1).all(), "graph/permutation", "is no permutation")
    copies = None if parts["point_of"] is None else copies_of(parts["point_of"], len(permutation))
    distance = Distance(parts["metric"], parts["period"])
    if cloud is None:
        bare = stored is None and distance.period is None and not parts["tree"]
        require(bare and distance.metric == PRECOMPUTED, "graph/points", "are missing")
    tree = tree_of(cloud, distance) if parts["tree"] else None
    require((tree is not None) == parts["tree"], "graph/tree", "does not fit the points")
    order = Order(permutation, copies)
    # Who computes is chosen anew: this machine may have other engines.
    engine, reason = chosen_engine("auto", order.n_rows)
    index = None
    if stored is not None:
        index = unpack_index(stored, cloud, distance, "index", source)
        if tree is not None and parts["search"].name == CompiledIndex.credit.name:
            own = engine.nearest(tree)
            index = index if own is None else faster(index, own, parts["search"])[0]
    return PointSet(
        order, distance, cloud, tree, index,
        search=parts["search"], search_reason=parts["search_reason"],
        engine=engine, engine_reason=reason,
    )  # fmt: skip


def make_lists(parts: dict[str, Any], points: PointSet) -> KeptLists | ReleasedLists:
    """Make the lists of neighbours, kept or to be searched for again."""
    k, neighbors, radii = parts["n_neighbors"], parts["neighbors"], parts["radii"]
    require(k <= points.n_points, "graph/n_neighbors", "is more than there are")
    if neighbors is not None:
        first = neighbors[:, 0] == np.arange(points.n_points)
        require(neighbors.shape[1] == k and first.all(), "graph/neighbors", "is out of order")
        known = parts["sqdist"] is not None or points.coordinates is not None
        require(known, "graph/sqdist", "is missing")
        return KeptLists(neighbors, parts["sqdist"])
    require(radii is not None and points.index is not None, "graph/neighbors", "is missing")
    # One list is searched for: it shows whether all of them are as long as the file says.
    _, found = points.nearest(np.zeros(1, dtype=np.intp), k)
    require(np.isclose(found[0, -1], radii[0], 1e-6, 0), "graph/radii", "are of other lists")
    return ReleasedLists(k, radii)


def copies_of(point_of: NDArray[np.intp], n_points: int) -> Copies:
    """Return which rows are copies, from the point of each row."""
    found, first, counts = np.unique(point_of, return_index=True, return_counts=True)
    require(len(found) == n_points, "graph/point_of", "leaves points out")
    return Copies(point_of, frozen(first), frozen(counts.astype(np.float64)))
