"""The dense solver, and sparse factorisations: at what price, and what their signs tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, identity
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from ..base.references import Credit
from ..errors import SolverError
from .pencil import EigenPairs, Pencil, Unprepared, constant_direction, sorted_pairs


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
            return sorted_pairs(pencil, np.empty((pencil.n_points, 0)), 0.0, self.credit, 0, 0)
        values, vectors = eigh(matrix, subset_by_index=[0, n - 2], overwrite_a=True)
        return sorted_pairs(pencil, vectors, values[-1], self.credit, 0, 0)

    def prepare(self, pencil: Pencil, n: int) -> Unprepared:
        """Return a solver for several masses."""
        return Unprepared(self, pencil)


#: Work (see `elimination_work`) up to which a factorisation takes at most half a minute and 2 GB.
AFFORDABLE = 1e11
#: Relative error of its solutions up to which a factorisation is trusted.
TRUSTED = 1e-9


def factorise(matrix: Any) -> Any:
    """Return SuperLU's factors of a symmetric matrix, rows and columns in the same order.

    No pivoting: the matrix is positive definite, or the signs of its pivots are wanted.
    """
    return splu(
        matrix.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def elimination_work(pencil: Pencil) -> float:
    r"""Estimate the operations to factorise the pencil, from its graph alone: Σ (row width)².

    Notes
    -----
    Points are numbered layer by layer through the graph (Cuthill and McKee); the width of a row is
    how far back its neighbours reach, the size of a layer: constant on curves, √(N k) on surfaces,
    N^{2/3} k^{1/3} in three dimensions. Cost O(N k).

    On one core SuperLU took 0.2 s at 1e8 (curve), 2 s at 2.5e10 (surfaces, N = 20,000), 10 s at
    5e10 (three dimensions, N = 10,000) and 36 s at 2e11 (the same, N = 20,000).
    """
    weights = pencil.weights
    matrix = csr_array(weights.merged() if hasattr(weights, "merged") else weights)
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    row = np.repeat(np.arange(len(order)), np.diff(matrix.indptr))
    width = np.zeros(len(order), dtype=np.int64)
    np.maximum.at(width, row, place[row] - place[matrix.indices])
    return float(np.square(width.astype(np.float64)).sum())


def affordable(pencil: Pencil) -> bool:
    """Tell whether to factorise: curves at any N, surfaces to 40,000 points, d = 3 to 10,000."""
    return elimination_work(pencil) <= AFFORDABLE


def count_below(pencil: Pencil, level: float) -> int:
    """Return how many eigenvalues θ of the pencil lie below a level: exact, copies included.

    Choose the level in a gap. Where the factorisation breaks down it is a `SolverError`, which a
    slightly different level cures.

    Notes
    -----
    Sylvester's law of inertia: in D - K - level·M = L Δ Lᵀ the diagonal Δ has as many negative
    entries as there are eigenvalues below the level. Nothing is iterated and no start is chosen,
    so nothing can be overlooked. Cost: one factorisation (`elimination_work`).

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.sphere(1000, random_state=0).points)
    >>> count_below(vbdm.spectrum.solve.pencil_of(op), 4.0)    # between 2, three times, and 6
    4
    """
    shifted = pencil.symmetric - level * identity(pencil.n_points)
    try:
        factors = factorise(shifted)
    except RuntimeError as error:  # a pivot was exactly zero
        raise broke_down(level, str(error)) from None
    if not np.array_equal(factors.perm_r, factors.perm_c):
        raise broke_down(level, "rows had to be exchanged")
    # Without pivoting the factors can be wrong: they are trusted only if they solve a system.
    right = np.random.default_rng(0).standard_normal(pencil.n_points)
    solution = factors.solve(right)
    size = abs(shifted) @ np.abs(solution) + np.abs(right)
    error_size = float(np.max(np.abs(shifted @ solution - right) / size))
    if not error_size <= TRUSTED:
        raise broke_down(level, f"its solutions have a relative error of {error_size:.0e}")
    return int(np.count_nonzero(factors.U.diagonal() < 0))


def broke_down(level: float, reason: str) -> SolverError:
    """Return the error that says why there is no count."""
    return SolverError(
        f"The eigenvalues below {level:g} could not be counted: the factorisation without "
        f"pivoting broke down ({reason}). Choose a slightly different level."
    )
