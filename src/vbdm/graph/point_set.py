"""Points ready to be searched: in the order inside, with their distance and an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from ..base.arrays import (
    FloatArray,
    IntArray,
    beside_array,
    contiguous,
    frozen,
    is_elsewhere,
    to_host,
)
from ..base.credit import Credit, credit_of
from ..base.memory import MEASURED_COLUMNS
from ..engines.engine import Engine
from ..engines.scipy_engine import ScipyEngine
from ..engines.tree import Tree, levels_to
from ..rows.block_array import Rows
from ..rows.refused import not_in_blocks
from .distance import PRECOMPUTED, Distance
from .search import Auto, KDTree, NeighborIndex, NeighborSearch
from .search.auto import chosen
from .search.exact import TreeIndex, distances_by_column, squared_distances
from .search.periodic import PeriodicIndex, PeriodicTree


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows that are equal: merged into one point with a weight, and expanded again.

    Copies carry no news about distances, but they do about density: so geometry (neighbours,
    widths, dimension, ε) is read from the distinct points, and every sum over samples counts a
    point as often as it occurs. A point is left out of its own sums with all its copies, so a cloud
    in which every point occurs twelve times gives what the distinct points give.

    Attributes
    ----------
    point_of : (N,) array
        Index of the distinct point of each row.
    first : (M,) array
        Index of the first row that holds each distinct point.
    counts : (M,) array
        Number of rows that hold each distinct point.
    """

    point_of: NDArray[np.intp]
    first: NDArray[np.intp]
    counts: FloatArray

    def expand(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give every row the value of its point."""
        return values[self.point_of]

    def average(self, values: NDArray[Any]) -> Any:
        """Return the mean over the copies of each point."""
        columns = to_host(values).reshape(len(values), -1)
        means = np.asarray(self.averaging @ columns).reshape(len(self.counts), *values.shape[1:])
        return beside_array(means, values)

    @property
    def averaging(self) -> Any:
        """The matrix (M, N) that takes means over copies, in this machine's memory."""
        own = self.host
        n = len(own.point_of)
        share = 1 / own.counts[own.point_of]
        return csr_array((share, (own.point_of, np.arange(n))), shape=(len(own.counts), n))

    @property
    def host(self) -> Copies:
        """The same in this machine's memory."""
        return Copies(*to_host((self.point_of, self.first, self.counts)))


def find_copies(points: FloatArray) -> Copies | None:
    """Return which rows are equal, or None if all are distinct.

    Rows are hashed and the hashes sorted: much faster than sorting rows. Equal hashes are checked.
    """
    keys = row_hashes(points)
    ranked = np.sort(keys)
    if (ranked[1:] != ranked[:-1]).all():
        return None
    del ranked
    found = equal_keys(keys)
    if np.array_equal(points[found.first[found.point_of]], points):
        return found
    # Two different rows with one hash, once in 10^8 clouds of 10^5 points: sort the rows.
    _, first, point_of, counts = np.unique(
        to_host(points), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    if len(first) == len(points):
        return None
    merged = point_of.reshape(-1), first, counts.astype(np.float64)
    return Copies(*beside_array(merged, points))


def equal_keys(keys: NDArray[np.uint64]) -> Copies:
    """Return which rows have equal keys; points are numbered by these, in ascending order."""
    ranked = np.argsort(keys, kind="stable")
    new = np.empty(len(keys), dtype=np.bool_, like=keys)
    new[:1] = True
    new[1:] = keys[ranked[1:]] != keys[ranked[:-1]]
    start = np.flatnonzero(new)
    point_of = np.empty_like(ranked)
    point_of[ranked] = np.cumsum(new) - 1
    return Copies(point_of, ranked[start], np.diff(start, append=len(keys)).astype(np.float64))


def row_hashes(points: FloatArray) -> NDArray[np.uint64]:
    """Return a 64-bit number per row; equal rows have equal numbers."""
    keys = np.zeros(len(points), dtype=np.uint64, like=points)
    for column in points.T:
        # Adding 0 makes -0 and 0 the same; the multipliers are those of splitmix64.
        keys ^= contiguous(column + 0.0).view(np.uint64)
        keys ^= keys >> np.uint64(30)
        keys *= np.uint64(0xBF58476D1CE4E5B9)
        keys ^= keys >> np.uint64(27)
        keys *= np.uint64(0x94D049BB133111EB)
        keys ^= keys >> np.uint64(31)
    return keys


@dataclass(frozen=True, eq=False)
class Order:
    """Two steps from the caller's rows to the points inside: copies are merged, then points sorted.

    Inside, points stand in the order of a k-d tree, so that neighbours lie close in memory and
    matrix products run several times faster. Whatever a user sees is in the caller's order.

    Attributes
    ----------
    permutation : (M,) int array
        Index of the distinct point at each place of the order inside. It lives where the points do.
    copies : Copies or None
        How the caller's N rows were merged into M distinct points; None if they were not, M = N.
    """

    permutation: NDArray[np.intp]
    copies: Copies | None = None

    @classmethod
    def unchanged(cls, n_points: int) -> Order:
        """Return an order inside that equals the caller's order."""
        return cls(frozen(np.arange(n_points)))

    @property
    def n_points(self) -> int:
        """Number M of distinct points."""
        return len(self.permutation)

    @property
    def n_rows(self) -> int:
        """Number N of rows that the caller passed: all copies count."""
        return self.n_points if self.copies is None else len(self.copies.point_of)

    @cached_property
    def counts(self) -> FloatArray | None:
        """Number of the caller's rows that hold each point inside, (M,); None if one each."""
        return None if self.copies is None else frozen(self.copies.counts[self.permutation])

    @property
    def caller_rows(self) -> NDArray[np.intp]:
        """Index of the caller's row of each point inside, (M,); of copies, the first."""
        return self.permutation if self.copies is None else self.copies.first[self.permutation]

    def inside_rows(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the places in the order inside of some of the caller's rows.

        Rows that are named by a NumPy array have their places in one, wherever the points live.
        """
        found = self.places[rows if self.copies is None else self.copies.point_of[rows]]
        return found if is_elsewhere(rows) else to_host(found)

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """The place in the order inside of each distinct point, (M,)."""
        result = np.empty_like(self.permutation)
        result[self.permutation] = np.arange(self.n_points, like=result)
        return frozen(result)

    @cached_property
    def host(self) -> Order:
        """The same order, in this machine's memory."""
        if not is_elsewhere(self.permutation):
            return self
        return Order(to_host(self.permutation), self.copies and self.copies.host)

    def to_caller(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring values (M, …) from the order inside into the caller's order, (N, …).

        They stay where they are: in this machine's memory, or on a device.
        """
        if isinstance(values, np.ndarray) and self is not self.host:
            return self.host.to_caller(values)
        result = np.empty_like(values)
        result[self.permutation] = values
        return result if self.copies is None else self.copies.expand(result)

    def to_inside(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring values (N, …) from the caller's order into the order inside, (M, …).

        Values at the copies of a point are averaged. The result lives where the points do.
        """
        distinct = values if self.copies is None else self.copies.average(values)
        moved: NDArray[Any] = beside_array(distinct, self.permutation)
        return moved[self.permutation]

    def matrix_to_caller(self, matrix: Any, symmetric: bool = False) -> Any:
        """Return the matrix (M, M) with rows and columns in the caller's order, (N, N), as CSR.

        All copies of a point get its row, and its column is divided equally among them. If
        `symmetric`, rows and columns are both divided by the square root of the number of copies.
        """
        coo, place, copies = matrix.tocoo(), self.host.permutation, self.host.copies
        moved = csr_array((coo.data, (place[coo.row], place[coo.col])), shape=matrix.shape)
        if copies is not None:
            share, expanded = copies.averaging, copies.averaging.T
            root = diags_array(copies.counts ** (0.5 if symmetric else 1.0))
            moved = csr_array(expanded @ root @ moved @ (root @ share if symmetric else share))
        moved.sort_indices()
        return moved


#: Credit of the engine where the neighbours were found elsewhere.
GIVEN = Credit("given", "found elsewhere")


@dataclass(frozen=True, eq=False)
class PointSet:
    """The distinct points of a cloud, with the way in which their distances are measured.

    Attributes
    ----------
    order : Order
        Conversion between the order inside and the caller's order.
    distance : Distance
        Metric and periods.
    coordinates : (M, n) array or None
        The points in the order inside; None where only distances were given.
    tree : Tree or None
        The k-d tree in whose order the points stand; None where distances are not Euclidean, or
        columns are so many that it is of no use.
    index : NeighborIndex or None
        The index that finds neighbours; None where they were given.
    search : Credit
        The search that made the index.
    search_reason : str
        Why it was chosen.
    engine : Engine
        Who computes.
    engine_reason : str
        Why this engine was chosen.
    rows : Rows or None
        Where the rows of large arrays live; None: in one block in memory.
    """

    order: Order
    distance: Distance
    coordinates: FloatArray | None = None
    tree: Tree | None = None
    index: NeighborIndex | None = None
    search: Credit = GIVEN
    search_reason: str = ""
    engine: Engine = field(default_factory=ScipyEngine)
    engine_reason: str = ""
    rows: Rows | None = None

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
        why = only_by_tree(points, rows)
        if why and tree is not None:
            if rows is not None:
                # Blocks are searched by trees of their own; this one is for a few points. So many
                # points are kept once, by columns.
                coordinates = tree.columns.T
            index = tree_index(searcher, coordinates, k, own)
            return cls(
                Order(frozen(permutation), copies), distance, frozen(coordinates), tree, index,
                search=credit_of(own or KDTree(), "search"), search_reason=why,
                engine=engine, rows=rows,
            )  # fmt: skip
        choice, index = chosen(searcher, coordinates, k, own)
        # Periodic columns and other metrics leave one search, and no choice to explain.
        reason = choice.reason if distance.is_euclidean else "it measures such distances"
        credit = credit_of(choice.engine, "search")
        if own is not None and isinstance(searcher, (Auto, PeriodicTree)):
            index, credit = faster(index, own, credit)
        return cls(
            Order(frozen(permutation), copies), distance, frozen(coordinates), tree, index,
            search=credit, search_reason=reason, engine=engine,
        )  # fmt: skip

    @classmethod
    def unsearched(cls, n_points: int, coordinates: FloatArray | None = None) -> PointSet:
        """Return points whose neighbours were found elsewhere; they keep the caller's order."""
        metric = PRECOMPUTED if coordinates is None else "euclidean"
        return cls(Order.unchanged(n_points), Distance(metric), coordinates)

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
        choice, index = chosen(Auto(), self.coordinates, k)
        search = credit_of(choice.engine, "search")
        return replace(self, index=index, search=search, search_reason=choice.reason)

    def measured(self, rows: slice | NDArray[np.intp], neighbors: IntArray) -> FloatArray:
        """Return the squared distances, (m, k), of the points `rows` to `neighbors`, (m, k)."""
        X, period = self.coordinates, self.distance.period
        if X is None:
            raise TypeError("points without coordinates keep their distances")
        if self.tree is None or X.shape[1] > MEASURED_COLUMNS:
            return squared_distances(X[rows], X, neighbors, period)
        return distances_by_column(X[rows], self.tree.columns, neighbors, period)

    def nearest(self, rows: NDArray[np.intp], k: int) -> tuple[IntArray, FloatArray]:
        """Search again for some points: indices and squared distances, (m, k)."""
        if self.index is None or self.coordinates is None:
            raise TypeError("points without coordinates or index cannot be searched")
        return self.index.query(self.coordinates[rows], k)


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


def only_by_tree(points: FloatArray, rows: Rows | None) -> str:
    """Return why there is no choice but to search by the k-d tree; empty: there is one."""
    if rows is not None:
        return "rows live in blocks"
    return "the points live on a device" if is_elsewhere(points) else ""


def refuse_far_from_tree(search: NeighborSearch, distance: Distance, n_columns: int) -> None:
    """Refuse searches, metrics and numbers of columns that go without the tree."""
    if not isinstance(search, Auto | KDTree | PeriodicTree):
        raise not_in_blocks(
            "This search",
            f"{type(search).__name__} with metric={distance.metric!r}",
            "Blocks are parts of a k-d tree, which finds neighbours by straight distances.",
        )
    if n_columns > TREE_COLUMNS:
        raise not_in_blocks(
            f"More than {TREE_COLUMNS} columns",
            f"{n_columns} columns",
            "Blocks are parts of a k-d tree, which is of no use in so many; `vbdm.pca` makes "
            "fewer of them.",
        )


def tree_index(search: NeighborSearch, cloud: FloatArray, k: int, own: Any) -> NeighborIndex:
    """Return the index of a k-d tree: the engine's own, or SciPy's."""
    if own is None:
        return (KDTree() if isinstance(search, Auto) else search).index(cloud, k)
    if not isinstance(search, PeriodicTree):
        found: NeighborIndex = own
        return found
    return PeriodicIndex(own, search.period, own.rows_per_call, own.parallel)


def needed_rows(points: PointSet) -> Rows:
    """Return where the rows live, which are in blocks."""
    if points.rows is None:
        raise TypeError("these rows are in one block in memory")
    return points.rows


def faster(index: NeighborIndex, own: Any, credit: Credit) -> tuple[NeighborIndex, Credit]:
    """Return the engine's own index where a k-d tree was chosen, and whom to credit."""
    if isinstance(index, PeriodicIndex):
        return replace(index, inner=own), credit_of(own, "search")
    if index is own or isinstance(index, TreeIndex):
        return own, credit_of(own, "search")
    return index, credit
