"""Eigen-solvers: they solve (D - K) u = θ M u for the smallest θ, behind one small protocol.

`Auto` is the default; ask it what it would choose and why with ``Auto().choose(pencil, n)``. Who
writes a solver needs `EigenPairs`, `Unprepared` and `Credit`.
"""

from ..base.references import Credit
from .arpack import Lanczos, ShiftInvert
from .auto import Auto
from .direct import Dense
from .multilevel.solver import Multilevel
from .pencil import EigenPairs, EigenSolver, Pencil, PreparedSolver, Unprepared

__all__ = [
    "Auto",
    "Credit",
    "Dense",
    "EigenPairs",
    "EigenSolver",
    "Lanczos",
    "Multilevel",
    "Pencil",
    "PreparedSolver",
    "ShiftInvert",
    "Unprepared",
]
