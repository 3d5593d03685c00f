"""The problems on which intervals are judged: points, operator and the first true eigenvalues.

The twenty of `PROBLEMS` had a say when the widths were chosen, with other seeds; those of `UNSEEN`
had one in the weight of ε alone, with other seeds as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import vbdm
from problems import PROBLEMS as TABLE
from vbdm.datasets._line import sturm_liouville, tabulated

D = vbdm.datasets
#: Eigenvalues that are judged, the zero not counted.
FIRST = 6


class Problem(NamedTuple):
    """Points, (N, n), the operator's name or c1, and the eigenvalues, (7,), the zero included."""

    points: np.ndarray
    operator: str | float
    truth: np.ndarray


Maker = Callable[[int, int], Problem]


def of(make: Callable[[int, int], vbdm.datasets.Sample], c1: float | None = None) -> Maker:
    """Return the maker of a problem from that of a data set."""

    def problem(n: int, seed: int) -> Problem:
        sample = make(n, seed)
        operator = sample.operator if c1 is None else c1
        truth = sample.truth(FIRST + 1) if c1 is None else sample.truth(FIRST + 1, c1)
        return Problem(sample.points, operator, truth.eigenvalues)

    return problem


def circle(n: int, seed: int) -> vbdm.datasets.Sample:
    return D.circle(n, density="exponential", sampling="random", random_state=seed)


def rotated_gaussian(n: int, seed: int) -> Problem:
    """Deviations 1 and 0.4, turned by half a radian: eigenvalues -(k + 6.25 l)."""
    x = np.random.default_rng(seed).standard_normal((n, 2)) * [1, 0.4]
    turn = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
    return Problem(x @ turn.T, "generator", -np.arange(FIRST + 1.0))


def rotations(n: int, seed: int) -> Problem:
    """SO(3), uniform, as matrices in R⁹: eigenvalues -l(l+1)/2, (2l+1)² times."""
    w, x, y, z = unit_vectors(n, 4, seed).T
    matrices = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return Problem(np.stack(matrices, axis=1), "laplacian", np.r_[0.0, -np.ones(FIRST)])


def projective_plane(n: int, seed: int) -> Problem:
    """RP² as x xᵀ in R⁶: eigenvalues -l(l+1)/2, 2l+1 times, l even."""
    x = unit_vectors(n, 3, seed)
    products = [x[:, i] * x[:, j] * np.sqrt(1 + (i != j)) for i in range(3) for j in range(i + 1)]
    return Problem(np.stack(products, axis=1), "laplacian", np.r_[0.0, [-3.0] * 5, -10.0])


def tilted_well(n: int, seed: int) -> Problem:
    """Two wells of unequal depth, q ∝ exp(-2(x²-1)² - x/2)."""

    def log_density(x: np.ndarray) -> np.ndarray:
        return -2 * (x**2 - 1) ** 2 - x / 2

    distribution = tabulated(lambda x: np.exp(log_density(x)), -2.6, 2.6)
    x = distribution.quantile(np.random.default_rng(seed).random(n))
    truth = sturm_liouville(log_density, -2.6, 2.6, FIRST + 1, 1.0)
    return Problem(x[:, None], "generator", truth.eigenvalues)


def unit_vectors(n: int, columns: int, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal((n, columns))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


PROBLEMS: dict[str, Maker] = {
    **{name: of(make) for name, make in TABLE.items()},
    "circle exp": of(circle, 0.0),
    "circle exp c1=1": of(circle, 1.0),
    "sphere uniform": of(lambda n, s: D.sphere(n, random_state=s)),
    "OU R4": of(lambda n, s: D.ou(n, dim=4, random_state=s)),
    "S4": of(lambda n, s: D.sphere(n, dim=4, random_state=s)),
    "OU rotated": rotated_gaussian,
}
UNSEEN: dict[str, Maker] = {
    "SO(3)": rotations,
    "RP2": projective_plane,
    "OU R5": of(lambda n, s: D.ou(n, dim=5, random_state=s)),
    "tilted well": tilted_well,
}
