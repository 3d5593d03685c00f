"""ARPACK's Lanczos method, made to miss nothing: known vectors set apart, and a second look.

The method grows a space from one vector. Of an eigenvalue with several independent eigenvectors it
sees, in exact arithmetic, one; the other copies only come in through rounding, and often too late:
on a regular ring or torus half of the list is wrong, at any tolerance, without a sign. So after
every search the vectors found are set apart and the rest is searched again, from another start,
until nothing is found that belongs in the list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import identity
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ..base.arrays import FloatArray
from ..base.references import ARPACK, Credit
from ..errors import SolverError
from .direct import Dense, factorise
from .pencil import EigenPairs, Pencil, Unprepared, constant_direction, sorted_pairs

#: Averagings with D⁻¹K after which random vectors tell the size of the wanted θ.
SMOOTHING = 20


@dataclass(eq=False)
class Search:
    """Looks for the largest eigenvalues of a symmetric matrix that is known by its products."""

    name: str  # of the solver, for messages
    product: Callable[[FloatArray], FloatArray]  # multiplies the matrix with a vector, (N,)
    known: FloatArray  # orthonormal eigenvectors, (N, m), that are known, and not looked for
    tol: float  # wanted residual, relative to the eigenvalue
    max_restarts: int  # restarts of ARPACK after which a run gives up
    steps: int = 0  # products so far
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
            return remove_components(self.product(remove_components(x.ravel(), apart)), apart)

        size = len(apart)
        start = np.random.default_rng(self.runs).standard_normal(size)
        self.runs += 1
        try:
            values, vectors = eigsh(
                LinearOperator((size, size), matvec=product, dtype=np.float64),
                k=n, which="LA", v0=remove_components(start, apart), tol=self.tol,
                # A wide space costs memory, a narrow one costs products.
                ncv=min(size - 1, max(60, 2 * n + 20)), maxiter=self.max_restarts,
            )  # fmt: skip
        except ArpackError as error:
            n_found = len(getattr(error, "eigenvalues", ()))
            raise SolverError(
                f"{self.name} found {n_found} of {n} eigenpairs in {self.max_restarts} restarts "
                f"({self.steps} steps). Ask for fewer pairs, raise ε or `tol`, allow more with "
                f"{self.name}(max_iterations=...), or use vbdm.solvers.Dense() if the data is "
                "small."
            ) from None
        order = np.argsort(-values, kind="stable")
        return values[order], vectors[:, order]


def remove_components(x: FloatArray, apart: FloatArray) -> FloatArray:
    """Return x without its components along the orthonormal vectors `apart`."""
    return np.asarray(x - apart @ (apart.T @ x))


@dataclass(frozen=True)
class ByArpack(ABC):
    """A solver by `Search`; with few points, or no pairs but the constant, `Dense` steps in."""

    #: Restarts of ARPACK after which a run gives up, with a `SolverError`
    max_iterations: int = 300

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Return the n smallest pairs; the relative error of each θ is at most about `tol`."""
        if n < 2 or pencil.n_points < max(200, 5 * n):
            return Dense().solve(pencil, n, tol)
        return self.find(pencil, n, tol)

    @abstractmethod
    def find(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Return the pairs of a problem that is large enough."""

    def prepare(self, pencil: Pencil, n: int) -> Unprepared:
        """Return a solver for several masses."""
        return Unprepared(self, pencil)


@dataclass(frozen=True)
class Lanczos(ByArpack):
    """SciPy's `eigsh` on products with K: for checks where a factorisation is too large.

    Notes
    -----
    The method converges to the ends of a spectrum, to the end that is better separated first. The
    wanted θ are crowded at the lower end of H = M^{-1/2}(D - K)M^{-1/2}, so H is turned over:
    s - H with s the largest local rate has them on top, and tolerances are then relative to s, as
    rounding is. The constant is known and set apart. Of exactly equal θ none is missed (see
    `vbdm.solvers.arpack`). The start is a fixed random vector.

    The number of products grows like √(s/θ): some 500 for 20 pairs in three dimensions, thousands
    on curves, each with one vector, where `Multilevel` needs about ten with a block. `iterations`
    counts the Lanczos steps; `products` counts all products of K with single vectors, those for
    quotients and residuals included. Memory for 2n + 20 vectors, at least 60.

    Examples
    --------
    >>> points = vbdm.datasets.sphere(2000, random_state=0).points
    >>> spectrum = vbdm.estimate_operator(points).spectrum(5, solver=vbdm.solvers.Lanczos())
    >>> spectrum.eigenvalues.round(0).tolist()
    [0.0, -2.0, -2.0, -2.0, -6.0]
    """

    credit: ClassVar[Credit] = Credit(
        "Lanczos", "a Lanczos iteration (Lehoucq et al. 1998)", (ARPACK,)
    )

    def find(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Look for the largest eigenvalues of s - H."""
        inverse = 1 / np.sqrt(pencil.mass)
        rates = pencil.degrees / pencil.mass
        top = float(rates.max())

        def turned_over(x: FloatArray) -> FloatArray:
            return np.asarray((top - rates) * x + inverse * (pencil.weights @ (inverse * x)))

        # ARPACK's residuals are relative to s, which is 10² to 10⁵ times the last wanted θ. They
        # must be small against the θ themselves; the errors of θ then go like their square.
        residual = max(1e-7 * np.sqrt(tol), 1e-13)
        known = constant_direction(pencil)
        search = Search("Lanczos", turned_over, known, residual, self.max_iterations)
        _, vectors, following = search.all_copies(n - 1)
        return sorted_pairs(
            pencil, vectors, top - following, self.credit, search.steps, search.steps
        )


@dataclass(frozen=True)
class ShiftInvert(ByArpack):
    """Lanczos on the inverse through a sparse factorisation.

    Good on curves at any N, on surfaces up to some 40,000 points and in three dimensions up to
    10,000; beyond, the factors fill up (see `vbdm.solvers.direct.elimination_work`).

    Notes
    -----
    `iterations` counts the Lanczos steps, each of which solves with the factors once; `products`
    counts the products of K with single vectors. The constant is known and set apart.
    """

    credit: ClassVar[Credit] = Credit(
        "ShiftInvert", "a shift-and-invert Lanczos iteration (Lehoucq et al. 1998)", (ARPACK,)
    )

    def find(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Look for the largest eigenvalues of the inverse."""
        # A small positive shift keeps the matrix positive definite, connected or not. It must not
        # be tiny against the wanted θ: 1/shift would drown their digits.
        shift = smooth_rayleigh_quotient(pencil, n, SMOOTHING) / 100
        factors = factorise(pencil.symmetric + shift * identity(pencil.n_points))
        residual = min(tol, 1e-6) / 100
        known = constant_direction(pencil)
        search = Search("ShiftInvert", factors.solve, known, residual, self.max_iterations)
        _, vectors, following = search.all_copies(n - 1)
        products = n * (SMOOTHING + 1)
        return sorted_pairs(
            pencil, vectors, 1 / following - shift, self.credit, search.steps, products
        )


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
