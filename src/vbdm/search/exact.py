"""Protocol of all engines; k-d trees, in periodic boxes, too; and the search for all points."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ..base.arrays import FloatArray, IntArray, frozen, is_elsewhere
from ..base.checks import a_count, numbers
from ..base.threads import for_each, in_order, slices, slices_of
from ..errors import InputError
from ..progress import report


class NeighborIndex(Protocol):
    """A cloud made ready to be searched.

    An index that never misses a neighbour may say so by an attribute ``is_exact = True``.
    """

    @property
    def rows_per_call(self) -> int:
        """Number of points to pass in one call."""

    @property
    def parallel(self) -> bool:
        """Whether calls may run side by side, in threads."""

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances, both (m, k), of the k nearest, nearest first."""


class NeighborSearch(Protocol):
    """An engine: it makes a cloud ready to be searched."""

    def index(self, cloud: FloatArray, k: int) -> NeighborIndex:
        """Return the cloud's index; most queries will ask for about `k` neighbours."""


#: Number of coordinates gathered at a time when distances are measured.
GATHERED = 1 << 18


@dataclass(frozen=True)
class KDTree:
    """SciPy's exact k-d tree; the best choice up to about ten effective columns."""

    leafsize: int = 16

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be counts."""
        a_count()(self.leafsize, "leafsize")

    def index(self, cloud: FloatArray, k: int) -> TreeIndex:
        """Build the tree."""
        # Sliding midpoints build faster than medians, and the points already are in the order
        # inside, that of a tree with medians.
        many = cloud.shape[1] > 3
        return TreeIndex(
            cKDTree(cloud, leafsize=self.leafsize, balanced_tree=False, compact_nodes=many)
        )


@dataclass(frozen=True, eq=False)
class TreeIndex:
    """A k-d tree. SciPy's results take 16 bytes per pair, so calls are kept short."""

    tree: Any
    rows_per_call: int = 1024
    parallel: bool = True
    is_exact: bool = True

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        distance, index = self.tree.query(points, k=k)
        distance = distance.reshape(-1, k)
        return index.reshape(-1, k).astype(np.int32), np.square(distance, out=distance)


def nearest_of(
    points: FloatArray,
    cloud: FloatArray,
    candidates: NDArray[np.integer],
    k: int,
    *,
    share: bool = False,
) -> tuple[IntArray, FloatArray]:
    """Measure candidates in full precision and return the k nearest; `share`: on all cores."""
    indices, sqdist = np.empty((len(points), k), dtype=np.int32), np.empty((len(points), k))

    def work(rows: slice) -> None:
        exact = squared_distances(points[rows], cloud, candidates[rows])
        nearest = np.argsort(exact, axis=1, kind="stable")[:, :k]
        indices[rows] = np.take_along_axis(candidates[rows], nearest, axis=1)
        sqdist[rows] = np.take_along_axis(exact, nearest, axis=1)

    for_each(work, slices(len(points), size=256), parallel=share)
    return indices, sqdist


def squared_distances(
    points: FloatArray,
    cloud: FloatArray,
    indices: NDArray[np.integer],
    period: FloatArray | None = None,
) -> FloatArray:
    """Return |points_i - cloud_j|² for j in indices_i, in float64, a few rows at a time.

    In a periodic box the distance is that to the nearest image.
    """
    result = np.empty(indices.shape, like=points)
    size = max(1, GATHERED // max(1, indices.shape[1] * cloud.shape[1]))
    for rows in slices_of(points, size=size):
        gap = np.take(cloud, indices[rows], axis=0)
        gap -= points[rows, None, :]
        if period is not None:
            for column in np.flatnonzero(period):
                to_nearest_image(gap[..., column], period[column])
        result[rows] = np.einsum("ijk,ijk->ij", gap, gap)
    return result


def distances_by_column(
    points: FloatArray,
    columns: FloatArray,
    indices: NDArray[np.integer],
    period: FloatArray | None = None,
) -> FloatArray:
    """Return `squared_distances` from the cloud's contiguous columns, (n, N).

    With few columns this is several times faster.
    """
    # The indices are converted once: NumPy would convert them again for every column.
    wanted = indices.astype(np.intp, copy=False)
    total, gap = np.zeros(wanted.shape, like=points), np.empty(wanted.shape, like=points)
    lengths = np.zeros(len(columns)) if period is None else period
    # Without this option NumPy would copy first; a device does not have it.
    options: Any = {} if is_elsewhere(points) else {"mode": "clip"}
    for own, column, length in zip(points.T, columns, lengths, strict=True):
        np.take(column, wanted, out=gap, **options)
        gap -= own[:, None]
        if length > 0:
            to_nearest_image(gap, length)
        total += np.square(gap, out=gap)
    return total


def to_nearest_image(gap: FloatArray, length: float) -> None:
    """Replace differences of a coordinate by those to the nearest image, in place."""
    gap -= length * np.rint(gap / length)


def search_all(
    index: NeighborIndex, cloud: FloatArray, k: int, *, keep: bool
) -> tuple[IntArray, FloatArray | None]:
    """Find the k nearest of every point; distances come back only if they are to be kept."""
    indices = np.empty((len(cloud), k), dtype=np.int32, like=cloud)
    sqdist = np.empty((len(cloud), k), like=cloud) if keep else None

    def work(rows: slice) -> None:
        indices[rows], distances = index.query(cloud[rows], k)
        put_self_first(indices[rows], distances, rows.start)
        if sqdist is not None:
            sqdist[rows] = distances

    exact = bool(getattr(index, "is_exact", False))
    blocks, started = list(slices(len(cloud), size=index.rows_per_call)), perf_counter()
    searched = in_order(work, blocks, parallel=index.parallel)
    for done, _ in enumerate(searched, start=1):
        seconds = (perf_counter() - started) * len(blocks) / done
        report("neighbours", done, len(blocks), search_note(k, seconds, exact=exact))
    return indices, None if sqdist is None else frozen(sqdist)


#: Seconds from which a search is long enough to say so, and from which other ways are named.
LONG, VERY_LONG = 10.0, 120.0


def search_note(k: int, seconds: float, *, exact: bool) -> str:
    """Say what is searched for, how long that takes if it is long, and what would be quicker.

    Examples
    --------
    >>> search_note(64, 40, exact=True)
    '64 nearest of each point, about 40 s in all'
    """
    words = f"{k} nearest of each point"
    if seconds < LONG:
        return words
    words += f", about {float(f'{seconds:.2g}'):.0f} s in all"
    if not exact or seconds < VERY_LONG:
        return words
    return f"{words}; fewer columns (pca) or an approximate search (pynndescent) take less"


def put_self_first(indices: IntArray, sqdist: FloatArray, first: int = 0) -> None:
    """Move each point to column 0 of its own row, in place; row 0 belongs to the point `first`.

    Only copies of a point can stand before it, all at distance 0, so a swap keeps the row sorted.
    With more than k copies the point may be missing from its row: it then takes a copy's place.
    """
    own = np.arange(first, first + len(indices), dtype=np.int32, like=indices)
    strayed = np.flatnonzero(indices[:, 0] != own)
    if strayed.size == 0:
        return
    found = indices[strayed] == own[strayed, None]
    position = np.where(found.any(axis=1), found.argmax(axis=1), 0)
    indices[strayed, position] = indices[strayed, 0]
    sqdist[strayed, position] = sqdist[strayed, 0]
    indices[strayed, 0] = own[strayed]
    sqdist[strayed, 0] = 0.0


@dataclass(frozen=True, eq=False)
class PeriodicTree:
    """SciPy's k-d tree with distances to the nearest image of each point.

    `period`, (n,), has one length per column, 0 for columns that are not periodic.
    """

    period: FloatArray
    leafsize: int = 16

    def __post_init__(self) -> None:
        """Refuse what cannot be lengths or counts."""
        a_count()(self.leafsize, "leafsize")
        object.__setattr__(self, "period", numbers(self.period, "period"))

    def index(self, cloud: FloatArray, k: int) -> PeriodicIndex:
        """Build the tree; the cloud must lie in the box."""
        if len(self.period) != cloud.shape[1] or (self.period < 0).any():
            raise InputError(
                "`period` must be one length for each column, 0 where there is none; received "
                f"{self.period.tolist()} for {cloud.shape[1]} column(s)."
            )
        inside = (cloud >= 0) & ((cloud < self.period) | (self.period == 0))
        if not inside[:, self.period > 0].all():
            raise InputError(
                "The points must lie in the box; received coordinates below 0, or beyond the "
                "period. Give `period` instead of `search`."
            )
        tree = cKDTree(cloud, leafsize=self.leafsize, boxsize=self.period)
        return PeriodicIndex(TreeIndex(tree), self.period)


@dataclass(frozen=True, eq=False)
class PeriodicIndex:
    """A tree that takes points from anywhere: they are wrapped into the box first.

    SciPy would wrap them as well, but with other last digits: a point would not be at distance 0
    from its image one period further on.
    """

    inner: NeighborIndex
    period: FloatArray
    rows_per_call: int = 1024
    parallel: bool = True
    is_exact: bool = True

    @property
    def is_measured(self) -> bool:
        """Whether squared distances have the bits of measured ones."""
        return bool(getattr(self.inner, "is_measured", False))

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        return self.inner.query(wrap(points, self.period), k)


def wrap(points: FloatArray, period: FloatArray) -> FloatArray:
    """Return coordinates in [0, period) of the periodic columns, the others as they are."""
    result = points.copy()
    for column in np.flatnonzero(period):
        inside = np.mod(points[:, column], period[column])
        # np.mod rounds numbers such as -1e-20 up to the period itself.
        result[:, column] = np.where(inside >= period[column], 0.0, inside)
    return result
