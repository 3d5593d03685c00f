"""The seasons of a model: what cycle its record had, and where in it new rows stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .cycle import Cycle
from .reading import Given, filled
from .time_axis import Steps, TimeAxis

#: The largest period that is believed to be meant: the largest number that is exact.
LONGEST = 2**53


def cycle_of(season: int | str | None, given: Given, axis: TimeAxis, steps: Steps) -> Cycle:
    """Return the cycle that is asked for, or a year, if dates go over two of them."""
    period = float(min(season, LONGEST)) if isinstance(season, (int, np.integer)) else None
    if season == "auto" and axis.year is not None and axis.year >= 2:
        years = (steps.max() - steps.min() + 1) / axis.year
        period = axis.year if years >= 2 else None
    if period is None:
        return Cycle.none(given.values.shape[1])
    return Cycle.of(given.values, steps, period)


def placed(given: Given, axis: TimeAxis, cycle: Cycle) -> tuple[Given, Steps, TimeAxis]:
    """Return a new series with a row for each step, their numbers, and how these are counted.

    `axis` and `cycle` are those of the model. Without a cycle, times are of no use to a model whose
    rows are counted; without times, rows are counted.
    """
    if given.times is not None and (axis.kind != "rows" or cycle.period):
        return *filled(given, axis.steps(given.times)), axis
    if cycle.period:
        raise no_season(
            "rows", "a series without times",
            "Pass `times` of the kind of those in `fit`; if there were none, numbers of rows, "
            "counted from 0 at the first row of the training series.",
        )  # fmt: skip
    return given, np.concatenate([np.arange(n) for n in given.lengths]), TimeAxis()


def observed_steps(n: int, times: Any, axis: TimeAxis, cycle: Cycle) -> Steps:
    """Return the numbers of steps of n observations, one after the other."""
    if times is None or (axis.kind == "rows" and not cycle.period):
        if cycle.period:
            hint = "Pass `times`, one for each observation."
            raise no_season("observations", "observations without times", hint)
        return np.arange(n)
    steps = axis.steps(times)
    if len(steps) != n or (np.diff(steps) != 1).any():
        raise InputError(
            f"`times` must be those of the observations, one step apart; received {len(steps)} "
            f"times, and {n} observations. Pass one time for each observation, and None where "
            "nothing was observed."
        )
    return steps


def no_season(what: str, received: str, hint: str) -> InputError:
    """Return the error for rows whose season is not known."""
    return InputError(f"Times of the {what} are needed; received {received}. {hint}")
