"""Times of the modes in words: in the user's unit, if there is a clock; else in those of 1/λ.

A clock is given as results.json has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.checks import shown
from ..base.estimate import Estimate
from ..base.wording import common_style
from ..errors import InputError
from ..spectrum.spectrum import Spectrum

#: What a unit of time without a name is called.
NAMELESS = "units of the time step"
ClockEntry = Mapping[str, Any]


def check_clock(value: Any, name: str) -> ClockEntry:
    """Return a clock as results.json has it; anything else is refused."""
    lists = ("timescales", "timescale_errors")
    if (
        isinstance(value, Mapping)
        and isinstance(value.get("diffusivity"), Mapping)
        and all(isinstance(value["diffusivity"].get(key), float) for key in ("value", "error"))
        and all(isinstance(value.get(key), list) for key in lists)
        and all(isinstance(value.get(key), str) for key in ("unit", "reason"))
        and "consistent" in value
    ):
        return value
    raise InputError(
        f"`{name}` is no clock; received {shown(value)}. Pass the entry 'clock' of results.json."
    )


def unit_of(clock: ClockEntry) -> str:
    """Return the name of the unit of time."""
    return clock["unit"] or NAMELESS


def time_heading(clock: ClockEntry | None) -> str:
    """Return the heading of a column of times."""
    return "−1/λ" if clock is None else f"time, {unit_of(clock)}"


def times_in_words(spectrum: Spectrum, clock: ClockEntry | None) -> list[str]:
    """Return the time of each mode as text, with its error if there is a clock."""
    values = np.real(spectrum.eigenvalues)
    if clock is not None:
        return [time_in_words(clock, j) for j in range(len(values))]
    with np.errstate(divide="ignore"):
        times = np.where(values == 0, np.inf, 1 / np.abs(values))
    finite = times[np.isfinite(times)]
    # Styles show two digits of the smallest error; a tenth as error gives the times three digits.
    style = common_style(finite, finite / 10)
    return ["∞" if time == np.inf else style.show(time) for time in times]


def time_in_words(clock: ClockEntry, j: int) -> str:
    """Return the time of one mode; of modes that do not decay it is infinite.

    Examples
    --------
    >>> clock = {"timescales": [None, 2.013], "timescale_errors": [None, 0.042], "unit": "ns"}
    >>> time_in_words(clock, 0), time_in_words(clock, 1)
    ('∞', '2.013 ± 0.042')
    """
    time, error = clock["timescales"][j], clock["timescale_errors"][j]
    return "∞" if time is None else str(Estimate(time, np.nan if error is None else error))


def clock_in_words(clock: ClockEntry, length: str = "") -> str:
    """Return the diffusivity, and whether the modes agree on it.

    Examples
    --------
    >>> clock = {"diffusivity": {"value": 0.51, "error": 0.012}, "unit": "ns", "consistent": True}
    >>> clock_in_words(clock, "nm")
    'D = 0.510 ± 0.012 nm² per ns; the modes agree.'
    """
    found = Estimate(clock["diffusivity"]["value"], clock["diffusivity"]["error"])
    known = f"D = {found} {length or 'length'}² per {unit_of(clock)}"
    return f"{known}; the modes agree." if clock["consistent"] else f"{known}. {clock['reason']}"
