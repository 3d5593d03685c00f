"""Trajectories of overdamped Langevin dynamics: Ornstein-Uhlenbeck, and published potentials."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.checks import a_number, accepts
from ._muller_brown import BETA, CENTRES, FORMS, HEIGHTS, INVERSE_TEMPERATURE, muller_brown
from ._sample import RandomState, check_at_least, check_n_samples, generator
from ._series import Trajectory, check_n_steps
from ._wells import BARRIER, double_well, prinz

#: Product of an inner step and the largest curvature of the potential where points are.
INNER_STEP = 0.1
#: The largest curvatures of Prinz's potential and of Müller and Brown's, where points are.
PRINZ_CURVATURE, MULLER_BROWN_CURVATURE = 670.0, 4100.0
STEP, DIFFUSIVITY = a_number(1e-9, 1e9), a_number(1e-9, 1e9)

#: Place to force. A place of the plane is a complex number: one number is faster than an array.
Force = Callable[[Any], Any]


@accepts(step=STEP, diffusivity=DIFFUSIVITY, barrier=BARRIER)
def double_well_series(
    n_samples: int,
    *,
    step: float = 0.1,
    diffusivity: float = 1.0,
    barrier: float = 2.0,
    random_state: RandomState = None,
) -> Trajectory:
    """Follow ``dx = -D U' dt + √(2D) dW`` in the two wells of `double_well`, U = b(x²-1)².

    Parameters
    ----------
    n_samples : int
        Number of states.
    step : float
        Time from one state to the next.
    diffusivity : float
        D. Rates are D times those of the generator, which `double_well` has.
    barrier : float
        Height b of the barrier in kT.
    random_state : int, Generator or None
        Seed. The first state is drawn from the invariant density, so there is no transient.

    Examples
    --------
    >>> series = double_well_series(1000, step=0.2, diffusivity=0.5, random_state=0)
    >>> series.points.shape, float(series.times[1])
    ((1000, 1), 0.2)
    """

    def force(x: float) -> float:
        return -4 * barrier * x * (x * x - 1)

    rng = generator(random_state)
    check_n_samples(n_samples, 1)
    start = double_well(1, barrier=barrier, random_state=rng).points[0]
    # The curvature b(12x² - 4) at a height of 10 kT, beyond which points hardly ever are.
    stiffness = diffusivity * (8 * barrier + 12 * np.sqrt(10 * barrier))
    return _followed("double_well", force, start, n_samples, step, diffusivity, stiffness, rng)


@accepts(step=STEP)
def ou_series(
    n_samples: int, *, step: float = 0.1, dim: int = 1, random_state: RandomState = None
) -> Trajectory:
    """Follow the Ornstein-Uhlenbeck process ``dx = -x dt + √2 dW``, without any error of the step.

    The one series of which everything is known: from x, a time t later, the state is normal with
    mean e⁻ᵗ x and variance 1 - e⁻²ᵗ in each coordinate.

    Parameters
    ----------
    n_samples : int
        Number of states.
    step : float
        Time from one state to the next.
    dim : int
        Dimension; coordinates do not know of each other.
    random_state : int, Generator or None
        Seed. The first state is drawn from the invariant density, N(0, 1) in each coordinate.

    Notes
    -----
    Implements x' = e⁻ˢ x + √(1 - e⁻²ˢ) ξ with the step s and normal numbers ξ, which is exact for
    any step.

    Examples
    --------
    >>> series = ou_series(1000, step=0.5, dim=2, random_state=0)
    >>> series.points.shape, float(series.times[1])
    ((1000, 2), 0.5)
    """
    from scipy.signal import lfilter

    check_at_least(dim, "dim")
    check_n_samples(n_samples, dim)
    kicks = generator(random_state).standard_normal((n_samples, dim))
    kicks[1:] *= np.sqrt(-np.expm1(-2 * step))
    states = lfilter([1.0], [1.0, -exp(-step)], kicks, axis=0)
    return Trajectory("ou", step * np.arange(n_samples, dtype=np.float64), states)


@accepts(step=STEP, diffusivity=DIFFUSIVITY)
def prinz_series(
    n_samples: int,
    *,
    step: float = 0.02,
    diffusivity: float = 1.0,
    random_state: RandomState = None,
) -> Trajectory:
    """Follow ``dx = -D U' dt + √(2D) dW`` in the four wells of Prinz et al. (2011).

    The arguments are those of `double_well_series`. The slowest timescale is 1/(1.2 D), by the
    truth of `prinz`; a step of 0.02 takes about a fifth of a millisecond.

    Examples
    --------
    >>> prinz_series(100, random_state=0).points.shape
    (100, 1)
    """

    def force(x: float) -> float:
        left, right = x + 0.5, x - 0.5
        bumps = 128 * x * exp(-80 * x * x) + 32 * right * exp(-80 * right * right)
        return 4 * (bumps + 40 * left * exp(-40 * left * left) - 8 * x**7)

    rng = generator(random_state)
    check_n_samples(n_samples, 1)
    start = prinz(1, random_state=rng).points[0]
    stiffness = diffusivity * PRINZ_CURVATURE
    return _followed("prinz", force, start, n_samples, step, diffusivity, stiffness, rng)


@accepts(step=STEP, diffusivity=DIFFUSIVITY, beta=INVERSE_TEMPERATURE)
def muller_brown_series(
    n_samples: int,
    *,
    step: float = 0.02,
    diffusivity: float = 1.0,
    beta: float = BETA,
    random_state: RandomState = None,
) -> Trajectory:
    """Follow ``dx = -Dβ∇V dt + √(2D) dW`` in the potential of Müller and Brown (1979).

    The arguments are those of `double_well_series`, and the inverse temperature ``beta``. At the
    usual one it takes a time of 27/D to get from the deepest well to the next one; a step of
    0.02 takes about a fifth of a millisecond.

    Examples
    --------
    >>> muller_brown_series(100, random_state=0).points.shape
    (100, 2)
    """
    terms = [(-beta * h, *form, *c) for h, form, c in zip(HEIGHTS, FORMS, CENTRES, strict=True)]

    def force(place: complex) -> complex:
        right = up = 0.0
        for height, a, b, c, x0, y0 in terms:
            dx, dy = place.real - x0, place.imag - y0
            term = height * exp(a * dx * dx + b * dx * dy + c * dy * dy)
            right += term * (2 * a * dx + b * dy)
            up += term * (b * dx + 2 * c * dy)
        return complex(right, up)

    rng = generator(random_state)
    check_n_samples(n_samples, 2)
    start = muller_brown(1, beta=beta, random_state=rng).points[0]
    stiffness = diffusivity * beta * MULLER_BROWN_CURVATURE
    return _followed("muller_brown", force, start, n_samples, step, diffusivity, stiffness, rng)


def _followed(
    name: str,
    force: Force,
    start: FloatArray,
    n_samples: int,
    step: float,
    diffusivity: float,
    stiffness: float,
    rng: np.random.Generator,
) -> Trajectory:
    """Follow the dynamics by Heun's method, of second order in the inner step for such noise."""
    inner = max(1, ceil(step * stiffness / INNER_STEP))
    check_n_steps(inner * n_samples, "a shorter `step`")
    drift = diffusivity * step / inner
    states = np.empty((n_samples, start.size))
    states[0] = start
    kind = np.float64 if start.size == 1 else np.complex128
    place = start.view(kind).item()
    for i in range(1, n_samples):
        kicks = np.sqrt(2 * drift) * rng.standard_normal((inner, start.size))
        for kick in kicks.view(kind).ravel().tolist():
            first = force(place)
            second = force(place + drift * first + kick)
            place += drift / 2 * (first + second) + kick
        states[i] = place if start.size == 1 else (place.real, place.imag)
    return Trajectory(name, step * np.arange(n_samples, dtype=np.float64), states)
