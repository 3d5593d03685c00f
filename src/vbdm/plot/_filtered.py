"""A picture of what is known after each of some noisy or partial observations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray
from ..base.checks import accepts, an, as_floats, is_whole, shown
from ..errors import InputError
from ..forecast.filtering import Filtered
from ._canvas import BLUE, INK, VERMILION, check_axes, new_axes, set_title
from ._forecast import dress_time, legend_below


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
    if not (is_whole(column) and 0 <= column < result.mean.shape[1]):
        raise InputError(
            f"There is no such column; received {shown(column)}. There are {result.mean.shape[1]} "
            "column(s), numbered from 0. Pass the number of a column."
        )
    n = len(result.mean)
    seen = None if observations is None else one_each(observations, n, "observations")
    when = np.arange(n) if times is None else times_for(times, n)
    ax = new_axes(ax)
    low, high = result.quantile([0.05, 0.95])[:, :, column]
    ax.fill_between(when, low, high, color=BLUE, alpha=0.25, lw=0, label="90 % interval")
    ax.plot(when, result.mean[:, column], color=BLUE, lw=1.4, label="mean")
    if seen is not None:
        ax.plot(when, seen, ".", color=INK, ms=4, label="observed")
    if result.restarted.any():
        place = np.full(int(result.restarted.sum()), 0.97)
        ax.plot(when[result.restarted], place, "|", color=VERMILION, ms=9, mew=1.6,
                transform=ax.get_xaxis_transform(), label="began anew")  # fmt: skip
    ax.set_ylabel(f"column {column}")
    dress_time(ax, "dates" if when.dtype.kind == "M" else "steps" if times is None else "numbers")
    set_title(ax, f"What {int(result.observed.sum()):,} observations say")
    legend_below(ax)
    return ax


def one_each(values: Any, n: int, name: str) -> FloatArray:
    """Return one number for each step; NaN may stand for missing ones."""
    array = as_floats(values)
    if array is not None and array.size == n:
        return np.asarray(array.ravel(), dtype=np.float64)
    raise InputError(
        f"`{name}` must have one number for each of the {n:,} steps; received {shown(values)}. "
        "Pass those of one column, with NaN where there is none."
    )


def times_for(times: Any, n: int) -> NDArray[Any]:
    """Return times of steps, numbers or dates."""
    try:
        array = np.asarray(times)
    except ValueError:
        # Lists of different lengths.
        array = np.array(None)
    if array.shape == (n,) and array.dtype.kind in "iufM":
        return array
    raise InputError(
        f"`times` must have one number or date for each of the {n:,} steps; received "
        f"{shown(times)}. Leave `times` out to count the steps."
    )
