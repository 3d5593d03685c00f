"""Solve for the modes: piece by piece, pass by pass of the limiter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import in_order, one_blas_thread, slices
from ..operator.operator import Operator
from ..settings.method import Limiter
from .finite_sample import EnergySums, local_energy
from .limiter import Limit, exponential_rates, first_limit, next_limit
from .pieces import Pieces
from .solvers.pencil import EigenPairs, EigenSolver, Pencil, PreparedSolver

#: Tolerance of the passes that set the limit, and the most by which it may exceed `tol`: of a
#: relative change of the reference eigenvalue, the rates feel about .03.
ROUGH, ROUGHER = 1e-2, 100.0
#: The limiter and the finite-sample correction read rates off the vectors, whose errors go like the
#: root of the error of θ: a hundredth of those reaches the rates. So rates of the accuracy `tol`
#: take θ of the accuracy VECTORS · tol², but no better than LEAST, which is near rounding.
VECTORS, LEAST = 1e4, 1e-13
#: Extent, in kernels' worth of points, below which a mode hangs on a weak link.
THIN = 6.0
#: Modes solved for beyond the wanted ones: sorting by rate may move them into the list.
MARGIN = 3
#: Modes whose energies are computed at a time: each takes several arrays as long as the points.
MODES_AT_ONCE = 7
#: The most further modes that are solved for to replace those that are left out.
SPARE = 6


@dataclass(frozen=True, eq=False, kw_only=True)
class Modes:
    """The modes, slowest first, on the M points in the order inside.

    Attributes
    ----------
    rates : (n,) array
        Decay rates λ >= 0; NaN where a mode is faster than one step of the kernel.
    theta : (n,) array
        Eigenvalues θ of the pencil; without limiter, the rates before the correction.
    vectors : (M, n) array
        Eigenvectors u of the pencil, by columns.
    mass : (M,) array
        The mass of the pencil, a diagonal.
    limit : Limit or None
        The limiter in force; None: there is none.
    pairs : EigenPairs
        What the last solve returned, and how it went.
    share : (n,) array
        The finite-sample correction: the factor λ̂/λ by which the rates were divided.
    extent : (n,) array
        Extent of each mode: the number of kernels' worth of points that hold its energy.
    residuals : (n,) array
        Norms of the residuals, as in `Pencil.residuals`.
    left_out : (m,) array
        Rates of modes that sat on unresolved points and are not in the list.
    set_aside : (m,) array
        θ of all modes that were found but are not in the list: left out, or too fast for it.
    """

    rates: FloatArray
    theta: FloatArray
    vectors: FloatArray
    mass: FloatArray
    limit: Limit | None
    pairs: EigenPairs
    share: FloatArray = field(default_factory=lambda: np.ones(0))
    extent: FloatArray = field(default_factory=lambda: np.ones(0))
    residuals: FloatArray = field(default_factory=lambda: np.ones(0))
    left_out: FloatArray = field(default_factory=lambda: np.ones(0))
    set_aside: FloatArray = field(default_factory=lambda: np.ones(0))


@dataclass(frozen=True, eq=False)
class Piece:
    """One connected piece with its prepared solver."""

    members: NDArray[np.intp]
    prepared: PreparedSolver


def solve_modes(
    operator: Operator,
    pencil: Pencil,
    pieces: Pieces,
    n: int,
    solver: EigenSolver,
    tol: float,
    near: FloatArray | None = None,
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
        pairs = merged(parts, pieces, solved, n)
        modes = Modes(
            rates=pairs.values, theta=pairs.values, vectors=pairs.vectors, mass=pencil.mass,
            limit=None, pairs=pairs,
        )  # fmt: skip
        return corrected(operator, pencil, modes)
    most = min(max(n, limiter.n_reference + pieces.n_solved) + MARGIN + SPARE, pencil.n_points)
    parts = prepare_pieces(pencil, pieces, most, solver)
    # θ and rates may be ordered differently: solve for a few more, sort by rate, then cut the list.
    sought, accurate = min(n + MARGIN, most), n
    start = started_from(near, parts, pencil.n_points)
    limit, start = find_limit(operator, limiter, pencil, parts, pieces, sought, rough, start)
    while True:
        modes, start = solve_limited(
            operator, limiter, limit, pencil, parts, pieces, accurate, sought, tol, start
        )
        settled = modes.theta[min(accurate, len(modes.theta)) - 1]
        modes = corrected(operator, pencil, modes)
        lost = on_unresolved_points(operator, modes, limit)
        if sought - lost.sum() < n and sought == most:
            lost[:] = False  # too many to replace: they stay in the list, with a warning
        if sought - lost.sum() >= n:
            kept = without(modes, lost, n)
            if kept.theta.max() <= settled or accurate == sought:
                return kept
            # A mode beyond the accurate ones moved up into the list: solve for it accurately, too.
            accurate = sought
        else:
            sought = min(n + MARGIN + int(lost.sum()), most)
            accurate = min(n + int(lost.sum()), sought)


def started_from(near: FloatArray | None, parts: list[Piece], n_points: int) -> list[EigenPairs]:
    """Return vectors near those that are sought as a start for the only piece, if it is one."""
    if near is None or len(parts) != 1 or len(parts[0].members) != n_points:
        return []
    return [EigenPairs(np.zeros(near.shape[1]), near, "start")]


def find_limit(
    operator: Operator,
    limiter: Limiter,
    pencil: Pencil,
    parts: list[Piece],
    pieces: Pieces,
    sought: int,
    tol: float,
    solved: list[EigenPairs],
) -> tuple[Limit, list[EigenPairs]]:
    """Return the limit, set by the rate of the reference mode, and the solutions behind it.

    The solutions hold as many modes as will be sought next: the next solve starts from them.
    """
    local = 1 / operator.steps
    limit = first_limit(local[~pieces.strays], limiter)
    n_reference = min(limiter.n_reference + pieces.n_solved, pencil.n_points)
    extra = max(0, sought - n_reference)
    for _ in range(limiter.passes):
        mass = pencil.degrees * limit.time(local)
        solved = solve_pieces(parts, pieces, mass, n_reference, tol, solved, extra)
        values = np.sort(np.concatenate([pairs.values[1:] for pairs in solved]))
        # Small pieces may have fewer modes than `n_reference`.
        reference = float(values[: limiter.n_reference][-1])
        limit = next_limit(reference, limit.highest, limiter)
    # The next solve starts from what these left, not from their vectors.
    return limit, [replace(pairs, vectors=pairs.vectors[:0].copy()) for pairs in solved]


def solve_limited(
    operator: Operator,
    limiter: Limiter,
    limit: Limit,
    pencil: Pencil,
    parts: list[Piece],
    pieces: Pieces,
    accurate: int,
    sought: int,
    tol: float,
    start: list[EigenPairs],
) -> tuple[Modes, list[EigenPairs]]:
    """Solve for `sought` modes with the limit in force, and turn their θ into rates.

    The first `accurate` of them have the accuracy `tol`. Also returns the solutions of the pieces,
    from which the next solve can start.
    """
    local = 1 / operator.steps
    mass = pencil.degrees * limit.time(local)
    solved = solve_pieces(parts, pieces, mass, accurate, tol, start, sought - accurate)
    pairs = merged(parts, pieces, solved, sought)
    rates = exponential_rates(
        pairs.vectors, pairs.values, pencil.degrees, mass, local, limit.highest, limiter
    )
    modes = Modes(
        rates=rates, theta=pairs.values, vectors=pairs.vectors, mass=mass, limit=limit, pairs=pairs
    )
    return modes, solved


def on_unresolved_points(operator: Operator, modes: Modes, limit: Limit) -> BoolArray:
    """Mark modes with more than half of their square on unresolved points, and a small extent.

    Even limited points can be tied to the others so loosely that a few of them carry a slow mode
    of their own. True modes may be largest at such points, too, but their energy spreads. Only
    modes slower than the reference are judged: the limit was not made for the others.
    """
    held = np.flatnonzero(1 / operator.steps < limit.cut)
    total = np.einsum("ij,ij->j", modes.vectors, modes.vectors)
    share = np.square(modes.vectors[held]).sum(axis=0) / total
    return np.asarray(
        (share > 0.5) & (modes.extent < THIN) & (modes.theta > 0) & (modes.theta <= limit.reference)
    )


def without(modes: Modes, lost: BoolArray, n: int) -> Modes:
    """Return the first n modes that are not lost; `left_out` and `set_aside` record the others."""
    kept = np.flatnonzero(~lost)[:n]
    last = kept[-1]
    return replace(
        modes, rates=modes.rates[kept], theta=modes.theta[kept], vectors=modes.vectors[:, kept],
        share=modes.share[kept], extent=modes.extent[kept], residuals=modes.residuals[kept],
        left_out=modes.rates[: last + 1][lost[: last + 1]],
        set_aside=np.delete(modes.theta, kept),
    )  # fmt: skip


def corrected(operator: Operator, pencil: Pencil, modes: Modes) -> Modes:
    """Divide the rates by the finite-sample correction, and sort the modes by rate again."""
    figures = [
        energy_figures(operator, pencil, modes, columns)
        for columns in slices(len(modes.theta), size=MODES_AT_ONCE)
    ]
    share, extent, residuals = (np.concatenate(part) for part in zip(*figures, strict=True))
    rates = modes.rates / share
    order = np.argsort(rates, kind="stable")
    return replace(
        modes, rates=rates[order], theta=modes.theta[order], vectors=modes.vectors[:, order],
        share=share[order], extent=extent[order], residuals=residuals[order],
    )  # fmt: skip


def energy_figures(
    operator: Operator, pencil: Pencil, modes: Modes, columns: slice
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the correction, the extent and the residual of some modes, each (m,)."""
    u, theta = np.ascontiguousarray(modes.vectors[:, columns]), modes.theta[columns]
    energy, products = local_energy(operator, u)
    spread, degrees = operator.kernel.relative_variance, operator.kernel.row_sums
    mass, positive = modes.mass, theta > 0
    inverse = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)

    def work(rows: slice) -> FloatArray:
        e = energy[rows] * positive
        gap = pencil.degrees[rows, None] * u[rows] - products[rows]
        gap -= mass[rows, None] * u[rows] * theta
        return np.stack([
            e.sum(axis=0), np.square(e).sum(axis=0), spread[rows] @ e, degrees[rows] @ e,
            inverse[rows] @ np.square(gap), mass[rows] @ np.square(u[rows]),
        ])  # fmt: skip

    with one_blas_thread():
        parts = list(in_order(work, slices(len(u), size=8192)))
    *sums, gaps, sizes = np.sum(parts, axis=0)
    found = EnergySums(*sums)
    return found.share(operator), found.extent, np.sqrt(gaps / sizes)


def prepare_pieces(pencil: Pencil, pieces: Pieces, n: int, solver: EigenSolver) -> list[Piece]:
    """Prepare a solver for each piece that can contribute to n modes."""
    parts: list[Piece] = []
    for number in range(pieces.n_solved if n > pieces.n_solved else 0):
        members = np.flatnonzero(pieces.labels == number)
        wanted = min(n - pieces.n_solved + 1, len(members))
        if wanted > 1:
            part = pencil if len(members) == pencil.n_points else restricted(pencil, members)
            parts.append(Piece(members, solver.prepare(part, wanted)))
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


def merged(parts: list[Piece], pieces: Pieces, solved: list[EigenPairs], n: int) -> EigenPairs:
    """Join the solutions of the pieces into one list of n pairs, sorted by θ.

    The zeros are known, one for each piece: their vectors are the indicators of the pieces.
    """
    if (
        len(parts) == 1
        and len(parts[0].members) == len(pieces.labels)
        and len(solved[0].values) == n
    ):
        return solved[0]
    n_zeros = min(n, pieces.n_solved)
    values = np.concatenate(
        [np.zeros(n_zeros), *(np.maximum(pairs.values[1:], 0.0) for pairs in solved)]
    )
    order = np.argsort(values, kind="stable")[:n]
    vectors = np.zeros((len(pieces.labels), len(order)))
    for zero in range(n_zeros):
        vectors[pieces.labels == zero, np.flatnonzero(order == zero)] = 1.0
    first = n_zeros
    for part, pairs in zip(parts, solved, strict=True):
        last = first + len(pairs.values) - 1
        place = np.flatnonzero((order >= first) & (order < last))
        vectors[np.ix_(part.members, place)] = pairs.vectors[:, 1 + order[place] - first]
        first = last
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
    """Return the pencil of some of the points, without their links to the others."""
    merged = pencil.weights.merged() if hasattr(pencil.weights, "merged") else pencil.weights
    weights = merged[members][:, members]
    points = None if pencil.points is None else pencil.points[members]
    return Pencil(weights, np.asarray(weights.sum(axis=1)), pencil.mass[members], points)
