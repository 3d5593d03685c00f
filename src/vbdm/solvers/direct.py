"""Solvers that factorise: a dense one for small problems, sparse shift-invert for thin ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import identity

from ..base.references import ARPACK, Credit
from .arpack import Search, constant_direction, in_order
from .factors import factorised
from .pencil import EigenPairs, Pencil, Unprepared


@dataclass(frozen=True)
class Dense:
    """LAPACK on the full matrix: exact to rounding, O(N³); the reference for all others."""

    credit: ClassVar[Credit] = Credit("Dense", "a dense solver")

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Return the n smallest pairs to machine precision, whatever `tol`."""
        matrix = pencil.symmetric.toarray()
        # The constant is known. Its θ is moved beyond the largest, so that it cannot mix with a
        # mode whose θ is 0 up to rounding; clusters that hardly communicate have such modes.
        known = constant_direction(pencil)
        matrix += 3 * np.abs(matrix.diagonal()).max() * known * known.T
        if n < 2:
            return in_order(pencil, np.empty((pencil.n_points, 0)), 0.0, self.credit, 0, 0)
        values, vectors = eigh(matrix, subset_by_index=[0, n - 2], overwrite_a=True)
        return in_order(pencil, vectors, values[-1], self.credit, 0, 0)

    def prepare(self, pencil: Pencil, n: int) -> Unprepared:
        """Return a solver for several masses."""
        return Unprepared(self, pencil)


@dataclass(frozen=True)
class ShiftInvert:
    """Lanczos on the inverse through a sparse factorisation.

    Good on curves at any N, on surfaces up to some 40,000 points and in three dimensions up to
    10,000; beyond, the factors fill up (see `vbdm.solvers.factors.elimination_work`).

    Attributes
    ----------
    max_iterations : int
        Restarts of ARPACK after which a run gives up, with a `SolverError`.

    Notes
    -----
    `iterations` counts the Lanczos steps, each of which solves with the factors once; `products`
    counts the products of K with single vectors. The constant is known and set apart.
    """

    max_iterations: int = 300
    credit: ClassVar[Credit] = Credit(
        "ShiftInvert", "a shift-and-invert Lanczos iteration (Lehoucq et al. 1998)", (ARPACK,)
    )

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Return the n smallest pairs; the relative error of each θ is at most about `tol`."""
        if too_few(pencil, n):
            return Dense().solve(pencil, n, tol)
        # A small positive shift keeps the matrix positive definite, connected or not. It must not
        # be tiny against the wanted θ: 1/shift would drown their digits.
        shift = smooth_rayleigh_quotient(pencil, n, SMOOTHING) / 100
        factors = factorised(pencil.symmetric + shift * identity(pencil.n_points))
        residual = min(tol, 1e-6) / 100
        known = constant_direction(pencil)
        search = Search("ShiftInvert", factors.solve, known, residual, self.max_iterations)
        _, vectors, following = search.all_copies(n - 1)
        products = n * (SMOOTHING + 1)
        return in_order(pencil, vectors, 1 / following - shift, self.credit, search.steps, products)

    def prepare(self, pencil: Pencil, n: int) -> Unprepared:
        """Return a solver for several masses."""
        return Unprepared(self, pencil)


#: Averagings with D⁻¹K after which random vectors tell the size of the wanted θ.
SMOOTHING = 20


def too_few(pencil: Pencil, n: int) -> bool:
    """Tell whether there are too few points for Lanczos, or no pairs but the constant."""
    return n < 2 or pencil.n_points < max(200, 5 * n)


def smooth_rayleigh_quotient(pencil: Pencil, n: int, steps: int) -> float:
    """Return a rough upper bound of θ_n: the largest Ritz value of smoothed random vectors.

    Each step averages the vectors with D⁻¹K.
    """
    block = np.random.default_rng(0).standard_normal((pencil.n_points, n))
    for _ in range(steps):
        block = 0.5 * block + 0.5 * (pencil.weights @ block) / pencil.degrees[:, None]
        block /= np.abs(block).max(axis=0)
    mass = block.T @ (pencil.mass[:, None] * block)
    stiffness = block.T @ pencil.stiffness(block)
    keep = mass + 1e-12 * np.trace(mass) * np.eye(n)
    return float(eigh(stiffness, keep, eigvals_only=True)[-1])
