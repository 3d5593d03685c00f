"""What the solver starts from: pairs on the first cells, or what an earlier solve left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...base.arrays import FloatArray, contiguous, to_host
from ...base.threads import slices
from ...errors import InputError
from ...rows.block_array import BlockArray, Rows, Tall, mapped, to_numpy
from .finest import Finest
from .hierarchy import Hierarchy, Level
from .lobpcg import Block, Problem, iterate, ritz_block

#: The block of vectors ends where θ has grown by this factor beyond the last wanted one, so that
#: it does not cut through a group of equal θ.
GROWTH = 1.1
#: Columns beyond the end of the block that guard it: they are not corrected.
GUARDS = 3


def block_size(n: int) -> int:
    """Return how many vectors are carried up from the coarse levels to find n pairs.

    Many more than n: the order of the θ is not the same on cells and on points.
    """
    return n - 1 + max(12, n // 2)


def block_end(values: FloatArray, n_wanted: int) -> int:
    """Return how many columns to correct, so that the block does not end in a group of equal θ."""
    far = np.flatnonzero(values[n_wanted:] > GROWTH * values[n_wanted - 1])
    end = n_wanted + int(far[0]) if len(far) else len(values)
    return max(n_wanted, min(end, len(values) - GUARDS))


def check_room(hierarchy: Hierarchy, n: int) -> None:
    """Refuse more pairs than the coarsest level can start."""
    n_modes = len(hierarchy.mode_values)
    if n_modes < block_size(n):
        raise InputError(
            f"The coarsest level is too small for {n} eigenpairs; received {n_modes} coarse modes "
            f"where {block_size(n)} are needed. Use prepare(pencil, n={n})."
        )


#: A coarse vector is known if this share of it lies in the span of the earlier ones.
KNOWN = 0.9


@dataclass(eq=False)
class Warm:
    """What a solve leaves for the next."""

    # Approximate eigenvectors on the points. The next solve takes them out of this list, so that it
    # can free them: they are a good part of its memory.
    blocks: list[Block]
    coarse: FloatArray  # (n_cells, m): the vectors on the first cells that the solve started from
    # Whether the vectors are good enough to stand in the right order, whatever the kernel
    is_sorted: bool = False

    @classmethod
    def of_vectors(cls, finest: Finest, vectors: Tall) -> Warm:
        """Start from eigenvectors of another kernel on the same points, the constant among them."""
        own: Tall = vectors[:, 1:]
        if not isinstance(own, BlockArray):
            own = finest.spread(contiguous(own))
        sizes = np.bincount(finest.labels)[:, None]
        values = np.zeros(own.shape[1])
        block = Block(own, finest.stiffness(own), values)
        return cls([block], finest.summed(own) / sizes, is_sorted=True)

    def unknown(
        self, values: FloatArray, coarse: FloatArray, mass: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the coarse pairs for a new mass that the old vectors do not contain.

        As a rule there are none, except where the new mass gives a few points modes of their own.
        """
        gram = to_host(self.coarse.T @ (mass[:, None] * self.coarse))
        shares = to_host(self.coarse.T @ (mass[:, None] * coarse))
        inside = np.einsum("ij,ij->j", shares, np.linalg.lstsq(gram, shares, rcond=1e-12)[0])
        size = to_host(mass @ coarse**2)
        new = np.flatnonzero(inside < KNOWN * size)
        return values[new], coarse[:, new]


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
        finer = interpolate(level, vectors, values, mass, place)
        problem = Problem(
            partial(product, level), spread(mass, place), partial(correction, hierarchy, depth),
            spread(level.diagonal, place),
        )  # fmt: skip
        block = ritz_block(problem.stiffness, problem.mass, finer)
        n_active = max(1, len(block.values) - GUARDS)
        iterate(problem, block, n_active, n_active, COARSE_TOL, COARSE_STEPS)
        values, vectors = block.values, to_numpy(block.vectors)
        # The next level is larger than all that this one needed: nothing of it is kept.
        del finer, problem, block
    return values, vectors


def spread(values: FloatArray, place: Rows | None) -> Tall:
    """Return an array where its blocks are to live; as it is, if they are not."""
    return values if place is None else place.spread(values)


def interpolate(
    level: Level, vectors: FloatArray, values: FloatArray, mass: FloatArray, place: Rows | None
) -> Tall:
    """Return eigenvectors on a level from those on the next coarser one."""
    if place is None:
        return level.relaxed(level.interpolation @ contiguous(vectors), values, mass)
    parts = [
        place.spread(level.relaxed(level.interpolation @ vectors[:, part], values[part], mass))
        for part in slices(len(values), COLUMNS_AT_ONCE)
    ]
    return mapped(side_by_side, parts)  # type: ignore[no-any-return]


def side_by_side(parts: list[FloatArray]) -> FloatArray:
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
    return mapped(side_by_side, parts)  # type: ignore[no-any-return]
