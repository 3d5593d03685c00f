r"""The solver: conjugate gradients, with an approximate inverse of a network's equations.

It is a Jacobi step and a coarse correction.

With the diagonal d and the links K of a system :math:`A = d - K`, a Jacobi step on A x = r makes
:math:`r/d`. What is left of the error is smooth, and is computed on cells of points
(`vbdm.solvers.multilevel`): from functions P c that are constant on cells, one more step
makes the smooth ones :math:`Q c = K P c/d`, and the inverse is :math:`ω/d + Q C Q^T` with the
approximate inverse C of the system on the cells. Products with K P, the sums of K over cells, are
four times as cheap as those with K: of these there is none here, and one in a step of conjugate
gradients. Held points have 1/d = 0. All of this is symmetric and positive.

On the cells, a held point is a pull towards 0 with the strength of all its links. Coarser systems
are Galerkin products of the finer ones, this diagonal included: were it carried down by sums, a
coarse cell would be held by any held point in it, and the set would widen from level to level (15
instead of 8 iterations at a million points).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array

from ..base.arrays import BoolArray, FloatArray
from ..errors import SolverError
from ..progress import report
from ..rows.sparse_blocks import applied
from ..solvers.multilevel.finest import product
from ..solvers.multilevel.hierarchy import DAMPING, Level
from .network import Network

#: Default accuracy: far below the sampling error of any data set.
TOLERANCE = 1e-6
#: Iterations after which the solver gives up.
MOST_ITERATIONS = 1000
#: Relative size of what rounding leaves.
ROUNDING = 1e-15

#: Least eigenvalue of the coarsest matrix, scaled to a diagonal of 1: below there is rounding.
SOLID = 1e-11
#: ω, the share of the Jacobi step: the coarse correction contains a part of it. From .5 to 1 the
#: number of iterations is the same, within one or two.
JACOBI = 0.7


@dataclass(frozen=True, eq=False)
class Multigrid:
    """An approximate inverse of D - K + diag(killing), with some points held."""

    network: Network
    #: 1/d on the points, (M,), d = D + killing; 0 at points that are held.
    inverse: FloatArray
    #: Coarse systems, from fine to coarse, killing included.
    levels: list[Level]
    #: The inverse of the coarsest one, or of the whole system if there are no levels.
    coarsest: FloatArray
    #: The way to and from the first cells.
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
            return cls(network, inverse, [], regular(whole))
        finest = network.coarse.finest
        pull = finest.spread(np.where(held, network.degrees, killing))
        levels = coarse_systems(network.coarse.levels, finest.summed(pull))
        return cls(network, inverse, levels, regular(levels[-1].stiffness.toarray()), finest)

    def __call__(self, residual: FloatArray) -> FloatArray:
        """Return roughly A⁻¹ times the residuals, (M, m)."""
        if not self.levels:
            return self.coarsest @ residual
        finest, inverse = self.finest, self.inverse[:, None]
        coarse = self.v_cycle(self.over_cells(residual * inverse))
        smooth = np.asarray(applied(finest.averages, product, coarse, finest.engine))
        smooth += JACOBI * residual
        smooth *= inverse
        return smooth

    def over_cells(self, block: FloatArray) -> FloatArray:
        """Return P'K x, (n_cells, m): the sums over cells of a product with K."""
        if self.finest.cell_rows is None:
            return product(self.network.sums, block, self.finest.engine)
        # In blocks, K P is there by points, and not by cells.
        return np.asarray(self.finest.summed(self.finest.spread(self.network.weights @ block)))

    def v_cycle(self, residual: FloatArray, depth: int = 0) -> FloatArray:
        """Return roughly the solution of a coarse system: a V-cycle."""
        level = self.levels[depth]
        if depth == len(self.levels) - 1:
            return self.coarsest @ residual
        x = (DAMPING / level.diagonal)[:, None] * residual
        remainder = level.engine.multiply(level.restriction, level.remainder(x, residual))
        x += level.engine.multiply(level.interpolation, self.v_cycle(remainder, depth + 1))
        level.smooth(x, residual)
        return x


def coarse_systems(levels: list[Level], killing: FloatArray) -> list[Level]:
    """Return coarse systems with a further diagonal, which is given for the first level."""
    matrix = csr_array(levels[0].stiffness + diags_array(killing))
    systems = []
    for level in levels:
        diagonal = matrix.diagonal()
        diagonal[diagonal <= 0] = 1.0
        systems.append(replace(level, stiffness=matrix, diagonal=diagonal))
        if level.interpolation is not None:
            matrix = csr_array(level.restriction @ (matrix @ level.interpolation))
    return systems


def regular(matrix: FloatArray) -> FloatArray:
    """Return the inverse of a symmetric matrix; where it is as good as 0, a large multiple.

    Pieces of the data that are not held have constants there, which `System` takes out again, and
    pieces that hang together by weak links have others. Held points are empty rows.
    """
    size = np.sqrt(np.diag(matrix))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    values, vectors = eigh(matrix * np.outer(scale, scale))
    vectors *= scale[:, None]
    return np.asarray((vectors / np.maximum(values, SOLID)) @ vectors.T)


@dataclass(frozen=True, eq=False)
class Solution:
    """Solutions of a linear system, by columns, (M, m), and the steps that were taken."""

    values: FloatArray
    iterations: int
    #: The largest remaining error of a column, relative to the solution, both measured by energy:
    #: √(r'Br / b'Bb) with the residual r, the right-hand side b and the approximate inverse B.
    residual: float


def conjugate_gradients(
    system: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    inverse: Callable[[FloatArray], FloatArray],
    tol: float = TOLERANCE,
    known: FloatArray | float = 0.0,
) -> Solution:
    """Solve A u = b for the columns b of `right`, (M, m), one product with A for all of them.

    `system` returns A x for columns x, A being symmetric and positive, and `inverse` roughly A⁻¹ x,
    as symmetric and positive. A column is done at the relative error `tol`. `known`, (m,), are
    energies of parts of the solutions that are known already: b may be what rounding left of a
    right-hand side without these, and then is not solved for.
    """
    values, residual = np.zeros_like(right), right.copy()
    step = inverse(residual)
    square = dots(residual, step)
    first = np.maximum(square, (ROUNDING / tol) ** 2 * known)
    direction = step
    for iteration in range(MOST_ITERATIONS):
        error = ratio(np.maximum(square, 0.0), first) ** 0.5
        report("equations", iteration, note=f"error {error.max(initial=0.0):.0e}")
        if (error <= tol).all():
            report("equations", iteration, max(iteration, 1))
            return Solution(values, iteration, float(error.max(initial=0.0)))
        image = system(direction)
        # A column that is done moves no more: its numbers would be rounding errors.
        length = np.where(error > 0, ratio(square, dots(direction, image)), 0.0)
        values += length * direction
        residual -= length * image
        step = inverse(residual)
        square, before = dots(residual, step), square
        direction = step + ratio(square, before) * direction
    raise SolverError(
        f"The equation was not solved to the accuracy {tol:.0e}: {MOST_ITERATIONS} steps of "
        f"conjugate gradients left an error of {error.max():.0e}. Look at `spectrum.components` "
        "and `spectrum.errors.weak_links`, or pass a larger `tol`."
    )


def dots(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the products of columns of the same number, (m,)."""
    return np.asarray(np.einsum("ij,ij->j", first, second))


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return quotients; 0 where the divisor is not positive."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
