"""Pictures of a forecast as SVG inside the page: they need no script and no library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..forecast.forecast import Forecast
from ..forecast.skill import METHODS, Skill
from ..forecast.times import Steps
from ..forecast.words import weights_of_leads
from ._parts import text
from .forecast_words import known_leads, over_climatology, times_in_words

#: Size of the drawing, and room for the labels: left, right, top, bottom.
WIDTH, HEIGHT = 900, 290
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 14, 34


@dataclass(frozen=True, eq=False)
class Past:
    """What came before a forecast: steps, (k,), and values in the user's units, (k, n)."""

    steps: Steps
    values: FloatArray


@dataclass(frozen=True)
class Frame:
    """Where numbers are on a drawing: x from `low` to `high`, y from `bottom` to `top`."""

    low: float
    high: float
    bottom: float
    top: float
    width: int = WIDTH
    height: int = HEIGHT

    def x(self, value: Any) -> Any:
        """Return the place of a number along x, or of several."""
        span = self.high - self.low or 1.0
        return LEFT + (value - self.low) / span * (self.width - LEFT - RIGHT)

    def y(self, value: Any) -> Any:
        """Return the place of a number along y, or of several."""
        span = self.top - self.bottom or 1.0
        tall = self.height - TOP - BOTTOM
        return self.height - BOTTOM - (value - self.bottom) / span * tall

    def line(self, x: FloatArray, y: FloatArray, kind: str) -> str:
        """Return a line of a kind, broken where a value is missing."""
        parts, pen = [], "M"
        for a, b in zip(self.x(x), self.y(y), strict=True):
            if np.isfinite(b):
                parts.append(f"{pen}{a:.1f} {b:.1f}")
                pen = "L"
            else:
                pen = "M"
        return f'<path class="{kind}" d="{"".join(parts)}"/>'

    def band(self, x: FloatArray, low: FloatArray, high: FloatArray, kind: str) -> str:
        """Return an area between two curves."""
        across = np.concatenate([self.x(x), self.x(x[::-1])])
        along = np.concatenate([self.y(low), self.y(high[::-1])])
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, along, strict=True))
        return f'<polygon class="{kind}" points="{points}"/>'

    def axes(self, ticks: Sequence[tuple[float, str]]) -> str:
        """Return the lines and labels of both axes; those along x are given."""
        found = []
        for value in nice_ticks(self.bottom, self.top):
            y = self.y(value)
            found.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{self.width - RIGHT}"/>')
            found.append(
                f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.6g}</text>'
            )
        for value, name in ticks:
            x = self.x(value)
            found.append(
                f'<text x="{x:.1f}" y="{self.height - 12}" text-anchor="middle">{text(name)}</text>'
            )
        return "".join(found)


def nice_ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return round numbers between two others.

    Examples
    --------
    >>> [float(tick) for tick in nice_ticks(-0.3, 1.1)]
    [0.0, 0.5, 1.0]
    """
    span = high - low
    if not span > 0:
        return [low]
    raw = span / wanted
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * next(own for own in (1, 2, 5, 10) if raw <= own * power)
    first = int(np.ceil(low / step))
    return [own * step for own in range(first, int(np.floor(high / step)) + 1)]


def drawing(body: str, label: str, width: int = WIDTH, height: int = HEIGHT) -> str:
    """Return a drawing with a name for those who cannot see it."""
    return (
        f'<svg class="picture" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{text(label)}">{body}</svg>'
    )


def fan(forecast: Forecast, past: Past, column: int) -> str:
    """Return the fan chart of one column from the last start: the past, the mean, two intervals."""
    last = slice(len(forecast) - 1, None)
    # The fan begins at the start itself, which is known.
    here = int(forecast.steps[-1])
    ahead = here + forecast.leads.astype(np.float64)
    levels = forecast.quantile([0.05, 0.25, 0.75, 0.95])[:, last, :, column][:, 0]
    mean = forecast.mean[last, :, column][0]
    known = past.values[:, column]
    now = known[past.steps == here]
    if len(now) and np.isfinite(now[0]):
        ahead, mean = np.r_[here, ahead], np.r_[now[0], mean]
        levels = np.hstack([np.full((4, 1), now[0]), levels])
    everything = np.concatenate([known[np.isfinite(known)], levels.ravel()])
    low, high = float(everything.min()), float(everything.max())
    room = 0.05 * (high - low or 1.0)
    first = float(past.steps[0]) if len(past.steps) else float(here)
    frame = Frame(first, float(ahead[-1]), low - room, high + room)
    body = [
        frame.axes(time_ticks(forecast, first, float(ahead[-1]))),
        frame.band(ahead, levels[0], levels[3], "outer"),
        frame.band(ahead, levels[1], levels[2], "inner"),
        frame.line(past.steps.astype(np.float64), known, "past"),
        frame.line(ahead, mean, "mean"),
    ]
    return drawing("".join(body), f"Fan chart of {forecast.names[column]}")


def time_ticks(forecast: Forecast, low: float, high: float) -> list[tuple[float, str]]:
    """Return some steps with the words for their times: round numbers, or dates."""
    axis = forecast.axis
    if axis.kind in ("rows", "numbers"):
        start, step = (0.0, 1.0) if axis.kind == "rows" else (axis.origin, axis.step)
        found = nice_ticks(start + step * low, start + step * high, 8)
        return [((own - start) / step, f"{own:.10g}") for own in found]
    steps = np.unique(np.linspace(low, high, 8)[:-1].round()).astype(np.int64)
    names = times_in_words(axis.times(steps))
    short = [own[:7] for own in names] if axis.kind == "months" else names
    return list(zip(steps.tolist(), short, strict=True))


def score_curves(skill: Skill) -> str:
    """Return the scores of all methods over that of climatology, against the lead."""
    known = known_leads(skill)
    leads = skill.leads[known].astype(np.float64)
    curves = [over_climatology(skill, number)[known] for number in range(len(METHODS))]
    top = min(max(1.1, float(np.nanmax(curves, initial=0.0)) * 1.05), 2.0)
    # Scores far above that of climatology need not be seen.
    curves = [np.where(own <= top, own, np.nan) for own in curves]
    frame = Frame(float(np.log(leads[0])), float(np.log(leads[-1])) or 1.0, 0.0, top, 520, 260)
    ticks = [(float(np.log(lead)), f"{lead:g}") for lead in leads]
    body = [frame.axes(ticks if len(ticks) <= 12 else ticks[::2])]
    body += [frame.line(np.log(leads), own, f"method{number}") for number, own in enumerate(curves)]
    return drawing("".join(body), "Scores against the lead", 520, 260)


def reliability(skill: Skill) -> str:
    """Return how often what came fell into each tenth of its forecast, as bars."""
    shares = weights_of_leads(skill) @ skill.histogram.mean(axis=1)
    frame = Frame(0.0, 1.0, 0.0, max(0.2, 1.1 * float(shares.max())), 520, 260)
    width = frame.x(0.1) - frame.x(0.0) - 4
    floor = frame.y(0.0)
    bars = []
    for number, share in enumerate(shares):
        x, y = frame.x(number / 10) + 2, frame.y(share)
        bars.append(
            f'<rect class="bar-of-ten" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{floor - y:.1f}"/>'
        )
    even = frame.line(np.array([0.0, 1.0]), np.array([0.1, 0.1]), "even")
    ticks = [(own / 10, f"{own / 10:g}") for own in range(0, 11, 2)]
    return drawing(frame.axes(ticks) + "".join(bars) + even, "Reliability", 520, 260)
