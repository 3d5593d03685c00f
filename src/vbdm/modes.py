"""Solve for the modes: piece by piece, pass by pass of the limiter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .arrays import BoolArray, FloatArray
from .components import Pieces
from .finite_sample import energy_extent, expected_share, local_energy
from .limiter import Limit, Limiter, exponential_rates, first_limit, next_limit
from .operator import Operator
from .solvers.pencil import EigenPairs, EigenSolver, Pencil, PreparedSolver

#: The first pass of the limiter only needs the size of the last eigenvalue.
ROUGH = 1e-2
#: A mode whose energy spreads over fewer kernels than this hangs on a thin link.
THIN = 6.0
#: Modes solved for beyond those wanted, to sort them by rate.
MARGIN = 3
#: How many more modes are sought, at most, in place of those that are left out.
SPARE = 6


@dataclass(frozen=True, eq=False)
class Modes:
    """The modes in the tree's order, slowest first.

    Attributes
    ----------
    rates : (n,) array
        Decay rates λ >= 0; NaN where a mode is faster than one step of the kernel.
    theta : (n,) array
        Eigenvalues of the pencil that was solved; equal to `rates` without limiter.
    vectors : (N, n) array
        Its eigenvectors.
    mass : (N,) array
        Its mass.
    limit : Limit or None
        The limiter in force.
    pairs : EigenPairs
        How the last solve went.
    passes : int
        How many solves the limiter took.
    share : (n,) array
        By what the rates were divided: the finite-sample correction.
    extent : (n,) array
        Over how many kernels the energy of each mode spreads.
    left_out : (m,) array
        Rates of modes that sat on unresolved points and were left out.
    """

    rates: FloatArray
    theta: FloatArray
    vectors: FloatArray
    mass: FloatArray
    limit: Limit | None
    pairs: EigenPairs
    passes: int
    share: FloatArray = field(default_factory=lambda: np.ones(0))
    extent: FloatArray = field(default_factory=lambda: np.ones(0))
    left_out: FloatArray = field(default_factory=lambda: np.ones(0))


@dataclass(frozen=True, eq=False)
class Piece:
    """One connected piece with its prepared solver."""

    members: NDArray[np.intp]
    prepared: PreparedSolver


def solve_modes(
    operator: Operator, pencil: Pencil, pieces: Pieces, n: int, solver: EigenSolver, tol: float
) -> Modes:
    """Solve (D - K) u = θ M u for n modes, the zeros of the pieces included."""
    limiter = operator.limiter
    if n <= pieces.n_solved or limiter is None:
        parts = prepare_pieces(pencil, pieces, n, solver)
        pairs = solve_pieces(parts, pieces, pencil.mass, n, tol, None)
        modes = Modes(pairs.values, pairs.values, pairs.vectors, pencil.mass, None, pairs, 1)
        return corrected(operator, modes)
    most = min(max(n, limiter.n_reference + pieces.n_solved) + MARGIN + SPARE, pencil.n_points)
    parts = prepare_pieces(pencil, pieces, most, solver)
    limit, start = find_limit(operator, limiter, pencil, parts, pieces, tol)
    # θ and rates need not come in the same order: a few more, then sorted, then cut.
    wanted = min(n + MARGIN, most)
    while True:
        modes = solve_limited(operator, limiter, limit, pencil, parts, pieces, wanted, tol, start)
        modes = corrected(operator, modes)
        lost = on_unresolved_points(operator, modes, limit)
        if wanted - lost.sum() < n and wanted == most:
            lost[:] = False  # too many to replace: they stay, and are warned of
        if wanted - lost.sum() >= n:
            return without(modes, lost, n)
        wanted = min(n + MARGIN + int(lost.sum()), most)


def find_limit(
    operator: Operator,
    limiter: Limiter,
    pencil: Pencil,
    parts: list[Piece],
    pieces: Pieces,
    tol: float,
) -> tuple[Limit, FloatArray]:
    """Solve roughly for the reference mode, whose rate sets the limit; also return the vectors."""
    local = 1 / operator.steps
    limit = first_limit(local[~pieces.strays], limiter)
    n_reference = min(limiter.n_reference + pieces.n_solved, pencil.n_points)
    start = None
    for _ in range(limiter.passes):
        mass = pencil.degrees * limit.time(local)
        rough = solve_pieces(parts, pieces, mass, n_reference, max(tol, ROUGH), start)
        start = rough.vectors
        limit = next_limit(float(rough.values[-1]), limit.highest, limiter)
    return limit, np.zeros((pencil.n_points, 0)) if start is None else start


def solve_limited(
    operator: Operator,
    limiter: Limiter,
    limit: Limit,
    pencil: Pencil,
    parts: list[Piece],
    pieces: Pieces,
    n: int,
    tol: float,
    start: FloatArray,
) -> Modes:
    """Solve for n modes with the limit in force, and turn θ into rates."""
    local = 1 / operator.steps
    mass = pencil.degrees * limit.time(local)
    pairs = solve_pieces(parts, pieces, mass, n, tol, start)
    weights = pencil.degrees[:, None] * pairs.vectors**2
    energies = pairs.values * (mass @ pairs.vectors**2)
    rates = exponential_rates(energies, weights, pairs.values, local, limit.highest, limiter)
    return Modes(rates, pairs.values, pairs.vectors, mass, limit, pairs, limiter.passes + 1)


def on_unresolved_points(operator: Operator, modes: Modes, limit: Limit) -> BoolArray:
    """Tell which modes sit on unresolved points: more than half of them, in a few kernels' space.

    Even a limited point can be tied to the others so loosely that a few of them carry a slow mode
    of their own. True modes may be largest at such points, too, but their energy spreads. Only
    modes slower than the reference are judged: the limit was not made for the others.
    """
    held = 1 / operator.steps < limit.cut
    square = modes.vectors**2
    share = square[held].sum(axis=0) / square.sum(axis=0)
    return np.asarray(
        (share > 0.5) & (modes.extent < THIN) & (modes.theta > 0) & (modes.theta <= limit.reference)
    )


def without(modes: Modes, lost: BoolArray, n: int) -> Modes:
    """Return the first n modes that are not lost; the rates of the lost ones are kept aside."""
    kept = np.flatnonzero(~lost)[:n]
    last = kept[-1]
    return replace(
        modes, rates=modes.rates[kept], theta=modes.theta[kept], vectors=modes.vectors[:, kept],
        share=modes.share[kept], extent=modes.extent[kept],
        left_out=modes.rates[: last + 1][lost[: last + 1]],
    )  # fmt: skip


def corrected(operator: Operator, modes: Modes) -> Modes:
    """Divide by the share that a random sample is expected to show, and sort again."""
    energy = np.where(modes.theta > 0, local_energy(operator, modes.vectors), 0.0)
    share = expected_share(operator, energy)
    rates = modes.rates / share
    order = np.argsort(rates, kind="stable")
    return replace(
        modes, rates=rates[order], theta=modes.theta[order], vectors=modes.vectors[:, order],
        share=share[order], extent=energy_extent(operator, energy)[order],
    )  # fmt: skip


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
    start: FloatArray | None,
) -> EigenPairs:
    """Solve each piece apart and merge; the zeros are known, with the indicators of the pieces."""
    n_zeros = min(n, pieces.n_solved)
    indicators = np.zeros((len(mass), n_zeros))
    for piece in range(n_zeros):
        indicators[pieces.labels == piece, piece] = 1.0
    values, columns, solved = [np.zeros(n_zeros)], [indicators], []
    for part in parts:
        # The zeros are known, and a mode of another piece vanishes here: neither is a start.
        begin = None if start is None else start[part.members][:, n_zeros:]
        begin = None if begin is None else begin[:, np.abs(begin).max(axis=0) > 0]
        wanted = min(n - pieces.n_solved + 1, len(part.members))
        pairs = part.prepared.solve(mass[part.members], wanted, tol, begin)
        block = np.zeros((len(mass), wanted - 1))
        block[part.members] = pairs.vectors[:, 1:]
        values.append(np.maximum(pairs.values[1:], 0.0))
        columns.append(block)
        solved.append(pairs)
    merged = np.concatenate(values)
    order = np.argsort(merged, kind="stable")[:n]
    names = ", ".join(dict.fromkeys(pairs.solver for pairs in solved)) or "known zeros"
    return EigenPairs(
        merged[order],
        np.concatenate(columns, axis=1)[:, order],
        names,
        sum(pairs.iterations for pairs in solved),
        sum(pairs.products for pairs in solved),
        all(pairs.converged for pairs in solved),
        max((pairs.error_estimate for pairs in solved), default=0.0),
    )


def restricted(pencil: Pencil, members: NDArray[np.intp]) -> Pencil:
    """Return the pencil of some of the points."""
    merged = pencil.weights.merged() if hasattr(pencil.weights, "merged") else pencil.weights
    weights = merged[members][:, members]
    points = None if pencil.points is None else pencil.points[members]
    return Pencil(weights, np.asarray(weights.sum(axis=1)), pencil.mass[members], points)
