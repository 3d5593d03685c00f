"""Series that were measured: no truth is known, but what came next is."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ._sample import read_only


@dataclass(frozen=True, eq=False)
class Measured:
    """A series that was measured, with dates for times.

    Unlike a `Trajectory`, whose times are numbers from 0, it has dates, and with them seasons.

    Attributes
    ----------
    name : str
        What was measured.
    times : (N,) array of NumPy dates
        Times, without gaps; months are of the type ``datetime64[M]``.
    points : (N, n) array
        The values at those times, one row each.
    unit : str
        Unit of the values.
    source : str
        Who measured, and where it is published.
    """

    name: str
    times: NDArray[np.datetime64] = field(repr=False)
    points: FloatArray = field(repr=False)
    unit: str = ""
    source: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        times = np.array(self.times)
        times.flags.writeable = False
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "points", read_only(self.points))


def nino34() -> Measured:
    """Return the sea surface temperature of the Niño 3.4 region, month by month from January 1871.

    The region, 5°N to 5°S and 170°W to 120°W, is where El Niño and La Niña are told by: the water
    is warmer than usual, or colder, for some seasons at a time. Values are monthly means over the
    area in °C, with two decimals; the cycle of the seasons, 1.3 °C from top to bottom, is left
    in, and so is the warming of the ocean. What is usual is for the reader to say:
    `vbdm.Forecaster` takes the cycle off by itself, from the dates.

    Returns
    -------
    Measured
        1816 months, to April 2022, in one column.

    Notes
    -----
    From NOAA's Extended Reconstructed Sea Surface Temperature, version 5 (ERSSTv5): Huang et al.
    (2017), Journal of Climate 30, 8179-8205. It is a work of the government of the United States
    and in the public domain. It is a reconstruction: before 1950 few ships measured, and values
    are smoother than the sea was.

    Examples
    --------
    >>> from vbdm.datasets import nino34
    >>> nino = nino34()
    >>> nino.points.shape, str(nino.times[0]), str(nino.times[-1])
    ((1816, 1), '1871-01', '2022-04')
    >>> str(nino.times[nino.points[:, 0].argmax()])      # the El Niño of 2015
    '2015-11'
    """
    text = (files("vbdm.datasets") / "data" / "nino34.txt").read_text(encoding="utf-8")
    values = np.array([float(line) for line in text.splitlines() if not line.startswith("#")])
    times = np.datetime64("1871-01", "M") + np.arange(len(values))
    source = "NOAA/NCEI ERSSTv5, doi:10.1175/JCLI-D-16-0836.1"
    return Measured("nino34", times, values[:, None], "°C", source)
