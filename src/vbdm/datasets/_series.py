"""Series: a trajectory on the attractor of Lorenz, and sea surface temperatures with dates."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.checks import as_number
from ..errors import InputError
from ._sample import (
    RandomState,
    check_at_least,
    check_n_samples,
    check_scale,
    generator,
    read_only,
    shown,
)

#: A state away from the fixed points, near enough to the attractor to reach it in a time of 20.
START = (1.0, 1.0, 20.0)
#: Standard deviation of the random start about START; the attractor's size is about 40.
SPREAD = 1.0
#: Most steps of a trajectory; so many take some minutes.
MOST_STEPS = 10**8


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The path of a system: its states at regular times.

    Unlike a `Sample` it has no truth of its own. For a chaotic system neither density nor spectrum
    are known in closed form; for a series in a potential, the sample of the same name has them.

    Attributes
    ----------
    name : str
        The name of the system.
    times : (N,) array
        Times, evenly spaced, from 0.
    points : (N, n) array
        The states at those times, one in each row.
    """

    name: str
    times: FloatArray = field(repr=False)
    points: FloatArray = field(repr=False)

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for name in ("times", "points"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def delayed(self, n_delays: int, *, lag: int = 1, column: int = 0) -> FloatArray:
        """Put one coordinate next to its own past: all that an observer of it alone could know.

        Parameters
        ----------
        n_delays : int
            Number of values in a row.
        lag : int
            Number of states from one value to the next.
        column : int
            Number of the coordinate that is observed, from 0.

        Returns
        -------
        (N - (n_delays - 1) lag, n_delays) array
            The newest value first. Row i belongs to the time ``times[i + (n_delays - 1) * lag]``.

        Examples
        --------
        >>> from vbdm.datasets import lorenz63
        >>> lorenz63(1000, random_state=0).delayed(5, lag=2).shape
        (992, 5)
        """
        check_at_least(n_delays, "n_delays")
        check_at_least(lag, "lag")
        n_points, n_columns = self.points.shape
        if not (isinstance(column, int | np.integer) and column in range(n_columns)):
            raise InputError(
                f"`column` must be one of 0, ..., {n_columns - 1}; received {column!r}. The "
                f"states have {n_columns} coordinates. Try column=0."
            )
        reach = (n_delays - 1) * lag
        if reach >= n_points:
            raise InputError(
                f"The trajectory is too short for so many delays; received {n_delays} delays of "
                f"{lag} sample(s) each. The trajectory has {n_points} states. Take fewer delays, "
                "a smaller lag, or a longer trajectory."
            )
        observed = self.points[:, column]
        shifts = reach - lag * np.arange(n_delays)
        return np.column_stack([observed[s : s + n_points - reach] for s in shifts])


def lorenz63(
    n_samples: int,
    *,
    step: float = 0.1,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8 / 3,
    burn_in: float = 20.0,
    substeps: int = 10,
    random_state: RandomState = None,
) -> Trajectory:
    """Follow the system of Lorenz (1963), a rough picture of convection, on its attractor.

    ``x' = σ(y - x)``, ``y' = x(ρ - z) - y``, ``z' = xy - βz``. At the usual parameters the
    trajectory circles one of two centres for a while and then the other, for ever and without a
    rule. The attractor is almost a surface: its dimension is 2.06.

    Parameters
    ----------
    n_samples : int
        Number of states.
    step : float
        Time from one state to the next. A turn about a centre takes about 0.75.
    sigma, rho, beta : float
        Parameters of the system.
    burn_in : float
        Time that passes before the first state, so that it lies on the attractor.
    substeps : int
        Steps of the Runge-Kutta method of order four between two states.
    random_state : int, Generator or None
        Seed of the start, which is (1, 1, 20) plus a standard normal number in each coordinate.

    Returns
    -------
    Trajectory

    Notes
    -----
    The method and the step are fixed, so the same call gives the same states. Two machines may
    still disagree after a time of about 40: chaos doubles a rounding error every 0.8.

    Examples
    --------
    >>> from vbdm.datasets import lorenz63
    >>> trajectory = lorenz63(500, random_state=0)
    >>> trajectory.points.shape
    (500, 3)
    >>> bool((trajectory.points[:, 2] > 0).all())      # z stays positive on the attractor
    True
    """
    # A state in a list takes as much memory as an array of twenty numbers.
    check_n_samples(n_samples, 20)
    step = check_scale(step, "step")
    system = check_scale(sigma, "sigma"), check_scale(rho, "rho"), check_scale(beta, "beta")
    if not 0 <= as_number(burn_in) < np.inf:
        raise InputError(
            f"`burn_in` must be a finite time, 0 or more; received {burn_in!r}. Leave "
            "`burn_in` at its default."
        )
    start = START + SPREAD * generator(random_state).standard_normal(3)
    state = (float(start[0]), float(start[1]), float(start[2]))
    check_n_samples(substeps, 1, "substeps")
    check_n_steps(substeps * (n_samples + burn_in / step), "fewer `substeps`, or less `burn_in`")
    h = step / substeps
    for _ in range(int(np.ceil(burn_in / h))):
        state = _runge_kutta(state, h, *system)
    states = [state]
    while len(states) < n_samples:
        for _ in range(substeps):
            state = _runge_kutta(state, h, *system)
        states.append(state)
    points = np.array(states)
    if not np.isfinite(points).all():
        raise InputError(
            f"The trajectory left for infinity; received step={step:g} with substeps={substeps}. "
            "Take a shorter step or more substeps."
        )
    return Trajectory("lorenz63", step * np.arange(n_samples, dtype=np.float64), points)


def check_n_steps(n_steps: float, advice: str) -> None:
    """Refuse a trajectory that would take longer than anybody waits."""
    if not n_steps <= MOST_STEPS:
        raise InputError(
            f"A trajectory has at most {MOST_STEPS:.0e} steps; received "
            f"{shown(int(min(n_steps, 1e300)))}. Ask for fewer states, or {advice}."
        )


State = tuple[float, float, float]


def _velocity(state: State, sigma: float, rho: float, beta: float) -> State:
    x, y, z = state
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def _moved(state: State, velocity: State, time: float) -> State:
    return (
        state[0] + time * velocity[0],
        state[1] + time * velocity[1],
        state[2] + time * velocity[2],
    )


def _runge_kutta(state: State, h: float, sigma: float, rho: float, beta: float) -> State:
    """Make one step of the classical method of order four.

    With three coordinates, plain floats are faster than arrays.
    """
    first = _velocity(state, sigma, rho, beta)
    second = _velocity(_moved(state, first, h / 2), sigma, rho, beta)
    third = _velocity(_moved(state, second, h / 2), sigma, rho, beta)
    fourth = _velocity(_moved(state, third, h), sigma, rho, beta)
    for velocity, weight in ((first, 1), (second, 2), (third, 2), (fourth, 1)):
        state = _moved(state, velocity, h * weight / 6)
    return state


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
