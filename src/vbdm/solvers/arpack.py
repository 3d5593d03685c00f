"""ARPACK's Lanczos method, made to miss nothing: known vectors set apart, and a second look.

The method grows a space from one vector. Of an eigenvalue with several independent eigenvectors it
sees, in exact arithmetic, one; the other copies only come in through rounding, and often too late:
on a regular ring or torus half of the list is wrong, at any tolerance, without a sign. So after
every search the vectors found are set apart and the rest is searched again, from another start,
until nothing is found that belongs in the list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ..base.arrays import FloatArray
from ..base.references import Credit
from ..errors import SolverError
from .pencil import EigenPairs, Pencil

#: θ below this share of the last one count as zero: their errors are relative to that share.
ZERO = 1e-6


@dataclass(eq=False)
class Search:
    """Looks for the largest eigenvalues of a symmetric matrix that is known by its products.

    Attributes
    ----------
    name : str
        Name of the solver, for messages.
    product : callable
        Function that multiplies the matrix with a vector, (N,).
    known : (N, m) array
        Orthonormal eigenvectors that are known, and not looked for.
    tol : float
        Wanted residual, relative to the eigenvalue.
    max_restarts : int
        Restarts of ARPACK after which a run gives up.
    steps, runs : int
        Numbers of products and of runs so far.
    """

    name: str
    product: Callable[[FloatArray], FloatArray]
    known: FloatArray
    tol: float
    max_restarts: int
    steps: int = 0
    runs: int = 0

    def all_copies(self, n: int) -> tuple[FloatArray, FloatArray, float]:
        """Return the n largest values, downwards, with their vectors, and the next value."""
        values, vectors = self.run(n, self.known)
        width = 1
        while True:
            more, others = self.run(width, np.hstack([self.known, vectors]))
            # A value that beats the last one by no more than the tolerance is another copy of it.
            if more[0] <= values[-1] + 2 * self.tol * abs(values[-1]):
                return values, vectors, float(more[0])
            # An eigenvalue was missed, and there may be several: look for more of them next time.
            width = min(2 * width, n)
            values, vectors = np.concatenate([values, more]), np.hstack([vectors, others])
            best = np.argsort(-values, kind="stable")[:n]
            values, vectors = values[best], vectors[:, best]

    def run(self, n: int, apart: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the n largest values, downwards, with vectors orthogonal to those set apart."""

        def product(x: FloatArray) -> FloatArray:
            self.steps += 1
            return without(self.product(without(x.ravel(), apart)), apart)

        size = len(apart)
        start = np.random.default_rng(self.runs).standard_normal(size)
        self.runs += 1
        try:
            values, vectors = eigsh(
                LinearOperator((size, size), matvec=product, dtype=np.float64),
                k=n, which="LA", v0=without(start, apart), tol=self.tol,
                # A wide space costs memory, a narrow one costs products.
                ncv=min(size - 1, max(60, 2 * n + 20)), maxiter=self.max_restarts,
            )  # fmt: skip
        except ArpackError as error:
            raise self.not_converged(n, error) from None
        order = np.argsort(-values, kind="stable")
        return values[order], vectors[:, order]

    def not_converged(self, n: int, error: ArpackError) -> SolverError:
        """Return the error that says how far the search came, and what to try."""
        n_found = len(getattr(error, "eigenvalues", ()))
        return SolverError(
            f"{self.name} found {n_found} of {n} eigenpairs in {self.max_restarts} restarts "
            f"({self.steps} steps). The kernel may be so narrow that the rates of single points "
            "exceed the wanted ones by far, or many eigenvalues coincide. Ask for fewer pairs, "
            f"raise ε or `tol`, allow more with {self.name}(max_iterations=...), or use "
            "vbdm.solvers.Dense() if the data is small."
        )


def without(x: FloatArray, apart: FloatArray) -> FloatArray:
    """Return x without its components along the orthonormal vectors `apart`."""
    return np.asarray(x - apart @ (apart.T @ x))


def constant_direction(pencil: Pencil) -> FloatArray:
    """Return M^{1/2} 1 with norm 1, (N, 1): the known null vector of M^{-1/2}(D - K)M^{-1/2}."""
    root = np.sqrt(pencil.mass)
    return np.asarray(root / np.linalg.norm(root))[:, None]


def in_order(
    pencil: Pencil, vectors: FloatArray, following: float, solver: Credit, steps: int, products: int
) -> EigenPairs:
    """Return the pairs that belong to vectors M^{1/2} u, θ upwards, the constant in front.

    θ are the Rayleigh quotients: their errors go like the square of the vectors' errors. The error
    estimate also uses `following`, the next θ outside the list.
    """
    u = vectors / np.sqrt(pencil.mass)[:, None]
    values = np.einsum("ij,ij->j", u, pencil.stiffness(u))
    order = np.argsort(values, kind="stable")
    constant = np.full((pencil.n_points, 1), 1 / np.sqrt(pencil.mass.sum()))
    values, u = np.maximum(values[order], 0.0), u[:, order]
    residuals = pencil.residuals(values, u)
    # θ is a difference of sums as large as u'Du, and is not known better than their rounding.
    rounding = np.finfo(np.float64).eps * (pencil.degrees @ u**2)
    error = residual_error(residuals, values, following, rounding)
    values, u = np.concatenate([[0.0], values]), np.hstack([constant, u])
    return EigenPairs(values, u, solver, steps, products + 2 * len(order), True, error)


def residual_error(
    residuals: FloatArray, values: FloatArray, following: float, rounding: FloatArray
) -> float:
    """Return a bound of the relative errors of sorted θ, from their residuals and rounding.

    Within |r_j| of θ_j there is an eigenvalue. If the next one outside the list, `following`, is
    far away, the error is smaller: |R|²/(θ_next - θ_j), with the residuals R of all pairs together.
    θ near 0 count as 1e-6 of the last.
    """
    if len(values) == 0:
        return 0.0
    gap = following - values
    square = np.square(residuals).sum()
    bound = np.divide(square, gap, out=np.full(len(gap), np.inf), where=gap > 0)
    scale = np.maximum(values, max(ZERO * values[-1], np.finfo(np.float64).tiny))
    return float(((np.minimum(residuals, bound) + rounding) / scale).max())
