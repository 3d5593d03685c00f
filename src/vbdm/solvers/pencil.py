"""What an eigen-solver is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from ..base.arrays import FloatArray, beside_array, is_elsewhere, quotients, to_host
from ..base.references import Credit
from ..graph.on_host import in_memory
from ..rows.block_array import Tall, beside, total


@dataclass(frozen=True, eq=False)
class Pencil:
    """The symmetric problem (D - K) u = θ M u, D and M diagonal and positive, θ >= 0.

    With M = D·ε m ρ² its θ are minus the eigenvalues of L, and its u the eigenvectors of L.
    """

    weights: Any  #: K, with D its row sums; only ``weights @ block`` is needed by iterative solvers
    #: (N,): the diagonals D and M
    degrees: FloatArray
    mass: FloatArray
    #: (N, n): points in the order of the rows, if known. They help a solver to coarsen; none needs
    #: them.
    points: FloatArray | None = None
    #: Whether the rows stand in the order of a k-d tree (`vbdm.engines.tree`)
    in_tree_order: bool = False
    #: If the rows are some of those that stand in the order of a k-d tree: how many these are, and
    #: which of them the rows are, ascending
    members_of: tuple[int, NDArray[np.intp]] | None = None

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return len(self.degrees)

    def stiffness(self, block: FloatArray) -> FloatArray:
        """Return (D - K) times a block of columns."""
        product: FloatArray = self.degrees[:, None] * block
        product -= self.weights @ block
        return product

    @cached_property
    def symmetric(self) -> Any:
        """M^{-1/2} (D - K) M^{-1/2} as one CSR matrix; its eigenvectors are M^{1/2} u."""
        inverse = 1 / np.sqrt(self.mass)
        merged = self.weights.merged() if hasattr(self.weights, "merged") else self.weights
        scaled = diags_array(inverse) @ merged @ diags_array(inverse)
        return csr_array(diags_array(self.degrees / self.mass) - scaled)

    def residuals(
        self,
        values: FloatArray,
        vectors: Tall,
        mass: FloatArray | None = None,
        products: Tall | None = None,
    ) -> FloatArray:
        """Return ``|M^{-1/2}((D - K) u - θ M u)| / |M^{1/2} u|`` for each pair, (n,).

        `mass` replaces M, and `products` is K u if that is known. Points of mass 0, which nothing
        ties to the others, do not count.
        """
        M = self.mass if mass is None else mass
        products = self.weights @ vectors if products is None else products
        diagonals = beside(vectors, self.degrees), beside(vectors, M)
        gaps, sizes = total(residual_sums, products, vectors, values, *diagonals)
        return np.asarray(np.sqrt(gaps / sizes))

    @property
    def on_host(self) -> Pencil:
        """The same problem in this machine's memory; itself, if it lives there."""
        return in_memory(self, self.n_points)


def residual_sums(
    products: FloatArray,
    vectors: FloatArray,
    values: FloatArray,
    degrees: FloatArray,
    mass: FloatArray,
) -> FloatArray:
    """Return r'M⁻¹r for the residuals r = (D - K) u - θ M u, and u'Mu, over the rows, (2, n)."""
    gap = degrees[:, None] * vectors - products - mass[:, None] * vectors * values
    inverse = quotients(1.0, mass, mass > 0)
    return np.stack([inverse @ gap**2, mass @ vectors**2])


@dataclass(frozen=True, eq=False)
class EigenPairs:
    """What a solver returns: eigenpairs, and how it went."""

    values: FloatArray  #: (n,): θ from 0 upwards
    vectors: Any  #: (N, n): u, by columns; in blocks, if K is
    #: The solver's credit, or just its name; several, where pieces were solved apart
    solver: Credit | str | tuple[Credit, ...]
    #: Steps of the solver's own kind, and products with K
    iterations: int = 0
    products: int = 0
    converged: bool = True  #: whether the tolerance was reached
    error_estimate: float = 0.0  #: the solver's own estimate of the largest relative error of θ
    reason: str = ""  #: why this solver, if it was chosen automatically
    #: Whatever the next solve of the same K can start from; only the same solver can read it
    warm: Any = None

    @property
    def credits(self) -> tuple[Credit, ...]:
        """The solvers, as credits."""
        if isinstance(self.solver, tuple):
            return self.solver
        if isinstance(self.solver, str):
            return (Credit(self.solver, f"the solver {self.solver}"),)
        return (self.solver,)


class PreparedSolver(Protocol):
    """A solver that has seen K and D, and solves for any mass."""

    def solve(
        self, mass: FloatArray, n: int, tol: float, start: EigenPairs | None = None, extra: int = 0
    ) -> EigenPairs:
        """Return n + extra pairs of (D - K) u = θ M u, the first n of them to the accuracy `tol`.

        `start` is what this solver returned for another mass, or it holds vectors near those that
        are sought; solvers that cannot use it ignore it.
        """


class EigenSolver(Protocol):
    """Finds the n smallest eigenpairs of a pencil."""

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Return n pairs; the relative error of each θ is at most about `tol`."""

    def prepare(self, pencil: Pencil, n: int) -> PreparedSolver:
        """Do the work that depends on K and D only, to solve for several masses, up to n pairs."""


@dataclass(frozen=True, eq=False)
class Unprepared:
    """A solver that gains nothing from preparation: it starts afresh for every mass."""

    solver: EigenSolver
    pencil: Pencil

    def solve(
        self, mass: FloatArray, n: int, tol: float, start: EigenPairs | None = None, extra: int = 0
    ) -> EigenPairs:
        """Solve the pencil with this mass; `start` is not used."""
        return self.solver.solve(replace(self.pencil, mass=mass), n + extra, tol)


@dataclass(frozen=True, eq=False)
class OnHost:
    """A prepared solver in this machine's memory, for a problem that lives on a device."""

    inner: PreparedSolver  # solves the copy of the problem
    like: FloatArray  # (N,): an array of the problem, on the device: the vectors go back there

    def solve(
        self, mass: FloatArray, n: int, tol: float, start: EigenPairs | None = None, extra: int = 0
    ) -> EigenPairs:
        """Solve the copy; vectors come back to the device."""
        if start is not None:
            start = replace(start, vectors=to_host(start.vectors))
        pairs = self.inner.solve(to_host(mass), n, tol, start, extra)
        return replace(pairs, vectors=beside_array(np.ascontiguousarray(pairs.vectors), self.like))


def prepare_solver(solver: EigenSolver, pencil: Pencil, n: int) -> PreparedSolver:
    """Prepare a solver for a problem, or for its copy in this memory if it cannot go there.

    Solvers that work on a device say so by their attribute ``on_devices``.
    """
    if not is_elsewhere(pencil.degrees) or getattr(solver, "on_devices", False):
        return solver.prepare(pencil, n)
    return OnHost(solver.prepare(pencil.on_host, n), pencil.degrees)


#: θ below this share of the last one count as zero: their errors are relative to that share.
ZERO = 1e-6


def constant_direction(pencil: Pencil) -> FloatArray:
    """Return M^{1/2} 1 with norm 1, (N, 1): the known null vector of M^{-1/2}(D - K)M^{-1/2}."""
    root = np.sqrt(pencil.mass)
    return np.asarray(root / np.linalg.norm(root))[:, None]


def sorted_pairs(
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
