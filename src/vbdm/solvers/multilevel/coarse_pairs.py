"""Approximate eigenpairs on the first cells, to start from: from the coarsest level up."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...base.arrays import FloatArray, contiguous
from ...base.threads import slices
from ...rows.block_array import BlockArray, Rows, Tall, fetched, mapped
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
        many = depth == 0 and level.size > MANY_CELLS
        place = cells if many else None
        finer = interpolated(level, vectors, values, mass, place)
        problem = Problem(
            partial(product, level), spread(mass, place), partial(correction, hierarchy, depth),
            spread(level.diagonal, place),
        )  # fmt: skip
        block = ritz_block(problem.stiffness, problem.mass, finer)
        n_active = max(1, len(block.values) - GUARDS)
        iterate(problem, block, n_active, n_active, COARSE_TOL, COARSE_STEPS)
        values, vectors = block.values, fetched(block.vectors)
        # The next level is larger than all that this one needed: nothing of it is kept.
        del finer, problem, block
    return values, vectors


def spread(values: FloatArray, place: Rows | None) -> Tall:
    """Return an array where its blocks are to live; as it is, if they are not."""
    return values if place is None else place.spread(values)


def interpolated(
    level: Level, vectors: FloatArray, values: FloatArray, mass: FloatArray, place: Rows | None
) -> Tall:
    """Return eigenvectors on a level from those on the next coarser one."""
    if place is None:
        return level.relaxed(level.interpolation @ contiguous(vectors), values, mass)
    parts = [
        place.spread(level.relaxed(level.interpolation @ vectors[:, part], values[part], mass))
        for part in slices(len(values), COLUMNS_AT_ONCE)
    ]
    return side_by_side(parts)


def side_by_side(parts: list[BlockArray]) -> BlockArray:
    """Return vectors in blocks side by side, as one array."""
    joined: BlockArray = mapped(hstacked, parts)
    return joined


def hstacked(parts: list[FloatArray]) -> FloatArray:
    """Return arrays side by side."""
    return np.hstack(parts)


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
    parts = [
        vectors.rows.spread(function(np.asarray(vectors[:, columns]), columns))
        for columns in slices(vectors.shape[1], COLUMNS_AT_ONCE)
    ]
    return side_by_side(parts)
