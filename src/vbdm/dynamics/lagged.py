"""Modes along time series: how alike each mode is after some rows, and what each row adds to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.checks import a_count, as_floats, shown
from ..errors import InputError
from ..prepare.series import check_lengths, read_series
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import function_of
from ..trust.influences import influences
from ..trust.series import by_rows

#: The longest lag, as a share of the longest series.
LONGEST = 0.25


class Correlation(NamedTuple):
    """How alike a mode is after some rows.

    `value` is C = Σ φ_t φ_{t+k} / Σ (φ_t² + φ_{t+k}²)/2 over pairs of rows inside series, and
    `influence`, (N,), what each row adds to the error of log C.
    """

    value: float
    influence: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesModes:
    """The modes of a spectrum along one or several time series."""

    #: Takes the number of a mode and returns its values in the order of the rows, (N,), with mean
    #: 0; NaN at rows where it has none.
    mode: Callable[[int], FloatArray]
    #: Numbers of rows of the series.
    lengths: tuple[int, ...]
    #: Takes the number of a mode and returns what each row adds to the error of log |λ|, (N,).
    #: None if the eigenvalues come from other rows: their errors are then independent.
    own_influence: Callable[[int], FloatArray] | None = None
    #: Covariance of the eigenvalues' logarithms, (n, n), if they come from other rows; else 0.
    covariance: FloatArray

    def correlations(self, j: int, lags: Sequence[int]) -> list[Correlation]:
        """Return how alike mode j is after these numbers of rows."""
        values = self.mode(j)
        series = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return [correlation(values, series, lag) for lag in lags]


def correlation(values: FloatArray, series: NDArray[np.intp], lag: int) -> Correlation:
    """Return how alike a function, (N,), is after `lag` rows; no pair crosses a joint of series.

    Examples
    --------
    >>> values = np.array([1.0, -1.0, 1.0, -1.0, 1.0, 1.0])
    >>> correlation(values, np.array([0, 0, 0, 0, 1, 1]), 1).value
    -0.5
    """
    first, second = values[:-lag], values[lag:]
    pairs = (series[:-lag] == series[lag:]) & np.isfinite(first) & np.isfinite(second)
    product = np.where(pairs, first * second, 0.0)
    square = np.where(pairs, (first**2 + second**2) / 2, 0.0)
    alike, size = product.sum(), square.sum()
    influence = np.zeros(len(values))
    if not size > 0 or alike == 0:
        return Correlation(0.0, influence)
    influence[:-lag] = product / alike - square / size
    return Correlation(float(alike / size), influence)


def modes_along(spectrum: Spectrum, series: Any, lengths: Any) -> SeriesModes:
    """Return the modes along the operator's own rows, or along a series that was passed."""
    operator, size = spectrum.operator, np.abs(spectrum.eigenvalues)
    if series is not None:
        points, found = read_series(series, lengths)
        values = spectrum.extend(points).values
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = spectrum.errors.covariance / np.outer(size, size)
        return SeriesModes(
            mode=lambda j: without_mean(values[:, j]),
            lengths=found.lengths or (len(values),), covariance=relative,
        )  # fmt: skip
    if spectrum.settings.series.known is False:
        raise InputError(
            "A clock needs rows that follow each other in time; received points with "
            "`series=False`. Pass a time series, or estimate the operator from one."
        )
    if operator.settings.weighting.is_used:
        raise InputError(
            "Points with weights are no steps of the process; received an operator with "
            "`weights`, and no series. Pass a series of the process that the weights lead to, if "
            "there is one: `spectrum.clock(series, step=...)`."
        )
    own = spectrum.settings.series.lengths or (operator.n_points,)
    added = by_rows(influences(spectrum), operator.graph.order)
    return SeriesModes(
        mode=lambda j: without_mean(function_of(spectrum, j)),
        lengths=own if lengths is None else check_lengths(lengths, sum(own)),
        own_influence=lambda j: np.asarray(added[:, j]) / size[j],
        covariance=np.zeros((len(size), len(size))),
    )


def without_mean(values: FloatArray) -> FloatArray:
    """Return values minus their mean over the rows that have some."""
    return np.asarray(values - (np.nanmean(values) if np.isfinite(values).any() else 0.0))


def check_lags(lags: Any, longest: int) -> NDArray[np.intp]:
    """Return lags in rows, from short to long; those that are tried if none are given."""
    most = max(int(LONGEST * longest), 1)
    if longest < 3:
        raise InputError(
            f"The series is too short for a clock; received {longest} row(s) in the longest "
            "series. Pass a longer series; check `lengths`."
        )
    if lags is None:
        return all_lags(most)
    array = as_floats(lags)
    if array is not None and array.ndim <= 1 and array.size:
        array = np.unique(array)
        if np.isfinite(array).all() and (array == np.floor(array)).all() and array[0] >= 1:
            longest_lag = a_count(1, longest - 1)
            return np.array([longest_lag(int(lag), "lags") for lag in array], dtype=np.intp)
    raise InputError(
        f"`lags` must be whole numbers of rows, 1 or more; received {shown(lags)}. Pass, for "
        "example, lags=[1, 2, 5, 10]."
    )


def all_lags(longest: int) -> NDArray[np.intp]:
    """Return 1, 2, 3, 4, 6, 8, 12, … up to a longest lag.

    Examples
    --------
    >>> all_lags(10).tolist()
    [1, 2, 3, 4, 6, 8]
    """
    powers = 2 ** np.arange(int(np.log2(longest)) + 1)
    found = np.unique(np.concatenate([powers, 3 * powers[:-1]]))
    return np.asarray(found[found <= longest], dtype=np.intp)
