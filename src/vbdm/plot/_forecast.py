"""Pictures of what comes next, a fan chart, and of what a filter knows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray
from ..base.checks import MOST, accepts, an, as_floats, is_whole, shown
from ..errors import InputError
from ..forecast.filtering import Filtered
from ..forecast.forecast import Forecast
from ..forecast.record import column_of
from ..forecast.times import Steps
from ._canvas import BLUE, INK, VERMILION, check_axes, new_axes, set_title

#: Levels of the bands, how visible each is, the inner one on the outer, and the widths of bars.
BANDS = ((0.9, 0.18, 6), (0.5, 0.28, 10))
#: Colour behind leads that are not to be trusted.
DOUBT = "0.92"
#: Share of the height that is added below the curves, for the legend.
LEGEND_ROOM = 0.25
#: Rows before the start that are shown at least, and as a multiple of the largest lead.
FEWEST, TIMES_LEAD = 12, 2


@accepts(forecast=an(Forecast, "Pass model.predict(...)."), ax=check_axes)
def forecast(
    forecast: Any,
    *,
    column: int | str = 0,
    start: int = -1,
    past: int | ArrayLike | None = None,
    ax: Any = None,
) -> Any:
    """Draw a fan chart: what came before, the mean, and intervals of 50 and 90 %.

    Parameters
    ----------
    forecast : Forecast
        From `model.predict(...)`.
    column : int or str
        Number or name of the column.
    start : int
        Number of the start; by default the last.
    past : int or (P,) array, optional
        How many rows before the start are shown, if they are known: those of the training series,
        or other starts of the same call. Or their values, the last one that of the start itself.
        By default twice the largest lead.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Grey behind leads at which forecasts were no better than climatology on what was held out.
    """
    n = len(forecast)
    if not (is_whole(start) and -n <= start < n):
        raise InputError(
            f"There is no such start; received {shown(start)}. The forecast has {n:,} start(s), "
            "numbered from 0; -1 is the last."
        )
    j, i = column_of(column, forecast.names), int(start) % n
    before, known = past_of(forecast, i, j, past)
    own = forecast[i : i + 1]
    ax = new_axes(ax)
    levels = [0.5, *((1 + sign * level) / 2 for level, *_ in BANDS for sign in (-1, 1))]
    quantiles = own.quantile(levels)[:, 0, :, j]
    times, lines = own.valid_times[0], np.vstack([own.mean[0, :, j], quantiles])
    if len(before) and before[-1] == own.init[0] and np.isfinite(known[-1]):
        # The fan opens at what is known.
        times = np.concatenate([before[-1:], times])
        lines = np.hstack([np.full((len(lines), 1), known[-1]), lines])
    # Grey behind leads at which forecasts were no better than climatology.
    ahead = own.leads.astype(np.float64)
    between = np.concatenate([[ahead[0] - 0.5], (ahead[1:] + ahead[:-1]) / 2, [ahead[-1] + 0.5]])
    edges = np.flatnonzero(np.diff(own.doubtful.astype(int), prepend=0, append=0))
    label = "no better than climatology"
    for ends in edges.reshape(-1, 2):
        ax.axvspan(*times_between(own, between[ends]), facecolor=DOUBT, edgecolor="none", lw=0,
                   zorder=0, label=label)  # fmt: skip
        label = ""
    if len(before) > 1:
        ax.plot(before, known, color=INK, lw=1.2, label="known")
    for (level, alpha, wide), low, high in zip(BANDS, lines[2::2], lines[3::2], strict=True):
        label = f"{100 * level:.0f} % interval"
        if len(times) > 1:
            ax.fill_between(times, low, high, color=BLUE, alpha=alpha, lw=0, label=label)
        else:
            ax.vlines(times, low, high, color=BLUE, alpha=2 * alpha, lw=wide, label=label)
    size = 5 if len(times) < 40 else 0
    ax.plot(times, lines[0], ".-", color=BLUE, lw=1.6, ms=size, label="mean")
    ax.plot(times, lines[1], color=BLUE, lw=0.9, ls="--", label="median")
    ax.set_ylabel(forecast.names[j])
    dress_time(ax, forecast.axis.kind)
    note = "\nThe start is unlike all of the record: do not trust this" if own.outside[0] else ""
    set_title(ax, f"Forecast from {start_in_words(own)}{note}")
    legend_below(ax)
    return ax


def times_between(forecast: Forecast, ahead: FloatArray) -> NDArray[Any]:
    """Return the times of leads that need not be whole numbers of steps."""
    low = np.floor(ahead).astype(np.int64)
    first, second = (forecast.axis.times(forecast.steps[0] + low + k) for k in (0, 1))
    share = ahead - low
    gap = second - first
    if gap.dtype.kind == "m":
        gap = (share * gap.astype(np.int64)).astype(np.int64).astype(gap.dtype)
        return np.asarray(first + gap)
    return np.asarray(first + share * gap)


def legend_below(ax: Any) -> None:
    """Put the legend below the curves, in room that is made for it."""
    low, high = ax.get_ylim()
    ax.set_ylim(low - LEGEND_ROOM * (high - low), high)
    ax.legend(
        fontsize="small", framealpha=0.8, edgecolor="none", loc="lower left", ncols=3,
        columnspacing=1, handlelength=1.6,
    )  # fmt: skip


def dress_time(ax: Any, kind: str) -> None:
    """Label the time axis; dates in few words."""
    if kind in ("months", "dates"):
        from matplotlib import dates

        kinds: Any = dates
        locator = kinds.AutoDateLocator()
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(kinds.ConciseDateFormatter(locator))
        return
    words = {"numbers": "time", "rows": "row of the series"}
    ax.set_xlabel(words.get(kind, "step"))


def start_in_words(forecast: Forecast) -> str:
    """Return the time of the first start: a month, a date, a number, or a row."""
    when = forecast.init[0]
    if forecast.axis.kind == "months":
        return str(when.astype("datetime64[M]"))
    if forecast.axis.kind == "dates":
        day = when.astype("datetime64[D]")
        return str(day if when == day else when.astype("datetime64[m]")).replace("T", " ")
    return f"{when:g}" if forecast.axis.kind == "numbers" else f"row {when:,}"


def past_of(
    forecast: Forecast, start: int, column: int, past: Any
) -> tuple[NDArray[Any], FloatArray]:
    """Return times and values before a start: of so many rows, or the values that are given."""
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
            "Pass past=24, or series[:n] that ends with the row of the start."
        )
    return forecast.axis.times(steps), values


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
        known = forecast.steps[own]
        steps = np.arange(known[0], known[-1] + 1)
        values = np.full(len(steps), np.nan)
        newest = forecast.states[own, column]
        scaling = record.scaling
        values[known - known[0]] = scaling.center[column] + scaling.scale[column] * newest
    else:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    season = 0.0 if forecast.values is not None else forecast.cycle.at(steps)[:, column]
    return steps, values + season


def starts_in_record(forecast: Forecast) -> bool:
    """Tell whether all starts are rows of the training series."""
    record = forecast.learned.record
    if forecast.places.max() >= record.n_rows:
        return False
    state = record.state_of[forecast.places]
    return bool((state >= 0).all() and np.array_equal(record.states[state], forecast.states))


@accepts(result=an(Filtered, "Pass model.filter(...)."), ax=check_axes)
def filtered(
    result: Any,
    *,
    column: int = 0,
    observations: ArrayLike | None = None,
    times: ArrayLike | None = None,
    ax: Any = None,
) -> Any:
    """Draw what is known of a column after each observation: the mean, and the 90 % interval.

    Parameters
    ----------
    result : Filtered
        From `model.filter(...)`.
    column : int
        Number of the column, observed or not.
    observations : (T,) array, optional
        What was observed of it, drawn as dots; NaN where nothing was.
    times : (T,) array, optional
        Times of the observations; by default they are counted.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Red marks on the time axis: there the filter began anew, from the observation alone.
    """
    n, n_columns = result.mean.shape
    j = column_of(column, [str(one) for one in range(n_columns)])
    seen = None if observations is None else as_floats(observations)
    if observations is not None and (seen is None or seen.size != n):
        raise InputError(
            f"`observations` must have one number for each of the {n:,} steps; received "
            f"{shown(observations)}. Pass those of one column, with NaN where there is none."
        )
    try:
        when = np.arange(n) if times is None else np.asarray(times)
    except ValueError:
        # Lists of different lengths.
        when = np.array(None)
    if when.shape != (n,) or when.dtype.kind not in "iufM":
        raise InputError(
            f"`times` must have one number or date for each of the {n:,} steps; received "
            f"{shown(times)}."
        )
    ax = new_axes(ax)
    low, high = result.quantile([0.05, 0.95])[:, :, j]
    ax.fill_between(when, low, high, color=BLUE, alpha=0.25, lw=0, label="90 % interval")
    ax.plot(when, result.mean[:, j], color=BLUE, lw=1.4, label="mean")
    if seen is not None:
        ax.plot(when, seen.ravel(), ".", color=INK, ms=4, label="observed")
    if result.restarted.any():
        place = np.full(int(result.restarted.sum()), 0.97)
        ax.plot(when[result.restarted], place, "|", color=VERMILION, ms=9, mew=1.6,
                transform=ax.get_xaxis_transform(), label="began anew")  # fmt: skip
    ax.set_ylabel(f"column {j}")
    dress_time(ax, "dates" if when.dtype.kind == "M" else "steps" if times is None else "numbers")
    set_title(ax, f"What {int(result.observed.sum()):,} observations say")
    legend_below(ax)
    return ax
