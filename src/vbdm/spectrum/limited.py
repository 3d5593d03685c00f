"""Solve under a limit: find λ_ref, solve the pencil with the limited mass, read off the rates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base.arrays import BoolArray, FloatArray, column_dots, marked_squares
from ..operator.method import Limiter
from ..operator.operator import Operator
from ..rows.block_array import Tall, beside, total
from ..solvers.pencil import EigenPairs, Pencil
from .by_pieces import Piece, merged, solve_pieces
from .limiter import Limit, exponential_rates, first_limit, next_limit
from .modes import THIN, Modes
from .pieces import Pieces


@dataclass(frozen=True, eq=False)
class Task:
    """What all solves under a limit have in common.

    Attributes
    ----------
    operator : Operator
        L, with the local times of its points.
    limiter : Limiter
        The limiter's options.
    pencil : Pencil
        The pencil without limiter: the limit changes its mass.
    parts : list of Piece
        The pieces that are solved, each with its prepared solver.
    pieces : Pieces
        How the points fall into pieces.
    """

    operator: Operator
    limiter: Limiter
    pencil: Pencil
    parts: list[Piece]
    pieces: Pieces

    @property
    def local_rates(self) -> FloatArray:
        """r, (M,): the fastest decay that each point can represent."""
        return 1 / self.operator.steps

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
    solved = solve_pieces(
        task.parts, task.pieces, mass, accurate, tol, start, sought - accurate
    )  # fmt: skip
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
    share = share_on(modes.vectors, limit.holds(1 / operator.steps))
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
