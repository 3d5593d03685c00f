r"""An approximate inverse of a network's equations: one Jacobi step, a coarse correction, another.

With the diagonal d and the links K of a system :math:`A = d - K`, one Jacobi step on A x = r makes
:math:`x = r/d` and leaves the remainder :math:`K x`. What is left of the error is smooth, and is
computed on cells of points (`vbdm.spectrum.solvers.multilevel`), where points that are held or
killed show as a further diagonal that is carried down by sums. A second Jacobi step ends with
:math:`(r + K x + K P c)/d`, where c is the coarse correction: two products, one of them with sums
over cells alone. Held points have 1/d = 0. All of this is symmetric and positive, as conjugate
gradients need it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, diags_array

from ..base.arrays import BoolArray, FloatArray
from ..rows.sparse_blocks import applied
from ..spectrum.solvers.multilevel.finest import product
from ..spectrum.solvers.multilevel.hierarchy import DAMPING, Level
from .network import Network

#: Share of its diagonal that is added to the coarsest matrix, which may be singular without it.
SOLID = 1e-11


@dataclass(frozen=True, eq=False)
class Multigrid:
    """An approximate inverse of D - K + diag(killing), with some points held.

    Attributes
    ----------
    network : Network
        The links.
    inverse : (M,) array
        1/d on the points, d = D + killing; 0 at points that are held.
    levels : list of Level
        Coarse systems, from fine to coarse, killing included.
    factor : tuple
        Cholesky factor of the coarsest one, or of the whole system if there are no levels.
    finest : Finest or None
        The way to and from the first cells.
    """

    network: Network
    inverse: FloatArray
    levels: list[Level]
    factor: Any
    finest: Any = None

    @classmethod
    def of(cls, network: Network, killing: FloatArray, held: BoolArray) -> Multigrid:
        """Prepare the inverse for a system; `killing` and `held` are (M,)."""
        diagonal = network.degrees + killing
        inverse = np.where(held, 0.0, 1 / diagonal)
        if network.coarse is None:
            whole = network.whole_matrix() + np.diag(killing)
            whole[held] = 0.0
            whole[:, held] = 0.0
            whole += np.diag(np.where(held, 1.0, SOLID * diagonal))
            return cls(network, inverse, [], cho_factor(whole))
        finest = network.coarse.finest
        # A cell with held points is held by as many of its links.
        carried = finest.summed(finest.spread(np.where(held, network.degrees, killing)))
        levels = []
        for level in network.coarse.levels:
            levels.append(with_killing(level, carried))
            if level.restriction is not None:
                # A few weights of an interpolation may be negative; a killing must not be.
                carried = np.maximum(level.restriction @ carried, 0.0)
        coarsest = levels[-1]
        solid = SOLID * np.diag(coarsest.diagonal)
        return cls(
            network, inverse, levels, cho_factor(coarsest.stiffness.toarray() + solid), finest
        )

    def __call__(self, residual: FloatArray) -> FloatArray:
        """Return roughly A⁻¹ times the residuals, (M, m)."""
        if not self.levels:
            free = self.inverse > 0
            return np.asarray(cho_solve(self.factor, residual * free[:, None]) * free[:, None])
        finest = self.finest
        smooth: FloatArray = self.network.weights @ (residual * self.inverse[:, None])
        coarse = self.corrected(finest.summed(finest.spread(smooth)))
        smooth += np.asarray(applied(finest.averages, product, coarse, finest.engine))
        smooth += residual
        smooth *= self.inverse[:, None]
        return smooth

    def corrected(self, residual: FloatArray, depth: int = 0) -> FloatArray:
        """Return roughly the solution of a coarse system: a V-cycle."""
        level = self.levels[depth]
        if depth == len(self.levels) - 1:
            return np.asarray(cho_solve(self.factor, residual))
        x = (DAMPING / level.diagonal)[:, None] * residual
        remainder = level.engine.multiply(level.restriction, level.remainder(x, residual))
        x += level.engine.multiply(level.interpolation, self.corrected(remainder, depth + 1))
        level.smooth(x, residual)
        return x


def with_killing(level: Level, killing: FloatArray) -> Level:
    """Return a coarse level with a further diagonal."""
    return replace(
        level,
        stiffness=csr_array(level.stiffness + diags_array(killing)),
        diagonal=level.diagonal + killing,
    )
