"""Lanczos without a factorisation: slow, but it needs nothing but products with K."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..base.arrays import FloatArray
from ..base.references import ARPACK, Credit
from .arpack import Search, constant_direction, in_order
from .direct import Dense, too_few
from .pencil import EigenPairs, Pencil, Unprepared


@dataclass(frozen=True)
class Lanczos:
    """SciPy's `eigsh` on products with K: for checks where a factorisation is too large.

    Attributes
    ----------
    max_iterations : int
        Restarts of ARPACK after which a run gives up, with a `SolverError`.

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

    max_iterations: int = 300
    credit: ClassVar[Credit] = Credit(
        "Lanczos", "a Lanczos iteration (Lehoucq et al. 1998)", (ARPACK,)
    )

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Return the n smallest pairs; the relative error of each θ is at most about `tol`."""
        if too_few(pencil, n):
            return Dense().solve(pencil, n, tol)
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
        return in_order(pencil, vectors, top - following, self.credit, search.steps, search.steps)

    def prepare(self, pencil: Pencil, n: int) -> Unprepared:
        """Return a solver for several masses."""
        return Unprepared(self, pencil)
