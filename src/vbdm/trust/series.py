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
points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import BoolArray, FloatArray, frozen, is_elsewhere, to_host
from ..base.threads import in_order, one_blas_thread, slices
from ..graph.order import InCallerOrder, Order
from ..rows.block_array import Tall, beside, mapped, total
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import function_of, vectors_of
from .findings import FIRST, nonzero_modes
from .influences import less_noise, own_products, pair_noise
from .randomness import autocorrelation_time, lagged_sums

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
