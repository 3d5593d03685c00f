"""Solve for the modes, pass by pass of the limiter."""

from __future__ import annotations

import numpy as np

from ..operator.operator import Operator
from ..rows.block_array import Tall
from ..solvers.pencil import EigenPairs, EigenSolver, Pencil
from .by_pieces import Piece, merged, prepare_pieces, solve_pieces
from .limited import Task, find_limit, on_unresolved_points, solve_limited
from .modes import Modes, corrected, without
from .own_limits import under_own_limits
from .pieces import Pieces

#: Tolerance of the passes that set the limit, and the most by which it may exceed `tol`: of a
#: relative change of the reference eigenvalue, the rates feel about .03.
ROUGH, ROUGHER = 1e-2, 100.0
#: The limiter and the finite-sample correction read rates off the vectors, whose errors go like the
#: root of the error of θ: a hundredth of those reaches the rates. So rates of the accuracy `tol`
#: take θ of the accuracy VECTORS · tol², but no better than LEAST, which is near rounding.
VECTORS, LEAST = 1e4, 1e-13
#: Modes solved for beyond the wanted ones: sorting by rate may move them into the list.
MARGIN = 3
#: The most further modes that are solved for to replace those that are left out.
SPARE = 6


def solve_modes(
    operator: Operator,
    pencil: Pencil,
    pieces: Pieces,
    n: int,
    solver: EigenSolver,
    tol: float,
    near: Tall | None = None,
) -> Modes:
    """Solve (D - K) u = θ M u for n modes, the zeros of the pieces included.

    `near`, (M, m), are vectors near those that are sought; they are used if there is one piece.
    """
    method = operator.settings.method
    limiter, n = method.limiter, min(n, pencil.n_points)
    rough = max(tol, min(ROUGH, ROUGHER * tol))
    if limiter is not None or method.finite_sample:
        tol = min(tol, max(VECTORS * tol**2, LEAST))
    if n <= pieces.n_solved or limiter is None:
        parts = prepare_pieces(pencil, pieces, n, solver)
        solved = solve_pieces(parts, pieces, pencil.mass, n, tol, [])
        pairs = merged(parts, pieces, solved, n, pencil.weights)
        modes = Modes(
            rates=pairs.values, theta=pairs.values, vectors=pairs.vectors, mass=pencil.mass,
            limit=None, limits=(), pairs=pairs,
        )  # fmt: skip
        return corrected(operator, pencil, modes)
    most = min(max(n, limiter.n_reference + pieces.n_solved) + MARGIN + SPARE, pencil.n_points)
    parts = prepare_pieces(pencil, pieces, most, solver)
    task = Task(operator, limiter, pencil, parts, pieces)
    # θ and rates may be ordered differently: solve for a few more, sort by rate, then cut the list.
    sought, accurate = min(n + MARGIN, most), n
    start = started_from(near, parts, pencil.n_points)
    limit, start = find_limit(task, sought, rough, start)
    while True:
        modes, start = solve_limited(task, limit, accurate, sought, tol, start)
        settled = modes.theta[min(accurate, len(modes.theta)) - 1]
        modes = corrected(operator, pencil, modes)
        lost = on_unresolved_points(operator, modes, limit)
        if sought - lost.sum() < n and sought == most:
            lost[:] = False  # too many to replace: they stay in the list, with a warning
        if sought - lost.sum() >= n:
            kept = without(modes, lost, n)
            if kept.theta.max() <= settled or accurate == sought:
                # Where points carry modes of their own, a weaker limit would only let in more.
                return kept if lost.any() else under_own_limits(task, modes, n, tol, start)
            # A mode beyond the accurate ones moved up into the list: solve for it accurately, too.
            accurate = sought
        else:
            sought = min(n + MARGIN + int(lost.sum()), most)
            accurate = min(n + int(lost.sum()), sought)


def started_from(near: Tall | None, parts: list[Piece], n_points: int) -> list[EigenPairs]:
    """Return vectors near those that are sought as a start for the only piece, if it is one."""
    if near is None or len(parts) != 1 or len(parts[0].members) != n_points:
        return []
    return [EigenPairs(np.zeros(near.shape[1]), near, "start")]
