"""Pictures of what modes say about time: a clock, metastable states and the rates between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.checks import accepts, an
from ..dynamics.clock import Clock
from ..dynamics.states import States
from ..operator.operator import Operator
from ._canvas import (
    BLUE,
    CYCLE,
    FAINT,
    INK,
    check_axes,
    dress,
    import_pyplot,
    log_ticks,
    new_axes,
    place,
    scatter,
    set_title,
)
from ._clouds import chosen


@accepts(result=an(Clock, "Pass spectrum.clock(step=0.2)."), ax=check_axes)
def clock(result: Any, ax: Any = None) -> Any:
    """Draw the time in which each mode decays, as it is seen at each lag.

    Parameters
    ----------
    result : Clock
        From `spectrum.clock(step=...)`.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Lines are implied times -τ/log C(τ) of single modes, horizontal where the process has
        forgotten all but its place. Dashed: 1/(D·rate) with the one diffusivity of the clock. Below
        the diagonal a mode decays within the lag, and nothing is seen of it.
    """
    ax = new_axes(ax)
    lags = result.lags * result.step
    for column, one in enumerate(result.by_mode):
        shade = column / max(len(result.by_mode), 2)
        color = tuple(0.7 * shade + (1 - 0.7 * shade) * part for part in (0.0, 0.27, 0.55))
        ax.plot(lags, result.implied_times[:, column], ".-", color=color, lw=1.2, ms=4,
                label=f"mode {one.mode}")  # fmt: skip
        ax.axhline(result.timescales[one.mode], color=BLUE, lw=0.8, ls="--")
    known = np.isfinite(result.implied_times).any(axis=1)
    ends = lags[known][[0, -1]] if known.any() else lags[[0, -1]]
    ax.plot(ends, ends, color=INK, lw=0.8, ls=":")
    ax.set_xscale("log")
    ax.set_yscale("log")
    log_ticks(ax.xaxis)
    log_ticks(ax.yaxis)
    unit = f" ({result.unit})" if result.unit else ""
    ax.set_xlabel(f"lag{unit}")
    ax.set_ylabel(f"implied time{unit}")
    agree = "modes agree" if result.consistent else "modes disagree"
    set_title(ax, f"D = {result.diffusivity}: {agree}")
    ax.legend(fontsize="small", framealpha=0.8, edgecolor="none")
    return ax


@accepts(result=an(States, "Pass spectrum.states()."), ax=check_axes)
def states(result: Any, ax: Any = None) -> Any:
    """Draw metastable states as circles, with arrows for the rates between them.

    Parameters
    ----------
    result : States
        From `spectrum.states()`.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Areas of circles are populations; arrows have the rates beside them. Rates below a
        thousandth of the largest are not drawn.
    """
    ax = new_axes(ax)
    n = len(result)
    angle = np.pi - 2 * np.pi * np.arange(n) / n
    at = np.column_stack([np.cos(angle), np.sin(angle)])
    shares = np.array([one.value for one in result.populations])
    ax.scatter(*at.T, s=6000 * shares + 300, color=BLUE, alpha=0.35, zorder=2)
    for i, one in enumerate(result.populations):
        ax.annotate(f"{i}\n{one.value:.1%}", at[i], ha="center", va="center", zorder=3)
    largest = np.max(result.rates, initial=0.0)
    for (i, j), rate in np.ndenumerate(result.rates):
        if i == j or rate <= 1e-3 * largest:
            continue
        # The number stands on the left of the way.
        along = (at[j] - at[i]) / np.linalg.norm(at[j] - at[i])
        left = 0.09 * np.array([-along[1], along[0]])
        ax.annotate(
            "", at[j] - 0.35 * along + left, at[i] + 0.35 * along + left,
            arrowprops={"arrowstyle": "->", "color": INK, "lw": 1},
        )  # fmt: skip
        middle = at[i] + 0.42 * (at[j] - at[i]) + 2.8 * left
        ax.annotate(f"{rate:.3g}", middle, ha="center", va="center", fontsize="small")
    ax.set_xlim(-1.6, 1.6)
    ax.set_ylim(-1.6, 1.6)
    ax.set_aspect("equal")
    ax.set_axis_off()
    per = f" per {result.unit}" if result.unit else ""
    set_title(ax, f"{n} metastable states, rates{per}")
    return ax


def states_on_points(
    result: States,
    operator: Operator,
    points: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> Any:
    """Draw points in the colour of their state, paler where they belong to several; and the rates.

    `operator` is that of the states' spectrum. `points` are other places at which to draw its
    points, (N, 1 or 2), and `names` labels of the axes.
    """
    figure = import_pyplot().figure(figsize=(10, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    positions = place(operator, points, left).named(names)
    shares = result.memberships[positions.rows]
    known = np.isfinite(shares).all(axis=1)
    best = np.where(known, np.argmax(np.nan_to_num(shares), axis=1), -1)
    on_line = positions.n_dims == 1
    if not on_line and not known.all():
        scatter(left, chosen(positions, ~known), color=FAINT)
    for state, share in enumerate(shares.T):
        color, own = CYCLE[state % len(CYCLE)], best == state
        if on_line:
            left.plot(positions.coordinates[:, 0], share, ".", ms=2, color=color, label=state)
        elif own.any():
            scatter(left, chosen(positions, own), color=color, alpha=share[own],
                    label=str(state), s=positions.marker_size)  # fmt: skip
    dress(left, positions, "Memberships" if on_line else "The state of each point")
    left.legend(title="state", frameon=False, markerscale=4 if on_line else 3)
    states(result, right)
    return figure
