"""Points ready to be searched: in the order of a tree, with their distance and an index."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, IntArray, frozen
from ..base.credit import Credit, credit_of
from ..base.memory import MEASURED_COLUMNS
from .distance import PRECOMPUTED, Distance
from .order import Order, find_copies
from .search import Auto, NeighborIndex, NeighborSearch
from .search.auto import chosen
from .search.exact import distances_by_column, squared_distances, tree_order

#: Neighbours that were found elsewhere.
GIVEN = Credit("given", "found elsewhere")


@dataclass(frozen=True, eq=False)
class PointSet:
    """The distinct points of a cloud, with the way in which their distances are measured.

    Attributes
    ----------
    order : Order
        How the points inside stand to the caller's rows.
    distance : Distance
        Metric and periods.
    coordinates : (M, n) array or None
        The points in the order inside; None where only distances were given.
    columns : (n, M) array or None
        The same numbers column by column, several times faster to gather from; None where there
        are too many of them.
    index : NeighborIndex or None
        What finds neighbours; None where they were given.
    engine : Credit
        Which engine made the index.
    engine_reason : str
        Why this engine.
    """

    order: Order
    distance: Distance
    coordinates: FloatArray | None = None
    columns: FloatArray | None = None
    index: NeighborIndex | None = None
    engine: Credit = GIVEN
    engine_reason: str = ""

    @classmethod
    def of(
        cls,
        points: FloatArray,
        k: int,
        search: NeighborSearch | str | None = None,
        distance: Distance | None = None,
        *,
        merge_copies: bool = False,
    ) -> PointSet:
        """Merge copies if wanted, sort the points, and build the index for lists of about k."""
        distance = distance or Distance()
        engine = distance.engine(search)
        points = distance.wrapped(points)
        copies = find_copies(points) if merge_copies else None
        if copies is not None:
            points = points[copies.first]
        permutation = tree_order(points)
        coordinates = np.ascontiguousarray(points[permutation])
        choice, index = chosen(engine, coordinates, k)
        # Only where lengths are those of straight lines is there more than one engine to choose.
        reason = choice.reason if distance.is_euclidean else "it measures such distances"
        return cls(
            Order(frozen(permutation), copies), distance, frozen(coordinates),
            by_columns(coordinates), index,
            engine=credit_of(choice.engine, "search engine"), engine_reason=reason,
        )  # fmt: skip

    @classmethod
    def unsearched(cls, n_points: int, coordinates: FloatArray | None = None) -> PointSet:
        """Return points whose neighbours were found elsewhere, in the order that they came in."""
        metric = PRECOMPUTED if coordinates is None else "euclidean"
        return cls(Order.unchanged(n_points), Distance(metric), coordinates)

    @property
    def n_points(self) -> int:
        """Number M of distinct points."""
        return self.order.n_points

    @property
    def keeps_distances(self) -> bool:
        """Whether distances cost too much to be measured again, or only the index can do it."""
        X = self.coordinates
        return X is None or X.shape[1] > MEASURED_COLUMNS or self.distance.metric != "euclidean"

    @property
    def is_exact(self) -> bool:
        """Whether the index never misses a neighbour, and both ends of a pair round alike."""
        # Other metrics may round differently from either end of a pair: their lists are looked up.
        exact = getattr(self.index, "is_exact", False)
        return bool(exact) and self.distance.metric == "euclidean"

    def indexed(self, k: int) -> PointSet:
        """Return the points with an index, built for lists of about k if there is none yet."""
        if self.index is not None or self.coordinates is None:
            return self
        choice, index = chosen(Auto(), self.coordinates, k)
        engine = credit_of(choice.engine, "search engine")
        return replace(self, index=index, engine=engine, engine_reason=choice.reason)

    def measured(self, rows: slice | NDArray[np.intp], neighbors: IntArray) -> FloatArray:
        """Return squared distances of some points to these neighbours, (m, k)."""
        X, period = self.coordinates, self.distance.period
        if X is None:
            raise TypeError("points without coordinates keep their distances")
        if self.columns is None:
            return squared_distances(X[rows], X, neighbors, period)
        return distances_by_column(X[rows], self.columns, neighbors, period)

    def nearest(self, rows: NDArray[np.intp], k: int) -> tuple[IntArray, FloatArray]:
        """Search again for some points: indices and squared distances, (m, k)."""
        if self.index is None or self.coordinates is None:
            raise TypeError("points without coordinates or index cannot be searched")
        return self.index.query(self.coordinates[rows], k)


def by_columns(coordinates: FloatArray) -> FloatArray | None:
    """Return contiguous columns, if they are few enough for distances to be measured again."""
    few = coordinates.shape[1] <= MEASURED_COLUMNS
    return np.asarray(np.ascontiguousarray(coordinates.T)) if few else None
