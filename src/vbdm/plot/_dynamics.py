"""Pictures of what modes say about time: a clock, metastable states."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.accepts import accepts, an
from ..dynamics.clock import Clock
from ._canvas import BLUE, INK, check_axes, log_ticks, new_axes, set_title


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
