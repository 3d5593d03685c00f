"""Choose the solver by the size of the problem."""

from __future__ import annotations

from dataclasses import dataclass

from .direct import Dense, ShiftInvert
from .pencil import EigenPairs, EigenSolver, Pencil

#: Up to this many points the dense solver takes at most a second or two.
DENSE_POINTS = 1500


@dataclass(frozen=True)
class Auto:
    """Dense for small problems, sparse shift-invert for the rest."""

    def choose(self, pencil: Pencil, n: int) -> tuple[EigenSolver, str]:
        """Return the solver for this problem, and the reason in words."""
        if pencil.n_points <= DENSE_POINTS or 2 * n >= pencil.n_points:
            return Dense(), f"{pencil.n_points} points: a dense solve is fast and exact"
        return ShiftInvert(), f"{pencil.n_points} points: sparse factorisation"

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Solve with the chosen solver."""
        solver, _ = self.choose(pencil, n)
        return solver.solve(pencil, n, tol)
