"""Which classes a saved file may hold, and how each is taken apart and made again.

Most are dataclasses whose fields are all there is to them. Search engines are built again from the
points by the same rule: an equal tree gives ties the same order, so results stay equal bit by bit
(as far as an approximate engine repeats itself).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...bandwidth.bandwidth import Bandwidth, BandwidthSource
from ...bandwidth.curves import DegreeCurve, KeptCurve, SlopeCurve
from ...bandwidth.dimension import Dimension
from ...bandwidth.epsilon_by_slope import Tuning
from ...base.checks import FloatArray
from ...base.shapes import Broad, Compact, Gaussian
from ...graph.graph import NeighborGraph
from ...graph.order import Copies
from ...graph.search.approximate import ApproximateIndex, PyNNDescent
from ...graph.search.exact import BruteForce, BruteIndex, KDTree, TreeIndex
from ...graph.search.metric import MetricIndex, MetricSearch
from ...graph.search.periodic import PeriodicIndex, PeriodicTree
from ...graph.search.projected import ProjectedIndex
from ...graph.search.rotation import RotatedIndex
from ...kernel.kernel import Kernel
from ...kernel.pair_matrix import PairMatrix
from ...operator.operator import Operator
from ...spectrum.limiter import Limit, Limiter
from ...spectrum.spectrum import Spectrum


@dataclass(frozen=True)
class Kind:
    """How one class is taken apart into named parts, and made again from them."""

    take: Callable[[Any], dict[str, Any]]
    make: Callable[..., Any]


def plain(cls: type) -> Kind:
    """Return the kind of a dataclass whose fields are all there is to it."""

    def take(item: Any) -> dict[str, Any]:
        return {part.name: getattr(item, part.name) for part in fields(cls)}

    return Kind(take, cls)


def take_tuning(tuning: Tuning) -> dict[str, Any]:
    """Evaluate the curve: it is small, what it is computed from is not."""
    curve = KeptCurve.of(tuning.curve) if isinstance(tuning.curve, DegreeCurve) else tuning.curve
    return {**plain(Tuning).take(tuning), "curve": curve}


def take_graph(graph: NeighborGraph) -> dict[str, Any]:
    """Leave out the columns: they are the points once more."""
    parts = plain(NeighborGraph).take(graph)
    return {**parts, "tree_columns": graph.tree_columns is not None}


def make_graph(tree_columns: bool, **parts: Any) -> NeighborGraph:
    """Make a graph with its columns."""
    columns = np.ascontiguousarray(parts["tree_points"].T) if tree_columns else None
    return NeighborGraph(tree_columns=columns, **parts)


def make_matrix(data: Any, indices: Any, indptr: Any, shape: list[int]) -> Any:
    """Make a sparse matrix."""
    return csr_array((data, indices, indptr), shape=tuple(shape))


def take_tree(index: TreeIndex) -> dict[str, Any]:
    """Take the points and the size of the leaves."""
    return {"cloud": index.tree.data, "leafsize": int(index.tree.leafsize)}


def take_metric(index: MetricIndex) -> dict[str, Any]:
    """Take the metric's name and the points."""
    return {"metric": index.engine.metric, "cloud": np.asarray(index.engine._fit_X)}


def take_approximate(index: ApproximateIndex) -> dict[str, Any]:
    """Take the points and the settings: pynndescent builds its graph again, from the same seed."""
    engine = index.engine
    settings = {"n_neighbors": engine.n_neighbors, "random_state": engine.random_state}
    return {"cloud": index.cloud, "spare": index.spare, "epsilon": index.epsilon, **settings}


def make_approximate(
    cloud: FloatArray, spare: float, epsilon: float, n_neighbors: int, random_state: int
) -> ApproximateIndex:
    """Build the graph of an approximate engine."""
    return PyNNDescent(spare, epsilon, random_state).index(cloud, n_neighbors)


KINDS: dict[type, Kind] = {
    cls: plain(cls)
    for cls in (
        Spectrum, Operator, Kernel, PairMatrix, Bandwidth, BandwidthSource, Copies, Dimension,
        SlopeCurve, KeptCurve, Limiter, Limit, Gaussian, Broad, Compact,
        RotatedIndex, ProjectedIndex,
    )
}  # fmt: skip
KINDS[Tuning] = Kind(take_tuning, Tuning)
KINDS[NeighborGraph] = Kind(take_graph, make_graph)
KINDS[csr_array] = Kind(
    lambda m: {"data": m.data, "indices": m.indices, "indptr": m.indptr, "shape": list(m.shape)},
    make_matrix,
)
KINDS[TreeIndex] = Kind(
    take_tree, lambda cloud, leafsize: KDTree(leafsize=leafsize).index(cloud, 1)
)
KINDS[BruteIndex] = Kind(
    lambda index: {"cloud": index.cloud, "spare": index.spare},
    lambda cloud, spare: BruteForce(spare).index(cloud, 1),
)
KINDS[PeriodicIndex] = Kind(
    lambda index: {**take_tree(index.inner), "period": index.period},
    lambda cloud, leafsize, period: PeriodicTree(period, leafsize).index(cloud, 1),
)
KINDS[MetricIndex] = Kind(take_metric, lambda metric, cloud: MetricSearch(metric).index(cloud, 1))
KINDS[ApproximateIndex] = Kind(take_approximate, make_approximate)
#: By name, as they are written in the file.
NAMES = {cls.__name__: cls for cls in KINDS}
