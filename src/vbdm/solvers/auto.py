"""Choose the solver by the size of the problem."""

from __future__ import annotations

from dataclasses import dataclass

from .direct import Dense
from .multilevel import Multilevel, block_size
from .pencil import EigenPairs, EigenSolver, Pencil, PreparedSolver

#: Up to this many points the dense solver takes at most a second or two.
DENSE_POINTS = 1500


@dataclass(frozen=True)
class Auto:
    """Dense for small problems, multilevel for the rest."""

    def choose(self, pencil: Pencil, n: int) -> tuple[EigenSolver, str]:
        """Return the solver for this problem, and the reason in words."""
        n_points = pencil.n_points
        if n_points <= DENSE_POINTS:
            return Dense(), f"{n_points} points: a dense solve is fast and exact"
        if n_points < 8 * block_size(n):
            return Dense(), f"{n} pairs of {n_points} points: too many to coarsen"
        return Multilevel(), f"{n_points} points: a few products on the points, the rest on cells"

    def prepare(self, pencil: Pencil, n: int) -> PreparedSolver:
        """Prepare the chosen solver."""
        return self.choose(pencil, n)[0].prepare(pencil, n)

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Solve with the chosen solver."""
        return self.choose(pencil, n)[0].solve(pencil, n, tol)
