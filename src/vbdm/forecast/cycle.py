"""The cycle of the seasons: taken off before anything is learned, and put back afterwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import FloatArray
from ..errors import InputError
from .time_axis import Steps

#: Most waves of a cycle: six make every monthly mean; of longer cycles they make a smooth one.
MOST_WAVES, WAVES_OF_LONG = 6, 3
#: Steps from which on a cycle is long.
LONG = 32
#: Rows for each number that a cycle has, at least.
ROWS_EACH = 3
#: Smallest singular value, over the largest, of functions that the rows tell apart.
RCOND = 1e-8


@dataclass(frozen=True, eq=False)
class Cycle:
    """The mean of each column as a function of the season.

    Attributes
    ----------
    period : float
        Number of steps in a cycle; 0: there is none, and the mean is left where it is.
    waves : (2K + 1, n) array
        Mean, and coefficients of cosines and sines of each column.
    """

    period: float
    waves: FloatArray

    @classmethod
    def of(cls, values: FloatArray, steps: Steps, period: float) -> Cycle:
        """Fit the cycle of a period to values, (N, n), by least squares; NaN is left out."""
        number = waves_of(period)
        functions = seasons(steps, period, number)
        known = np.isfinite(values)
        needed = ROWS_EACH * functions.shape[1]
        if steps.max() - steps.min() + 1 < period:
            raise InputError(
                "The series is shorter than its cycle; received "
                f"{int(steps.max() - steps.min()) + 1:,} steps, and a cycle of {period:g}. Give a "
                "longer series, or season=None."
            )
        if known.sum(axis=0).min() < needed:
            raise InputError(
                f"The series is too short for its cycle; received {int(known.sum(axis=0).min())} "
                f"known rows, and a cycle of {period:g}. It takes {functions.shape[1]} numbers, "
                f"and at least {needed} rows, to describe it. Give a longer series, or "
                "season=None."
            )
        columns = []
        for j, own in enumerate(known.T):
            found, _, rank, _ = np.linalg.lstsq(functions[own], values[own, j], rcond=RCOND)
            if rank < functions.shape[1]:
                raise InputError(
                    f"A season of the cycle has no values; received column {j} with "
                    f"{int(own.sum())} known rows, and a cycle of {period:g}. They tell {rank} of "
                    f"the {functions.shape[1]} numbers that describe it, and nothing tells what "
                    "the rest of the cycle is like. Give a series with values in all seasons, or "
                    "season=None."
                )
            columns.append(found)
        return cls(period, np.column_stack(columns))

    @classmethod
    def none(cls, n_columns: int) -> Cycle:
        """Return no cycle at all."""
        return cls(0.0, np.zeros((1, n_columns)))

    def at(self, steps: Steps) -> FloatArray:
        """Return the cycle at numbers of steps, (…, n)."""
        flat = np.asarray(steps).ravel()
        functions = seasons(flat, self.period, len(self.waves) // 2)
        return np.asarray(functions @ self.waves).reshape(*np.shape(steps), -1)


def waves_of(period: float) -> int:
    """Return the number of waves in a cycle of so many steps."""
    return min(int(period // 2), MOST_WAVES if period < LONG else WAVES_OF_LONG)


def seasons(steps: Steps, period: float, number: int) -> FloatArray:
    """Return 1, and cosines and sines of so many waves, at numbers of steps.

    The sine of the wave that changes its sign at every step is 0 there, and left out.
    """
    columns = [np.ones(len(steps))]
    for k in range(1, number + 1):
        angle = 2 * np.pi * k * np.asarray(steps) / period
        columns.append(np.cos(angle))
        if 2 * k < period:
            columns.append(np.sin(angle))
    return np.column_stack(columns)
