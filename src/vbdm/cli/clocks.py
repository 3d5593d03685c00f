"""Units of time: from a clock, if rows follow each other in time; else of the coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.estimate import Estimate
from ..errors import InputError
from ..report.clock_words import check_clock, unit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..dynamics.clock import Clock
    from ..spectrum.spectrum import Spectrum


@dataclass(frozen=True)
class TimeUnit:
    """The unit in which rates and times are told.

    Attributes
    ----------
    length : str
        Unit of the coordinates.
    diffusivity : Estimate or None
        D in length² per unit of time; None without a clock.
    unit : str
        Name of the unit of time.
    doubt : str
        Why the clock cannot be trusted; empty if it can.
    of_modes : tuple of float
        Standard errors of the times of the modes, by their numbers; empty without a clock.
    """

    length: str
    diffusivity: Estimate | None = None
    unit: str = ""
    doubt: str = ""
    of_modes: tuple[float, ...] = ()

    @property
    def of_times(self) -> str:
        """Unit of times."""
        return self.unit if self.diffusivity else f"{self.length}²/D"

    @property
    def of_rates(self) -> str:
        """Unit of rates."""
        return f"1/{self.unit}" if self.diffusivity else f"D/{self.length}²"

    def rate(self, found: Estimate) -> Estimate:
        """Return a rate in this unit; the errors of both factors count as independent."""
        return found if self.diffusivity is None else found.times(self.diffusivity)

    def time(self, found: Estimate) -> Estimate:
        """Return a time in this unit."""
        return found if self.diffusivity is None else found.over(self.diffusivity)

    def time_of_mode(self, number: int, found: Estimate) -> Estimate:
        """Return the time of a mode: its error is the clock's, to which D and λ add together."""
        value, error = self.time(found)
        return Estimate(value, self.of_modes[number] if number < len(self.of_modes) else error)

    @property
    def notes(self) -> list[str]:
        """What the reader must know about these times."""
        if self.diffusivity is None:
            return [
                f"Times are in units of {self.of_times}, D being the diffusion coefficient: points "
                "alone have no clock. Where rows are steps in time, --time-step 0.2ns finds D."
            ]
        found = f"D = {self.diffusivity} {self.length}² per {self.unit}"
        if self.doubt:
            return [f"The clock is in doubt ({found}): {self.doubt}"]
        return [f"The clock: {found}, on which the modes agree."]


def time_unit(entry: Mapping[str, Any] | None, length: str) -> TimeUnit:
    """Return the unit of times of a clock as results.json has it; None: there is no clock."""
    if not entry:
        return TimeUnit(length)
    check_clock(entry, "clock")
    found = Estimate(*(float(entry["diffusivity"][key]) for key in ("value", "error")))
    doubt = "" if entry["consistent"] else str(entry["reason"])
    errors = (np.nan if own is None else float(own) for own in entry["timescale_errors"])
    return TimeUnit(length, found, unit_of(entry), doubt, tuple(errors))


def find_clock(
    spectrum: Spectrum, rows: NDArray[np.intp], settings: Mapping[str, Any], step: tuple[float, str]
) -> Clock:
    """Return the clock of rows of a file, of which some may have been left out.

    Parameters
    ----------
    spectrum : Spectrum
        The model.
    rows : (N,) array
        Row of each point in the file.
    settings : mapping
        Options of ``vbdm fit``, of which `every` and `stride` make steps longer.
    step : (float, str)
        Time between rows of the file, and its unit.
    """
    if settings.get("subsample") is not None and np.any(np.diff(rows) != 1):
        raise InputError(
            "A clock needs rows that follow each other; received points drawn at random "
            "(--subsample). Thin the rows out evenly, with --every."
        )
    if spectrum.operator.settings.weighting.is_used:
        raise InputError(
            "A biased run has no clock; received --time-step, and points with weights. Leave "
            "--time-step out: rates are then in units of D/length²."
        )
    every = int(settings.get("every") or 1)
    factor = every * int(settings.get("stride") or 1)
    time, unit = step
    known = spectrum.settings.series.lengths or (len(rows),)
    return spectrum.clock(step=time * factor, unit=unit, lengths=unbroken(rows, every, known))


def unbroken(rows: NDArray[np.intp], every: int, lengths: tuple[int, ...]) -> list[int]:
    """Return lengths of the stretches in which rows follow each other without a gap.

    Examples
    --------
    >>> unbroken(np.array([0, 1, 2, 5, 6, 7]), 1, (5, 1))
    [3, 2, 1]
    """
    joints = set(np.cumsum(lengths).tolist())
    joints |= set((1 + np.flatnonzero(np.diff(rows) != every)).tolist())
    return [int(n) for n in np.diff(sorted({0, *joints}))]
