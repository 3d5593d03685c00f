"""First room: the points and their k nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from .arrays import BoolArray, FloatArray, IntArray, check_count, check_finite, check_points, frozen
from .copies import Copies, find_copies
from .errors import bad_input
from .memory import MEASURED_COLUMNS, refuse_if_too_large
from .search import Auto, BruteForce, KDTree, NeighborIndex, NeighborSearch
from .search.exact import chunks, distances_by_column, squared_distances
from .threads import for_each

#: Pairs in a piece of rows: what a piece needs stays in the processor's cache.
PIECE = 1 << 17
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
    metric : str
        How distances were measured.
    exact : bool
        Whether the lists are sure to hold all nearest neighbours; if not, pairs are looked up.
    copies : Copies or None
        Which rows were merged into one point; N then is the number of distinct points inside, and
        what is in the caller's order has a row for each copy (their lists name the first of them).
    """

    table: IntArray | None
    n_neighbors: int
    order: NDArray[np.intp]
    tree_points: FloatArray | None = None
    tree_columns: FloatArray | None = None
    metric: str = "euclidean"
    exact: bool = True
    kept_sqdist: FloatArray | None = None
    index: NeighborIndex | None = None
    copies: Copies | None = None
    known_radii: FloatArray | None = None

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
        check_precomputed(J, t)
        X = None if points is None else check_points(points)
        if X is not None and len(X) != len(J):
            raise bad_input(
                "`points` and `indices` must have the same number of rows.",
                received=f"{len(X)} points and {len(J)} rows of neighbours",
                because="Each row lists the neighbours of one point.",
                hint="Pass the points that were searched, in the same order.",
            )
        name = "precomputed" if X is None else "euclidean"
        kept = None if X is None else frozen(X.copy())
        order = np.arange(len(J))
        table = frozen(J.astype(np.int32))
        return cls(table, J.shape[1], order, kept, metric=name, exact=False, kept_sqdist=frozen(t))

    def __repr__(self) -> str:
        """Say the size and the metric."""
        merged = "" if self.copies is None else f", {self.n_rows} with copies"
        return (
            f"NeighborGraph({self.n_points} points{merged}, {self.n_neighbors} neighbors, "
            f"{self.metric})"
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
        return frozen(search_all(self.index, self.tree_points, self.n_neighbors)[0])

    def released(self) -> NeighborGraph:
        """Return the graph without its table, 4 bytes per pair, if it can be searched for again."""
        if self.index is None or self.kept_sqdist is not None:
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
            return squared_distances(cloud[rows], cloud, wanted)
        return distances_by_column(cloud[rows], columns, wanted)

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
        refuse_if_too_large(self.n_points, k, self.tree_points.shape[1])
        index = self.index or Auto().index(self.tree_points, k)
        indices, sqdist = search_all(index, self.tree_points, k)
        return replace(
            self,
            table=frozen(indices),
            n_neighbors=k,
            kept_sqdist=sqdist,
            index=index,
            known_radii=None,
        )

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
    X: ArrayLike, n_neighbors: int = 64, search: NeighborSearch | None = None
) -> NeighborGraph:
    """Find the k nearest neighbours of every point, exactly.

    Parameters
    ----------
    X : (N, n) array
        The points.
    n_neighbors : int
        k, the point itself included; ``n_neighbors=N`` gives the dense method.
    search : NeighborSearch, optional
        The engine; by default chosen by `vbdm.search.Auto`.

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
    """
    points = check_points(X)
    k = check_count(n_neighbors, "n_neighbors", low=2, high=len(points))
    return sorted_cloud(points, k, search).with_neighbors(k)


def sorted_cloud(
    points: FloatArray,
    k: int,
    search: NeighborSearch | None = None,
    *,
    merge_copies: bool = False,
) -> NeighborGraph:
    """Return points in the order of a tree, ready to be searched: each is its only neighbour."""
    copies = find_copies(points) if merge_copies else None
    if copies is not None:
        points = points[copies.first]
    order = tree_order(points)
    cloud = np.ascontiguousarray(points[order])
    index = (search or Auto()).index(cloud, k)
    alone = np.arange(len(points), dtype=np.int32)[:, None]
    exact = search is None or isinstance(search, (Auto, KDTree, BruteForce))
    # Contiguous columns: several times faster to gather from.
    columns = np.ascontiguousarray(cloud.T) if cloud.shape[1] <= MEASURED_COLUMNS else None
    return NeighborGraph(
        frozen(alone),
        1,
        frozen(order),
        frozen(cloud),
        columns,
        exact=exact,
        index=index,
        copies=copies,
    )


def search_all(
    index: NeighborIndex, cloud: FloatArray, k: int
) -> tuple[IntArray, FloatArray | None]:
    """Find the k nearest of every point; distances come back only if they would cost to redo."""
    indices = np.empty((len(cloud), k), dtype=np.int32)
    sqdist = np.empty((len(cloud), k)) if cloud.shape[1] > MEASURED_COLUMNS else None

    def work(rows: slice) -> None:
        indices[rows], distances = index.query(cloud[rows], k)
        put_self_first(indices[rows], distances, rows.start)
        if sqdist is not None:
            sqdist[rows] = distances

    pieces = chunks(len(cloud), size=index.rows_per_call)
    for_each(work, pieces, "neighbours", index.parallel)
    return indices, None if sqdist is None else frozen(sqdist)


def tree_order(points: FloatArray) -> NDArray[np.intp]:
    """Return the permutation that a k-d tree gives the points: near in space, near in memory."""
    # Beyond a few columns a tree has no locality to give, and building it costs.
    columns = points if points.shape[1] <= 32 else points[:, :32]
    order: NDArray[np.intp] = cKDTree(columns, leafsize=8, compact_nodes=False).indices
    return order


def put_self_first(indices: IntArray, sqdist: FloatArray, first: int = 0) -> None:
    """Move each point to column 0 of its own row, in place; the first row is that of `first`.

    Only copies of a point can stand before it, all at distance 0, so a swap keeps the row sorted.
    With more than k copies the point may be missing from its row: it then takes a copy's place.
    """
    own = np.arange(first, first + len(indices), dtype=np.int32)
    strayed = np.flatnonzero(indices[:, 0] != own)
    if strayed.size == 0:
        return
    found = indices[strayed] == own[strayed, None]
    position = np.where(found.any(axis=1), found.argmax(axis=1), 0)
    indices[strayed, position] = indices[strayed, 0]
    sqdist[strayed, position] = sqdist[strayed, 0]
    indices[strayed, 0] = own[strayed]
    sqdist[strayed, 0] = 0.0


def check_precomputed(indices: NDArray[Any], sqdist: FloatArray) -> None:
    """Refuse arrays that are not a table of neighbours."""
    hint = "Each row lists a point's neighbours by increasing squared distance, itself first."
    why = "A neighbour graph is two (N, k) arrays: integer indices and squared distances."
    what = "The neighbour arrays do not fit together."
    if indices.ndim != 2 or indices.shape != sqdist.shape or min(indices.shape) < 2:
        received = f"shapes {indices.shape} and {sqdist.shape}"
        raise bad_input(what, received=received, because=why, hint=hint)
    if indices.dtype.kind not in "iu":
        raise bad_input(what, received=f"indices of type {indices.dtype}", because=why, hint=hint)
    check_finite(sqdist, "squared distances")
    own = np.arange(len(indices))
    wrong = (
        (indices[:, 0] != own)
        | (indices.astype(np.int64) < 0).any(axis=1)
        | (indices >= len(indices)).any(axis=1)
        | (np.diff(sqdist, axis=1) < 0).any(axis=1)
        | (sqdist[:, 0] != 0)
        | (np.diff(np.sort(indices, axis=1), axis=1) == 0).any(axis=1)
    )
    if wrong.any():
        received = f"{wrong.sum()} row(s) out of order, the first is row {np.argmax(wrong)}"
        raise bad_input(what, received=received, because=why, hint=hint)
