"""Scaled squared distances t = |x-y|²/(a(x) b(y)): what is known of the pairs before ε is chosen.

Rules for ε look at a sample of rows with their t, whatever N is. Here, too: at which share of its
peak the kernel is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, IntArray, to_host
from ..base.checks import a_number
from ..base.threads import in_order, slices, slices_of
from ..graph.lists import ROUNDING, ListedRows
from ..graph.neighbor_graph import NeighborGraph
from ..graph.point_set import PointSet
from ..shapes import Shape, radius_of, values_of
from .bandwidth import Bandwidth
from .dimension import Dimension

#: Beyond this number of points n* grows more slowly, and clean data is cut earlier.
ENOUGH_POINTS = 10_000
#: Number of rows with the widest kernels that are sampled apart: the thin tail of the data.
TAIL_ROWS = 100
#: Share of rows whose neighbour list may end inside the kernel's reach.
CUT_ROWS = 0.01
#: Factor on the k that 99 % of the rows need: it adds a rim that shows whether the kernel decayed.
SLACK = 17 / 16
#: Largest k to which rows are lengthened, unless the graph has more.
MOST_NEIGHBORS = 1024
#: Share of its peak at which the kernel counts as decayed.
NEGLIGIBLE = 1e-3
#: Share by which the dimension of a clean manifold, without noise, changes with the scale at most.
CLEAN = 0.05
#: Most rows in a sample; of smaller clouds all rows are taken.
SAMPLE_ROWS = 4000
#: Shares of its peak at which a kernel can be cut.
A_SHARE = a_number(1e-300, 0.5)


@dataclass(frozen=True, eq=False)
class ScaledPairs:
    """The input of a rule for ε: the pairs with their scaled distances, and the kernel's shape."""

    graph: NeighborGraph  #: the points and their nearest neighbours
    bandwidth: Bandwidth  #: a(x) and b(y)
    shape: Shape  #: h; the kernel will be h(t/ε)
    #: The s = t/ε beyond which the kernel is set to 0; infinite if it is not cut
    cutoff: float = np.inf
    effort: float = 1.0  #: factor by which the user multiplied the automatic numbers of neighbours
    dim: float = np.nan  #: the dimension d; NaN where it is not known yet

    @property
    def reach(self) -> float:
        """The s = t/ε up to which lists must go: the cutoff, or where h has decayed."""
        return self.cutoff if np.isfinite(self.cutoff) else radius_of(self.shape, NEGLIGIBLE)

    def blocks(self) -> Iterator[FloatArray]:
        """Yield t for all listed pairs, in blocks (m, k)."""
        for rows in self.graph.row_blocks():
            yield scaled_distances(self.graph.block(rows), self.bandwidth)


def scaled_distances(block: ListedRows, bandwidth: Bandwidth) -> FloatArray:
    """Return t for a block of the lists, (m, k)."""
    scale = np.take(bandwidth.column, block.neighbors)
    scale *= bandwidth.row[block.rows, None]
    return np.divide(block.sqdist, scale, out=scale)


def rim(table: FloatArray) -> FloatArray:
    """Return a typical value at the end of each row, (m,): the median over its last sixteenth.

    The last entry alone may belong to a point with a much wider kernel than the others.
    """
    n_last = max(1, table.shape[1] // 16)
    return np.median(table[:, -n_last:], axis=1)


@dataclass(frozen=True, eq=False)
class SampledRows:
    """A sample of rows with their scaled squared distances t to the nearest others.

    The sample is stratified by the bandwidth, so that it does not depend on the order of the
    points.
    """

    index: NDArray[np.intp]  # (m,): the sampled points, in the order inside
    # (m, k - 1): t = |x-y|²/(ρρ) to their nearest neighbours, the points themselves left out. It
    # lives where the points do; what is summed up from it are NumPy arrays.
    scaled: FloatArray
    n_points: int  # number M of all points
    tail: SampledRows | None = None  # the rows with the widest kernels, sampled apart

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours k per row, the point itself included."""
        return int(self.scaled.shape[1]) + 1

    def degrees(self, epsilon: float, shape: Shape) -> FloatArray:
        """Return the degrees S_i(ε) = Σ_j h(t_ij/ε)/h(0) of the sampled rows, (m,)."""
        peak = float(shape(np.zeros(1))[0])

        def work(part: slice) -> FloatArray:
            sums: FloatArray = to_host(values_of(shape, self.scaled[part] / epsilon).sum(axis=1))
            return sums / peak

        return np.concatenate(list(in_order(work, slices_of(self.scaled, size=256))))

    def reach(self, epsilon: float, cutoff: float) -> NDArray[np.intp]:
        """Return how many neighbours of each row lie within the cut kernel, (m,).

        Lists are sorted by distance, so an outlier with a wide kernel may come late although it
        lies within. The list need not reach to it: it has the pair in its own list.
        """
        return cast(NDArray[np.intp], to_host((self.scaled < cutoff * epsilon).sum(axis=1)))


def sample_rows(graph: NeighborGraph, bandwidth: Bandwidth) -> SampledRows:
    """Take up to 4,000 rows of the graph, evenly spaced when sorted by bandwidth, and the tail."""
    ranked = np.argsort(bandwidth.squared, kind="stable")
    count = min(SAMPLE_ROWS, graph.n_points)
    even = ranked[np.linspace(0, graph.n_points - 1, count).round().astype(np.intp)]

    def take(index: NDArray[np.intp]) -> SampledRows:
        if graph.point_set.rows is None:
            neighbors, sqdist = graph.kept.indices[index], graph.distances(index)
        else:
            neighbors, sqdist = search_rows(graph.point_set, index, graph.n_neighbors)
            if not graph.point_set.keeps_distances:
                sqdist = graph.point_set.measured(index, neighbors)
        return scale_rows(index, neighbors, sqdist, bandwidth)

    return replace(take(even), tail=take(ranked[-TAIL_ROWS:]))


def longer_rows(
    graph: NeighborGraph, bandwidth: Bandwidth, rows: SampledRows, k: int
) -> SampledRows:
    """Return the sampled rows and their tail, searched again with k neighbours."""
    if graph.point_set.coordinates is None:
        return sample_rows(graph.with_neighbors(k), bandwidth)
    n = len(rows.index)
    tail = rows.index[:0] if rows.tail is None else rows.tail.index
    index = np.concatenate([rows.index, tail])
    indices, sqdist = search_rows(graph.point_set.indexed(k), index, k)
    longer = scale_rows(index[:n], indices[:n], sqdist[:n], bandwidth)
    if rows.tail is None:
        return longer
    return replace(longer, tail=scale_rows(tail, indices[n:], sqdist[n:], bandwidth))


def search_rows(points: PointSet, index: NDArray[np.intp], k: int) -> tuple[IntArray, FloatArray]:
    """Search for the k nearest of some points: indices and squared distances, (m, k)."""
    # Points that follow each other inside are near each other, and searched faster one by one.
    ranked = np.argsort(index)

    def search(part: slice) -> tuple[IntArray, FloatArray]:
        return points.nearest(index[ranked[part]], k)

    shared = bool(points.index and points.index.parallel)
    size = 512 if shared else len(index)
    found = in_order(search, slices(len(index), size=size), parallel=shared)
    places = np.argsort(ranked)
    indices, sqdist = (np.concatenate(part)[places] for part in zip(*found, strict=True))
    return indices, sqdist


def scale_rows(
    index: NDArray[np.intp],
    neighbors: NDArray[np.integer],
    sqdist: FloatArray,
    bandwidth: Bandwidth,
) -> SampledRows:
    """Divide squared distances by ρρ; the first column, the point itself or a copy, is left out.

    On lattices and counts many points are at equal distances, and order or rounding decides which
    comes first. So that this does not matter, equal distances are sorted by t; and those equal to
    the last one, of which some may not be in the list, get the width of the row's own point.
    """
    sqdist = sqdist[:, 1:]
    last = sqdist >= (1 - ROUNDING) * sqdist[:, -1:]
    column = np.where(last, bandwidth.column[index][:, None], bandwidth.column[neighbors[:, 1:]])
    t = sqdist / (bandwidth.row[index][:, None] * column)
    further = sqdist[:, 1:] > (1 + ROUNDING) * sqdist[:, :-1]
    if not further.all():
        group = np.pad(np.cumsum(further, axis=1), ((0, 0), (1, 0)))
        by_size = np.argsort(t, axis=1, kind="stable")
        by_group = np.argsort(np.take_along_axis(group, by_size, axis=1), axis=1, kind="stable")
        t = np.take_along_axis(t, np.take_along_axis(by_size, by_group, axis=1), axis=1)
    return SampledRows(index, t, len(bandwidth.row))


def grow_rows(
    pairs: ScaledPairs, choose: Callable[[SampledRows], float]
) -> tuple[float, SampledRows]:
    """Return ε and the sampled rows, which are lengthened until the kernel fits into them."""
    graph = pairs.graph
    rows = sample_rows(graph, pairs.bandwidth)
    most = min(graph.n_points, max(MOST_NEIGHBORS, graph.n_neighbors))
    if graph.point_set.coordinates is None:
        most = min(most, graph.longest)
    while True:
        epsilon = choose(rows)
        cut = float((rim(rows.scaled) < pairs.reach * epsilon).mean())
        if cut <= CUT_ROWS or rows.n_neighbors >= most:
            return epsilon, rows
        k = min(2 * rows.n_neighbors, most)
        if k <= graph.longest:
            rows = sample_rows(graph.with_neighbors(k), pairs.bandwidth)
        else:
            rows = longer_rows(graph, pairs.bandwidth, rows, k)


def neighbors_needed(rows: SampledRows, epsilon: float, cutoff: float) -> int:
    """Return the k that holds the kernel at 99 % of the rows, with the point itself and a rim."""
    return int(np.quantile(rows.reach(epsilon, cutoff), 1 - CUT_ROWS) * SLACK) + 2


@runtime_checkable
class TruncationRule(Protocol):
    """A rule for the share of its peak at which the kernel is cut."""

    def share(self, n_points: int, dimension: Dimension) -> float | None:
        """Return the share, or None if the kernel ends only where the neighbour list does."""


@dataclass(frozen=True)
class CutAt:
    """A fixed share of the peak; None: no cut."""

    at: float | None

    def __post_init__(self) -> None:
        """Refuse what is no share of a peak."""
        if self.at is not None:
            A_SHARE(self.at, "truncation")

    def share(self, n_points: int, dimension: Dimension) -> float | None:
        """Return the share."""
        return self.at


@dataclass(frozen=True)
class CutWhereClean:
    """e⁻⁵ for more than 10⁴ points without noise, else e⁻⁶·⁹ = 1e-3.

    With its moments corrected the shorter kernel gives the same eigenvalues with three quarters of
    the pairs, unless the points scatter about the manifold: on a noisy circle the error doubles.
    """

    short: float = 0.0067
    long: float = 1e-3

    def __post_init__(self) -> None:
        """Refuse what is no share of a peak."""
        A_SHARE(self.short, "short")
        A_SHARE(self.long, "long")

    def share(self, n_points: int, dimension: Dimension) -> float:
        """Return the short cut where the dimension does not change with the scale."""
        clean = abs(dimension.drift) < CLEAN
        return self.short if clean and n_points > ENOUGH_POINTS else self.long
