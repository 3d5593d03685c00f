"""Points ready to be searched: in the order inside, with their distance and an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, IntArray, contiguous, frozen, is_elsewhere
from ..base.checks import as_number, shown
from ..base.memory import MEASURED_COLUMNS
from ..base.references import Credit, credit_of
from ..engines.engine import Engine
from ..engines.scipy_engine import ScipyEngine
from ..engines.tree import Tree, levels_to
from ..errors import InputError
from ..rows.block_array import Rows
from ..rows.place import not_in_blocks
from ..search import Auto, KDTree, MetricSearch, NeighborIndex, NeighborSearch
from ..search.auto import as_search, settle_search
from ..search.exact import (
    PeriodicIndex,
    PeriodicTree,
    TreeIndex,
    distances_by_column,
    squared_distances,
    wrap,
)
from .order import Order, find_copies

#: A metric's name in scikit-learn, or a function of two points.
Metric = str | Callable[[FloatArray, FloatArray], float]
#: scikit-learn's names of the Euclidean distance, which is called "euclidean" here.
EUCLIDEAN = ("euclidean", "l2", "minkowski")
PRECOMPUTED = "precomputed"


@dataclass(frozen=True, eq=False)
class Distance:
    """A metric, and the periods of the columns that are periodic."""

    # "euclidean", another name that scikit-learn knows, or a function of two points
    metric: Metric = "euclidean"
    # (n,): period of each column, 0 for those that are not periodic; None if no column is
    period: FloatArray | None = None

    @classmethod
    def checked(cls, metric: Any, period: Any, n_columns: int) -> Distance:
        """Return the distance that the user asked for, checked against the number of columns."""
        if isinstance(metric, str):
            metric = "euclidean" if metric in EUCLIDEAN else metric
        elif not callable(metric):
            raise InputError(
                f"`metric` must be a name or a function of two points; received {metric!r}. Use "
                "'euclidean', any metric of scikit-learn such as 'manhattan' or 'haversine', "
                "'precomputed', or a function."
            )
        lengths = None if period is None else check_period(period, n_columns)
        if lengths is not None and metric != "euclidean":
            raise InputError(
                "Periodic columns go with the Euclidean metric only; received `period` and "
                f"metric={metric!r}. Leave `metric` out, or pass a function of two points that "
                "knows the periods."
            )
        return cls(metric, lengths)

    @property
    def is_euclidean(self) -> bool:
        """Whether the metric is Euclidean and no column is periodic."""
        return self.metric == "euclidean" and self.period is None

    def wrapped(self, points: FloatArray) -> FloatArray:
        """Return the points with periodic columns wrapped into [0, period)."""
        return points if self.period is None else wrap(points, self.period)

    def engine(self, search: Any = None) -> NeighborSearch:
        """Return the engine that searches by this distance: the user's, or one that fits."""
        wanted = as_search(search)
        if self.is_euclidean:
            return wanted
        if not isinstance(wanted, (Auto, KDTree)):
            raise InputError(
                f"This search measures straight lines only; received search={search!r} with "
                f"metric={self.metric!r}{('' if self.period is None else ' and `period`')}. Leave "
                "`search` out, or pass neighbours found elsewhere (vbdm.NeighborGraph.from_arrays, "
                "from_sparse)."
            )
        return MetricSearch(self.metric) if self.period is None else PeriodicTree(self.period)


def check_period(period: Any, n_columns: int) -> FloatArray | None:
    """Return one length per column, 0 where a column is not periodic; None if none is."""
    try:
        # None, for a column that is not periodic, becomes 0; NaN stays NaN and is refused below.
        given = [period] * n_columns if np.ndim(period) == 0 else list(period)
        lengths = np.array([0.0 if length is None else as_number(length) for length in given])
    except (TypeError, ValueError):
        lengths = np.full(n_columns, np.nan)
    if len(lengths) != n_columns or np.isnan(lengths).any() or (lengths < 0).any():
        raise InputError(
            f"`period` must be one length, or one for each column; received {shown(period)} for "
            f"{n_columns} column(s). Use 2*np.pi or 360 for angles, the edges of a simulation "
            "cell for positions; None for a column that is not periodic."
        )
    lengths[np.isinf(lengths)] = 0.0
    return frozen(lengths) if lengths.any() else None


#: Credit of the engine where the neighbours were found elsewhere.
GIVEN = Credit("given", "found elsewhere")


@dataclass(frozen=True, eq=False)
class PointSet:
    """The distinct points of a cloud, with the way in which their distances are measured."""

    order: Order  # conversion between the order inside and the caller's order
    distance: Distance  # metric and periods
    # (M, n): the points in the order inside; None where only distances were given
    coordinates: FloatArray | None = None
    # The k-d tree in whose order the points stand; None where distances are not Euclidean, or
    # columns are so many that it is of no use
    tree: Tree | None = None
    # The index that finds neighbours; None where they were given
    index: NeighborIndex | None = None
    search: Credit = GIVEN  # the search that made the index
    search_reason: str = ""  # why it was chosen
    engine: Engine = field(default_factory=ScipyEngine)  # who computes
    engine_reason: str = ""  # why this engine was chosen
    rows: Rows | None = None  # where the rows of large arrays live; None: in one block in memory

    @classmethod
    def of(
        cls,
        points: FloatArray,
        k: int,
        search: NeighborSearch | str | None = None,
        distance: Distance | None = None,
        *,
        merge_copies: bool = False,
        engine: Engine | None = None,
        rows_for: Callable[[int, int], Rows | None] | None = None,
    ) -> PointSet:
        """Merge copies if wanted, sort the points, and build the index for lists of about k.

        `rows_for` says where so many points with so many columns live.
        """
        distance, engine = distance or Distance(), engine or ScipyEngine()
        searcher = distance.engine(search)
        points = distance.wrapped(points)
        copies = find_copies(points) if merge_copies else None
        if copies is not None:
            points = points[copies.first]
        rows = None if rows_for is None else rows_for(*points.shape)
        if rows is not None:
            refuse_far_from_tree(searcher, distance, points.shape[1])
        permutation = tree_order(points, engine)
        coordinates = contiguous(points[permutation])
        tree = tree_of(coordinates, distance)
        own = None if tree is None else engine.nearest(tree)
        if tree is not None and (rows is not None or is_elsewhere(points)):
            reason = "the points live on a device" if rows is None else "rows live in blocks"
            if rows is not None:
                # Blocks are searched by trees of their own; this one is for a few points. So many
                # points are kept once, by columns.
                coordinates = tree.columns.T
            index = tree_index(searcher, coordinates, k, own)
            credit = credit_of(own or KDTree(), "search")
        else:
            choice, index = settle_search(searcher, coordinates, k, own)
            # Periodic columns and other metrics leave one search, and no choice to explain.
            reason = choice.reason if distance.is_euclidean else "it measures such distances"
            credit = credit_of(choice.engine, "search")
            if own is not None and isinstance(searcher, (Auto, PeriodicTree)):
                index, credit = faster(index, own, credit)
        return cls(
            Order(frozen(permutation), copies), distance, frozen(coordinates), tree, index,
            search=credit, search_reason=reason, engine=engine, rows=rows,
        )  # fmt: skip

    @classmethod
    def unsearched(cls, n_points: int, coordinates: FloatArray | None = None) -> PointSet:
        """Return points whose neighbours were found elsewhere; they keep the caller's order."""
        metric = PRECOMPUTED if coordinates is None else "euclidean"
        return cls(Order(frozen(np.arange(n_points))), Distance(metric), coordinates)

    @property
    def n_points(self) -> int:
        """Number M of distinct points."""
        return self.order.n_points

    @property
    def keeps_distances(self) -> bool:
        """Whether lists keep their distances: to measure them again is slow, or impossible."""
        X = self.coordinates
        return X is None or X.shape[1] > MEASURED_COLUMNS or self.distance.metric != "euclidean"

    @property
    def is_exact(self) -> bool:
        """Whether the index misses no neighbour, and a pair has one distance from both ends."""
        # Another metric may round differently from the two ends of a pair. One-way pairs are then
        # found by looking into the lists, not by comparing distances.
        exact = getattr(self.index, "is_exact", False)
        return bool(exact) and self.distance.metric == "euclidean"

    def indexed(self, k: int) -> PointSet:
        """Return the points with an index, built for lists of about k if there is none yet."""
        if self.index is not None or self.coordinates is None:
            return self
        choice, index = settle_search(Auto(), self.coordinates, k)
        search = credit_of(choice.engine, "search")
        return replace(self, index=index, search=search, search_reason=choice.reason)

    def measured(self, rows: slice | NDArray[np.intp], neighbors: IntArray) -> FloatArray:
        """Return the squared distances, (m, k), of the points `rows` to `neighbors`, (m, k)."""
        X, period = cast(FloatArray, self.coordinates), self.distance.period
        if self.tree is None or X.shape[1] > MEASURED_COLUMNS:
            return squared_distances(X[rows], X, neighbors, period)
        return distances_by_column(X[rows], self.tree.columns, neighbors, period)

    def nearest(self, rows: NDArray[np.intp], k: int) -> tuple[IntArray, FloatArray]:
        """Search again for some points: indices and squared distances, (m, k)."""
        return cast(NeighborIndex, self.index).query(cast(FloatArray, self.coordinates)[rows], k)


#: Most columns for which the tree is built: boxes in more columns hold little but empty space.
TREE_COLUMNS = 64
#: The most points in the smallest nodes of the order: the cells of the multilevel solver.
CELL = 8


def tree_order(points: FloatArray, engine: Engine) -> NDArray[np.intp]:
    """Return the permutation that puts points, (M, n), into tree order: near points together."""
    # In many columns a tree has little locality to give.
    columns = contiguous(points[:, :TREE_COLUMNS].T)
    return engine.order(columns, levels_to(len(points), CELL))


def tree_of(coordinates: FloatArray, distance: Distance) -> Tree | None:
    """Return the tree of points in its order, if distances are Euclidean and columns few."""
    if distance.metric != "euclidean" or coordinates.shape[1] > TREE_COLUMNS:
        return None
    return Tree.over(frozen(contiguous(coordinates.T)), distance.period)


def refuse_far_from_tree(search: NeighborSearch, distance: Distance, n_columns: int) -> None:
    """Refuse searches, metrics and numbers of columns that go without the tree."""
    if not isinstance(search, Auto | KDTree | PeriodicTree):
        raise not_in_blocks(
            "This search",
            f"{type(search).__name__} with metric={distance.metric!r}",
            "Blocks are parts of a k-d tree, with straight distances.",
        )
    if n_columns > TREE_COLUMNS:
        raise not_in_blocks(
            f"More than {TREE_COLUMNS} columns",
            f"{n_columns} columns",
            "`vbdm.pca` makes fewer of them.",
        )


def tree_index(search: NeighborSearch, cloud: FloatArray, k: int, own: Any) -> NeighborIndex:
    """Return the index of a k-d tree: the engine's own, or SciPy's."""
    if own is None:
        return (KDTree() if isinstance(search, Auto) else search).index(cloud, k)
    if not isinstance(search, PeriodicTree):
        return cast(NeighborIndex, own)
    return PeriodicIndex(own, search.period, own.rows_per_call, own.parallel)


def faster(index: NeighborIndex, own: Any, credit: Credit) -> tuple[NeighborIndex, Credit]:
    """Return the engine's own index where a k-d tree was chosen, and whom to credit."""
    if isinstance(index, PeriodicIndex):
        return replace(index, inner=own), credit_of(own, "search")
    if index is own or isinstance(index, TreeIndex):
        return own, credit_of(own, "search")
    return index, credit
