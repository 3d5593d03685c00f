"""A picture of what comes next: a fan chart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.checks import accepts, an, is_whole, shown
from ..errors import InputError
from ..forecast.forecast import Forecast
from ._canvas import BLUE, INK, check_axes, new_axes, set_title
from ._past import past_of

#: Levels of the bands, and how visible each is; the inner one lies on the outer.
BANDS = ((0.9, 0.18), (0.5, 0.28))
#: Colour behind leads that are not to be trusted.
DOUBT = "0.92"
#: Share of the height that is added below the curves, for the legend.
LEGEND_ROOM = 0.25


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
    j, i = forecast.column(column), start_of(forecast, start)
    before = past_of(forecast, i, j, past)
    ax = new_axes(ax)
    levels = [0.5, *((1 + sign * level) / 2 for level, _ in BANDS for sign in (-1, 1))]
    found = forecast.quantile(levels)[:, i, :, j]
    times, lines = forecast.valid_times[i], np.vstack([forecast.mean[i, :, j], found])
    if before.ends_at(forecast.init[i]):
        # The fan opens at what is known.
        times = np.concatenate([before.times[-1:], times])
        lines = np.hstack([np.full((len(lines), 1), before.values[-1]), lines])
    shade_doubt(ax, forecast, i)
    if len(before.times) > 1:
        ax.plot(before.times, before.values, color=INK, lw=1.2, label="known")
    draw_fan(ax, times, lines[0], lines[1], lines[2:])
    ax.set_ylabel(forecast.names[j])
    dress_time(ax, forecast.axis.kind)
    note = (
        "\nThe start is unlike all of the record: do not trust this" if forecast.outside[i] else ""
    )
    set_title(ax, f"Forecast from {time_in_words(forecast, i)}{note}")
    legend_below(ax)
    return ax


def draw_fan(
    ax: Any, times: NDArray[Any], mean: FloatArray, median: FloatArray, ends: FloatArray
) -> None:
    """Draw bands, the widest first, the mean and the median; of a single time, bars."""
    for k, (level, alpha) in enumerate(BANDS):
        low, high = ends[2 * k], ends[2 * k + 1]
        label = f"{level:.0%} interval".replace("%", " %")
        if len(times) > 1:
            ax.fill_between(times, low, high, color=BLUE, alpha=alpha, lw=0, label=label)
        else:
            ax.vlines(times, low, high, color=BLUE, alpha=2 * alpha, lw=6 + 4 * k, label=label)
    ax.plot(times, mean, ".-", color=BLUE, lw=1.6, ms=5 if len(times) < 40 else 0, label="mean")
    ax.plot(times, median, color=BLUE, lw=0.9, ls="--", label="median")


def shade_doubt(ax: Any, forecast: Forecast, start: int) -> None:
    """Put grey behind leads at which forecasts were no better than climatology."""
    ahead = forecast.leads.astype(np.float64)
    label = "no better than climatology"
    for first, last in runs(forecast.doubtful):
        low = (ahead[first] + ahead[first - 1]) / 2 if first else ahead[first] - 0.5
        high = (ahead[last] + ahead[last + 1]) / 2 if last + 1 < len(ahead) else ahead[last] + 0.5
        ends = times_between(forecast, start, np.array([low, high]))
        ax.axvspan(*ends, facecolor=DOUBT, edgecolor="none", lw=0, zorder=0, label=label)
        label = ""


def times_between(forecast: Forecast, start: int, ahead: FloatArray) -> NDArray[Any]:
    """Return the times of leads that need not be whole numbers of steps."""
    low = np.floor(ahead).astype(np.int64)
    first, second = (forecast.axis.times(forecast.steps[start] + low + k) for k in (0, 1))
    share = ahead - low
    gap = second - first
    if gap.dtype.kind == "m":
        gap = (share * gap.astype(np.int64)).astype(np.int64).astype(gap.dtype)
        return np.asarray(first + gap)
    return np.asarray(first + share * gap)


def runs(marked: BoolArray) -> list[tuple[int, int]]:
    """Return the first and the last of each run of True.

    Examples
    --------
    >>> runs(np.array([True, False, True, True]))
    [(0, 0), (2, 3)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]]).astype(int)))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


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


def time_in_words(forecast: Forecast, start: int) -> str:
    """Return the time of a start: a month, a date, a number, or a row."""
    when = forecast.init[start]
    if forecast.axis.kind == "months":
        return str(when.astype("datetime64[M]"))
    if forecast.axis.kind == "dates":
        day = when.astype("datetime64[D]")
        return str(day if when == day else when.astype("datetime64[m]")).replace("T", " ")
    return f"{when:g}" if forecast.axis.kind == "numbers" else f"row {when:,}"


def start_of(forecast: Forecast, start: Any) -> int:
    """Return the number of a start, from 0."""
    n = len(forecast)
    if is_whole(start) and -n <= start < n:
        return int(start) % n
    raise InputError(
        f"There is no such start; received {shown(start)}. The forecast has {n:,} start(s), "
        "numbered from 0; -1 is the last. Leave `start` out for the last one."
    )
