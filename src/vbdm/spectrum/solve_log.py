"""The solver's own account of a solve."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..base.arrays import FloatArray
from ..base.references import Credit


def nothing() -> FloatArray:
    """Return an empty array, the default of a field."""
    return np.empty(0)


@dataclass(frozen=True, eq=False, kw_only=True)
class SolveLog:
    """The solver's own account of a solve.

    Attributes
    ----------
    solvers : tuple of Credit
        The solvers at work: one, or several where connected pieces were solved apart.
    reason : str
        Why they were chosen, and which one failed before; empty if the user chose.
    passes : int
        Number of solves that the limiter took.
    iterations, products : int
        The work of the last solve: steps of the solver's own kind, and products with K.
    converged : bool
        Whether every solve reached its tolerance.
    error_estimate : float
        The solver's own estimate of the largest relative error of θ.
    residuals : (n,) array
        ``|M^{-1/2}((D - K) u - θ M u)|`` of each pair, for M^{1/2} u of norm 1.
    pencil_eigenvalues : (n,) array
        θ >= 0, the eigenvalues of the pencil (of each mode's own, if it has a limit of its own).
        λ = -θ, but for the limiter's last step and the finite-sample correction.
    shared_eigenvalues : (n,) array
        θ of the same modes under the limit that all share; empty if none has a limit of its own.
    set_aside : (m,) array
        θ of all modes that were found but are not in the list: left out, or too fast for it.
    """

    solvers: tuple[Credit, ...] = ()
    reason: str = ""
    passes: int = 1
    iterations: int = 0
    products: int = 0
    converged: bool = True
    error_estimate: float = 0.0
    residuals: FloatArray = field(default_factory=nothing)
    pencil_eigenvalues: FloatArray = field(default_factory=nothing)
    set_aside: FloatArray = field(default_factory=nothing)
    shared_eigenvalues: FloatArray = field(default_factory=nothing)

    @property
    def solver(self) -> str:
        """Names of the solvers, in one string."""
        return ", ".join(credit.name for credit in self.solvers) or "known zeros"
