"""What a forecast must beat: climatology, persistence, and a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import one_blas_thread
from .ensemble import Climatology, Ensemble
from .record import Record, Rows

#: What is compared, in the order in which it is shown.
MEASURES = ("rmse", "acc", "crps", "coverage50", "coverage90", "ignorance")
#: Levels of the ends of both intervals.
ENDS = np.array([0.05, 0.25, 0.75, 0.95])
#: Names of the references, in the order in which they are shown.
NAMES = ("climatology", "persistence", "linear")
#: Most columns of a linear model, as a share of its rows.
MOST_COLUMNS = 0.2


class Marginal(NamedTuple):
    """Distributions in the numbers that measures need: one entry for each start."""

    mean: FloatArray
    crps: FloatArray
    ends: FloatArray
    density: FloatArray


@dataclass(frozen=True, eq=False)
class Normal:
    """Normal distributions: means and standard deviations of n starts, (n, m) each."""

    mean: FloatArray
    deviation: FloatArray

    def marginal(self, j: int, y: FloatArray) -> Marginal:
        """Return what it says of column j, beside what came."""
        mean, deviation = self.mean[:, j], self.deviation[:, j]
        sigma = np.where(deviation > 0, deviation, 1e-12)
        ends = mean[:, None] + sigma[:, None] * ndtri(ENDS)
        z = (y - mean) / sigma
        with np.errstate(under="ignore"):
            density = np.exp(-0.5 * z * z) / (sigma * np.sqrt(2 * np.pi))
        crps = np.where(deviation > 0, gaussian_crps(mean, sigma, y), np.abs(y - mean))
        return Marginal(mean, crps, ends, density)


@dataclass(frozen=True, eq=False)
class Empirical:
    """The values of records, each as likely as any other."""

    known: tuple[Climatology, ...]
    #: Which of them is that of each start, (n,).
    which: Rows

    def marginal(self, j: int, y: FloatArray) -> Marginal:
        """Return what it says of column j, beside what came."""
        found = Marginal(*(np.empty((len(y), *shape)) for shape in ((), (), ENDS.shape, ())))
        for number, own in enumerate(self.known):
            use = self.which == number
            values = own.values[j]
            found.mean[use], found.crps[use] = values.mean(), own.crps(j, y[use])
            found.ends[use] = np.quantile(values, ENDS)
            # One forecast that has all values for members.
            n = len(values)
            every = Ensemble(np.array([0, n]), values, np.full(n, 1 / n), np.arange(n))
            found.density[use] = every.density(y[None, use])[0]
        return found


#: Distributions of n starts, in the numbers that measures need.
Reference = Normal | Empirical


@dataclass(frozen=True, eq=False)
class References:
    """Simple forecasts from a record; persistence and the linear model are normal distributions."""

    record: Record
    #: Rows that do not count, (N,).
    left_out: BoolArray

    def climatology(self) -> Climatology:
        """Return the values of the record."""
        return Climatology.of(self.record.values[~self.left_out])

    def persistence(self, start: FloatArray, lead: int) -> Normal:
        """Return the values at the starts, (n, m), with the size of changes in the record."""
        before, after = self.pairs(lead)
        if len(after) > 1:
            change = np.sqrt(np.nanmean((after - before) ** 2, axis=0))
        else:
            change = np.nanstd(self.record.values, axis=0)
        return Normal(start, np.broadcast_to(change, start.shape))

    def linear(self, states: FloatArray, lead: int) -> Normal:
        """Return least squares on the states, (n, …), with the spread of its residuals."""
        target = self.record.later(lead, self.left_out)
        use = (target >= 0) & np.isfinite(self.record.values[target]).all(axis=1)
        known, wanted = self.record.states[use], self.record.values[target[use]]
        if known.shape[1] + 1 > MOST_COLUMNS * len(known):
            known = self.record.values[~self.left_out]
            shape = (len(states), known.shape[1])
            mean, spread = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
            return Normal(np.broadcast_to(mean, shape), np.broadcast_to(spread, shape))
        ones = np.ones((len(known), 1))
        with one_blas_thread():
            weights = np.linalg.lstsq(np.hstack([ones, known]), wanted, rcond=None)[0]
        residual = (wanted - np.hstack([ones, known]) @ weights).std(axis=0)
        found = np.hstack([np.ones((len(states), 1)), states]) @ weights
        return Normal(found, np.broadcast_to(residual, found.shape))

    def pairs(self, lead: int) -> tuple[FloatArray, FloatArray]:
        """Return the values of rows, and those `lead` steps later."""
        target = self.record.later(lead, self.left_out)
        use = target >= 0
        return self.record.values[self.record.rows[use]], self.record.values[target[use]]


def gaussian_crps(mean: FloatArray, deviation: FloatArray, y: FloatArray) -> FloatArray:
    r"""Return the continuous ranked probability score of normal distributions.

    Notes
    -----
    :math:`σ [z(2Φ(z) - 1) + 2φ(z) - 1/\sqrt{π}]` with z = (y - μ)/σ (Gneiting et al. 2005).

    Examples
    --------
    >>> float(gaussian_crps(np.array(0.0), np.array(1.0), np.array(0.0)).round(4))
    0.2337
    """
    z = (y - mean) / deviation
    bell = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return np.asarray(deviation * (z * (2 * ndtr(z) - 1) + 2 * bell - 1 / np.sqrt(np.pi)))
