"""First room: the points and their k nearest neighbours."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.checks import BoolArray, FloatArray, IntArray, check_count, check_points, frozen
from ..base.errors import RecallWarning, bad_input
from ..base.memory import MEASURED_COLUMNS, refuse_if_too_large
from ..base.threads import for_each
from .copies import Copies, find_copies
from .distance import PRECOMPUTED, Distance, Metric
from .precomputed import check_table, table_of_matrix
from .search import Auto, NeighborIndex, NeighborSearch
from .search.exact import chunks, distances_by_column, squared_distances
from .search.table import recall_of, search_all, tree_order

#: Pairs in a piece of rows: what a piece needs stays in the processor's cache.
PIECE = 1 << 17
#: The share of the neighbours that an approximate search should find.
LOW_RECALL = 0.95
Rows = slice | NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of the table of neighbours: which rows, their neighbours, squared distances."""

    rows: slice
    neighbors: NDArray[np.intp]
    sqdist: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class NeighborGraph:
    """The k nearest neighbours of every point, the point itself first.

    Inside, points stand in the order of a k-d tree, so that neighbours lie close in memory and
    matrix products run several times faster; the attributes below speak the caller's order.

    Attributes
    ----------
    indices : (N, k) int array
        Neighbours of each point, nearest first; column 0 is the point itself.
    sqdist : (N, k) array
        Their squared distances.
    points : (N, n) array or None
        The points, if the graph was built from points.
    n_neighbors : int
        Number of neighbours k per point, the point itself included.
    metric : str or callable
        How distances were measured.
    period : (n,) array or None
        Periods of the columns, 0 for those that are not periodic; the points lie in this box.
    exact : bool
        Whether the lists are sure to hold all nearest neighbours; if not, pairs are looked up.
    recall : float or None
        Share of the true neighbours that an approximate engine found, on a sample of the points.
    copies : Copies or None
        Which rows were merged into one point; N then is the number of distinct points inside, and
        what is in the caller's order has a row for each copy (their lists name the first of them).
    """

    table: IntArray | None
    n_neighbors: int
    order: NDArray[np.intp]
    tree_points: FloatArray | None = None
    tree_columns: FloatArray | None = None
    metric: Metric = "euclidean"
    exact: bool = True
    kept_sqdist: FloatArray | None = None
    index: NeighborIndex | None = None
    copies: Copies | None = None
    known_radii: FloatArray | None = None
    period: FloatArray | None = None
    recall: float | None = None

    @classmethod
    def from_sparse(cls, matrix: Any, n_neighbors: int | None = None) -> NeighborGraph:
        """Build a graph from a square matrix of distances, sparse or dense.

        Parameters
        ----------
        matrix : (N, N) sparse matrix or array
            Stored entries are the known distances (not squared), as scikit-learn's
            `KNeighborsTransformer` and `kneighbors_graph` give them with ``mode="distance"``, and
            scanpy in ``obsp["distances"]``. A pair that one row lists counts for both; the
            diagonal may be there or not.
        n_neighbors : int, optional
            k, itself included; by default as many as every row has.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> matrix = csr_array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
        >>> graph = NeighborGraph.from_sparse(matrix, n_neighbors=2)
        >>> graph.indices.tolist(), graph.sqdist.tolist()
        ([[0, 1], [1, 0], [2, 1]], [[0.0, 1.0], [0.0, 1.0], [0.0, 4.0]])
        """
        indices, sqdist = table_of_matrix(matrix, n_neighbors)
        refuse_if_too_large(len(indices), indices.shape[1], MEASURED_COLUMNS + 1)
        return cls(
            frozen(indices),
            indices.shape[1],
            np.arange(len(indices)),
            metric=PRECOMPUTED,
            exact=False,
            kept_sqdist=frozen(sqdist),
        )

    @classmethod
    def from_arrays(
        cls, indices: ArrayLike, sqdist: ArrayLike, points: ArrayLike | None = None
    ) -> NeighborGraph:
        """Build a graph from neighbours found elsewhere (each row sorted, itself first).

        Examples
        --------
        >>> graph = NeighborGraph.from_arrays([[0, 1], [1, 0], [2, 1]], [[0, 1], [0, 1], [0, 4]])
        >>> graph.n_points, graph.n_neighbors
        (3, 2)
        """
        J = np.asarray(indices)
        t = np.array(sqdist, dtype=np.float64, ndmin=1)
        check_table(J, t)
        X = None if points is None else check_points(points)
        if X is not None and len(X) != len(J):
            raise bad_input(
                "`points` and `indices` must have the same number of rows.",
                received=f"{len(X)} points and {len(J)} rows of neighbours",
                because="Each row lists the neighbours of one point.",
                hint="Pass the points that were searched, in the same order.",
            )
        name = PRECOMPUTED if X is None else "euclidean"
        kept = None if X is None else frozen(X.copy())
        order = np.arange(len(J))
        table = frozen(J.astype(np.int32))
        return cls(table, J.shape[1], order, kept, metric=name, exact=False, kept_sqdist=frozen(t))

    def __repr__(self) -> str:
        """Say the size and the metric."""
        named = self.metric if isinstance(self.metric, str) else name_of(self.metric)
        named = named if self.period is None else f"{named} in a periodic box"
        merged = "" if self.copies is None else f", {self.n_rows} with copies"
        return (
            f"NeighborGraph({self.n_points} points{merged}, {self.n_neighbors} neighbors, {named})"
        )

    @property
    def n_points(self) -> int:
        """Number of points N."""
        return len(self.order)

    @property
    def n_rows(self) -> int:
        """Number of rows that the caller passed: all copies count."""
        return self.n_points if self.copies is None else len(self.copies.point_of)

    @cached_property
    def counts(self) -> FloatArray | None:
        """How often each point occurs, in the tree's order; None: once."""
        return None if self.copies is None else frozen(self.copies.counts[self.order])

    @cached_property
    def tree_indices(self) -> IntArray:
        """The table of neighbours in the tree's order; searched for again if it was released."""
        if self.table is not None or self.index is None or self.tree_points is None:
            return np.asarray(self.table)
        return frozen(search_all(self.index, self.tree_points, self.n_neighbors, keep=False)[0])

    def released(self) -> NeighborGraph:
        """Return the graph without its table, 4 bytes per pair, if it can be searched for again."""
        if self.index is None or self.kept_sqdist is not None or not self.exact:
            return self
        return replace(self, table=None, known_radii=self.radii)

    @cached_property
    def indices(self) -> IntArray:
        """Neighbours in the caller's numbering."""
        return frozen(self.to_caller(self.caller_rows[self.tree_indices].astype(np.int32)))

    @property
    def caller_rows(self) -> NDArray[np.intp]:
        """The caller's row of each point in the tree's order; the first of its copies."""
        return self.order if self.copies is None else self.copies.first[self.order]

    @cached_property
    def sqdist(self) -> FloatArray:
        """Squared distances, rows in the caller's order."""
        return frozen(self.to_caller(self.tree_sqdist))

    @property
    def tree_sqdist(self) -> FloatArray:
        """Squared distances in the tree's order, the whole table: 8 bytes per pair."""
        return self.distances(slice(0, self.n_points))

    def distances(self, rows: Rows, which: slice = slice(None)) -> FloatArray:
        """Return squared distances of some rows to some of their neighbours: kept, or measured."""
        cloud, columns = self.tree_points, self.tree_columns
        if self.kept_sqdist is not None or cloud is None:
            return np.asarray(self.kept_sqdist)[rows, which]
        wanted = self.tree_indices[rows, which]
        if columns is None:
            return squared_distances(cloud[rows], cloud, wanted, self.period)
        return distances_by_column(cloud[rows], columns, wanted, self.period)

    def pieces(self) -> list[slice]:
        """Cut the rows into pieces that fit the cache."""
        return list(chunks(self.n_points, size=max(1, PIECE // self.n_neighbors)))

    def piece(self, rows: slice) -> Piece:
        """Return some rows of the table."""
        return Piece(rows, self.tree_indices[rows].astype(np.intp), self.distances(rows))

    @cached_property
    def points(self) -> FloatArray | None:
        """The points in the caller's order, or None for a graph without points."""
        return None if self.tree_points is None else frozen(self.to_caller(self.tree_points))

    def to_caller(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring rows from the tree's order into the caller's."""
        result = np.empty_like(values)
        result[self.order] = values
        return result if self.copies is None else self.copies.expand(result)

    def to_tree(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring rows from the caller's order into the tree's; copies are averaged."""
        return (values if self.copies is None else self.copies.average(values))[self.order]

    def with_neighbors(self, n_neighbors: int) -> NeighborGraph:
        """Return the graph of the same points with another number of neighbours.

        Fewer are a view; more are searched for, unless the graph has no points.
        """
        k = min(n_neighbors, self.n_points)
        if k <= self.n_neighbors:
            kept = None if self.kept_sqdist is None else self.kept_sqdist[:, :k]
            table = self.tree_indices[:, :k]
            return replace(self, table=table, n_neighbors=k, kept_sqdist=kept, known_radii=None)
        if self.tree_points is None:
            return self
        n_columns = self.tree_points.shape[1]
        kept = max(n_columns, MEASURED_COLUMNS + 1) if self.keeps_distances else n_columns
        refuse_if_too_large(self.n_points, k, kept)
        index = self.index or Auto().index(self.tree_points, k)
        indices, sqdist = search_all(index, self.tree_points, k, keep=self.keeps_distances)
        return replace(
            self,
            table=frozen(indices),
            n_neighbors=k,
            kept_sqdist=sqdist,
            index=index,
            known_radii=None,
        )

    @property
    def keeps_distances(self) -> bool:
        """Whether distances cost too much to be measured again, or only the engine can do it."""
        cloud = self.tree_points
        return cloud is None or cloud.shape[1] > MEASURED_COLUMNS or self.metric != "euclidean"

    @property
    def mutual(self) -> BoolArray:
        """Which listed pairs are listed from both ends: an (N, k) mask in the tree's order."""
        mutual = np.ones(self.tree_indices.shape, dtype=np.bool_)
        for rows in self.pieces():
            mutual[rows][self.one_way(self.piece(rows), mutual[rows])] = False
        return mutual

    def one_way(self, piece: Piece, wanted: BoolArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return which of the wanted pairs in some rows of the table only one end lists.

        A point strictly inside the neighbour's radius is in that list, one strictly outside is
        not; only the rim needs looking up, so this costs one pass. Lists that may have holes are
        looked up throughout.
        """
        radius = np.take(self.radii, piece.neighbors)
        # Distances measured from either end may differ in the last digits.
        if self.exact:
            wanted = wanted & (piece.sqdist >= (1 - 1e-10) * radius)
        row, column = np.nonzero(wanted)
        mutual = np.zeros(len(row), dtype=np.bool_)
        inside = piece.sqdist[row, column] <= (1 + 1e-10) * radius[row, column]
        near = np.flatnonzero(inside) if self.exact else np.arange(len(row))
        owner = (row[near] + piece.rows.start).astype(np.int32)
        listed = self.tree_indices[piece.neighbors[row[near], column[near]]]
        mutual[near] = (listed == owner[:, None]).any(axis=1)
        return row[~mutual], column[~mutual]

    @cached_property
    def radii(self) -> FloatArray:
        """Squared distance of each point's last neighbour."""
        if self.known_radii is not None:
            return self.known_radii
        radii = np.empty(self.n_points)

        def work(rows: slice) -> None:
            radii[rows] = self.distances(rows, slice(-1, None))[:, 0]

        for_each(work, self.pieces())
        return radii


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
        The points.
    n_neighbors : int
        k, the point itself included; ``n_neighbors=N`` gives the dense method.
    search : {"auto", "kd-tree", "brute", "projected", "pynndescent"} or NeighborSearch, optional
        The engine; by default chosen by `vbdm.search.Auto`. All but "pynndescent" are exact.
    metric : str or callable
        "euclidean"; any metric of scikit-learn, or a function of two points; or "precomputed",
        see `NeighborGraph.from_sparse`. It should be a length: "cosine" and "sqeuclidean" are
        squares of lengths at short range, and would halve the dimension.
    period : float or one per column, optional
        After which length a column comes back to the same place: 360 or 2π for angles, the edges
        of a simulation cell; None, 0 or infinity for a column that is not periodic. Points may
        come from anywhere; they are wrapped into the box.

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
    points = check_points(X)
    k = check_count(n_neighbors, "n_neighbors", low=2, high=len(points))
    distance = Distance.checked(metric, period, points.shape[1])
    return measured_recall(sorted_cloud(points, k, search, distance).with_neighbors(k))


def is_precomputed(metric: Any) -> bool:
    """Tell whether distances are given instead of points."""
    return isinstance(metric, str) and metric == PRECOMPUTED


def given_graph(X: Any, n_neighbors: Any, search: Any, period: Any) -> NeighborGraph:
    """Return the graph of given distances."""
    for name, value in (("search", search), ("period", period)):
        if value is not None:
            raise bad_input(
                f"`{name}` and metric='precomputed' contradict each other.",
                received=f"{name}={value!r}",
                because="The distances are given: nothing is searched or measured.",
                hint=f"Leave out `{name}`, or pass points instead of distances.",
            )
    if isinstance(X, NeighborGraph):
        return X if n_neighbors is None else X.with_neighbors(n_neighbors)
    return NeighborGraph.from_sparse(X, n_neighbors)


def sorted_cloud(
    points: FloatArray,
    k: int,
    search: NeighborSearch | str | None = None,
    distance: Distance | None = None,
    *,
    merge_copies: bool = False,
) -> NeighborGraph:
    """Return points in the order of a tree, ready to be searched: each is its only neighbour."""
    distance = distance or Distance()
    engine = distance.engine(search)
    points = distance.wrapped(points)
    copies = find_copies(points) if merge_copies else None
    if copies is not None:
        points = points[copies.first]
    order = tree_order(points)
    cloud = np.ascontiguousarray(points[order])
    index = engine.index(cloud, k)
    alone = np.arange(len(points), dtype=np.int32)[:, None]
    # Other metrics may round differently from either end of a pair: their lists are looked up.
    exact = getattr(index, "is_exact", False) and distance.metric == "euclidean"
    # Contiguous columns: several times faster to gather from.
    columns = np.ascontiguousarray(cloud.T) if cloud.shape[1] <= MEASURED_COLUMNS else None
    return NeighborGraph(
        frozen(alone),
        1,
        frozen(order),
        frozen(cloud),
        columns,
        metric=distance.metric,
        exact=exact,
        kept_sqdist=None if distance.metric == "euclidean" else frozen(np.zeros((len(cloud), 1))),
        index=index,
        copies=copies,
        period=distance.period,
    )


def measured_recall(graph: NeighborGraph) -> NeighborGraph:
    """Return the graph with the share of true neighbours in its lists, and warn if it is low.

    Nothing is measured where the engine is exact, as all are but the approximate ones.
    """
    cloud = graph.tree_points
    if graph.exact or graph.metric != "euclidean" or cloud is None:
        return graph
    recall = recall_of(cloud, graph.tree_indices)
    if recall < LOW_RECALL:
        warnings.warn(
            f"The approximate search found only {recall:.1%} of the nearest neighbours of the "
            "points that were looked at: densities come out too low, and far pairs stand in for "
            "near ones. Use an exact engine (search='auto'), or raise the engine's effort.",
            RecallWarning,
            stacklevel=3,
        )
    return replace(graph, recall=recall)


def name_of(metric: object) -> str:
    """Return what a user's function is called."""
    return str(getattr(metric, "__name__", type(metric).__name__))
