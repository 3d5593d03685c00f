"""Approximate eigenpairs on the first cells, to start from: from the coarsest level up."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ....base.arrays import FloatArray
from ....base.threads import slices
from ....rows.block_array import BlockArray, Rows, Tall
from .hierarchy import Hierarchy, Level
from .lobpcg import Problem, iterate, ritz_block
from .warm_start import GUARDS

#: Accuracy asked for on the coarse levels, and the most steps there: they are a start, no more.
COARSE_TOL, COARSE_STEPS = 1e-2, 1
#: Cells beyond which sets of vectors on them live in blocks, if those on the points do; and columns
#: that are fetched from there at a time.
MANY_CELLS, COLUMNS_AT_ONCE = 1 << 19, 8


def coarse_pairs(
    hierarchy: Hierarchy, n: int, cells: Rows | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return n approximate pairs on the first cells, improved level by level.

    If the first cells are very many, and `cells` says where blocks of them can live, their sets of
    vectors live there; matrices and single columns stay here.
    """
    values, vectors = hierarchy.mode_values[:n], hierarchy.modes[:, :n]
    for depth in reversed(range(len(hierarchy.levels) - 1)):
        level, mass = hierarchy.levels[depth], hierarchy.masses[depth]
        many = depth == 0 and level.size > MANY_CELLS and cells is not None
        spread = cells.spread if many and cells is not None else itself
        at_once = COLUMNS_AT_ONCE if many else len(values)
        finer = spread(interpolated(level, vectors, values, mass, at_once))
        problem = Problem(
            partial(product, level), spread(mass), partial(correction, hierarchy, depth),
            spread(level.diagonal),
        )  # fmt: skip
        block = ritz_block(problem.stiffness, problem.mass, finer)
        n_active = max(1, len(block.values) - GUARDS)
        iterate(problem, block, n_active, n_active, COARSE_TOL, COARSE_STEPS)
        values, vectors = block.values, np.asarray(block.vectors)
    return values, vectors


def interpolated(
    level: Level, vectors: FloatArray, values: FloatArray, mass: FloatArray, at_once: int
) -> FloatArray:
    """Return eigenvectors on a level from those on the next coarser one, some columns at a time."""
    result = np.empty((level.size, len(values)))
    for part in slices(len(values), at_once):
        some = level.interpolation @ vectors[:, part]
        result[:, part] = level.relaxed(some, values[part], mass)
    return result


def itself(values: FloatArray) -> FloatArray:
    """Return the array: it stays where it is."""
    return values


def product(level: Level, vectors: Tall, out: FloatArray | None) -> Any:
    """Return the stiffness matrix of a level times vectors, in `out` if that is given."""
    if not isinstance(vectors, BlockArray):
        return level.product(vectors, out)
    return by_columns(lambda some, columns: level.product(some), vectors)


def correction(
    hierarchy: Hierarchy, depth: int, residual: Tall, values: FloatArray, out: FloatArray | None
) -> Any:
    """Return the hierarchy's correction of residuals on a level, in `out` if that is given."""
    if isinstance(residual, BlockArray):
        return by_columns(
            lambda some, columns: hierarchy.correct(some, values[columns], depth), residual
        )
    found = hierarchy.correct(residual, values, depth)
    if out is None:
        return found
    out[:] = found
    return out


def by_columns(
    function: Callable[[FloatArray, slice], FloatArray], vectors: BlockArray
) -> BlockArray:
    """Return what a function makes of vectors in blocks, which are fetched some columns at a time.

    The function also gets the numbers of these columns.
    """
    result = np.empty(vectors.shape)
    for columns in slices(vectors.shape[1], COLUMNS_AT_ONCE):
        result[:, columns] = function(np.asarray(vectors[:, columns]), columns)
    return vectors.rows.spread(result)
