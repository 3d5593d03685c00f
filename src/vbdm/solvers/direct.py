"""Solvers that factorise: a dense one for small problems, sparse shift-invert for thin ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import identity
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from ..arrays import FloatArray
from ..errors import SolverError
from .pencil import EigenPairs, Pencil, Unprepared


@dataclass(frozen=True)
class Dense:
    """LAPACK on the full matrix: exact, O(N³); the reference for all others."""

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Return the n smallest pairs to machine precision, whatever `tol`."""
        matrix = pencil.symmetric.toarray()
        values, vectors = eigh(matrix, subset_by_index=[0, n - 1], overwrite_a=True)
        return EigenPairs(values, unscaled(vectors, pencil), "Dense")

    def prepare(self, pencil: Pencil, n: int) -> Unprepared:
        """Return a solver for several masses."""
        return Unprepared(self, pencil)


@dataclass(frozen=True)
class ShiftInvert:
    """Lanczos on the inverse through a sparse factorisation.

    Good on curves at any N and on surfaces up to some 20,000 points; beyond, and in three
    dimensions, the factors fill up.
    """

    max_iterations: int = 300

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Return the n smallest pairs."""
        matrix = pencil.symmetric
        # A small positive shift keeps the matrix positive definite, connected or not. It must not
        # be tiny against the wanted θ: 1/shift would drown their digits.
        shift = smooth_rayleigh_quotient(pencil, n) / 100
        factors = splu(
            (matrix + shift * identity(pencil.n_points)).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        inverse = LinearOperator(matrix.shape, matvec=factors.solve, dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(pencil.n_points)
        try:
            values, vectors = eigsh(
                inverse,
                k=n,
                which="LA",
                v0=start,
                tol=min(tol, 1e-6) / 100,
                maxiter=self.max_iterations,
            )
        except ArpackNoConvergence as error:
            raise SolverError(
                f"Shift-invert found {len(error.eigenvalues)} of {n} eigenpairs in "
                f"{self.max_iterations} restarts. Many eigenvalues may coincide. Ask for fewer "
                "pairs, raise ε, or use vbdm.solvers.Dense() if the data is small."
            ) from None
        order = np.argsort(-values)
        return EigenPairs(
            1 / values[order] - shift, unscaled(vectors[:, order], pencil), "ShiftInvert"
        )

    def prepare(self, pencil: Pencil, n: int) -> Unprepared:
        """Return a solver for several masses."""
        return Unprepared(self, pencil)


def unscaled(vectors: FloatArray, pencil: Pencil) -> FloatArray:
    """Return u from M^{1/2} u."""
    return np.asarray(vectors / np.sqrt(pencil.mass)[:, None])


def smooth_rayleigh_quotient(pencil: Pencil, n: int, steps: int = 20) -> float:
    """Return a rough upper bound of θ_n: random vectors smoothed by D⁻¹K a few times, then Ritz."""
    block = np.random.default_rng(0).standard_normal((pencil.n_points, n))
    for _ in range(steps):
        block = 0.5 * block + 0.5 * (pencil.weights @ block) / pencil.degrees[:, None]
        block /= np.abs(block).max(axis=0)
    mass = block.T @ (pencil.mass[:, None] * block)
    stiffness = block.T @ pencil.stiffness(block)
    keep = mass + 1e-12 * np.trace(mass) * np.eye(n)
    return float(eigh(stiffness, keep, eigvals_only=True)[-1])
