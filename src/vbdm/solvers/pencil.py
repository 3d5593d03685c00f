"""What an eigen-solver is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array

from ..arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Pencil:
    """The symmetric problem (D - K) u = θ M u, D and M diagonal and positive, θ >= 0.

    With M = D·ε m ρ² its θ are minus the eigenvalues of L, and its u the eigenvectors of L.

    Attributes
    ----------
    weights : PairMatrix or sparse matrix
        K, with D its row sums; only ``weights @ block`` is needed by iterative solvers.
    degrees, mass : (N,) arrays
        The diagonals D and M.
    points : (N, n) array or None
        The points in the order of the rows, if known: a help to coarsen, never needed.
    """

    weights: Any
    degrees: FloatArray
    mass: FloatArray
    points: FloatArray | None = None

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

    def residuals(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        """Return |M^{-1/2}((D - K) u - θ M u)| / |M^{1/2} u| for each pair."""
        gap = self.stiffness(vectors) - self.mass[:, None] * vectors * values
        size = np.sqrt(self.mass @ vectors**2)
        result: FloatArray = np.sqrt((1 / self.mass) @ gap**2) / size
        return result


@dataclass(frozen=True, eq=False)
class EigenPairs:
    """What a solver returns: θ from 0 upwards, u by columns, and how it went."""

    values: FloatArray
    vectors: FloatArray
    solver: str
    iterations: int = 0
    products: int = 0
    converged: bool = True


class EigenSolver(Protocol):
    """Finds the n smallest eigenpairs of a pencil."""

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Return n pairs; the relative error of each θ is at most about `tol`."""
