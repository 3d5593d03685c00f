"""How the points were sampled: independent or not, at random or on a grid.

Finite-sample corrections are those of independent random points. Steps of a time series are not
independent, and the points of a grid are not random; both can be seen in the points themselves.
(Error bars of time series are in `trust.series`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray, IntArray, beside_array, is_elsewhere, to_host
from ..graph.lists import ReleasedLists
from ..graph.neighbor_graph import NeighborGraph
from ..operator.operator import Operator

#: Number of points whose neighbours are looked at, and number of neighbours.
SAMPLE, NEAREST = 2000, 8
#: d times the mean of log(r_8/r_j) over j = 2 … 7, as expected for random points: the sums of
#: Levina and Bickel without j = 1.
EXPECTED = (7 - sum(1 / j for j in range(1, 8))) / 6


def autocorrelation_time(values: ArrayLike, lengths: Sequence[int] = ()) -> float:
    """Return over how many rows a function is correlated with itself: 1 for independent rows.

    The mean over N rows is then as uncertain as that over N/τ independent ones. NaN counts as the
    mean; `lengths` are numbers of rows of several series that follow each other.

    Notes
    -----
    Implements :math:`τ = 1 + 2 Σ_{k<K} r_k`, r_k the correlation at a distance of k rows and K the
    first distance at which it is not positive. Cost O(N log N), by Fourier transform.

    >>> noise = np.random.default_rng(0).standard_normal(5000)
    >>> bool(autocorrelation_time(noise) < 1.2), round(autocorrelation_time(np.repeat(noise, 20)))
    (True, 20)
    """
    numbers: Any = values if is_elsewhere(values) else np.asarray(values, dtype=np.float64)
    centred = np.nan_to_num(numbers - np.nanmean(numbers))
    sums = lagged_sums(centred, lengths)
    if not sums[0] > 0:
        return 1.0
    correlations = sums / sums[0]
    cut = int(np.argmax(correlations <= 0)) or len(sums)
    return float(1 + 2 * correlations[1:cut].sum())


def lagged_sums(values: FloatArray, lengths: Sequence[int] = ()) -> FloatArray:
    """Return the sums of v_t v_{t+k} over the rows t of each series, for all distances k.

    By Fourier transform, O(N log N): series of similar length are transformed together, each with
    as many zeros behind it as it has rows. No product reaches from one series into another.

    >>> lagged_sums(np.array([1.0, 2.0, 3.0]), [2, 1]).round(9).tolist()
    [14.0, 2.0]
    """
    sizes = np.asarray(lengths or [len(values)])
    starts = np.cumsum(sizes) - sizes
    room = 2 ** np.ceil(np.log2(2 * sizes)).astype(int)
    sums = np.zeros(int(sizes.max()), like=values)
    # NumPy's transforms are those of the arrays' own library; SciPy's are faster than NumPy's.
    fft: Any = np.fft if is_elsewhere(values) else scipy.fft
    for size in np.unique(room).tolist():
        members = np.flatnonzero(room == size)
        padded = in_rows(values, starts[members], sizes[members], size)
        power = np.square(np.abs(fft.rfft(padded, axis=1))).sum(axis=0)
        longest = sizes[members].max()
        sums[:longest] += fft.irfft(power, size)[:longest]
    return sums


def in_rows(
    values: FloatArray, starts: NDArray[np.intp], sizes: NDArray[np.intp], length: int
) -> FloatArray:
    """Return parts of values as the rows of a table, (m, length), with zeros behind them."""
    if is_elsewhere(values) and len(starts) > 1:
        # All rows at once: a device would wait for one after the other.
        place = np.arange(length, like=values)
        first, number = beside_array((starts, sizes), values)
        there = np.minimum(first[:, None] + place, len(values) - 1)
        return np.where(place < number[:, None], values[there], 0.0)
    padded = np.zeros((len(starts), length), like=values)
    for row, start, size in zip(padded, starts, sizes, strict=True):
        row[:size] = values[start : start + size]
    return padded


def regularity(graph: NeighborGraph) -> float | None:
    """Return how evenly neighbours are spaced: 1/2 for random points, 1 on a grid.

    The mean of :math:`(r_1/r_2)^d` over at most 2,000 points, with the distances r_1 and r_2 of the
    two nearest neighbours. It is uniform between 0 and 1 for random points of any smooth density.
    None where there are too few neighbours to tell. d is read from the same few neighbours: noise
    around a manifold has the dimension of the noise at this scale, whatever the operator uses.
    """
    sqdist = nearest_distances(graph)
    if sqdist is None or sqdist.shape[1] < NEAREST:
        return None
    known = sqdist[sqdist[:, 0] > 0]
    if len(known) < 20:
        return None
    logs = 0.5 * np.log(known)
    inverse = (logs[:, -1:] - logs[:, 1:-1]).mean() / EXPECTED
    if not inverse > 0:
        return 1.0
    return float(np.exp((logs[:, 0] - logs[:, 1]) / inverse).mean())


def time_neighbors(operator: Operator, memory: float) -> float:
    """Return the share of neighbours in space that are neighbours in time, at the median point.

    Rows are neighbours in time within `memory` rows. At most 2,000 points are looked at.
    """
    points, neighbors = nearest_neighbors(operator.graph)
    if not neighbors.size:
        return 0.0
    row = operator.graph.order.caller_rows
    ends = np.cumsum(operator.settings.series.lengths or (operator.n_points,))
    mine, others = to_host(row[points])[:, None], to_host(row[neighbors])
    series, other_series = (np.searchsorted(ends, rows, side="right") for rows in (mine, others))
    close = (np.abs(mine - others) <= memory) & (series == other_series)
    return float(np.median(close.mean(axis=1)))


def nearest_distances(graph: NeighborGraph) -> FloatArray | None:
    """Return squared distances from some points to their nearest neighbours, without themselves."""
    rows, points = some_points(graph), graph.point_set
    if is_elsewhere(points.coordinates):
        found: FloatArray = to_host(points.nearest(rows, min(NEAREST + 1, graph.n_points))[1])
        return found[:, 1:]
    if isinstance(graph.lists, ReleasedLists):
        return points.measured(rows, nearest_neighbors(graph)[1])
    return graph.distances(rows, slice(1, NEAREST + 1))


def nearest_neighbors(graph: NeighborGraph) -> tuple[NDArray[np.intp], IntArray]:
    """Return some points, (m,), and their nearest neighbours, (m, 8), all in the order inside."""
    rows, k = some_points(graph), NEAREST + 1
    if isinstance(graph.lists, ReleasedLists):
        # The lists are gone, and to search around all points again would take long.
        neighbors, _ = graph.point_set.nearest(rows, min(k, graph.n_points))
        return rows, to_host(neighbors)[:, 1:]
    return rows, to_host(graph.kept.indices[rows, 1:k])


def some_points(graph: NeighborGraph) -> NDArray[np.intp]:
    """Return the points that are looked at, spread evenly over the order inside."""
    n = graph.n_points
    return np.linspace(0, n - 1, min(n, SAMPLE)).round().astype(np.intp)
