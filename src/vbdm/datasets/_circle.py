"""The unit circle with a density of choice."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from ..base.checks import check_choice
from ._checks import check_n_samples, generator
from ._distribution import Distribution, tabulated
from ._sample import Function, RandomState, Sample, Truth
from ._spectra import periodic_interval
from ._sturm_liouville import sturm_liouville

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
