"""The times of rows as whole numbers of steps, and back: months, dates, numbers, or plain rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Steps = NDArray[np.int64]


@dataclass(frozen=True)
class TimeAxis:
    """How times are counted.

    Attributes
    ----------
    kind : {"rows", "numbers", "months", "dates"}
        Whether times are numbers of rows, numbers a constant step apart, months, or dates and times
        of day a constant step apart.
    origin : float
        The time of step 0; of dates, in seconds since 1970; of months, in months since 1970.
    step : float
        The time from one row to the next, in the same unit; of months, a whole number of them.
    day : int
        Days from the beginning of a month to the time that stands for it; -1 for its last day.
    """

    kind: str = "rows"
    origin: float = 0.0
    step: float = 1.0
    day: int = 0

    @property
    def year(self) -> float | None:
        """Number of steps in a year; None if times are no dates."""
        if self.kind == "months":
            return MONTHS / self.step
        if self.kind == "dates":
            return DAYS * 86400 / self.step
        return None

    def steps(self, times: Any) -> Steps:
        """Return times as numbers of steps.

        Raises
        ------
        InputError
            If they are of another kind, or lie between two steps.
        """
        kind, numbers, _ = as_numbers(times)
        if kind != ("dates" if self.kind in ("months", "dates") else "numbers"):
            raise InputError(
                "These times are of another kind than those of the training series; received "
                f"{shown(times)}. The training series has {WORDS[self.kind]}. Pass times of the "
                "same kind, or none, in `fit` and later."
            )
        if self.kind == "months":
            numbers = months_of(times)
        place = (numbers - self.origin) / self.step
        whole = np.round(place)
        near = np.abs(place - whole).max(initial=0.0) <= OFF
        if not (near and np.abs(place).max(initial=0.0) < MOST_STEPS):
            raise uneven(times)
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
            return fine(begun + np.timedelta64(self.day, "D"))
        return fine(np.round(numbers * 1e3).astype(np.int64).astype("datetime64[ms]"))


WORDS = {
    "rows": "no times: its rows are counted",
    "numbers": "numbers for times",
    "months": "one row for each month, or for several months",
    "dates": "dates a constant time apart",
}


def axis_of(times: Any, starts: NDArray[np.intp]) -> tuple[TimeAxis, Steps]:
    """Return how the times of rows are counted, and the rows' numbers of steps.

    Parameters
    ----------
    times : (N,) array
        Numbers or dates, ascending inside each series.
    starts : array of int
        First rows of the series, from 0.
    """
    kind, numbers, dates = as_numbers(times)
    if kind == "dates":
        months = months_of(dates)
        gaps = inner_gaps(months, starts)
        days = inner_gaps(numbers, starts) / 86400
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
            f"`times` must ascend from row to row; received {shown(times)}. Sort the rows by "
            "time, and keep one row for each time."
        )
    usual = TimeAxis(kind, float(numbers[0]), step_of(gaps, float(np.median(gaps))))
    try:
        return usual, usual.steps(times)
    except InputError:
        # If most rows are missing, the usual gap is of several steps.
        least = TimeAxis(kind, float(numbers[0]), step_of(gaps, float(gaps.min())))
        return least, least.steps(times)


def step_of(gaps: NDArray[Any], about: float) -> float:
    """Return the step of which gaps are multiples, from a guess: times may have been rounded."""
    return float(gaps.sum() / np.round(gaps / about).sum())


def fine(dates: NDArray[Any]) -> NDArray[Any]:
    """Return dates in nanoseconds, as pandas and xarray have them; 1678 to 2262 fit into these."""
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    fits = years.size == 0 or (years.min() > 1678 and years.max() < 2262)
    return dates.astype("datetime64[ns]") if fits else dates


def inner_gaps(numbers: NDArray[Any], starts: NDArray[np.intp]) -> NDArray[Any]:
    """Return the differences from each row to the next, inside series."""
    inside = np.ones(max(len(numbers) - 1, 0), dtype=np.bool_)
    inside[starts[starts > 0] - 1] = False
    return np.diff(numbers)[inside]


def as_numbers(times: Any) -> tuple[str, NDArray[np.float64], Any]:
    """Return whether times are numbers or dates, the numbers (of dates, seconds), and the dates."""
    array = np.asarray(times)
    if array.dtype == object and array.size and hasattr(array.flat[0], "isoformat"):
        # Dates of Python, and of other calendars.
        try:
            array = np.array(
                [str(one.isoformat())[:19] for one in array.ravel()], dtype="datetime64[s]"
            )
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
        f"`times` must be one number or one date for each row; received {shown(times)}. Pass an "
        "array of numbers or of NumPy dates, or leave `times` out."
    )


def months_of(times: Any) -> NDArray[np.float64]:
    """Return dates as months since 1970."""
    _, _, dates = as_numbers(times)
    return np.asarray(dates.astype("datetime64[M]").astype(np.int64), dtype=np.float64)


def uneven(times: Any) -> InputError:
    """Return the error for times between two steps."""
    return InputError(
        f"`times` must be a constant step apart; received {shown(times)}. Forecasts count steps; "
        "rows may be missing, but not lie between two steps. Interpolate the series to even "
        "times, or leave `times` out."
    )
