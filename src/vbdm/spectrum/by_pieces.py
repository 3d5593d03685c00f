"""Solve piece by piece: connected pieces of the data are apart, and each has its own zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, is_elsewhere
from ..kernel.block_matrix import BlockMatrix
from ..rows.block_array import BlockArray
from ..solvers.auto import FETCHED, check_solver
from ..solvers.pencil import EigenPairs, EigenSolver, Pencil, PreparedSolver, prepared
from .members import Placed, among_all, matrix_of_members, pairs_among
from .pieces import Pieces


@dataclass(frozen=True, eq=False)
class Piece:
    """One connected piece with its prepared solver."""

    members: NDArray[np.intp]
    prepared: PreparedSolver


def prepare_pieces(pencil: Pencil, pieces: Pieces, n: int, solver: EigenSolver) -> list[Piece]:
    """Prepare a solver for each piece that can contribute to n modes."""
    parts: list[Piece] = []
    for number in range(pieces.n_solved if n > pieces.n_solved else 0):
        members = np.flatnonzero(pieces.labels == number)
        wanted = min(n - pieces.n_solved + 1, len(members))
        if wanted > 1:
            part = pencil if len(members) == pencil.n_points else restricted(pencil, members)
            check_solver(solver, part)
            parts.append(Piece(members, prepared(solver, part, wanted)))
    return parts


def solve_pieces(
    parts: list[Piece],
    pieces: Pieces,
    mass: FloatArray,
    n: int,
    tol: float,
    start: list[EigenPairs],
    extra: int = 0,
) -> list[EigenPairs]:
    """Solve each piece apart, for as many modes as it may have among the first n.

    `start` holds the solutions of the pieces for another mass, or nothing. `extra` more modes of
    each piece come back, less accurate.
    """
    solved = []
    for number, part in enumerate(parts):
        wanted = min(n - pieces.n_solved + 1, len(part.members))
        more = min(extra, len(part.members) - wanted)
        begin = start[number] if start else None
        solved.append(part.prepared.solve(mass[part.members], wanted, tol, begin, more))
    return solved


def merged(
    parts: list[Piece], pieces: Pieces, solved: list[EigenPairs], n: int, weights: Any = None
) -> EigenPairs:
    """Join the solutions of the pieces into one list of n pairs, sorted by θ.

    The zeros are known, one for each piece: their vectors are the indicators of the pieces. If the
    kernel `weights` lives in blocks, so do the vectors.
    """
    rows = weights.rows if isinstance(weights, BlockMatrix) else None
    if (
        len(parts) == 1
        and len(parts[0].members) == len(pieces.labels)
        and len(solved[0].values) == n
    ):
        if rows is None or isinstance(solved[0].vectors, BlockArray):
            return solved[0]
        return replace(solved[0], vectors=rows.spread(solved[0].vectors))
    n_zeros = min(n, pieces.n_solved)
    values = np.concatenate(
        [np.zeros(n_zeros), *(np.maximum(pairs.values[1:], 0.0) for pairs in solved)]
    )
    order = np.argsort(values, kind="stable")[:n]
    placed: list[Placed] = []
    first = n_zeros
    for part, pairs in zip(parts, solved, strict=True):
        last = first + len(pairs.values) - 1
        place = np.flatnonzero((order >= first) & (order < last))
        placed.append((part.members, place, 1 + order[place] - first, pairs.vectors))
        first = last
    vectors = among_all(pieces.labels, n_zeros, len(order), placed, rows)
    return EigenPairs(
        values[order],
        vectors,
        tuple(dict.fromkeys(credit for pairs in solved for credit in pairs.credits)),
        iterations=sum(pairs.iterations for pairs in solved),
        products=sum(pairs.products for pairs in solved),
        converged=all(pairs.converged for pairs in solved),
        error_estimate=max((pairs.error_estimate for pairs in solved), default=0.0),
        reason="; ".join(dict.fromkeys(pairs.reason for pairs in solved if pairs.reason)),
    )


def restricted(pencil: Pencil, members: NDArray[np.intp]) -> Pencil:
    """Return the pencil of some of the points, without their links to the others.

    Few points of a kernel in blocks are fetched, and solved as if there were no others.
    """
    weights = pencil.weights
    if isinstance(weights, BlockMatrix) and len(members) > FETCHED:
        weights = matrix_of_members(weights, members)
        own = pencil.mass[members]
        return Pencil(weights, weights.row_sums(), own, None, members_of=(pencil.n_points, members))
    points = None if pencil.points is None else pencil.points[members]
    if is_elsewhere(pencil.degrees):
        weights = pairs_among(weights, members)
        return Pencil(weights, weights.row_sums(), pencil.mass[members], points)
    if isinstance(weights, BlockMatrix):
        weights = weights.rows_at(members)[:, members]
    else:
        merged = weights.merged() if hasattr(weights, "merged") else weights
        weights = merged[members][:, members]
    return Pencil(weights, np.asarray(weights.sum(axis=1)), pencil.mass[members], points)
