"""What a forecast must beat: climatology, persistence, and a linear model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import one_blas_thread
from .record import Record

#: Names of the references, in the order in which they are shown.
NAMES = ("climatology", "persistence", "linear")
#: Most columns of a linear model, as a share of its rows.
MOST_COLUMNS = 0.2


@dataclass(frozen=True, eq=False)
class Normal:
    """Normal distributions: means and standard deviations of n starts, (n, m) each."""

    mean: FloatArray
    deviation: FloatArray


@dataclass(frozen=True, eq=False)
class References:
    """Simple forecasts from a record, all of them normal distributions.

    Attributes
    ----------
    record : Record
        What they are learned from.
    left_out : (N,) bool array
        Rows that do not count.
    """

    record: Record
    left_out: BoolArray

    def climatology(self, n: int) -> Normal:
        """Return the mean and the spread of the record for n starts."""
        known = self.record.values[~self.left_out]
        shape = (n, known.shape[1])
        mean, spread = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
        return Normal(np.broadcast_to(mean, shape), np.broadcast_to(spread, shape))

    def persistence(self, start: FloatArray, lead: int) -> Normal:
        """Return the values at the starts, (n, m), with the spread of changes in the record."""
        before, after = self.pairs(lead)
        change = (
            np.nanstd(after - before, axis=0)
            if len(after) > 1
            else np.nanstd(self.record.values, axis=0)
        )
        return Normal(start, np.broadcast_to(change, start.shape))

    def linear(self, states: FloatArray, lead: int) -> Normal:
        """Return least squares on the states, (n, …), with the spread of its residuals."""
        target = self.targets(lead)
        use = (target >= 0) & np.isfinite(self.record.values[target]).all(axis=1)
        known, wanted = self.record.states[use], self.record.values[target[use]]
        if known.shape[1] + 1 > MOST_COLUMNS * len(known):
            return self.climatology(len(states))
        ones = np.ones((len(known), 1))
        with one_blas_thread():
            weights = np.linalg.lstsq(np.hstack([ones, known]), wanted, rcond=None)[0]
        residual = (wanted - np.hstack([ones, known]) @ weights).std(axis=0)
        found = np.hstack([np.ones((len(states), 1)), states]) @ weights
        return Normal(found, np.broadcast_to(residual, found.shape))

    def targets(self, lead: int) -> FloatArray:
        """Return the rows after the states, (S,); -1 where they do not count."""
        ahead = self.record.later(lead)
        bad = self.left_out[self.record.rows] | self.left_out[ahead]
        return np.where(bad, -1, ahead)

    def pairs(self, lead: int) -> tuple[FloatArray, FloatArray]:
        """Return the values of rows, and those `lead` steps later."""
        target = self.targets(lead)
        use = target >= 0
        return self.record.values[self.record.rows[use]], self.record.values[target[use]]
