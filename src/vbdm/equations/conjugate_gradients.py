"""Conjugate gradients on several right-hand sides at once, one product with K for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..base.arrays import FloatArray
from ..errors import SolverError
from ..progress import report

#: Default accuracy: far below the sampling error of any data set.
TOLERANCE = 1e-6
#: Iterations after which the solver gives up.
MOST_ITERATIONS = 1000
#: Relative size of what rounding leaves.
ROUNDING = 1e-15
Product = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Solution:
    """Solutions of a linear system.

    Attributes
    ----------
    values : (M, m) array
        The solutions, by columns.
    iterations : int
        Steps that were taken.
    residual : float
        The largest remaining error of a column, relative to the solution, both measured by energy:
        √(r'Br / b'Bb) with the residual r, the right-hand side b and the approximate inverse B.
    """

    values: FloatArray
    iterations: int
    residual: float


def conjugate_gradients(
    system: Product,
    right: FloatArray,
    inverse: Product,
    tol: float = TOLERANCE,
    known: FloatArray | float = 0.0,
) -> Solution:
    """Solve A u = b for the columns b of `right`, (M, m), with A symmetric positive.

    Parameters
    ----------
    system : callable
        Returns A x for columns x.
    right : (M, m) array
        The right-hand sides.
    inverse : callable
        Returns roughly A⁻¹ x, symmetric and positive as well.
    tol : float
        Relative error at which a column is done.
    known : (m,) array or float
        Energies of parts of the solutions that are known already: b may be what rounding left of
        a right-hand side without these, and then is not solved for.

    Raises
    ------
    SolverError
        If the tolerance is not reached.
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
        f"conjugate gradients left an error of {error.max():.0e}. A set may be tied to the other "
        "points by hardly any link: look at `spectrum.components` and "
        "`spectrum.errors.weak_links`, or pass a larger `tol`."
    )


def dots(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the products of columns of the same number, (m,)."""
    return np.asarray(np.einsum("ij,ij->j", first, second))


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return quotients; 0 where the divisor is not positive."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
