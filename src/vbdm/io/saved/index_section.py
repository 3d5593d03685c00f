"""The section "index": which engine finds neighbours, with its options; it is built again.

An equal engine on equal points, built by the same rule, gives ties the same order, so results stay
equal bit by bit (as far as an approximate engine repeats itself). An engine that searches the
points turned or projected has another one inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.arrays import FloatArray
from ...graph.distance import Distance
from ...graph.search.approximate import ApproximateIndex, PyNNDescent
from ...graph.search.exact import BruteForce, BruteIndex, KDTree, NeighborIndex, TreeIndex
from ...graph.search.metric import MetricIndex, MetricSearch
from ...graph.search.periodic import PeriodicIndex, PeriodicTree
from ...graph.search.projected import ProjectedIndex
from ...graph.search.rotation import RotatedIndex, along_and_rest
from .archive import Source
from .fields import Array, Arrays, Number, count, pack, part, require, unpack
from .refusals import cannot_save

#: How many engines may sit inside each other.
DEEPEST = 8
#: Unit vectors by columns; there are no more of them than columns of the points.
DIRECTIONS = Array(("columns", "directions"), low=-2, high=2)
#: The options of each kind; points, metric and periods are those of the graph.
OPTIONS = {
    "tree": part(dict, leafsize=count(1)),
    "brute": part(dict, spare=count()),
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
    TreeIndex: "tree", BruteIndex: "brute", PeriodicIndex: "periodic", MetricIndex: "metric",
    ApproximateIndex: "approximate", RotatedIndex: "rotated", ProjectedIndex: "projected",
}  # fmt: skip


def pack_index(index: Any, path: str, out: Arrays) -> dict[str, Any]:
    """Write down an engine; one of the user's own is refused."""
    kind = KINDS.get(type(index))
    if kind is None:
        raise cannot_save(index, "search")
    options = dict(vars(index))
    if kind in ("tree", "periodic"):
        tree = index.tree if kind == "tree" else index.inner.tree
        options["leafsize"] = int(tree.leafsize)
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
