r"""Error bars of time series: rows that follow each other in time tell less than independent ones.

The error of an eigenvalue is a sum of the rows' influences :math:`I_t` (`trust.influences`). If
rows are independent, its variance is :math:`Γ_0 = Σ_t I_t^2`, less the noise of single pairs, which
stands in it twice; in a series pairs are alike, too, and nothing is taken off. Steps of a process
are alike, and

.. math:: V = Σ_{|k| < K} Γ_k, \qquad Γ_k = Σ_t I_t I_{t+k},

where t and t + k belong to the same series. Γ_k is noise at large k, but in theory
:math:`Γ_{2m} + Γ_{2m+1}` is positive and falls with m if the process is reversible: K is where it
is positive no more, and until then it is not allowed to rise (the initial monotone sequence of
Geyer 1992, "Practical Markov chain Monte Carlo"). N rows count as :math:`N Γ_0 / V` independent
points. Whether rows are independent, and points random rather than those of a grid, which
finite-sample corrections suppose, is read off the points themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    beside_array,
    frozen,
    is_elsewhere,
    to_host,
)
from ..base.threads import in_order, one_blas_thread, slices
from ..graph.lists import ReleasedLists
from ..graph.neighbor_graph import NeighborGraph
from ..graph.order import InCallerOrder, Order
from ..operator.operator import Operator
from ..rows.block_array import Tall, beside, mapped, total
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import function_of, vectors_of
from .findings import FIRST, nonzero_modes
from .influences import less_noise, own_products, pair_noise

#: Autocorrelation times above this plus NOISE/√N are not chance: of 1,000 independent samples of
#: 30 to 2,000 points none came near.
LONG, NOISE = 2.0, 40.0
#: Rows of a long series that are summed up at a time, and the most series for which a device does.
ROWS_AT_ONCE, MANY_SERIES = 1 << 20, 64
#: Length of the blocks of rows that show how eigenvalues move together, in autocorrelation times.
BLOCK = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class Sampling:
    """How the eigenvalues scatter with the sample."""

    #: Sampling covariance of the eigenvalues, (n, n).
    covariance: FloatArray
    #: Number of independent points that would know each eigenvalue as well as the N rows do, (n,).
    effective_points: FloatArray


def sampling(spectrum: Spectrum, influence: Tall) -> Sampling:
    """Return how the eigenvalues scatter, from the influences, (M, n) in the order inside."""
    n_rows, times = spectrum.operator.n_points, np.ones(influence.shape[1])
    if in_series(spectrum):
        rows = by_rows(influence, spectrum.operator.graph.order)
        # Of eigenvalues that are known exactly, influences are rounding errors.
        varying = spectrum.eigenvalues != 0
        lengths = spectrum.settings.series.lengths or (n_rows,)
        covariance, times = series_covariance(rows, lengths, varying)
        times[~varying] = 1.0
    else:
        with one_blas_thread():
            covariance = less_noise(total(own_products, influence), pair_noise(spectrum))
    return Sampling(covariance=frozen(covariance), effective_points=frozen(n_rows / times))


def in_series(spectrum: Spectrum) -> bool:
    """Tell whether the rows are steps in time: if the user says so, or else if they look like it.

    They do if the first modes are alike over more rows than chance allows. Rows that are alike
    because they are copies are one point, and count as one anyway: copies are not looked at.
    """
    known, copies = spectrum.settings.series.known, spectrum.operator.graph.order.copies
    if known is not None:
        return known
    alike = row_memory(spectrum) > by_chance(spectrum.operator.n_points)
    if copies is None or not alike:
        return alike
    first = np.sort(copies.first)
    times = (autocorrelation_time(values[first]) for values in first_modes(spectrum))
    return max(times) > by_chance(len(first))


def row_memory(spectrum: Spectrum) -> float:
    """Return over how many rows the first modes are alike: the longest autocorrelation time."""
    lengths = spectrum.settings.series.lengths
    functions = first_modes(spectrum)
    return max((autocorrelation_time(values, lengths) for values in functions), default=1.0)


def first_modes(spectrum: Spectrum) -> Iterator[FloatArray]:
    """Yield the first eigenfunctions that vary, (N,) each, in the order of the rows."""
    for j in nonzero_modes(spectrum.eigenvalues)[:FIRST]:
        yield np.real(mode_at_rows(spectrum, j))


def mode_at_rows(spectrum: Spectrum, j: int) -> FloatArray:
    """Return eigenfunction j in the order of the rows, (N,): on a device, if it lives there."""
    if is_elsewhere(vectors_of(spectrum)):
        return spectrum.operator.graph.order.to_caller(vectors_of(spectrum)[:, j])
    return function_of(spectrum, j)


def by_chance(n_rows: int) -> float:
    """Return the autocorrelation time that independent rows do not exceed."""
    return float(LONG + NOISE / np.sqrt(n_rows))


def by_rows(influence: Tall, order: Order) -> Any:
    """Return the influences of the caller's rows, (N, n); copies share that of their point."""
    shared = influence
    if order.counts is not None:
        shared = mapped(np.divide, influence, beside(influence, order.counts[:, None]))
    return InCallerOrder.of(shared, order)


def series_covariance(
    rows: Any, lengths: Sequence[int], varying: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the covariance of sums over rows of series, (n, n), and autocorrelation times, (n,).

    `rows`, (N, n), are what each row adds; columns sum to 0, and some rows, or one column, are read
    at a time. Only columns that are `varying` by more than rounding set the length of blocks. The
    covariance is positive semi-definite: its diagonal has the variances by lags; correlations are
    those of sums over overlapping blocks of rows, a few autocorrelation times long. The times V/Γ_0
    >= 1 tell how many rows count as one.

    >>> steps = np.repeat(np.random.default_rng(0).standard_normal((500, 1)), 8, axis=0)
    >>> covariance, times = series_covariance(steps - steps.mean(), [4000])
    >>> times.round().tolist()
    [8.0]
    """

    def work(j: int) -> tuple[float, float]:
        values = rows[:, j]
        return variance_by_lags(values, lengths), float(np.einsum("i,i->", values, values))

    # A column of a large array is many times its size while it is transformed: one at a time.
    found = in_order(work, range(rows.shape[1]), parallel=isinstance(rows, np.ndarray))
    variance, alone = np.array(list(found)).T
    times = np.divide(variance, alone, out=np.ones_like(alone), where=alone > 0)
    longest = times.max() if varying is None else times[varying].max(initial=1.0)
    length = min(int(np.ceil(BLOCK * longest)), max(lengths))
    together = block_sums(rows, lengths, length)
    scale = np.sqrt(np.diag(together))
    deviation = np.sqrt(variance)
    factor = np.divide(deviation, scale, out=np.zeros_like(scale), where=scale > 0)
    return factor[:, None] * together * factor, times


def variance_by_lags(values: FloatArray, lengths: Sequence[int]) -> float:
    r"""Return the variance V of the sum of one column, at least Γ_0.

    Notes
    -----
    Implements :math:`V = 2 Σ_m P_m - Γ_0` with :math:`P_m = Γ_{2m} + Γ_{2m+1}` up to the first one
    that is not positive, each at most as large as those before it.
    """
    sums = lagged_sums(values, lengths)
    pairs = sums[0::2].copy()
    pairs[: len(sums) // 2] += sums[1::2]
    cut = int(np.argmax(pairs <= 0)) or len(pairs)
    falling, alone = np.minimum.accumulate(to_host(pairs[:cut])), float(sums[0])
    return float(max(2 * falling.sum() - alone, alone))


def block_sums(rows: Any, lengths: Sequence[int], length: int) -> FloatArray:
    """Return the mean square, (n, n), of sums over blocks of rows, inside each series.

    Blocks overlap, and reach beyond both ends of a series: so all rows count alike, and this is
    the sum of Γ_k with weights 1 - |k|/length, which is positive semi-definite.
    """
    # A device is slow at many short sums; this memory is not.
    rows = to_host(rows) if len(lengths) > MANY_SERIES else rows
    n, most = rows.shape[1], max(ROWS_AT_ONCE, length)
    result = np.zeros((n, n))
    with one_blas_thread():
        for stop, size in zip(np.cumsum(lengths), lengths, strict=True):
            start = stop - size
            # Sums that end among some of the rows need those up to a block's length before.
            for ends in slices(size + length, size=most):
                before = max(ends.start - length, 0)
                part = rows[start + before : start + min(ends.stop, size)]
                running = np.zeros((ends.stop - ends.start + length, n), like=part)
                at = length - (ends.start - before)
                np.cumsum(part, axis=0, out=running[at : at + len(part)])
                running[at + len(part) :] = running[at + len(part) - 1]
                blocks = running[length:] - running[:-length]
                result += to_host(blocks.T @ blocks) / length
    return result


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
