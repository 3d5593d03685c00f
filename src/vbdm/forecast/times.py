"""Times of rows as whole numbers of steps, and back; the cycle of the seasons in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.checks import shown
from ..errors import InputError

#: Largest difference between a time and a whole number of steps, in steps.
OFF = 0.05
#: Steps are counted up to this number.
MOST_STEPS = 2**52
#: Days from the first of a month to that of the next.
SHORTEST_MONTH, LONGEST_MONTH = 28, 31
#: Steps in a year of months, of days.
MONTHS, DAYS = 12.0, 365.2425
#: Most waves of a cycle: six make every monthly mean; of longer cycles they make a smooth one.
MOST_WAVES, WAVES_OF_LONG = 6, 3
#: Steps from which on a cycle is long.
LONG = 32
#: Rows for each number that a cycle has, at least.
ROWS_EACH = 3
#: Smallest singular value, over the largest, of functions that the rows tell apart.
RCOND = 1e-8
#: The largest period that is believed to be meant: the largest number that is exact.
LONGEST = 2**53

Steps = NDArray[np.int64]


@dataclass(frozen=True)
class TimeAxis:
    """How times are counted."""

    #: Numbers of rows, numbers a constant step apart, months, or dates a constant time apart.
    kind: str = "rows"
    #: The time of step 0; of dates, in seconds since 1970; of months, in months since 1970.
    origin: float = 0.0
    #: The time from one row to the next, in the same unit; of months, a whole number of them.
    step: float = 1.0
    #: Days from the beginning of a month to the time that stands for it; -1 for its last day.
    day: int = 0

    @property
    def year(self) -> float | None:
        """Number of steps in a year; None if times are no dates."""
        length = {"months": MONTHS, "dates": DAYS * 86400}.get(self.kind)
        return None if length is None else length / self.step

    def steps(self, times: Any) -> Steps:
        """Return times as numbers of steps; refuse other kinds, and times between two steps."""
        kind, numbers, dates = as_numbers(times)
        if kind != ("dates" if self.kind in ("months", "dates") else "numbers"):
            raise InputError(
                "These times are of another kind than those of the training series; received "
                f"{shown(times)}. The training series has {WORDS[self.kind]}."
            )
        place = ((months_of(dates) if self.kind == "months" else numbers) - self.origin) / self.step
        whole = np.round(place)
        near = np.abs(place - whole).max(initial=0.0) <= OFF
        if not (near and np.abs(place).max(initial=0.0) < MOST_STEPS):
            raise InputError(
                f"`times` must be a constant step apart; received {shown(times)}. Rows may be "
                "missing, but not lie between two steps: interpolate, or leave `times` out."
            )
        return whole.astype(np.int64)

    def times(self, steps: Steps) -> NDArray[Any]:
        """Return the times of numbers of steps: integers, numbers, or NumPy dates."""
        numbers = self.origin + self.step * np.asarray(steps, dtype=np.float64)
        if self.kind == "rows":
            return np.asarray(steps, dtype=np.int64)
        if self.kind == "numbers":
            return numbers
        if self.kind == "months":
            months = np.round(numbers).astype(np.int64).astype("datetime64[M]")
            # The last day of a month is the day before the next one begins.
            begun = (months + (self.day < 0)).astype("datetime64[D]")
            dates = begun + np.timedelta64(self.day, "D")
        else:
            dates = np.round(numbers * 1e3).astype(np.int64).astype("datetime64[ms]")
        # As pandas and xarray have them, where nanoseconds can tell them.
        years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
        fits = years.size == 0 or (years.min() > 1678 and years.max() < 2262)
        return dates.astype("datetime64[ns]") if fits else dates


WORDS = {
    "rows": "no times: its rows are counted",
    "numbers": "numbers for times",
    "months": "one row for each month, or for several months",
    "dates": "dates a constant time apart",
}


def axis_of(times: Any, starts: NDArray[np.intp]) -> tuple[TimeAxis, Steps]:
    """Return how the times of rows are counted, and the rows' numbers of steps.

    Times are numbers or dates, (N,), ascending inside each series; `starts` are the first rows of
    these.
    """
    kind, numbers, dates = as_numbers(times)
    if kind == "dates":
        months = months_of(dates)
        gaps, days = inner_gaps(months, starts), inner_gaps(numbers, starts) / 86400
        in_month = (dates - dates.astype("datetime64[M]")).astype("timedelta64[D]").astype(np.int64)
        # Dates so many days apart wander through the month; its last day is from 28 to 31.
        same_day = np.ptp(in_month) <= LONGEST_MONTH - SHORTEST_MONTH
        if len(gaps) and gaps.min() >= 1 and days.min() >= SHORTEST_MONTH and same_day:
            last = months_of(dates + np.timedelta64(1, "D")) > months
            day = -1 if last.all() else min(int(in_month[0]), SHORTEST_MONTH - 1)
            step = float(np.gcd.reduce(gaps.astype(np.int64)))
            axis = TimeAxis("months", float(months[0]), step, day)
            return axis, axis.steps(times)
    gaps = inner_gaps(numbers, starts)
    if not len(gaps) or not gaps.min() > 0:
        raise InputError(
            f"`times` must ascend from row to row; received {shown(times)}. Sort the rows by time."
        )
    # If most rows are missing, the usual gap is of several steps.
    usual, least = (
        TimeAxis(kind, float(numbers[0]), float(gaps.sum() / np.round(gaps / about).sum()))
        for about in (float(np.median(gaps)), float(gaps.min()))
    )
    try:
        return usual, usual.steps(times)
    except InputError:
        return least, least.steps(times)


def inner_gaps(numbers: NDArray[Any], starts: NDArray[np.intp]) -> NDArray[Any]:
    """Return the differences from each row to the next, inside series."""
    inside = np.ones(max(len(numbers) - 1, 0), dtype=np.bool_)
    inside[starts[starts > 0] - 1] = False
    return np.diff(numbers)[inside]


def as_numbers(times: Any) -> tuple[str, FloatArray, Any]:
    """Return whether times are numbers or dates, the numbers (of dates, seconds), and the dates."""
    array = np.asarray(times)
    if array.dtype == object and array.size and hasattr(array.flat[0], "isoformat"):
        # Dates of Python, and of other calendars.
        try:
            texts = [str(one.isoformat())[:19] for one in array.ravel()]
            array = np.array(texts, dtype="datetime64[s]")
        except (AttributeError, ValueError) as error:
            raise InputError(
                f"Some times are no dates of the common calendar; received {error!s}. Leave "
                "`times` out, and give the number of rows in a year as `season`."
            ) from error
    if array.ndim == 1 and array.dtype.kind == "M" and not np.isnat(array).any():
        dates = array.astype("datetime64[ms]")
        return "dates", dates.astype(np.int64) / 1e3, dates
    if array.ndim == 1 and array.dtype.kind in "iuf" and np.isfinite(array).all():
        return "numbers", array.astype(np.float64), None
    raise InputError(
        f"`times` must be one number or one date for each row; received {shown(times)}."
    )


def months_of(dates: NDArray[Any]) -> FloatArray:
    """Return dates as months since 1970."""
    return np.asarray(dates.astype("datetime64[M]").astype(np.int64), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Cycle:
    """The mean of each column as a function of the season."""

    #: Number of steps in a cycle; 0: there is none, and the mean is left where it is.
    period: float
    #: Mean, and coefficients of cosines and sines of each column, (2K + 1, n).
    waves: FloatArray

    @classmethod
    def of(cls, values: FloatArray, steps: Steps, period: float) -> Cycle:
        """Fit the cycle of a period to values, (N, n), by least squares; NaN is left out."""
        functions = seasons(steps, period, waves_of(period))
        known, n_numbers = np.isfinite(values), functions.shape[1]
        fewest, length = int(known.sum(axis=0).min()), int(steps.max() - steps.min()) + 1
        if length < period:
            raise InputError(
                f"The series is shorter than its cycle; received {length:,} steps, and a cycle of "
                f"{period:g}. Give a longer series, or season=None."
            )
        if fewest < ROWS_EACH * n_numbers:
            raise InputError(
                f"The series is too short for its cycle; received {fewest} known rows, and a cycle "
                f"of {period:g}, which takes at least {ROWS_EACH * n_numbers}. Give a longer "
                "series, or season=None."
            )
        columns = []
        for j, own in enumerate(known.T):
            found, _, rank, _ = np.linalg.lstsq(functions[own], values[own, j], rcond=RCOND)
            if rank < n_numbers:
                raise InputError(
                    f"A season of the cycle has no values; received column {j}, whose rows tell "
                    f"{rank} of the {n_numbers} numbers that describe a cycle of {period:g}. Give "
                    "a series with values in all seasons, or season=None."
                )
            columns.append(found)
        return cls(period, np.column_stack(columns))

    @classmethod
    def none(cls, n_columns: int) -> Cycle:
        """Return no cycle at all."""
        return cls(0.0, np.zeros((1, n_columns)))

    @classmethod
    def asked(
        cls, season: int | str | None, values: FloatArray, axis: TimeAxis, steps: Steps
    ) -> Cycle:
        """Return the cycle that is asked for, or a year, if dates go over two of them."""
        period = float(min(season, LONGEST)) if isinstance(season, (int, np.integer)) else None
        if season == "auto" and axis.year is not None and axis.year >= 2:
            years = (steps.max() - steps.min() + 1) / axis.year
            period = axis.year if years >= 2 else None
        return cls.none(values.shape[1]) if period is None else cls.of(values, steps, period)

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


def observed_steps(n: int, times: Any, axis: TimeAxis, cycle: Cycle) -> Steps:
    """Return the numbers of steps of n observations, one after the other."""
    if times is None and cycle.period:
        raise InputError(
            f"Times of the observations are needed, where a cycle of {cycle.period:g} steps was "
            "taken off; received none. Pass `times`, one for each observation."
        )
    if times is None or (axis.kind == "rows" and not cycle.period):
        return np.arange(n)
    steps = axis.steps(times)
    if len(steps) != n or (np.diff(steps) != 1).any():
        raise InputError(
            f"`times` must be those of the observations, one step apart; received {len(steps)} "
            f"times, and {n} observations. Pass None where nothing was observed."
        )
    return steps
