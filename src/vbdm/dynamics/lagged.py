"""Modes along time series: how alike each mode is after some rows, and what each row adds to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..errors import InputError
from ..prepare.series import check_lengths, read_series
from ..spectrum.spectrum import Spectrum
from ..trust.influences import influences
from ..trust.series import by_rows


class Correlation(NamedTuple):
    """How alike a mode is after some rows.

    `value` is C = Σ φ_t φ_{t+k} / Σ (φ_t² + φ_{t+k}²)/2 over pairs of rows inside series, and
    `influence`, (N,), what each row adds to the error of log C.
    """

    value: float
    influence: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Watched:
    """The modes of a spectrum along one or several time series.

    Attributes
    ----------
    mode : function
        Takes the number of a mode and returns its values in the order of the rows, (N,), with mean
        0; NaN at rows where it has none.
    lengths : tuple of int
        Numbers of rows of the series.
    own_influence : function or None
        Takes the number of a mode and returns what each row adds to the error of log |λ|, (N,).
        None if the eigenvalues come from other rows: their errors are then independent.
    covariance : (n, n) array
        Covariance of the logarithms of the eigenvalues, if they come from other rows; else 0.
    """

    mode: Callable[[int], FloatArray]
    lengths: tuple[int, ...]
    own_influence: Callable[[int], FloatArray] | None
    covariance: FloatArray

    @property
    def n_rows(self) -> int:
        """Number of rows N."""
        return sum(self.lengths)

    @property
    def series_of(self) -> NDArray[np.intp]:
        """Number of the series of each row, (N,)."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def correlations(self, j: int, lags: Sequence[int]) -> list[Correlation]:
        """Return how alike mode j is after these numbers of rows."""
        values, series = self.mode(j), self.series_of
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


def own_rows(spectrum: Spectrum) -> Watched:
    """Return the modes along the rows that the operator was made from."""
    operator = spectrum.operator
    if spectrum.settings.series.known is False:
        raise InputError(
            "A clock needs rows that follow each other in time; received points with "
            "`series=False`. Points that are independent of each other do not know how fast they "
            "move. Pass a time series, or estimate the operator from one, without `series=False`."
        )
    if operator.settings.weighting.is_used:
        raise InputError(
            "Points with weights are no steps of the process; received an operator with "
            "`weights`, and no series. The weights make the sample of one process stand for "
            "another, which runs at a pace of its own. Pass a series of the process that the "
            "weights lead to, if there is one: `spectrum.clock(series, step=...)`."
        )
    added = by_rows(influences(spectrum), operator.graph.order)
    size = np.abs(spectrum.eigenvalues)
    return Watched(
        mode=lambda j: centred(spectrum.function(j)),
        lengths=spectrum.settings.series.lengths or (operator.n_points,),
        own_influence=lambda j: np.asarray(added[:, j]) / size[j],
        covariance=np.zeros((len(size), len(size))),
    )


def new_rows(spectrum: Spectrum, series: Any, lengths: Any) -> Watched:
    """Return the modes along another series, or several, by extension."""
    points, found = read_series(series, lengths)
    values = spectrum.extend(points).values
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = spectrum.errors.covariance / np.outer(spectrum.eigenvalues, spectrum.eigenvalues)
    return Watched(
        mode=lambda j: centred(values[:, j]),
        lengths=found.lengths or (len(values),),
        own_influence=None,
        covariance=relative,
    )


def watched(spectrum: Spectrum, series: Any, lengths: Any) -> Watched:
    """Return the modes along the operator's own rows, or along a series that was passed."""
    if series is not None:
        return new_rows(spectrum, series, lengths)
    found = own_rows(spectrum)
    if lengths is None:
        return found
    return Watched(
        mode=found.mode,
        lengths=check_lengths(lengths, found.n_rows),
        own_influence=found.own_influence,
        covariance=found.covariance,
    )


def centred(values: FloatArray) -> FloatArray:
    """Return values minus their mean over the rows that have some."""
    return np.asarray(values - (np.nanmean(values) if np.isfinite(values).any() else 0.0))
