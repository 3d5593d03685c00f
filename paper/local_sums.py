"""The operator at one point, from many samples: the sums of Section 3 around a query point."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.special import gamma

from .base import FloatArray

ALPHAS = np.array([-0.5, 0.0, 0.5, 1.0])
BETAS = {
    1: (0.0, -1 / 4, -1 / 2, -1.0),
    2: (0.0, -1 / 4, -1 / 2),
    3: (0.0, -1 / 4, -1 / 2, -1 / 3),
}
#: Distances from the query point, in units of √ε ρ, to which the sample and the outer sum reach.
REACH, NEAR = 8.0, 4.5
#: The kernel's standard deviation √(2ε) ρ at its widest; q falls by e over a length of 1.
WIDTH = 0.02
#: Expected Σ_j K(x, x_j) at that query point where it is smallest.
FEWEST = 30.0
DECADES = 3.0
#: Largest ratio of Σ_j K between query points, by dimension; it sets the cost, which grows with d.
SPAN = {1: 30.0, 2: 15.0, 3: 10.0}
LEVELS = 5
#: Number of pairs whose kernel is computed at a time, chosen to fit the cache.
BLOCK = 2**17


@dataclass(frozen=True)
class Setup:
    """One pair of dimension and β: the densities q at which L f is measured, and ε and N there."""

    dim: int
    beta: float
    densities: FloatArray
    epsilon: float
    n_samples: float

    @classmethod
    def of(cls, dim: int, beta: float) -> Setup:
        """Choose query points, ε and N by the rules above."""
        growth = 1 + dim * beta  # Σ_j K(x, x_j) is proportional to q^growth
        decades = DECADES if growth == 0 else min(DECADES, np.log10(SPAN[dim]) / abs(growth))
        densities = 10.0 ** -np.linspace(0, decades, LEVELS)
        epsilon = (WIDTH / densities.min() ** beta) ** 2 / 2
        smallest = (densities**growth).min() * (4 * np.pi * epsilon) ** (dim / 2)
        return cls(dim, beta, densities, float(epsilon), float(FEWEST / smallest))

    def kernel_sum(self, density: float) -> float:
        """Return the expected Σ_j K(x, x_j) where the density has this value."""
        volume = (4 * np.pi * self.epsilon) ** (self.dim / 2)
        return float(self.n_samples * density ** (1 + self.dim * self.beta) * volume)


def setups() -> Iterator[Setup]:
    """Yield the setups of all pairs of dimension and β."""
    for dim, betas in BETAS.items():
        for beta in betas:
            yield Setup.of(dim, beta)


def draw_around(setup: Setup, density: float, rng: np.random.Generator) -> FloatArray:
    """Draw the points of a sample that lie near a query point, (n, d), relative to it; it is first.

    A sample of N points on average is a Poisson process, of which only a ball need be drawn.
    """
    dim = setup.dim
    radius = REACH * np.sqrt(setup.epsilon) * density**setup.beta
    ball = np.pi ** (dim / 2) / gamma(dim / 2 + 1) * radius**dim
    highest = np.exp(radius)  # q relative to its value at the query point, at the ball's edge
    count = rng.poisson(setup.n_samples * density * highest * ball)
    direction = rng.standard_normal((count, dim))
    length = radius * rng.random(count) ** (1 / dim)
    places = direction * (length / np.linalg.norm(direction, axis=1))[:, None]
    kept = rng.random(count) * highest < np.exp(-places[:, 0])
    return np.vstack([np.zeros((1, dim)), places[kept]])


def normalisers(
    places: FloatArray, bandwidth: FloatArray, epsilon: float, n_rows: int
) -> FloatArray:
    r"""Return :math:`q_S(x_j) = Σ_l K(x_j, x_l) / ρ(x_j)^d` for the first rows (Section 3)."""
    scale, squares = 1 / bandwidth, np.einsum("ij,ij->i", places, places)
    sums = np.empty(n_rows)
    step = max(1, BLOCK // len(places))
    for start in range(0, n_rows, step):
        rows = slice(start, min(start + step, n_rows))
        exponents = places[rows] @ places.T
        exponents *= -2
        exponents += squares[rows, None]
        exponents += squares
        exponents *= scale
        exponents *= (-0.25 / epsilon * scale[rows])[:, None]
        sums[rows] = np.exp(exponents, out=exponents).sum(axis=1)
    return np.asarray(sums / bandwidth[:n_rows] ** places.shape[1])


def apply_at_first(
    places: FloatArray, density: FloatArray, beta: float, epsilon: float, near: float = np.inf
) -> FloatArray:
    """Return L f at the first place for f = y_1 and every α, by the sums of Section 3.

    Parameters
    ----------
    places : (n, d) array
        The points.
    density : (n,) array
        The true density there, up to a factor; ρ is its power β.
    beta, epsilon : float
        Settings of the kernel.
    near : float
        Distance from the first point within which the outer sum takes points.

    Returns
    -------
    (2, len(ALPHAS)) array
        First row: with q_S estimated from the points. Second row: with the true density instead.
    """
    distances = np.linalg.norm(places - places[0], axis=1)
    order = np.argsort(distances, kind="stable")
    places, distances, density = places[order] - places[0], distances[order], density[order]
    bandwidth = density**beta
    n_near = int(np.searchsorted(distances, near, side="right"))
    inside = slice(0, n_near)
    squares = distances[inside] ** 2
    kernel = np.exp(-squares / (4 * epsilon * bandwidth[0] * bandwidth[inside]))
    estimated = normalisers(places, bandwidth, epsilon, n_near)
    result = np.empty((2, len(ALPHAS)))
    for row, normaliser in enumerate((estimated, density[inside])):
        weights = kernel * (normaliser / normaliser[0]) ** -ALPHAS[:, None]
        mean = weights @ places[inside, 0] / weights.sum(axis=1)
        result[row] = mean / (epsilon * bandwidth[0] ** 2)
    return result


def repeated(setup: Setup, density: float, n_repeats: int, seed: list[int]) -> FloatArray:
    """Return L f from many independent samples, shape (n_repeats, 2, len(ALPHAS))."""

    def once(repeat: int) -> FloatArray:
        places = draw_around(setup, density, np.random.default_rng([*seed, repeat]))
        near = NEAR * float(np.sqrt(setup.epsilon)) * density**setup.beta
        q = density * np.exp(-places[:, 0])
        return apply_at_first(places, q, setup.beta, setup.epsilon, near)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.array(list(pool.map(once, range(n_repeats))))
