"""Eigen-solvers: they solve (D - K) u = θ M u for the smallest θ, behind one small protocol.

`Auto` is the default; ask it what it would choose and why with ``Auto().choose(pencil, n)``.
"""

from .auto import Auto
from .direct import Dense, ShiftInvert
from .lanczos import Lanczos
from .multilevel.solver import Multilevel
from .pencil import EigenPairs, EigenSolver, Pencil, PreparedSolver

__all__ = [
    "Auto",
    "Dense",
    "EigenPairs",
    "EigenSolver",
    "Lanczos",
    "Multilevel",
    "Pencil",
    "PreparedSolver",
    "ShiftInvert",
]
