"""Closed curves other than a clean circle."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from ..base.checks import as_number
from ..errors import InputError
from ._checks import LARGEST, check_at_least, check_n_samples, check_scales, generator
from ._circle import FULL_TURN, circle_density
from ._distribution import Distribution, tabulated
from ._sample import Function, RandomState, Sample, Truth, TruthBuilder
from ._spectra import laplacian_only, periodic_interval, pulled_back

HARMONICS = np.arange(2, 6)
CURVE_SEED = 5


def ellipse(
    n_samples: int, *, axes: tuple[float, float] = (2.0, 1.0), random_state: RandomState = None
) -> Sample:
    """Sample ``(a cos θ, b sin θ)`` with θ uniform, which is not uniform in arc length.

    To the Laplacian a closed curve is a circle of the same length: ``-(2πk/length)²`` with
    cosines and sines of the arc length.
    """
    check_n_samples(n_samples, 2)
    a, b = check_scales(axes, "axes", 2).tolist()
    angle = generator(random_state).uniform(0.0, FULL_TURN, n_samples)
    points = np.column_stack([a * np.cos(angle), b * np.sin(angle)])
    arc = tabulated(lambda t: np.hypot(a * np.sin(t), b * np.cos(t)), 0.0, FULL_TURN)
    return _curve_sample("ellipse", points, angle, np.full(n_samples, 1 / FULL_TURN), arc)


def closed_curve(n_samples: int, *, ambient: int = 10, random_state: RandomState = None) -> Sample:
    """Sample a smooth closed curve that winds through all of its ambient space.

    The first two coordinates are cos t and sin t, so the curve cannot meet itself; the others
    are fixed sums of the harmonics 2 to 5 with amplitudes falling as 1/k. The parameter t has
    density ∝ 2 + cos t. The truth of the Laplacian is ``-(2πk/length)²``, with cosines and sines
    of the arc length.

    Examples
    --------
    >>> closed_curve(100, random_state=0).points.shape
    (100, 10)
    """
    check_at_least(ambient, "ambient", least=3)
    check_n_samples(n_samples, ambient)
    amplitudes = np.random.default_rng(CURVE_SEED).uniform(-1, 1, (2, HARMONICS.size, ambient - 2))
    amplitudes /= HARMONICS[:, np.newaxis]
    parameter = tabulated(circle_density("cosine"), 0.0, FULL_TURN)
    t = parameter.quantile(generator(random_state).random(n_samples))
    arc = tabulated(_speed(amplitudes), 0.0, FULL_TURN)
    points = np.column_stack([np.cos(t), np.sin(t), _waves(t, amplitudes)])
    return _curve_sample("closed_curve", points, t, parameter.pdf(t), arc)


def noisy_circle(
    n_samples: int, *, noise: float = 0.01, ambient: int = 10, random_state: RandomState = None
) -> Sample:
    """Sample the unit circle uniformly, then add normal noise in every ambient coordinate.

    The truth, the parameters and the density are those of the clean circle.
    """
    check_at_least(ambient, "ambient", least=2)
    check_n_samples(n_samples, ambient)
    if not 0 <= as_number(noise) <= LARGEST:
        raise InputError(
            f"`noise` must be a finite number, 0 or more; received {noise!r}. Try noise=0.01; "
            "the radius of the circle is 1."
        )
    rng = generator(random_state)
    angle = rng.uniform(0.0, FULL_TURN, n_samples)
    points = noise * rng.standard_normal((n_samples, ambient))
    points[:, :2] += np.column_stack([np.cos(angle), np.sin(angle)])
    density = np.full(n_samples, 1 / FULL_TURN)

    def build(n: int, c1: float) -> Truth:
        return periodic_interval(n, c1, FULL_TURN)

    parameters = angle[:, np.newaxis]
    return Sample("noisy_circle", points, parameters, 1, "laplacian", density, build)


def _waves(t: FloatArray, amplitudes: FloatArray) -> FloatArray:
    angle = t[:, np.newaxis] * HARMONICS
    return np.asarray(
        np.cos(angle) @ amplitudes[0] + np.sin(angle) @ amplitudes[1], dtype=np.float64
    )


def _speed(amplitudes: FloatArray) -> Function:
    slopes = HARMONICS[:, np.newaxis] * np.stack([amplitudes[1], -amplitudes[0]])
    # The first two coordinates move at speed 1.
    return lambda t: np.sqrt(1 + (_waves(t, slopes) ** 2).sum(axis=1))


def _curve_sample(
    name: str,
    points: FloatArray,
    parameter: FloatArray,
    parameter_density: FloatArray,
    arc: Distribution,
) -> Sample:
    """Return the sample of a curve with the speed ``arc.shape`` and the length ``arc.mass``."""
    density = parameter_density / arc.shape(parameter)
    builder = laplacian_only(name, _in_arc_length(arc))
    return Sample(name, points, parameter[:, np.newaxis], 1, "laplacian", density, builder)


def _in_arc_length(arc: Distribution) -> TruthBuilder:
    def build(n: int, c1: float) -> Truth:
        in_arc_length = periodic_interval(n, c1, arc.mass)
        return pulled_back(in_arc_length, lambda t: arc.mass * arc.cdf(t % FULL_TURN))

    return build
