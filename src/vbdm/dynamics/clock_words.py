"""Arguments of a clock, and what is said where it cannot be read, or not as one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.checks import a_count, as_floats, as_number, shown
from ..base.wording import listed
from ..errors import InputError
from .clock import ModeClock

#: The longest lag, as a share of the longest series.
LONGEST = 0.25


def check_step(step: Any) -> float:
    """Return the time from one row to the next."""
    number = as_number(step)
    # Squares of times that are far larger or smaller are no numbers any more.
    if 1e-100 < number < 1e100:
        return number
    raise InputError(
        f"`step` must be a time greater than 0; received {shown(step)}. Pass, for example, "
        'step=0.2, unit="ns".'
    )


def check_unit(unit: Any) -> None:
    """Refuse a name of the unit of time that is no text."""
    if not isinstance(unit, str):
        raise InputError(
            f'`unit` must be a text; received {shown(unit)}. Pass, for example, unit="ns".'
        )


def check_lags(lags: Any, longest: int) -> NDArray[np.intp]:
    """Return lags in rows, from short to long; those that are tried if none are given."""
    most = max(int(LONGEST * longest), 1)
    if longest < 3:
        raise InputError(
            f"The series is too short for a clock; received {longest} row(s) in the longest "
            "series. Pass a longer series; check `lengths`."
        )
    if lags is None:
        return all_lags(most)
    array = as_floats(lags)
    if array is not None and array.ndim <= 1 and array.size:
        array = np.unique(array)
        if np.isfinite(array).all() and (array == np.floor(array)).all() and array[0] >= 1:
            longest_lag = a_count(1, longest - 1)
            return np.array([longest_lag(int(lag), "lags") for lag in array], dtype=np.intp)
    raise InputError(
        f"`lags` must be whole numbers of rows, 1 or more; received {shown(lags)}. Leave `lags` "
        "out, or pass, for example, lags=[1, 2, 5, 10]."
    )


def all_lags(longest: int) -> NDArray[np.intp]:
    """Return 1, 2, 3, 4, 6, 8, 12, … up to a longest lag.

    Examples
    --------
    >>> all_lags(10).tolist()
    [1, 2, 3, 4, 6, 8]
    """
    powers = 2 ** np.arange(int(np.log2(longest)) + 1)
    found = np.unique(np.concatenate([powers, 3 * powers[:-1]]))
    return np.asarray(found[found <= longest], dtype=np.intp)


def nothing_seen(modes: Any, lag: int, correlations: FloatArray, fast: bool) -> InputError:
    """Return the error for a series along which no mode forgets at a rate that can be read."""
    if not len(modes):
        return InputError(
            "No mode tells how fast the process is; received a spectrum without a mode that "
            "decays. Ask for more eigenvalues: `op.spectrum(6)`."
        )
    reason = (
        "Rows are so far apart in time that they are as good as independent."
        if fast
        else "All modes change too little over the whole series: it is too short, or does not move."
    )
    advice = "Use a shorter `step`, or shorter `lags`." if fast else "Pass a longer series."
    return InputError(
        "No mode tells how fast the process is; received correlations of modes "
        f"{listed(modes[:4])} after {lag} row(s) of "
        f"{', '.join(f'{value:.2g}' for value in correlations[:4])}. {reason} {advice}"
    )  # fmt: skip


def reason(by_mode: tuple[ModeClock, ...], *, steady: bool, agree: bool, c1: float | None) -> str:
    """Return in words whether there is one diffusivity."""
    each = "; ".join(f"mode {one.mode}: {one.diffusivity}" for one in by_mode[:4])
    if not steady:
        return (
            f"The diffusivity changes with the lag until modes are forgotten ({each}), as it "
            "does with inertia, with memory, or with noise in the measurements. Pass longer "
            "`lags`, or use the implied times of single modes (`by_mode`)."
        )
    if not agree:
        words = (
            f"The modes do not decay with one diffusivity ({each}): the process is no "
            "diffusion that is the same in all directions of these columns. Divide each "
            "column by the square root of its own diffusivity, or use the implied times of "
            "single modes (`by_mode`)."
        )
        if c1 is not None and not np.isclose(c1, 1):
            words += ' A process that samples its own density needs operator="generator".'
        return words
    if len(by_mode) == 1:
        return f"Only mode {by_mode[0].mode} is seen, with no other to compare it with."
    return f"{len(by_mode)} modes agree on one diffusivity ({each})."
