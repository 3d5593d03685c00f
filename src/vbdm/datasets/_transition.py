"""Committors, passage times and rates between two sets that are known without learning."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..base.arrays import FloatArray
from ..base.checks import a_function, answer_of, as_floats, check_real
from ..errors import InputError
from ._checks import LARGEST
from ._sample import Function

#: Cells of the quadrature in each of the three parts of the line.
CELLS = 4000
#: Logarithms of the density below its maximum that matter; both it and its inverse are numbers.
LARGEST_RANGE = 300.0


@dataclass(frozen=True, eq=False)
class Transition:
    """The passage from a set A to a set B of ``dx = ∇log π dt + √2 dW``, exact.

    Times are in units in which the diffusivity is 1: with a diffusivity D divide times by D, and
    multiply rates and the flux by D.

    Attributes
    ----------
    flux : float
        ν, the number of passages from A to B per unit of time.
    rate : float
        ν over the share of time in which A was the last of both sets: the rate of A → B.
    rate_back : float
        The rate of B → A.
    mean_passage_time : float
        The mean time to reach B from points of A, distributed there as π is.
    committor : callable
        Takes points, (N, n) or on the line (N,), and gives the probability to reach B before A.
    passage_time : callable
        Takes points and gives the mean time to reach B.
    """

    flux: float
    rate: float
    rate_back: float
    mean_passage_time: float
    committor: Function = field(repr=False)
    passage_time: Function = field(repr=False)


def line_transition(
    log_density: Function, a: float, b: float, *, low: float, high: float
) -> Transition:
    """Integrate the passage from A = {x ≤ a} to B = {x ≥ b} on a line.

    With π = exp(log_density): the committor is ∫_a^x 1/π over ∫_a^b 1/π, the time to reach b
    is ∫_x^b (1/π(y)) ∫_{-∞}^y π.

    Parameters
    ----------
    log_density : callable
        The logarithm of the invariant density, up to a constant; takes an array.
    a, b : float
        The edges of both sets, a < b.
    low, high : float
        Where the line is cut off; the density beyond should be negligible. Ends reflect.

    Examples
    --------
    Two wells at ±1, the sets beyond them:

    >>> known = line_transition(lambda x: -2 * (x**2 - 1) ** 2, -1, 1, low=-2.6, high=2.6)
    >>> round(known.flux, 5), round(known.mean_passage_time, 2)
    (0.09748, 5.16)
    >>> known.committor(np.array([-2.0, 0.0, 1.5]))
    array([0. , 0.5, 1. ])
    """
    a, b, low, high = _in_order(low, a, b, high)
    ends = ((low, a), (a, b), (b, high))
    x = np.unique(np.concatenate([np.linspace(*pair, 2 * CELLS + 1) for pair in ends]))
    logs = _logarithms(log_density, x)
    density, resistance = np.exp(logs), np.exp(-logs)
    at_a, at_b = 2 * CELLS, 4 * CELLS

    mass = _integral(x, density)
    delays = _integral(x, resistance * mass)
    times = np.maximum(delays[at_b] - delays, 0.0)
    # 1/π is integrated between the sets alone: outside it is so large that digits would be lost.
    between = _integral(x[at_a : at_b + 1], resistance[at_a : at_b + 1])
    chances = np.zeros_like(x)
    chances[at_a : at_b + 1], chances[at_b:] = between / between[-1], 1.0

    last_in_a = _integral(x, density * (1 - chances))[-1] / mass[-1]
    flux = 1 / (mass[-1] * between[-1])
    return Transition(
        flux=float(flux),
        rate=float(flux / last_in_a),
        rate_back=float(flux / (1 - last_in_a)),
        mean_passage_time=float(_integral(x, density * times)[at_a] / mass[at_a]),
        committor=_on_the_line(x, chances),
        passage_time=_on_the_line(x, times),
    )


def _in_order(low: float, a: float, b: float, high: float) -> tuple[float, float, float, float]:
    names = ("low", "a", "b", "high")
    low, a, b, high = (check_real(v, n) for v, n in zip((low, a, b, high), names, strict=True))
    if not low < a < b < high or high - low > LARGEST:
        raise InputError(
            f"The line and its sets must satisfy low < a < b < high; received low={low:g}, "
            f"a={a:g}, b={b:g}, high={high:g}. A is what lies below `a`, B is what lies above "
            "`b`, and both have points. Choose `low` and `high` where the density has all but "
            "vanished."
        )
    return a, b, low, high


def _logarithms(log_density: Function, x: FloatArray) -> FloatArray:
    """Return the logarithm of the density, at most 0, with what is negligible cut off."""
    found = as_floats(answer_of(a_function(log_density, "log_density"), "log_density", x))
    if found is None or found.shape not in ((), x.shape) or np.isnan(found).any():
        raise InputError(
            "`log_density` must give a number for each entry of an array; received something "
            "else, or NaN. Write it with NumPy, such as log_density=lambda x: -x**2 / 2."
        )
    with np.errstate(invalid="ignore"):
        logs = np.broadcast_to(found, x.shape) - found.max()
    return np.asarray(np.nan_to_num(np.maximum(logs, -LARGEST_RANGE), nan=0.0))


def _integral(x: FloatArray, values: FloatArray) -> FloatArray:
    """Return the integral from the first place on, by parabolas through three places at a time."""
    first, middle, last = values[:-2:2], values[1::2], values[2::2]
    step = (x[2::2] - x[:-2:2]) / 2
    whole = np.zeros_like(values)
    whole[2::2] = np.cumsum(step * (first + 4 * middle + last) / 3)
    whole[1::2] = whole[:-2:2] + step * (5 * first + 8 * middle - last) / 12
    return whole


def _on_the_line(x: FloatArray, values: FloatArray) -> Function:
    def at(points: FloatArray) -> FloatArray:
        return np.interp(np.ravel(points), x, values)

    return at
