"""Twenty clouds on which searches go wrong: ties, copies, tails, branches, and scales far apart.

Each is a function of the number of points (roughly) that returns the points, (N, n), the widths ρ,
(N,), the cut, and the periods, (n,) or None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree


class NastyCloud(NamedTuple):
    """Points, widths, and the bound on |x-y|²/(ρ(x) ρ(y))."""

    points: Any
    rho: Any
    cut: float
    period: Any = None


def random(n: int, dim: int, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n, dim))


def widths(points: Any, neighbors: int = 6) -> Any:
    """Return widths near the distances to the nearest points, different for each point."""
    scale = np.abs(points).max()
    distance = cKDTree(points / scale).query(points / scale, neighbors + 1)[0][:, -1]
    factor = np.random.default_rng(len(points)).uniform(0.3, 1.2, len(points))
    return scale * factor * np.maximum(distance, np.median(distance) / 10)


def of(points: Any, cut: float = 2.0) -> NastyCloud:
    return NastyCloud(points, widths(points), cut)


def lattice(n: int) -> NastyCloud:
    """Ties everywhere, and pairs exactly at the cut, which are out of reach."""
    side = np.arange(round(n ** (1 / 2)), dtype=float)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    return NastyCloud(points, np.ones(len(points)), 4.0)


def lattice_in_space(n: int) -> NastyCloud:
    side = np.arange(round(n ** (1 / 3)), dtype=float)
    points = np.stack(np.meshgrid(side, side, side), axis=-1).reshape(-1, 3)
    return NastyCloud(points, np.ones(len(points)), 2.0)


def copies(n: int) -> NastyCloud:
    """Every point many times, some of them very often."""
    rng = np.random.default_rng(1)
    place = np.minimum(rng.integers(0, n // 5 + 1, n), rng.integers(0, n, n) // 2)
    return of(random(n, 2, 1)[place])


def crowds(n: int) -> NastyCloud:
    """Hundreds of copies at each place."""
    points = np.zeros((n, 3))
    points[:, 1] = np.arange(n) // 400
    return NastyCloud(np.random.default_rng(17).permutation(points), np.ones(n), 0.5)


def heavy_tails(n: int) -> NastyCloud:
    return of(np.random.default_rng(2).standard_cauchy((n, 2)))


def curve(n: int) -> NastyCloud:
    """A closed curve in ten columns, with branches near each other."""
    t = np.random.default_rng(3).uniform(0, 2 * np.pi, n)
    points = np.stack([f(m * t) / m for m in range(1, 6) for f in (np.cos, np.sin)], axis=1)
    return NastyCloud(points, np.full(n, 30 / n), 4.0)


def clusters(n: int) -> NastyCloud:
    """Tight clusters far from each other."""
    rng = np.random.default_rng(4)
    return of(rng.integers(0, 4, (n, 1)) * 1e3 + rng.normal(size=(n, 3)) * 1e-3)


def torus(n: int) -> NastyCloud:
    """Two periodic columns and one that is not."""
    rng = np.random.default_rng(5)
    points = rng.uniform(0, (1.0, 2.0, 0.3), (n, 3))
    return NastyCloud(
        points, rng.uniform(0.03, 0.15, n) * (600 / n) ** (1 / 3), 4.0, np.array([1.0, 2.0, 0.0])
    )


def circle(n: int) -> NastyCloud:
    """One periodic column: a lattice on a circle, with pairs exactly at the cut."""
    points = np.arange(n, dtype=float)[:, None] / n
    return NastyCloud(points, np.full(n, 8.0 / n), 1.0, np.ones(1))


def late_period(n: int) -> NastyCloud:
    """The second column is periodic, with points on its seam."""
    rng = np.random.default_rng(6)
    points = rng.uniform(0, 1, (n, 2))
    points[::3, 1] = 0.0
    return NastyCloud(
        points, rng.uniform(0.03, 0.1, n) * (600 / n) ** 0.5, 4.0, np.array([0.0, 1.0])
    )


def one_column(n: int) -> NastyCloud:
    return of(random(n, 1, 7))


def collinear(n: int) -> NastyCloud:
    """A line across three columns; boxes are far from thin."""
    return of(random(n, 1, 8) * np.array([1.0, -1.0, 0.5]))


def tiny(n: int) -> NastyCloud:
    """Squares of distances lose their digits or vanish."""
    return of(random(n, 2, 9) * 1e-160)


def huge(n: int) -> NastyCloud:
    """Squares of the larger distances overflow."""
    return of(random(n, 2, 10) * 1e154)


def outliers(n: int) -> NastyCloud:
    """Three points far away, of which one reaches all."""
    points = random(n, 3, 11)
    points[:3] *= 1e8
    cloud = of(points)
    cloud.rho[0] = 1e20
    return cloud


def uneven_widths(n: int) -> NastyCloud:
    """Widths that vary by a million, not with the density; some are 0."""
    points = random(n, 2, 12)
    rho = 10 ** np.random.default_rng(12).uniform(-5, 1, n) * (600 / n) ** 0.5
    rho[::17] = 0.0
    return NastyCloud(points, rho, 0.1)


def uneven_columns(n: int) -> NastyCloud:
    """Columns of very different scales, one of them constant."""
    return of(random(n, 3, 13) * np.array([1e-6, 1e3, 0.0]))


def rounded(n: int) -> NastyCloud:
    """Few digits, signed zeros among them."""
    return of(np.round(random(n, 2, 14), 1))


def many_columns(n: int) -> NastyCloud:
    points = random(n, 64, 15)
    return NastyCloud(points, np.full(n, 4.0), 6.5)


def spiral(n: int) -> NastyCloud:
    """The density varies by ten thousand along a spiral in the plane."""
    t = np.random.default_rng(16).uniform(0, 1, n) ** 4 * 30
    points = np.stack([t * np.cos(t), t * np.sin(t)], axis=1)
    return of(points)


CLOUDS: dict[str, Callable[[int], NastyCloud]] = {
    function.__name__: function
    for function in (
        lattice, lattice_in_space, copies, crowds, heavy_tails, curve, clusters, torus, circle,
        late_period, one_column, collinear, tiny, huge, outliers, uneven_widths, uneven_columns,
        rounded, many_columns, spiral,
    )
}  # fmt: skip
