"""Solve piece by piece, each piece having its own zero, and under a limit.

λ_ref is found, the pencil is solved with the limited mass, and the rates are read off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, column_dots, is_elsewhere, marked_squares
from ..kernel.block_matrix import BlockMatrix
from ..operator.method import Limiter
from ..operator.operator import Operator
from ..rows.block_array import BlockArray, Tall, beside, total
from ..solvers.auto import FETCHED, check_solver
from ..solvers.pencil import EigenPairs, EigenSolver, Pencil, PreparedSolver, prepare_solver
from .limiter import Limit, exponential_rates, first_limit, next_limit
from .modes import THIN, Modes
from .pieces import Pieces, Placed, among_all, matrix_of_members, pairs_among


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
            parts.append(Piece(members, prepare_solver(solver, part, wanted)))
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
    whole = len(parts) == 1 and len(parts[0].members) == len(pieces.labels)
    if whole and len(solved[0].values) == n:
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


@dataclass(frozen=True, eq=False)
class Task:
    """What all solves under a limit have in common."""

    operator: Operator
    limiter: Limiter
    #: The pencil without limiter: the limit changes its mass.
    pencil: Pencil
    #: The pieces that are solved, each with its prepared solver.
    parts: list[Piece]
    pieces: Pieces

    @property
    def local_rates(self) -> FloatArray:
        """r, (M,): the fastest decay that each point can represent."""
        return 1 / self.operator.inside.steps

    @cached_property
    def first_limit(self) -> Limit:
        """The limit to start with, whose cut is the highest that is allowed."""
        rates = self.local_rates[~self.pieces.strays]
        return first_limit(rates, self.limiter, self.operator.dim)

    def mass(self, limit: Limit) -> FloatArray:
        """Return the diagonal of the limited mass, (M,)."""
        return self.pencil.degrees * limit.time(self.local_rates)


def find_limit(
    task: Task, sought: int, tol: float, solved: list[EigenPairs]
) -> tuple[Limit, list[EigenPairs]]:
    """Return the limit, set by the rate of the reference mode, and the solutions behind it.

    The solutions hold as many modes as will be sought next: the next solve starts from them.
    """
    limiter, pieces = task.limiter, task.pieces
    limit = first = task.first_limit
    n_reference = min(limiter.n_reference + pieces.n_solved, task.pencil.n_points)
    extra = max(0, sought - n_reference)
    for _ in range(limiter.passes):
        mass = task.mass(limit)
        solved = solve_pieces(task.parts, pieces, mass, n_reference, tol, solved, extra)
        values = np.sort(np.concatenate([pairs.values[1:] for pairs in solved]))
        # Small pieces may have fewer modes than `n_reference`.
        reference = float(values[: limiter.n_reference][-1])
        limit = next_limit(reference, first, limiter)
    return limit, without_vectors(solved)


def without_vectors(solved: list[EigenPairs]) -> list[EigenPairs]:
    """Return solutions without their vectors: the next solve starts from what else they left."""
    return [replace(pairs, vectors=pairs.vectors[:0].copy()) for pairs in solved]


def solve_limited(
    task: Task, limit: Limit, accurate: int, sought: int, tol: float, start: list[EigenPairs]
) -> tuple[Modes, list[EigenPairs]]:
    """Solve for `sought` modes with the limit in force, and turn their θ into rates.

    The first `accurate` of them have the accuracy `tol`. Also returns the solutions of the pieces,
    from which the next solve can start.
    """
    mass, pencil = task.mass(limit), task.pencil
    more = sought - accurate
    solved = solve_pieces(task.parts, task.pieces, mass, accurate, tol, start, more)
    pairs = merged(task.parts, task.pieces, solved, sought, pencil.weights)
    rates = exponential_rates(
        pairs.vectors, pairs.values, pencil.degrees, mass, task.local_rates, limit
    )
    modes = Modes(
        rates=rates, theta=pairs.values, vectors=pairs.vectors, mass=mass, limit=limit,
        limits=(limit,) * len(rates), pairs=pairs,
    )  # fmt: skip
    return modes, solved


def on_unresolved_points(operator: Operator, modes: Modes, limit: Limit) -> BoolArray:
    """Mark modes with more than half of their square on unresolved points, and a small extent.

    Even limited points can be tied to the others so loosely that a few of them carry a slow mode
    of their own. True modes may be largest at such points, too, but their energy spreads. Only
    modes slower than the reference are judged: the limit was not made for the others.
    """
    share = share_on(modes.vectors, limit.holds(1 / operator.inside.steps))
    return np.asarray(
        (share > 0.5) & (modes.extent < THIN) & (modes.theta > 0) & (modes.theta <= limit.reference)
    )


def share_on(vectors: Tall, marked: BoolArray) -> FloatArray:
    """Return the share of the square of each column on marked rows, (n,)."""
    whole, on_marked = total(squares, vectors, beside(vectors, marked))
    return np.asarray(on_marked / whole)


def squares(vectors: FloatArray, marked: BoolArray) -> FloatArray:
    """Return the sums of squares of the columns over all rows, and over marked ones, (2, n)."""
    return np.stack([column_dots(vectors, vectors), marked_squares(vectors, marked)])
