r"""The diffusivity, from how fast modes forget along a time series.

Eigenvalues of points are in 1/length²; a process with diffusivity D forgets mode j as

.. math:: C_j(τ) = e^{-D |λ_j| τ}, \qquad D_j = -\log C_j(τ) / (τ |λ_j|).

If eigenvalues and correlations come from the same rows, most of their errors are the same and drop
out of the ratio: D is known several times better than any of the rates. So errors are those of sums
over rows of what each row adds to log C and to log \|λ\| (`trust.influences`), whose variance is
that of time series (`trust.series`). Modes are combined at the shortest lag from which on the D_j
stay the same, by weights from the covariance of what the rows add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import helmert

from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.checks import a_kind, an, number_between
from ..base.estimate import Estimate
from ..errors import ClockWarning, warn_user
from ..operator.operator import refuse_unsymmetric
from ..spectrum.spectrum import Spectrum
from ..trust.findings import nonzero_modes
from ..trust.series import series_covariance, variance_by_lags
from .clock import Clock, ModeClock, Timescales, nothing_seen, reason
from .lagged import SeriesModes, all_lags, check_lags, modes_along

if TYPE_CHECKING:
    from .dynamics import Dynamics

# Squares of times that are far larger or smaller are no numbers any more.
a_step = a_kind(
    number_between(1e-100, 1e100, strictly=True), "a time greater than 0",
    'Pass, for example, step=0.2, unit="ns".',
)  # fmt: skip
#: A mode is looked at while C is between these. Near 1, noise of the measurement and rounding
#: decide; near 0, chance does.
LOW, HIGH = 0.05, 0.98
#: C counts while it is more than this number of standard errors away from 0. Of modes that are
#: forgotten, only those are seen whose C is large by chance, and these tell too small a D.
SURE = 5.0
#: Above this, C is no chance, and its error need not be asked for.
CLEAR = 0.5
#: The most modes that are asked.
MODES = 10
#: Eigenvalues are believed if what is systematic in their errors is below this share, or below
#: BELIEVED times that of the best one.
CLEAN, BELIEVED = 0.045, 3.0
#: Relative errors that nothing here accounts for: of a mode, and between two modes or lags.
UNKNOWN, BETWEEN = 0.01, 0.02
#: χ² per degree of freedom above which diffusivities disagree.
DISAGREE = 3.0


@dataclass(frozen=True, eq=False)
class ModeAtLag:
    """What a mode says at a lag: D, and what each row adds to its error, (N,)."""

    mode: int
    lag: int
    correlation: float
    value: float
    influence: FloatArray


def clock(
    self: Dynamics,
    series: Any = None,
    *,
    step: float,
    unit: str = "",
    lags: ArrayLike | None = None,
    lengths: Sequence[int] | None = None,
) -> Clock:
    r"""Return how fast the process runs: its diffusivity, and times of modes in your unit.

    Points alone give eigenvalues in 1/length². Rows that follow each other in time tell how soon
    modes are forgotten, and so the diffusivity D between the two: rates are D·\|λ\|.

    Parameters
    ----------
    series : array or list of arrays, optional
        One time series, or several, with the columns of the points. By default the points
        themselves, in their order, are the series.
    step : float
        Time from one row to the next, in your unit.
    unit : str
        Name of that unit, such as "ns".
    lags : sequence of int, optional
        Numbers of rows after which modes are compared with themselves. By default 1, 2, 3, 4, 6,
        8, … up to a quarter of the longest series.
    lengths : sequence of int, optional
        Numbers of rows of several series that follow each other in one array. No row is compared
        with one of another series. By default as the operator was told.

    Returns
    -------
    Clock
        `.diffusivity` with its error, `.timescales` and ``.rates`` with theirs, and `.consistent`:
        False, with the `.reason` in words, where modes disagree about D or it depends on the lag.
        The process is then no overdamped diffusion that is the same in all directions, and
        `.by_mode` has times for single modes.

    Warns
    -----
    ClockWarning
        If the modes disagree.

    Notes
    -----
    Implements :math:`D_j = -\log C_j(τ)/(τ |λ_j|)`, with the correlation C_j of mode j after the
    time τ, averaged over modes with .05 < C_j < .98 by their covariance, at the first lag from
    which on D does not change (`vbdm.dynamics.diffusivity`). A mode whose C_j was within five
    standard errors of 0 at a shorter lag is forgotten, also if only longer `lags` are passed.

    Examples
    --------
    A process with diffusivity 0.5 in a parabolic well, whose slowest mode lasts 2 ns:

    >>> rng, rows = np.random.default_rng(0), np.zeros((4000, 1))
    >>> for t in range(1, 4000):
    ...     rows[t] = np.exp(-0.1) * rows[t - 1] + np.sqrt(1 - np.exp(-0.2)) * rng.normal()
    >>> spectrum = vbdm.estimate_operator(rows, "generator", series=True).spectrum(5)
    >>> clock = spectrum.clock(step=0.2, unit="ns")
    >>> clock.consistent, round(clock.diffusivity.value, 1)
    (True, 0.5)
    >>> bool(abs(clock.timescales[1] - 2) < 3 * clock.timescale_errors[1])
    True
    """
    spectrum = self.spectrum
    refuse_unsymmetric(spectrum.operator, "Statements about time")
    step, unit = a_step(step, "step"), an(str, 'Pass, for example, unit="ns".')(unit, "unit")
    modes = modes_along(spectrum, series, lengths)
    numbers = check_lags(lags, max(modes.lengths))
    asked, systematic = sound_modes(spectrum)
    table = Table.of(spectrum, modes, asked, numbers, step)
    at, steady = table.plateau()
    return table.clock(at, steady, systematic, unit)


@dataclass(frozen=True, eq=False)
class Table:
    """Correlations of the modes that are asked at all lags, (m, k), and where they are alive."""

    spectrum: Spectrum
    modes: SeriesModes
    asked: NDArray[np.intp]
    lags: NDArray[np.intp]
    step: float
    correlations: FloatArray
    alive: BoolArray

    @classmethod
    def of(cls, spectrum: Spectrum, modes: Any, asked: Any, lags: Any, step: float) -> Table:
        """Return the table, lags by modes.

        A mode that is forgotten stays forgotten: so shorter lags than those asked for are looked
        at, too.
        """
        ladder = np.union1d(lags, all_lags(int(lags[-1])))
        found = [correlations_of(modes, int(j), ladder) for j in asked]
        shape = len(asked), len(ladder), 2
        values, alive = np.array(found, dtype=np.float64).reshape(shape).transpose(2, 1, 0)
        own = np.searchsorted(ladder, lags)
        return cls(spectrum, modes, asked, lags, step, values[own], alive[own] > 0)

    @property
    def usable(self) -> BoolArray:
        """Where C tells the rate: it is neither near 1 nor perhaps 0, (m, k)."""
        return np.asarray(self.alive & (self.correlations < HIGH))

    @property
    def implied_times(self) -> FloatArray:
        """The times -τ/log C, (m, k); NaN where C is near 0, or 1 and more."""
        known = self.alive & (self.correlations < 1)
        rates = -np.log(np.where(known, self.correlations, 0.5)) / (self.lags[:, None] * self.step)
        return np.where(known, 1 / rates, np.nan)

    def mode_at(self, at: int, column: int) -> ModeAtLag:
        """Return what a mode says at a lag."""
        j, lag = int(self.asked[column]), int(self.lags[at])
        (pair,) = self.modes.correlations(j, [lag])
        scale = lag * self.step * abs(self.spectrum.eigenvalues[j])
        value = -np.log(pair.value) / scale
        influence = -pair.influence / scale
        if self.modes.own_influence is not None:
            influence = influence - value * self.modes.own_influence(j)
        return ModeAtLag(j, lag, pair.value, float(value), influence)

    def plateau(self) -> tuple[int, bool]:
        """Return the number of the first lag whose D_j are those of twice the lag; and if any is.

        If there is none, the first lag that can be used.
        """
        candidates = np.flatnonzero(self.usable.any(axis=1))
        if not candidates.size:
            fast = not self.alive[0].any()
            raise nothing_seen(self.asked, int(self.lags[0]), self.correlations[0], fast)
        for at in candidates:
            twice = np.searchsorted(self.lags, 2 * self.lags[at])
            if twice == len(self.lags):
                break
            both = np.flatnonzero(self.usable[at] & self.alive[twice])
            moved = [self.change(int(at), int(twice), int(column)) for column in both]
            # The first lag may be the only one; later ones must show that D has settled.
            if np.mean(moved) < DISAGREE if moved else at == candidates[0]:
                return int(at), True
        return int(candidates[0]), len(candidates) == 1

    def change(self, at: int, later: int, column: int) -> float:
        """Return the square of the change of D between two lags over its error."""
        one, other = self.mode_at(at, column), self.mode_at(later, column)
        error = self.variance(one.influence - other.influence) + (BETWEEN * one.value) ** 2
        return float((one.value - other.value) ** 2 / error)

    def variance(self, influence: FloatArray) -> float:
        """Return the variance of what rows add up to."""
        return variance_by_lags(influence, self.modes.lengths)

    def clock(self, at: int, steady: bool, systematic: FloatArray, unit: str) -> Clock:
        """Return the clock that is read at a lag."""
        columns = np.flatnonzero(self.usable[at])
        seen = [self.mode_at(at, int(column)) for column in columns]
        pool = Pool.of(self, seen, systematic[columns])
        # Slow modes are seen later; they do not add to D, but must agree with it.
        for column in np.flatnonzero(~self.usable[at] & self.usable.any(axis=0)):
            own = np.flatnonzero(self.usable[:, column])[0]
            if own > at:
                seen.append(self.mode_at(int(own), int(column)))
                columns = np.append(columns, column)
        by_mode = tuple(
            self.of_mode(one, systematic[i]) for one, i in zip(seen, columns, strict=True)
        )
        # With inertia or memory, all but one mode may be forgotten before D settles.
        steady &= len(seen) > 1 or int(self.usable[:at].any(axis=0).sum()) < 2
        chi = self.disagreement(seen, systematic[columns])
        agree = not chi > DISAGREE
        c1 = self.spectrum.operator.settings.exponents.c1
        words = reason(by_mode, steady=steady, agree=agree, c1=c1)
        if not (steady and agree):
            warn_user(words, ClockWarning)
        relative = self.rate_errors(pool)
        rates = pool.value * np.abs(self.spectrum.eigenvalues)
        # What does not decay has the time infinity, and no error.
        decays = rates > 0
        times = np.divide(1, rates, out=np.where(np.isnan(rates), np.nan, np.inf), where=decays)
        shown_modes = np.searchsorted(self.asked, [one.mode for one in by_mode])
        order = np.argsort(shown_modes)
        time_errors = np.multiply(relative, times, out=relative.copy(), where=decays)
        return Clock(
            diffusivity=Estimate(pool.value, pool.error),
            timescales=Timescales.of(times, in_rows(self, int(self.lags[at]))),
            timescale_errors=frozen(time_errors),
            rates=frozen(rates), rate_errors=frozen(relative * rates),
            consistent=bool(steady and agree), reason=words, disagreement=float(chi),
            by_mode=tuple(by_mode[i] for i in order), lagtime=int(self.lags[at]),
            lags=frozen(self.lags), implied_times=frozen(self.implied_times[:, shown_modes[order]]),
            step=self.step, unit=unit,
        )  # fmt: skip

    def of_mode(self, seen: ModeAtLag, systematic: float) -> ModeClock:
        """Return what a mode says, with errors."""
        own = self.modes.covariance[seen.mode, seen.mode] + systematic**2
        error = np.sqrt(self.variance(seen.influence) + own * seen.value**2)
        (pair,) = self.modes.correlations(seen.mode, [seen.lag])
        rate = -np.log(pair.value)
        time = seen.lag * self.step / rate
        time_error = time * np.sqrt(self.variance(pair.influence)) / rate
        return ModeClock(
            mode=seen.mode, lag=seen.lag, correlation=seen.correlation,
            diffusivity=Estimate(seen.value, float(error)),
            implied_time=Estimate(float(time), float(time_error)),
        )  # fmt: skip

    def disagreement(self, seen: list[ModeAtLag], systematic: FloatArray) -> float:
        """Return χ² of the differences between modes' diffusivities, over its degrees of freedom.

        Errors that modes share drop out of differences, and what is left is correlated: so it is
        the covariance of all differences that counts.
        """
        if len(seen) < 2:
            return 0.0
        contrasts = helmert(len(seen))
        values, modes = np.array([one.value for one in seen]), [one.mode for one in seen]
        rows = np.stack([one.influence for one in seen], axis=1) @ contrasts.T
        other = self.modes.covariance[np.ix_(modes, modes)] + np.diag(systematic**2 + BETWEEN**2)
        other = other * np.outer(values, values)
        covariance, _ = series_covariance(rows, self.modes.lengths)
        apart = contrasts @ values
        whole = np.linalg.solve(covariance + contrasts @ other @ contrasts.T, apart)
        return float(apart @ whole) / len(apart)

    def rate_errors(self, pool: Pool) -> FloatArray:
        """Return the relative errors of the rates D |λ| of all modes, (n,); 0 where λ = 0."""
        result = np.where(np.isnan(self.spectrum.eigenvalues), np.nan, 0.0)
        other = (pool.error**2 - self.variance(pool.influence)) / pool.value**2
        for j in nonzero_modes(self.spectrum.eigenvalues):
            influence, own = pool.influence / pool.value, self.modes.covariance[j, j]
            if self.modes.own_influence is not None:
                influence = influence + self.modes.own_influence(int(j))
            result[j] = np.sqrt(self.variance(influence) + own + max(other, 0.0))
        return result


@dataclass(frozen=True, eq=False)
class Pool:
    """The diffusivity from several modes: value, error, and what each row adds to it, (N,)."""

    value: float
    error: float
    influence: FloatArray

    @classmethod
    def of(cls, table: Table, seen: list[ModeAtLag], systematic: FloatArray) -> Pool:
        """Return the mean over modes with the weights that make its variance smallest."""
        values = np.array([one.value for one in seen])
        rows = np.stack([one.influence for one in seen], axis=1)
        modes = [one.mode for one in seen]
        # What is systematic, and eigenvalues from other rows, add errors that rows do not know.
        other = table.modes.covariance[np.ix_(modes, modes)] + np.diag(systematic**2)
        other = other * np.outer(values, values)
        small = np.diag((UNKNOWN * values) ** 2)
        weights = np.linalg.solve(rows.T @ rows + other + small, np.ones(len(values)))
        weights /= weights.sum()
        influence = rows @ weights
        error = np.sqrt(table.variance(influence) + weights @ other @ weights)
        return cls(float(weights @ values), float(error), influence)


def correlations_of(modes: SeriesModes, j: int, lags: Any) -> list[tuple[float, bool]]:
    """Return C of a mode at all lags, and if it is sure not to be 0, there and at shorter lags."""
    found, alive = [], True
    for pair in modes.correlations(j, lags):
        alive = alive and pair.value > LOW
        if alive and pair.value < CLEAR:
            # The influence is that on log C: its error is that of C, over C.
            alive = variance_by_lags(pair.influence, modes.lengths) < SURE**-2
        found.append((pair.value, alive))
    return found


def in_rows(table: Table, lag: int) -> FloatArray:
    """Return implied times of the first modes that decay, in rows; NaN where one is forgotten.

    No eigenvalue takes part: so these are also told where it is not believed.
    """
    ladder = np.union1d(lag, all_lags(lag))
    decaying = nonzero_modes(table.spectrum.eigenvalues)[:MODES]
    last = [correlations_of(table.modes, int(j), ladder)[-1] for j in decaying]
    return np.array([-lag / np.log(c) if alive and c < 1 else np.nan for c, alive in last])


def sound_modes(spectrum: Spectrum) -> tuple[NDArray[np.intp], FloatArray]:
    """Return numbers of modes whose eigenvalues are sound, and what is systematic in their errors.

    The latter, (k,), is relative: errors from the tail, from ε, from noise and from edges.
    """
    numbers = nonzero_modes(spectrum.eigenvalues)[:MODES]
    size = np.abs(spectrum.eigenvalues[numbers])
    parts = spectrum.total_errors[numbers] ** 2 - spectrum.standard_errors[numbers] ** 2
    systematic = np.sqrt(np.maximum(np.nan_to_num(parts, nan=np.inf), 0)) / size
    if not np.isfinite(systematic).any():
        return numbers[:1], np.zeros(len(numbers[:1]))
    sound = systematic <= max(CLEAN, BELIEVED * systematic.min())
    return numbers[sound], systematic[sound]
