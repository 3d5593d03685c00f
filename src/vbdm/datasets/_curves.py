"""Closed curves: the unit circle with a density of choice, ellipses and others."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from ..base.checks import as_number, check_choice
from ..errors import InputError
from ._line import Distribution, sturm_liouville, tabulated
from ._sample import (
    LARGEST,
    Function,
    RandomState,
    Sample,
    Truth,
    TruthBuilder,
    check_at_least,
    check_n_samples,
    check_scales,
    generator,
)
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


FULL_TURN = 2 * np.pi
PERTURBATION = 0.5

DENSITIES: dict[str, Function] = {
    "uniform": lambda angle: np.ones_like(angle),
    "cosine": lambda angle: 2 + np.cos(angle),
    "exponential": lambda angle: np.exp(np.cos(angle)),
}
SAMPLINGS = ("grid", "perturbed", "random")
OFFSETS = ("paper", "midpoint", "periodic")


def circle(
    n_samples: int,
    *,
    density: str | Function = "cosine",
    sampling: str = "grid",
    offset: str = "paper",
    random_state: RandomState = None,
) -> Sample:
    """Sample the unit circle in the plane.

    For the Laplacian the truth is ``-k²`` with ``cos kθ`` and ``sin kθ`` whatever the density;
    for other operators on a non-uniform circle it is a finite-volume solution.

    Parameters
    ----------
    n_samples : int
        Number of points.
    density : {"uniform", "cosine", "exponential"} or callable
        1, 2 + cos θ, exp(cos θ), or a positive function of the angle; normalised numerically.
    sampling : {"grid", "perturbed", "random"}
        Quantiles of the density at regular levels; the same with each angle moved forward by a
        random amount in [0, 0.5], which smooths the density; or independent angles.
    offset : {"paper", "midpoint", "periodic"}
        The levels of the grid: i/(N+1), (i-1/2)/N, both for i=1..N, or i/N for i=0..N-1. The
        first leaves a gap at angle 0 twice as wide as it should be, as in the paper.
    random_state : int, Generator or None
        Seed, not used by "grid".

    Examples
    --------
    >>> circle(100).truth(5).eigenvalues
    array([ 0., -1., -1., -4., -4.])
    """
    check_n_samples(n_samples, 2)
    check_choice(sampling, "sampling", SAMPLINGS)
    rng = generator(random_state)
    base = tabulated(circle_density(density), 0.0, FULL_TURN)
    levels = rng.random(n_samples) if sampling == "random" else grid_levels(n_samples, offset)
    angle = base.quantile(levels)
    pdf: Function = base.pdf
    if sampling == "perturbed":
        angle = (angle + rng.uniform(0.0, PERTURBATION, n_samples)) % FULL_TURN
        pdf = _smoothed(base)

    def build(n: int, c1: float) -> Truth:
        if c1 == 0 or density == "uniform":
            return periodic_interval(n, c1, FULL_TURN)
        return sturm_liouville(lambda t: np.log(pdf(t)), 0.0, FULL_TURN, n, c1, periodic=True)

    points = np.column_stack([np.cos(angle), np.sin(angle)])
    return Sample("circle", points, angle[:, np.newaxis], 1, "laplacian", pdf(angle), build)


def circle_density(
    density: str | Function,
) -> Function:
    """Return the density of that name, or the function that was given; neither is normalised."""
    if callable(density):
        return density
    check_choice(density, "density", tuple(DENSITIES))
    return DENSITIES[density]


def grid_levels(n: int, offset: str) -> FloatArray:
    """Return n regular levels in [0, 1] at which to take quantiles, shape (n,)."""
    check_choice(offset, "offset", OFFSETS)
    if offset == "paper":
        return np.arange(1, n + 1) / (n + 1)
    return (np.arange(n) + (0.5 if offset == "midpoint" else 0.0)) / n


def _smoothed(base: Distribution) -> Function:
    """Return the density of angles that each moved forward by a uniform amount in [0, 0.5].

    At each angle it is the mean of the old density over the last 0.5.
    """

    def pdf(angle: FloatArray) -> FloatArray:
        behind = angle - PERTURBATION
        passed_zero = (behind < 0).astype(np.float64)
        share = base.cdf(angle) - base.cdf(behind + FULL_TURN * passed_zero) + passed_zero
        return np.asarray(share / PERTURBATION, dtype=np.float64)

    return pdf
