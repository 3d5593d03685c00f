"""The same stiffness matrix on fewer and fewer unknowns, and corrections computed there.

Averaging with D⁻¹K wipes out what varies from point to point; what is left is smooth, and lives on
cells of points as well as on the points. The same holds again on the cells, and so on down to a
matrix small enough to be diagonalised.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

from ...base.arrays import FloatArray, beside_array, contiguous, to_host
from ...base.threads import for_each
from ...engines.engine import Engine
from ...engines.scipy_engine import ScipyEngine
from ...engines.sparse import (
    all_eigenpairs,
    as_csr,
    graph_laplacian,
    piecewise_constant,
    scaled_rows,
)
from .blocks import row_slices
from .cells import Cells

#: Damping of Jacobi's method on the coarse levels, whose matrices average over few neighbours.
DAMPING = 2 / 3
#: Weights of an interpolation below this are dropped: they would fill the coarser matrices.
NEGLIGIBLE = 0.02
#: Above this many entries per row, cells grow eightfold from level to level instead of fourfold.
CROWDED = 40
#: A level this small shrinks fourfold in any case: there is no cost to save.
SMALL = 8000
#: Least size of the coarsest level, as a share of the size that was asked for.
FEWEST = 0.75
#: Least relative distance from θ by which the coarsest correction divides a mode.
NEAREST = 0.3
#: Least divisor there, as a share of the tenth eigenvalue of the coarsest level.
NEAR_ZERO = 1e-3


@dataclass(frozen=True, eq=False)
class Level:
    """One coarse problem; matrices and arrays live where K does, unless that is in blocks."""

    stiffness: Any  # the stiffness matrix A, (n, n): symmetric, rows summing to 0
    diagonal: FloatArray  # (n,): the diagonal of A; 1 for a cell without links
    # Interpolation from the next coarser level to this one, rows summing to 1, and its transpose;
    # None on the coarsest level
    interpolation: Any = None
    restriction: Any = None
    engine: Engine = field(default_factory=ScipyEngine)  # who multiplies

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.diagonal)

    def product(self, x: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return A x for a block of vectors, in `out` if that is given."""
        return self.engine.multiply(self.stiffness, contiguous(x), out=out)

    @cached_property
    def damping(self) -> FloatArray:
        """The factor of a damped Jacobi step, (n, 1)."""
        return (DAMPING / self.diagonal)[:, None]

    def smooth(self, x: FloatArray, residual: FloatArray) -> None:
        """Improve x by one damped Jacobi step on A x = residual, in place."""
        step = self.remainder(x, residual)

        def work(rows: slice) -> None:
            x[rows] += self.damping[rows] * step[rows]

        for_each(work, row_slices(x))

    def remainder(self, x: FloatArray, residual: FloatArray) -> FloatArray:
        """Return residual - A x."""
        product = self.product(x)
        return np.subtract(residual, product, out=product)

    def relaxed(self, x: FloatArray, values: FloatArray, mass: FloatArray) -> FloatArray:
        """Return approximate eigenvectors x after one damped Jacobi step on (A - θM) x = 0."""
        result, values = self.product(x), beside_array(values, x)

        def work(rows: slice) -> None:
            shifted = 1 - (mass[rows] / self.diagonal[rows])[:, None] * values
            step = result[rows] - mass[rows, None] * x[rows] * values
            step /= np.copysign(np.maximum(np.abs(shifted), 0.5), shifted)
            result[rows] = x[rows] - self.damping[rows] * step

        for_each(work, row_slices(x))
        return result


def build_levels(
    stiffness: Any, mass: FloatArray, cells: Cells, coarsest: int, engine: Engine
) -> list[Level]:
    """Coarsen until about `coarsest` unknowns are left: no fewer than three quarters of that.

    A level that falls far below does not know the wanted modes: in three dimensions 228 cells
    instead of 612 took tens of steps where 3 are enough.

    This is smoothed aggregation: interpolations are constant on cells and then smoothed by a Jacobi
    step, and coarse matrices are Galerkin products.
    """
    levels: list[Level] = []
    while True:
        diagonal = stiffness.diagonal()
        diagonal[diagonal <= 0] = 1.0
        n = len(diagonal)
        crowded = n > SMALL and stiffness.nnz > CROWDED * n
        count = cells.count_down_to(FEWEST * coarsest, 3 if crowded else 2, diagonal, mass)
        if n <= coarsest or count == 0:
            return [*levels, Level(stiffness, diagonal, engine=engine)]
        labels = cells.take(count, [stiffness], diagonal, mass)
        interpolation = smooth_rows(piecewise_constant(labels), stiffness, diagonal)
        restriction = as_csr(interpolation.T)
        levels.append(Level(stiffness, diagonal, interpolation, restriction, engine))
        mass = restriction @ mass
        stiffness = graph_laplacian(-(restriction @ (stiffness @ interpolation)))


def smooth_rows(constant: Any, stiffness: Any, diagonal: FloatArray) -> Any:
    """Return piecewise constants after a Jacobi step, small weights dropped, rows summing to 1."""
    result = as_csr(constant - scaled_rows(stiffness @ constant, DAMPING / diagonal))
    result.data[np.abs(result.data) < NEGLIGIBLE] = 0.0
    result.eliminate_zeros()
    return as_csr(scaled_rows(result, 1 / result.sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Coarse levels with a mass; only this part must be redone for another mass."""

    # The levels, and the diagonal of M on each, from fine to coarse
    levels: list[Level]
    masses: list[FloatArray]
    # Eigenvalues, in this memory, and eigenvectors of the coarsest problem, all but the constant
    mode_values: FloatArray
    modes: FloatArray

    @classmethod
    def with_mass(cls, levels: list[Level], mass: FloatArray) -> Hierarchy:
        """Carry the mass down to the coarsest level, and diagonalise the problem there."""
        masses = [mass]
        for level in levels[:-1]:
            # The Galerkin mass is lumped into its row sums: coarse modes are a start, no more.
            # A few weights of the interpolation may be negative; a mass must not be.
            carried, total = level.restriction @ masses[-1], abs(level.restriction) @ masses[-1]
            masses.append(np.maximum(carried, 1e-3 * total))
        root = np.sqrt(masses[-1])
        matrix = levels[-1].stiffness.toarray() / np.outer(root, root)
        values, vectors = all_eigenpairs(matrix)
        least = np.maximum(to_host(values)[1:], 0.0)
        return cls(levels, masses, least, vectors[:, 1:] / root[:, None])

    @cached_property
    def divided(self) -> FloatArray:
        """Eigenvalues of the coarsest problem beside its eigenvectors, (n, 1)."""
        return cast(FloatArray, beside_array(self.mode_values[:, None], self.modes))

    def correct(self, residual: FloatArray, shifts: FloatArray, depth: int = 0) -> FloatArray:
        """Return roughly (A - shift M)⁻¹ residual at a level, one shift per column: a V-cycle.

        Above the coarsest level the shift is left out: it matters for smooth parts only, and these
        are corrected on the coarsest level.
        """
        shifts = beside_array(shifts, residual)
        if depth == len(self.levels) - 1:
            return self.correct_coarsest(residual, shifts)
        level = self.levels[depth]
        x = level.damping * residual
        remainder = level.engine.multiply(level.restriction, level.remainder(x, residual))
        coarse = self.correct(remainder, shifts, depth + 1)
        x += level.engine.multiply(level.interpolation, contiguous(coarse))
        level.smooth(x, residual)
        return x

    def correct_coarsest(self, residual: FloatArray, shifts: FloatArray) -> FloatArray:
        """Return the correction: each mode of the residual divided by its distance to the shift.

        Divisors are bounded from below: modes near the shift, or near zero, are in the block of
        eigenvectors already, and amplified they would drown the rest.
        """
        values = self.divided
        least = NEAR_ZERO * self.mode_values[min(9, len(values) - 1)]
        distance = np.maximum(np.abs(values - shifts), NEAREST * np.maximum(values, shifts))
        found: FloatArray = self.modes @ ((self.modes.T @ residual) / np.maximum(distance, least))
        return found
