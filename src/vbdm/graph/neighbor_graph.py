"""The neighbour graph: the k nearest neighbours of every point, and views of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray, IntArray, frozen
from ..base.checks import check_points
from ..base.errors import bad_input
from ..base.memory import MEASURED_COLUMNS, refuse_if_too_large
from ..base.threads import for_each, rows_that_fit, slices
from .distance import Metric
from .point_set import Copies, Order, PointSet
from .precomputed import check_table, equal_points, part_of_whole, table_of_matrix
from .search.exact import search_all


@dataclass(frozen=True, eq=False)
class KeptLists:
    """The neighbours of every point, in the order inside.

    Attributes
    ----------
    indices : (M, k) int array
        Neighbours of each point, nearest first; column 0 is the point itself.
    sqdist : (M, k) array or None
        Their squared distances; None where they are measured from the points when needed.
    whole : KeptLists or None
        Longer lists of which these are the beginning, where such were searched for.
    """

    indices: IntArray
    sqdist: FloatArray | None = None
    whole: KeptLists | None = None

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours k per point, the point itself included."""
        return int(self.indices.shape[1])

    @property
    def longest(self) -> int:
        """Number of neighbours that are known."""
        return self.n_neighbors if self.whole is None else self.whole.n_neighbors

    def first(self, k: int) -> KeptLists:
        """Return the k nearest of the neighbours that are known."""
        whole = self.whole or self
        sqdist = None if whole.sqdist is None else whole.sqdist[:, :k]
        return KeptLists(whole.indices[:, :k], sqdist, whole)

    def without_distances(self) -> KeptLists:
        """Return the lists alone."""
        return KeptLists(self.indices, None, self.whole and self.whole.without_distances())


@dataclass(frozen=True, eq=False)
class ReleasedLists:
    """Lists that were given up to save 4 bytes per pair; they can be searched for again.

    Attributes
    ----------
    n_neighbors : int
        Number of neighbours k that each list had, the point itself included.
    radii : (M,) array
        Squared distance of each point's last neighbour.
    """

    n_neighbors: int
    radii: FloatArray


@dataclass(frozen=True, eq=False)
class ListedRows:
    """A block of rows of the lists.

    Attributes
    ----------
    rows : slice
        The m points of the block, in the order inside.
    neighbors : (m, k) int array
        Their neighbours, in the order inside.
    sqdist : (m, k) array
        Squared distances of these.
    """

    rows: slice
    neighbors: NDArray[np.intp]
    sqdist: FloatArray


def searched(points: PointSet, k: int, *, keep: bool = False) -> KeptLists:
    """Find the k nearest neighbours of all points; refuse if the result would not fit in memory.

    Distances are kept where they cannot be measured again, or if that is asked for and the index
    gives them with the same bits.
    """
    X = points.coordinates
    if X is None or points.index is None:
        raise TypeError("points without coordinates or index cannot be searched")
    # The memory estimate counts 8 bytes per pair for kept distances where columns are many.
    columns = max(X.shape[1], MEASURED_COLUMNS + 1) if points.keeps_distances else X.shape[1]
    refuse_if_too_large(points.n_points, k, columns)
    kept = points.keeps_distances or (keep and getattr(points.index, "is_measured", False))
    indices, sqdist = search_all(points.index, X, k, keep=kept)
    return KeptLists(frozen(indices), sqdist)


@dataclass(frozen=True, eq=False, repr=False)
class NeighborGraph:
    """The k nearest neighbours of every point, the point itself first.

    Parameters
    ----------
    point_set : PointSet
        The points inside, with their order, distance and index.
    lists : KeptLists or ReleasedLists
        The neighbours.
    exact : bool
        Whether the lists are sure to hold all nearest neighbours; if not, one-way pairs are found
        by looking into the lists of both ends.
    recall : float or None
        Share of the true neighbours that an approximate search found, on a sample of the points;
        None if it was not measured.

    Attributes
    ----------
    indices : (N, k) int array
        Neighbours of each point, nearest first; column 0 is the point itself. Copies that were
        merged have equal lists, which name the first of them.
    sqdist : (N, k) array
        Their squared distances.
    points : (N, n) array or None
        The points, if the graph was built from points.
    n_neighbors : int
        Number of neighbours k per point, the point itself included.
    metric : str or callable
        How distances were measured.
    period : (n,) array or None
        Periods of the columns, 0 for those that are not periodic; `points` lie in this box.
    copies : Copies or None
        Which rows were merged into one point.
    """

    point_set: PointSet
    lists: KeptLists | ReleasedLists
    exact: bool = True
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
            k, the point itself included; by default as many as every row has.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> matrix = csr_array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
        >>> graph = NeighborGraph.from_sparse(matrix, n_neighbors=2)
        >>> graph.indices.tolist(), graph.sqdist.tolist()
        ([[0, 1], [1, 0], [2, 1]], [[0.0, 1.0], [0.0, 1.0], [0.0, 4.0]])
        """
        indices, sqdist = table_of_matrix(matrix, n_neighbors)
        n, k = indices.shape
        refuse_if_too_large(n, k, MEASURED_COLUMNS + 1)
        points = PointSet.unsearched(n)
        return cls(points, KeptLists(frozen(indices), frozen(sqdist)), exact=n == k)

    @classmethod
    def from_arrays(
        cls, indices: ArrayLike, sqdist: ArrayLike, points: ArrayLike | None = None
    ) -> NeighborGraph:
        """Build a graph from neighbours found elsewhere.

        Parameters
        ----------
        indices : (N, k) int array
            Neighbours of each point, nearest first; column 0 is the point itself.
        sqdist : (N, k) array
            Their squared distances.
        points : (N, n) array, optional
            The points that were searched.

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
        known = PointSet.unsearched(len(J), None if X is None else frozen(X.copy()))
        return cls(known, KeptLists(frozen(J.astype(np.int32)), frozen(t)), exact=False)

    def __repr__(self) -> str:
        """Name the size and the metric."""
        named = self.metric if isinstance(self.metric, str) else name_of(self.metric)
        named = named if self.period is None else f"{named} in a periodic box"
        merged = "" if self.copies is None else f", {self.order.n_rows} with copies"
        return (
            f"NeighborGraph({self.n_points} points{merged}, {self.n_neighbors} neighbors, {named})"
        )

    @property
    def order(self) -> Order:
        """Conversion between the order inside and the caller's order."""
        return self.point_set.order

    @property
    def n_points(self) -> int:
        """Number M of distinct points."""
        return self.point_set.n_points

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours k per point, the point itself included."""
        return self.lists.n_neighbors

    @property
    def longest(self) -> int:
        """Number of neighbours per point that need no further search."""
        return (
            self.lists.n_neighbors if isinstance(self.lists, ReleasedLists) else self.lists.longest
        )

    @property
    def is_whole(self) -> bool:
        """Whether the distances of all pairs were given: no list need end anywhere."""
        return self.point_set.coordinates is None and self.longest == self.n_points and self.exact

    def with_merged_copies(self) -> NeighborGraph:
        """Return a whole graph with points at distance 0 from each other merged into one."""
        lists = self.with_neighbors(self.n_points).kept
        table = lists.indices, np.asarray(lists.sqdist)
        first, distinct = equal_points(table)
        if len(distinct) == self.n_points or self.copies is not None:
            return self
        point_of = np.searchsorted(distinct, first)
        copies = Copies(point_of, distinct, np.bincount(point_of).astype(np.float64))
        order = Order(np.arange(len(distinct)), copies)
        indices, sqdist = part_of_whole(table, distinct)
        points = replace(self.point_set, order=order)
        return replace(self, point_set=points, lists=KeptLists(frozen(indices), frozen(sqdist)))

    @property
    def copies(self) -> Copies | None:
        """Which rows were merged into one point."""
        return self.order.copies

    @property
    def metric(self) -> Metric:
        """How distances were measured."""
        return self.point_set.distance.metric

    @property
    def period(self) -> FloatArray | None:
        """Periods of the columns, 0 for those that are not periodic."""
        return self.point_set.distance.period

    @cached_property
    def points(self) -> FloatArray | None:
        """The points in the caller's order, (N, n), or None for a graph without points."""
        inside = self.point_set.coordinates
        return None if inside is None else frozen(self.order.to_caller(inside))

    @cached_property
    def indices(self) -> IntArray:
        """Neighbours, (N, k), rows and numbers in the caller's order."""
        inside = self.with_lists().kept.indices
        return frozen(self.order.to_caller(self.order.caller_rows[inside].astype(np.int32)))

    @cached_property
    def sqdist(self) -> FloatArray:
        """Squared distances, (N, k), rows in the caller's order."""
        inside = self.with_lists().distances(slice(0, self.n_points))
        return frozen(self.order.to_caller(inside))

    @property
    def kept(self) -> KeptLists:
        """The lists in the order inside; call `with_lists` first if they may have been released."""
        if isinstance(self.lists, ReleasedLists):
            raise TypeError("these lists were released: call with_lists() first")
        return self.lists

    def with_lists(self) -> NeighborGraph:
        """Return the graph with its lists, searched for again if they were released."""
        index, X = self.point_set.index, self.point_set.coordinates
        if isinstance(self.lists, KeptLists) or index is None or X is None:
            return self
        kept = self.point_set.keeps_distances
        indices, sqdist = search_all(index, X, self.n_neighbors, keep=kept)
        return replace(self, lists=KeptLists(frozen(indices), sqdist))

    def without_distances(self) -> NeighborGraph:
        """Return the graph without its distances, 8 bytes per pair, if they can be measured."""
        lists, needed = self.lists, self.point_set.keeps_distances or not self.exact
        if isinstance(lists, ReleasedLists) or lists.sqdist is None or needed:
            return self
        return replace(self, lists=lists.without_distances())

    def released(self) -> NeighborGraph:
        """Return the graph without its lists, 4 to 12 bytes per pair, if a search restores them."""
        found = self.point_set.index is not None and self.point_set.coordinates is not None
        if isinstance(self.lists, ReleasedLists) or not found or not self.exact:
            return self
        return replace(self, lists=ReleasedLists(self.n_neighbors, self.radii))

    def with_neighbors(self, n_neighbors: int) -> NeighborGraph:
        """Return the graph of the same points with another number of neighbours.

        Fewer are a view of these lists, from which the others can be had back. More are searched
        for; a graph without points stays as it is.
        """
        k = min(n_neighbors, self.n_points)
        if k <= self.longest:
            return replace(self, lists=self.with_lists().kept.first(k))
        if self.point_set.coordinates is None:
            return self
        points = self.point_set.indexed(k)
        return replace(self, point_set=points, lists=searched(points, k))

    def row_blocks(self) -> list[slice]:
        """Cut the rows into blocks that fit the cache."""
        return list(slices(self.n_points, size=rows_that_fit(self.n_neighbors)))

    def block(self, rows: slice) -> ListedRows:
        """Return one block of the lists."""
        neighbors = self.kept.indices[rows].astype(np.intp)
        return ListedRows(rows, neighbors, self.distances(rows))

    def distances(self, rows: slice | NDArray[np.intp], which: slice = slice(None)) -> FloatArray:
        """Return squared distances of some rows to the columns `which` of their lists."""
        if self.kept.sqdist is not None:
            return self.kept.sqdist[rows, which]
        return self.point_set.measured(rows, self.kept.indices[rows, which])

    @cached_property
    def radii(self) -> FloatArray:
        """Squared distance of each point's last neighbour, (M,) in the order inside."""
        if isinstance(self.lists, ReleasedLists):
            return self.lists.radii
        radii = np.empty(self.n_points)

        def work(rows: slice) -> None:
            radii[rows] = self.distances(rows, slice(-1, None))[:, 0]

        for_each(work, self.row_blocks())
        return radii


def name_of(metric: object) -> str:
    """Return the name of a user's function."""
    return str(getattr(metric, "__name__", type(metric).__name__))
