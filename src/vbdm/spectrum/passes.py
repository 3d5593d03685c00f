"""Solve for the modes, pass by pass of the limiter; slow ones get limits of their own (ours).

One λ_ref for all modes, that of the ninth, is far above the rate of the slow ones: it flattens them
in tails that resolve them well. So modes that reach into the tail are solved again, those of
similar rates together, with λ_ref at their own rate and the cut at κ λ_ref. Three things may speak
against it, and all show in the data:

* **Held points that hold together.** A group of outliers whose members are tied to each other
  rather than to the cloud leaves its place at a rate far below that of its single points. That rate
  is the least eigenvalue μ of the pencil on the held points alone, with u = 0 on all others. The
  cut promises each point that rate at least, and in a clean tail μ is 1.0 to 1.3 cuts; in groups
  of outliers, .3 to .95. Where μ is below the cut, the shared limit stays.
* **A mode that shrinks onto a few points.** In a random sample, a gap in the tail can make a few
  points beyond it nearly a mode of their own, though each of them resolves it. Extents of true
  modes fall slowly from one mode to the next; one that falls to less than a quarter is not
  believed. Then the shared limit stays or, if the mode shrinks under that as well, the cut is
  raised.
* **Another mode.** What comes back must be the mode that was there before, by more than half.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.sparse import diags_array
from scipy.sparse.linalg import eigsh

from ..base.arrays import FloatArray, filled, to_host
from ..base.threads import one_blas_thread
from ..operator.operator import Operator
from ..rows.block_array import Tall, beside, overwrite, total
from ..solvers.pencil import EigenPairs, EigenSolver, Pencil
from .limited import (
    Task,
    find_limit,
    merged,
    on_unresolved_points,
    prepare_pieces,
    share_on,
    solve_limited,
    solve_pieces,
    without_vectors,
)
from .limiter import Limit
from .modes import THIN, Modes, corrected, part_of, without
from .pieces import Pieces, links_among

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
    start: list[EigenPairs] = []
    if near is not None and len(parts) == 1 and len(parts[0].members) == pencil.n_points:
        start = [EigenPairs(np.zeros(near.shape[1]), near, "start")]
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


#: Modes up to WIDE times the rate of the slowest share a limit, and longer, until there is a gap of
#: the factor GAP: a group of equal rates is not divided. λ_ref is MIDDLE times the slowest rate.
WIDE, GAP, MIDDLE = 1.25, 1.1, 1.1
#: Share of a mode on points held by the shared limit below which that limit does not matter to it.
REACHES = 0.03
#: Least ratio of the extents of a mode and of the modes before it.
SHRUNK = 0.25
#: Relative difference of extents that rounding may make.
ROUNDING = 1e-6
#: Factor by which the shared cut is raised where a mode shrinks under it.
RAISED = 4.0
#: Factor from the limiter's κ to that of the row balance of modes with limits of their own. They
#: are not flattened, so their energy is lower; the balance makes up for it.
BALANCE = 1.5
#: Least share of a mode, squared, that must come back.
SAME = 0.5
#: Up to this many held points, μ is found densely.
DENSE = 300


def under_own_limits(
    task: Task, modes: Modes, n: int, tol: float, start: list[EigenPairs]
) -> Modes:
    """Return the first n modes, slow ones that reach into the tail under limits of their own.

    `modes`, some more than n, are those under the shared limit, and `start` what that solve left.
    """
    # These are copies: the vectors of `modes` stay as they are.
    result = without(modes, np.zeros(len(modes.theta), np.bool_), n)
    shared_theta, start = result.theta, without_vectors(start)
    # From fast to slow: each solve leaves a start for the next one, which seeks fewer modes.
    for rung, before in reversed(list(rungs_in_tail(task, modes, n))):
        found, start = on_rung(task, modes, rung, before, min(rung.stop, n), tol, start)
        if found is not None:
            result = with_rung(result, found, slice(rung.start, min(rung.stop, n)))
            result = replace(result, shared_theta=shared_theta)
    return part_of(result, np.argsort(result.rates, kind="stable"))


def rungs_in_tail(task: Task, modes: Modes, n: int) -> Iterator[tuple[slice, float]]:
    """Yield the modes that may have a limit of their own, by rungs of similar rates.

    Each comes with the least extent that its first mode should have.
    """
    shared = modes.shared_limit
    held = shared.holds(task.local_rates)
    if not held.any():
        return
    rates, least = modes.rates * modes.share, THIN
    in_tail = share_on(modes.vectors, held)
    for rung in rungs(rates, int(np.count_nonzero(modes.theta <= 0))):
        own = MIDDLE * rates[rung.start]
        if rung.start >= n or not own < shared.reference:
            return
        if in_tail[rung.start] > REACHES:
            yield rung, least
        least = SHRUNK * modes.extent[rung.start]


def rungs(rates: FloatArray, n_zeros: int) -> Iterator[slice]:
    """Yield the places of modes of similar rates, without the zeros; rates ascend.

    >>> list(rungs(np.array([0.0, 1.0, 1.05, 2.0, 2.4, 2.6, 3.1]), 1))
    [slice(1, 3, None), slice(3, 6, None), slice(6, 7, None)]
    """
    first = n_zeros
    for j in range(n_zeros + 1, len(rates) + 1):
        if j == len(rates) or (rates[j] > WIDE * rates[first] and rates[j] > GAP * rates[j - 1]):
            yield slice(first, j)
            first = j


def on_rung(
    task: Task,
    modes: Modes,
    rung: slice,
    least: float,
    accurate: int,
    tol: float,
    start: list[EigenPairs],
) -> tuple[Modes | None, list[EigenPairs]]:
    """Return the modes of a rung under a limit of their own; None: under the shared one."""
    shared, first = modes.shared_limit, rung.start
    reference = float(MIDDLE * modes.rates[first] * modes.share[first])
    kappa, highest = task.limiter.kappa, task.first_limit.cut
    cut = min(kappa * reference, highest)
    own = Limit(reference, cut, shared.highest, BALANCE * kappa)
    if rate_of_held(task, own) < cut:
        return None, start
    tried = [(own, least)]
    if modes.extent[first] < least:
        raised = replace(own, cut=min(RAISED * shared.cut, highest))
        tried.append((raised, modes.extent[first]))
    # The last vector of a solve is its least accurate: one more than the rung has.
    sought = min(rung.stop + 1, len(modes.theta))
    for limit, enough in tried:
        solved, start = solve_limited(task, limit, sought, sought, tol, start)
        start = without_vectors(start)
        found = part_of(solved, np.arange(rung.start, rung.stop))
        found = corrected(task.operator, task.pencil, found)
        if not found.extent[0] >= (1 - ROUNDING) * enough:
            continue
        # Whether the first mode of the rung lies in the span of the modes that were found.
        mass = beside(modes.vectors, modes.mass)
        *gram, shares, size = total(overlaps, modes.vectors, rung.start, found.vectors, mass)
        if shares @ np.linalg.solve(np.array(gram), shares) > SAME * size[0]:
            return part_of(found, np.arange(accurate - rung.start)), start
    return None, start


def rate_of_held(task: Task, limit: Limit) -> float:
    """Return μ, the rate at which the points that a limit holds leave their place, as a group.

    It is the least eigenvalue of (D - K) u = μ M u with u = 0 on all other points; infinite if no
    point is held.
    """
    degrees = task.pencil.degrees
    held = np.flatnonzero(limit.holds(task.local_rates) & (degrees > 0) & ~task.pieces.strays)
    if not held.size:
        return np.inf
    scale = to_host(1 / np.sqrt(task.mass(limit)[held]))
    links, degrees = links_among(task.operator.alpha_kernel, held), to_host(degrees[held])
    matrix = diags_array(degrees * scale**2) - diags_array(scale) @ links @ diags_array(scale)
    with one_blas_thread():
        if len(held) <= DENSE:
            return float(np.linalg.eigvalsh(matrix.toarray())[0])
        first = np.ones(len(held))
        return float(eigsh(matrix, 1, which="SA", tol=1e-2, v0=first, return_eigenvectors=False)[0])


def overlaps(before: FloatArray, column: int, after: FloatArray, mass: FloatArray) -> FloatArray:
    """Return V'MV for vectors V, and as further rows u'MV and u'Mu for a column u of others."""
    u, weighted = before[:, column], mass[:, None] * after
    size = filled(after.shape[1], mass @ u**2, after)
    return np.vstack([after.T @ weighted, u @ weighted, size])


def with_rung(modes: Modes, found: Modes, place: slice) -> Modes:
    """Return the modes with those of a rung in their place; `vectors` are written over."""
    (vectors,), _ = overwrite(write_columns, [modes.vectors], place, found.vectors)

    def joined(name: str) -> FloatArray:
        column = getattr(modes, name).copy()
        column[place] = getattr(found, name)
        return np.asarray(column)

    pairs = replace(
        modes.pairs,
        converged=modes.pairs.converged and found.pairs.converged,
        error_estimate=max(modes.pairs.error_estimate, found.pairs.error_estimate),
    )
    return replace(
        modes, vectors=vectors, rates=joined("rates"), theta=joined("theta"), share=joined("share"),
        extent=joined("extent"), residuals=joined("residuals"), pairs=pairs,
        limits=(*modes.limits[: place.start], *found.limits, *modes.limits[place.stop :]),
    )  # fmt: skip


def write_columns(vectors: FloatArray, place: slice, columns: FloatArray) -> None:
    """Write some columns over those at a place."""
    vectors[:, place] = columns
