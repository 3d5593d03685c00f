"""The neighbour graph: the k nearest neighbours of every point, and views of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray, IntArray, frozen, is_elsewhere, to_host
from ..base.memory import MEASURED_COLUMNS, refuse_lists
from ..base.points import check_points
from ..base.threads import IN_CACHE, in_order, rows_that_fit, slices
from ..errors import InputError
from ..rows.block_array import BlockArray
from ..rows.place import no_lists
from ..search.exact import search_all
from .lists import KeptLists, ListedRows, ReleasedLists, of_distances, search_lists
from .on_host import in_memory, state_in_memory
from .order import Copies, Order
from .point_set import Metric, PointSet
from .precomputed import check_table, equal_points, part_of_whole, table_of_matrix

#: Neighbours in the lists that are worked on at a time on a device: 512 MB of distances.
AT_ONCE_ON_DEVICE = 1 << 26


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
        refuse_lists(n, k, MEASURED_COLUMNS + 1)
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
        X = None if points is None else check_points(points, placed=to_host)
        if X is not None and len(X) != len(J):
            raise InputError(
                f"`points` and `indices` must have the same number of rows; received {len(X)} "
                f"points and {len(J)} rows of neighbours."
            )
        known = PointSet.unsearched(len(J), None if X is None else frozen(X.copy()))
        return cls(known, KeptLists(frozen(J.astype(np.int32)), frozen(t)), exact=False)

    def __repr__(self) -> str:
        """Name the size and the metric."""
        metric: Any = self.metric
        named = metric if isinstance(metric, str) else getattr(metric, "__name__", "")
        named = named or type(metric).__name__
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
    def on_host(self) -> NeighborGraph:
        """The same graph in this machine's memory; itself, unless it lives on a device."""
        return in_memory(self, self.n_points)

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles keep: a graph on a device is copied into memory."""
        return state_in_memory(self)

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
        lists = self.lists
        return lists.n_neighbors if isinstance(lists, ReleasedLists) else lists.longest

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
        return None if inside is None else frozen(to_host(self.order.to_caller(inside)))

    @cached_property
    def indices(self) -> IntArray:
        """Neighbours of each point, (N, k), nearest first; column 0 is the point itself.

        Copies that were merged have equal lists, which name the first of them.
        """
        inside = self.with_lists().kept.indices
        named = self.order.caller_rows[inside].astype(np.int32)
        return frozen(to_host(self.order.to_caller(named)))

    @cached_property
    def sqdist(self) -> FloatArray:
        """Squared distances to `indices`, (N, k)."""
        inside = self.with_lists().distances(slice(0, self.n_points))
        return frozen(to_host(self.order.to_caller(inside)))

    @property
    def kept(self) -> KeptLists:
        """The lists in the order inside; call `with_lists` first if they may have been released."""
        if isinstance(self.lists, ReleasedLists):
            if self.point_set.rows is not None:
                raise no_lists(f"something that looks into lists, of {self!r}")
            raise TypeError("these lists were released: call with_lists() first")
        return self.lists

    def with_lists(self) -> NeighborGraph:
        """Return the graph with its lists, searched for again if they were released."""
        index, X = self.point_set.index, self.point_set.coordinates
        if isinstance(self.lists, KeptLists) or index is None or X is None:
            return self
        if self.point_set.rows is not None:
            raise no_lists(f"something that looks into lists, of {self!r}")
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
        if isinstance(self.lists, ReleasedLists):
            return replace(self, lists=replace(self.lists, sqdist=None))
        found = self.point_set.index is not None and self.point_set.coordinates is not None
        if not found or not self.exact:
            return self
        return replace(self, lists=ReleasedLists(self.n_neighbors, self.radii))

    def with_neighbors(self, n_neighbors: int) -> NeighborGraph:
        """Return the graph of the same points with another number of neighbours.

        Fewer are a view of these lists, from which the others can be had back. More are searched
        for; a graph without points stays as it is.
        """
        k = min(n_neighbors, self.n_points)
        if self.point_set.rows is not None:
            return (
                self if k == self.longest else replace(self, lists=search_lists(self.point_set, k))
            )
        if k <= self.longest:
            return replace(self, lists=self.with_lists().kept.first(k))
        if self.point_set.coordinates is None:
            return self
        points = self.point_set.indexed(k)
        return replace(self, point_set=points, lists=search_lists(points, k))

    def row_blocks(self) -> list[slice]:
        """Cut the rows into blocks that fit the cache; on a device blocks are large."""
        most = AT_ONCE_ON_DEVICE if is_elsewhere(self.order.permutation) else IN_CACHE
        return list(slices(self.n_points, size=rows_that_fit(self.n_neighbors, most=most)))

    def block(self, rows: slice) -> ListedRows:
        """Return one block of the lists."""
        neighbors = self.kept.indices[rows].astype(np.intp)
        return ListedRows(rows, neighbors, self.distances(rows))

    def distances(self, rows: slice | NDArray[np.intp], which: slice = slice(None)) -> FloatArray:
        """Return squared distances of some rows to the columns `which` of their lists."""
        if self.kept.sqdist is not None:
            return self.kept.sqdist[rows, which]
        return self.point_set.measured(rows, self.kept.indices[rows, which])

    def from_distances(
        self, function: Callable[..., FloatArray], which: slice, *args: Any
    ) -> FloatArray:
        """Return what a function makes of rows of distances, (r, M).

        It is called with squared distances, (m, k), of some rows in the columns `which` of their
        lists, and `args`; it returns (r, m). It is a module's function: rows may live elsewhere.
        """
        kept = self.lists.sqdist if isinstance(self.lists, ReleasedLists) else None
        if isinstance(kept, BlockArray):
            handles = kept.rows.run(of_distances, kept, function, which, args)[0]
            return np.concatenate(list(kept.rows.place.read(handles)), axis=1)

        def work(rows: slice) -> FloatArray:
            return function(self.distances(rows, which), *args)

        # A device takes one block after the other: in several threads they would need its memory at
        # the same time, and other threads may have chosen another device, or another queue of work.
        parallel = not is_elsewhere(self.order.permutation)
        return np.concatenate(list(in_order(work, self.row_blocks(), parallel=parallel)), axis=1)

    @cached_property
    def radii(self) -> FloatArray:
        """Squared distance of each point's last neighbour, (M,) in the order inside."""
        if isinstance(self.lists, ReleasedLists):
            return self.lists.radii
        return cast(FloatArray, self.from_distances(np.transpose, slice(-1, None))[0])
