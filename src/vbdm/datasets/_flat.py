"""Flat manifolds of one dimension or more: torus, interval, box, rolled-up sheet."""

from __future__ import annotations

import numpy as np
from scipy.special import i0

from ..base.arrays import FloatArray
from ..base.checks import check_choice
from ..errors import InputError
from ._curves import DENSITIES, FULL_TURN
from ._line import sturm_liouville, tabulated
from ._sample import (
    RandomState,
    Sample,
    Truth,
    check_at_least,
    check_n_samples,
    check_scale,
    generator,
    refuse_if_too_large,
)
from ._spectra import neumann_interval, periodic_interval, product

ROLL_ANGLES = (1.5 * np.pi, 4.5 * np.pi)


def torus(
    n_samples: int,
    *,
    density: str = "uniform",
    sampling: str = "random",
    random_state: RandomState = None,
) -> Sample:
    """Sample the flat torus ``(cos a, sin a, cos b, sin b)`` in R⁴.

    The spectrum of the Laplacian is ``-(k² + l²)`` with products of sines and cosines. With the
    exponential density, ``q ∝ exp(cos a)``, the other operators have a truth too: the part in
    ``a`` is solved by finite volumes.

    Parameters
    ----------
    n_samples : int
        Number of points; the square of an integer for a grid.
    density : {"uniform", "exponential"}
        Uniform, or ``a`` von Mises and ``b`` uniform.
    sampling : {"random", "grid"}
        Independent points, or a regular grid (uniform density only).
    random_state : int, Generator or None
        Seed.

    Examples
    --------
    >>> torus(100, sampling="grid").truth(6).eigenvalues
    array([ 0., -1., -1., -1., -1., -2.])
    """
    check_n_samples(n_samples, 4)
    check_choice(density, "density", ("uniform", "exponential"))
    check_choice(sampling, "sampling", ("random", "grid"))
    if sampling == "grid":
        angles = _torus_grid(n_samples, density)
    else:
        rng = generator(random_state)
        angles = rng.uniform(0.0, FULL_TURN, (n_samples, 2))
        if density == "exponential":
            angles[:, 0] = rng.vonmises(0.0, 1.0, n_samples) % FULL_TURN

    def build(n: int, c1: float) -> Truth:
        second = periodic_interval(n, c1, FULL_TURN)
        first = second
        if density == "exponential" and c1 != 0:
            first = sturm_liouville(np.cos, 0.0, FULL_TURN, n, c1, periodic=True)
        return product([first, second], n)

    mass = FULL_TURN * (FULL_TURN * i0(1.0) if density == "exponential" else FULL_TURN)
    heights = DENSITIES[density](angles[:, 0]) / mass
    a, b = angles.T
    points = np.column_stack([np.cos(a), np.sin(a), np.cos(b), np.sin(b)])
    return Sample("torus", points, angles, 2, "laplacian", heights, build)


def _torus_grid(n_samples: int, density: str) -> FloatArray:
    side = round(np.sqrt(n_samples))
    if side**2 != n_samples:
        raise InputError(
            f"`n_samples` must be a square for sampling='grid'; received {n_samples!r}. Try "
            f"n_samples={side**2}."
        )
    if density != "uniform":
        raise InputError(
            f"sampling='grid' needs density='uniform'; received density={density!r}. Use "
            "sampling='random'."
        )
    steps = FULL_TURN * np.arange(side) / side
    return np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)


def interval(n_samples: int, *, random_state: RandomState = None) -> Sample:
    """Sample [0, 1] uniformly; a manifold with a boundary.

    The estimator is blind to the boundary, which amounts to reflecting ends (Neumann):
    ``-(kπ)²`` with ``cos kπx``.
    """
    check_n_samples(n_samples, 1)
    points = generator(random_state).random((n_samples, 1))
    return _box_sample("interval", points, points, (1.0,))


def lattice(side: int, *, dim: int = 2) -> Sample:
    """Lay out the midpoints of a regular grid in [0, 1]**dim: ``side**dim`` points, none random.

    All nearest-neighbour distances are equal, which is awkward for bandwidths made from them.
    The truth has reflecting faces: ``-Σ (k_i π)²``.
    """
    check_at_least(side, "side")
    check_at_least(dim, "dim")
    # The power itself may be too large to be computed.
    refuse_if_too_large(int(side) ** min(int(dim), 64), int(dim))
    middles = (np.arange(side) + 0.5) / side
    grid = np.meshgrid(*[middles] * dim, indexing="ij")
    points = np.stack(grid, axis=-1).reshape(-1, dim)
    return _box_sample("lattice", points, points, (1.0,) * dim)


def swiss_roll(n_samples: int, *, height: float = 21.0, random_state: RandomState = None) -> Sample:
    """Sample a rolled-up rectangle in R³, uniformly in area.

    The roll is the spiral ``(t cos t, t sin t)`` for t from 3π/2 to 9π/2, times
    [0, height]. Rolling does not stretch, so the spectrum is that of the rectangle with
    reflecting sides: ``-((kπ/length)² + (mπ/height)²)``. The parameters are arc length and
    height.
    """
    check_n_samples(n_samples, 3)
    height = check_scale(height, "height")
    spiral = tabulated(lambda t: np.sqrt(1 + t**2), *ROLL_ANGLES)
    share = generator(random_state).random((n_samples, 2))
    t = spiral.quantile(share[:, 0])
    sides = (spiral.mass, height)
    parameters = share * sides
    points = np.column_stack([t * np.cos(t), parameters[:, 1], t * np.sin(t)])
    return _box_sample("swiss_roll", points, parameters, sides)


def _box_sample(
    name: str, points: FloatArray, parameters: FloatArray, sides: tuple[float, ...]
) -> Sample:
    """Return the uniform sample of a box, possibly bent, with reflecting faces."""

    def build(n: int, c1: float) -> Truth:
        return product([neumann_interval(n, c1, side) for side in sides], n)

    density = np.full(len(points), 1 / np.prod(sides))
    return Sample(name, points, parameters, len(sides), "laplacian", density, build)
