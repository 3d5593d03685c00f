"""What came before a forecast, as far as the forecast knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.checks import MOST, as_floats, is_whole, shown
from ..errors import InputError
from ..forecast.forecast import Forecast
from ..forecast.times import Steps

#: Rows before the start that are shown at least, and as a multiple of the largest lead.
FEWEST, TIMES_LEAD = 12, 2


@dataclass(frozen=True, eq=False)
class Past:
    """Values of a column up to a start, with their times, (P,) each; NaN where one is missing."""

    times: NDArray[Any]
    values: FloatArray

    def ends_at(self, time: Any) -> bool:
        """Tell whether the value at a time is the last one, and known."""
        return bool(len(self.times) and self.times[-1] == time and np.isfinite(self.values[-1]))


def past_of(forecast: Forecast, start: int, column: int, past: Any) -> Past:
    """Return what came before a start: so many rows, or the values that are given."""
    given = as_floats(past)
    if past is None or (is_whole(past) and past >= 0):
        count = max(FEWEST, TIMES_LEAD * int(forecast.leads[-1])) if past is None else int(past)
        steps, values = known_rows(forecast, start, column, min(count, MOST))
    elif given is not None and given.ndim == 1:
        values = np.asarray(given, dtype=np.float64)
        steps = forecast.steps[start] + np.arange(1 - len(values), 1)
    else:
        raise InputError(
            f"`past` must be a number of rows, or a list of their values; received {shown(past)}. "
            "Pass past=24, past=0, or series[:n] that ends with the row of the start."
        )
    return Past(forecast.axis.times(steps), values)


def known_rows(forecast: Forecast, start: int, column: int, count: int) -> tuple[Steps, FloatArray]:
    """Return steps and values of up to `count` rows before a start, and of itself.

    They are rows of the training series, if forecasts start there, else the starts themselves: the
    newest row of each state. Of other functions than the columns, only the former are known.
    """
    record, rows = forecast.learned.record, forecast.places
    if starts_in_record(forecast):
        table = record.values if forecast.values is None else forecast.values
        own = np.arange(max(0, rows[start] - count), rows[start] + 1)
        own = own[record.series_of[own] == record.series_of[rows[start]]]
        steps, values = forecast.steps[start] + own - rows[start], table[own, column]
    elif forecast.values is None:
        # Steps and rows run in parallel inside a series.
        same = forecast.steps - rows == forecast.steps[start] - rows[start]
        own = np.flatnonzero(same & (rows <= rows[start]) & (rows >= rows[start] - count))
        newest = forecast.states[own, column]
        values = record.scaling.center[column] + record.scaling.scale[column] * newest
        steps, values = without_gaps(forecast.steps[own], values)
    else:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    season = 0.0 if forecast.values is not None else forecast.cycle.at(steps)[:, column]
    return steps, values + season


def without_gaps(steps: Steps, values: FloatArray) -> tuple[Steps, FloatArray]:
    """Return values at all steps from the first to the last, NaN where they are not known."""
    whole = np.arange(steps[0], steps[-1] + 1)
    found = np.full(len(whole), np.nan)
    found[steps - steps[0]] = values
    return whole, found


def starts_in_record(forecast: Forecast) -> bool:
    """Tell whether all starts are rows of the training series."""
    record = forecast.learned.record
    if forecast.places.max() >= record.n_rows:
        return False
    state = record.state_of[forecast.places]
    return bool((state >= 0).all() and np.array_equal(record.states[state], forecast.states))
