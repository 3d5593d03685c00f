"""Choose the solver by the size of the problem, and another one if it fails."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from ..base.arrays import FloatArray
from ..errors import InputError, SolverError, SolverWarning, warn_user
from ..kernel.block_matrix import BlockMatrix
from ..rows.place import not_in_blocks
from .arpack import Lanczos, ShiftInvert
from .direct import Dense, affordable
from .multilevel.solver import Multilevel
from .multilevel.start import block_size
from .pencil import EigenPairs, EigenSolver, Pencil, PreparedSolver, prepare_solver

#: Up to this many points the dense solver takes at most a second or two.
DENSE_POINTS = 1500
#: The most points whose kernel is fetched out of blocks where it is needed whole: some 100 MB.
FETCHED = 100_000


@dataclass(frozen=True)
class Auto:
    """Dense for small problems, multilevel for the rest, and a slower one if that fails.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.circle(500, random_state=0).points)
    >>> vbdm.solvers.Auto().choose(vbdm.spectrum.solve.pencil_of(op), 5)
    (Dense(), '500 points: a dense solve is fast and exact')
    """

    #: The solver of large problems. Where it raises `SolverError`, a `SolverWarning` says so, and
    #: `ShiftInvert` takes over if its factors are affordable, `Lanczos` otherwise. None does for
    #: more points in blocks than can be fetched.
    large: EigenSolver = field(default_factory=Multilevel)
    on_devices: ClassVar[bool] = True

    def choose(self, pencil: Pencil, n: int) -> tuple[EigenSolver, str]:
        """Return the solver for this problem, and the reason in words."""
        n_points = pencil.n_points
        if n_points <= DENSE_POINTS:
            return Dense(), f"{n_points} points: a dense solve is fast and exact"
        if n_points < 8 * block_size(n):
            return Dense(), f"{n} pairs of {n_points} points: too many to coarsen"
        return self.large, f"{n_points} points: a few products on the points, the rest on cells"

    def prepare(self, pencil: Pencil, n: int) -> PreparedAuto:
        """Prepare the chosen solver."""
        solver, reason = self.choose(pencil, n)
        fetched = not isinstance(pencil.weights, BlockMatrix) or pencil.n_points <= FETCHED
        replaceable = solver is self.large and fetched
        return PreparedAuto(pencil, prepare_solver(solver, pencil, n), reason, replaceable)

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Solve with the chosen solver."""
        return self.prepare(pencil, n).solve(pencil.mass, n, tol)


@dataclass(eq=False)
class PreparedAuto:
    """The chosen solver, prepared. If it fails, another takes over, for all masses to come."""

    pencil: Pencil  # the problem, for the solver that may have to take over
    prepared: PreparedSolver  # the solver at work
    reason: str  # why it was chosen, in words
    replaceable: bool  # whether another solver may still take over

    def solve(
        self, mass: FloatArray, n: int, tol: float, start: EigenPairs | None = None, extra: int = 0
    ) -> EigenPairs:
        """Return n + extra pairs of (D - K) u = θ M u, the first n of them accurate."""
        try:
            pairs = self.prepared.solve(mass, n, tol, start, extra)
        except SolverError as error:
            if not self.replaceable:
                raise
            self.take_over(n + extra, str(error))
            # `start` is not passed on: only the solver that failed can read it.
            pairs = self.prepared.solve(mass, n, tol, None, extra)
        return replace(pairs, reason=self.reason)

    def take_over(self, n: int, failure: str) -> None:
        """Let a slower, sure solver take over, and warn of it."""
        if isinstance(self.pencil.weights, BlockMatrix):
            self.pencil = replace(self.pencil, weights=self.pencil.weights.merged())
        thin = affordable(self.pencil.on_host)
        solver: EigenSolver = ShiftInvert() if thin else Lanczos()
        name, why = type(solver).__name__, "thin enough" if thin else "too many"
        reason = f"{self.pencil.n_points} points, {why} to be factorised"
        warn_user(
            f"The solver failed and {name} took over ({reason}): the result is as accurate as "
            f"asked for, only slower. What had failed: {failure} To save the first attempt, pass "
            f"solver={NAMES[type(solver)]!r}.",
            SolverWarning,
        )
        self.prepared, self.replaceable = prepare_solver(solver, self.pencil, n), False
        self.reason = f"{self.reason}; it failed, and {name} took over: {reason}"


def check_solver(solver: EigenSolver, pencil: Pencil) -> None:
    """Refuse solvers that need the whole matrix, or many products, where it lives in blocks."""
    alone = isinstance(solver, Dense | ShiftInvert | Lanczos) and pencil.n_points > DENSE_POINTS
    if alone and isinstance(pencil.weights, BlockMatrix):
        raise not_in_blocks(
            f"The solution by solver={NAMES[type(solver)]!r}", f"{pencil.n_points} points",
            "It needs the matrix of all points in one place, or hundreds of products with it; "
            "solver='multilevel' takes some ten.",
        )  # fmt: skip


#: The solvers by the names that ``spectrum(solver=...)`` takes.
SOLVERS: dict[str, type[EigenSolver]] = {
    "auto": Auto,
    "dense": Dense,
    "shift-invert": ShiftInvert,
    "lanczos": Lanczos,
    "multilevel": Multilevel,
}
NAMES = {kind: name for name, kind in SOLVERS.items()}


def as_solver(solver: object) -> EigenSolver:
    """Return a solver given by its name, as an object, or as None for the automatic choice."""
    if solver is None:
        return Auto()
    if isinstance(solver, str) and solver in SOLVERS:
        return SOLVERS[solver]()
    able = all(callable(getattr(solver, name, None)) for name in ("solve", "prepare"))
    if isinstance(solver, type) or not able:
        kind = f"the class {solver.__name__}" if isinstance(solver, type) else repr(solver)
        raise InputError(
            f"`solver` must be one of {', '.join(map(repr, SOLVERS))}, or an object with the "
            "methods solve and prepare, such as vbdm.solvers.Multilevel(max_iterations=200); "
            f"received {kind}."
        )
    return solver  # type: ignore[return-value]  # it has both methods
