"""The spectrum room: eigenvalues and eigenfunctions of an operator, with what may be wrong."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eig

from ..base.checks import BoolArray, FloatArray, check_choice, check_count, check_positive, frozen
from ..base.errors import DisconnectedWarning, UnresolvedWarning, WeakLinkWarning, bad_input
from ..operator.operator import Operator
from ..trust.error_bars import Groups, epsilon_bias, group_by_size, sampling_errors, tree_vectors
from .finite_sample import local_energy
from .limiter import Limit
from .modes import THIN, Modes, solve_modes
from .pieces import Pieces, describe_pieces, find_pieces
from .solvers import EigenSolver, Pencil
from .solvers.auto import as_solver

if TYPE_CHECKING:
    from ..extension.extension import Extension
    from ..trust.verification import Verification

#: The unsymmetric forms are solved densely: O(N³), so for small clouds only.
UNSYMMETRIC_POINTS = 3000
#: Default accuracy of the eigenvalues: far below the sampling error of any data set.
TOLERANCE = 1e-4
#: Share of a mode's weight on unresolved points that is worth a warning.
HEAVY = 0.3


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """Eigenvalues (0 first, then downwards) and eigenfunctions on the points.

    Attributes
    ----------
    operator : Operator
        What was solved.
    eigenvalues : (n,) array
        Eigenvalues λ of L, all <= 0.
    eigenfunctions : (N, n) array
        By columns, mean square 1 over the points, with a fixed sign: the point where the
        absolute value is largest (the first one, if several are within 1e-6) is positive.
    residuals : (n,) array
        ``|M^{-1/2}((D - K) u - θ M u)|`` for a unit vector M^{1/2} u: the error of
        the solver alone.
    components : (N,) array
        To which connected piece each point belongs, the largest piece being 0.
    unresolved : (N,) bool array
        Points whose surroundings are too sparse to resolve the first ten modes (the limiter holds
        them to their neighbours), and strays outside the pieces that were solved.
    local_rates : (N,) array
        r = 1/(ε m ρ²): the fastest decay that each point can represent.
    pencil_eigenvalues : (n,) array
        θ >= 0, the eigenvalues of the pencil before the limiter's last step; -λ without limiter.
    limit : Limit or None
        λ_ref and cut of the limiter.
    passes : int
        How many solves the limiter took.
    solver, iterations, products, error_estimate
        Which solver, the work of its last solve (each solver counts its own kind of steps), and
        its own estimate of the relative error of θ.
    finite_sample : (n,) array
        By what the eigenvalues were divided to correct for the randomness of the sample.
    extent : (n,) array
        Over how many kernels' worth of points the energy of each mode spreads; few is fragile.
    left_out : (m,) array
        Eigenvalues of modes that sat on a handful of unresolved points; not in the list above.
    set_aside : (m,) array
        θ of all modes that were found but are not in the list: left out, or too fast for it.
    converged : bool
        Whether every solve reached its tolerance.
    solver_reason : str
        Why this solver, and which one failed before it; empty if you chose it.
    n_solved : int
        How many of the pieces got modes, the largest ones.
    """

    operator: Operator
    eigenvalues: FloatArray
    eigenfunctions: FloatArray
    residuals: FloatArray
    components: NDArray[np.intp]
    unresolved: BoolArray
    local_rates: FloatArray
    pencil_eigenvalues: FloatArray
    limit: Limit | None
    passes: int
    solver: str
    iterations: int = 0
    products: int = 0
    error_estimate: float = 0.0
    finite_sample: FloatArray | float = 1.0
    extent: FloatArray = field(default_factory=lambda: np.ones(0))
    left_out: FloatArray = field(default_factory=lambda: np.ones(0))
    set_aside: FloatArray = field(default_factory=lambda: np.ones(0))
    converged: bool = True
    solver_reason: str = ""
    n_solved: int = 1

    @property
    def timescales(self) -> FloatArray:
        """Relaxation times -1/λ, where the diffusion coefficient is 1; infinite for λ = 0.

        Snapshots alone cannot tell that coefficient; ratios of times do not need it.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.abs(self.eigenvalues))

    @property
    def n_components(self) -> int:
        """Number of connected pieces; 1 is healthy."""
        return int(self.components.max()) + 1

    @cached_property
    def groups(self) -> Groups:
        """Indices of eigenvalues too close to be told apart: errors are those of the group."""
        return group_by_size(self)

    @cached_property
    def standard_errors(self) -> FloatArray:
        """Sampling error of each eigenvalue; of the mean of its group, where several coincide.

        What another sample of as many independent points would change (`vbdm.trust.error_bars`). Single
        members of a group scatter more than their mean (`groups`).
        """
        return frozen(sampling_errors(self))

    @cached_property
    def bias(self) -> FloatArray:
        """Rough size of the systematic error of each eigenvalue: λ(ε) - λ(0), from a smaller ε.

        Read it as a size, not as a correction: it is noisy, and on surfaces it overstates.
        """
        return frozen(epsilon_bias(self))

    @property
    def unresolved_share(self) -> FloatArray:
        """Share of each eigenfunction's mean square that lies on unresolved points."""
        held = np.abs(self.eigenfunctions[self.unresolved]) ** 2
        return np.asarray(held.sum(axis=0) / len(self.eigenfunctions))

    @cached_property
    def weak_links(self) -> BoolArray:
        """Points that hold half of the energy of a mode that hangs on a thin link.

        A mode is such if its energy spreads over fewer than six kernels (see `extent`): in a thin
        tail, or in a bridge between clusters, a few points then decide the eigenvalue.
        """
        graph = self.operator.weights.graph
        marked = np.zeros(graph.n_points, dtype=np.bool_)
        thin = self.extent < THIN
        if thin.any():
            energy, _ = local_energy(self.operator, tree_vectors(self)[:, thin])
            for column in energy.T:
                order = np.argsort(-column, kind="stable")
                count = np.searchsorted(np.cumsum(column[order]), 0.5 * column.sum()) + 1
                marked[order[:count]] = True
        return frozen(graph.to_caller(marked))

    def verify(self) -> Verification:
        """Solve the same matrix in another way, count its eigenvalues, and compare.

        See `vbdm.trust.verification.verify`. This checks the solver, not the estimate.
        """
        from ..trust.verification import verify

        return verify(self)

    def extend(self, X_new: ArrayLike, *, outside: str = "nan") -> Extension:
        """Return the eigenfunctions at new points (see `vbdm.extend`)."""
        from ..extension.extension import extend

        return extend(self, X_new, outside=outside)

    def save(self, path: str | os.PathLike[str], *, kernel: bool = True) -> None:
        """Write everything into one file, to be read by `vbdm.load` (see `vbdm.save`)."""
        from ..io.saved.persistence import save

        save(self, path, kernel=kernel)

    def plot(self) -> Any:
        """Draw an overview and return its figure (see `vbdm.plot.summary`)."""
        from ..plot import summary

        return summary(self)

    def __repr__(self) -> str:
        """Say the eigenvalues and how they were found."""
        values = ", ".join(f"{value:.4g}" for value in self.eigenvalues[:6])
        more = ", …" if len(self.eigenvalues) > 6 else ""
        return (
            f"Spectrum(eigenvalues=[{values}{more}], {self.n_components} component(s), "
            f"{int(self.unresolved.sum())} unresolved point(s), solver={self.solver!r})"
        )


def compute_spectrum(
    operator: Operator,
    n: int,
    *,
    components: str = "each",
    solver: EigenSolver | str | None = None,
    tol: float | None = None,
) -> Spectrum:
    """Solve for the n eigenvalues of L nearest 0.

    Parameters
    ----------
    operator : Operator
        From `vbdm.estimate_operator`.
    n : int
        How many pairs, the constant included.
    components : {"each", "largest", "error"}
        What to do if the data is not connected: solve every piece, only the largest, or refuse.
    solver : {"auto", "dense", "shift-invert", "lanczos", "multilevel"} or EigenSolver, optional
        By default chosen by `vbdm.solvers.Auto`; `spectrum.solver_reason` then says why.
    tol : float, optional
        Wanted relative accuracy of the eigenvalues; 1e-4.

    Notes
    -----
    The constant is an eigenfunction of L with eigenvalue 0 exactly, and is not left to the solver.
    A disconnected cloud has one zero for each piece: the pieces are solved apart, the
    eigenfunctions of the zeros are the indicators of the pieces, largest first, and a
    `DisconnectedWarning` names them. The limiter (`vbdm.spectrum.limiter`) is set by the ninth nonzero mode,
    whatever n is, so that the first eigenvalues do not depend on n. If the pieces that are solved
    have fewer points than n, fewer pairs come back.
    """
    n = check_count(n, "n", low=1, high=operator.n_points)
    check_choice(components, "components", ("each", "largest", "error"))
    tolerance = TOLERANCE if tol is None else check_positive(tol, "tol")
    engine = as_solver(solver)
    if not operator.kernel.bandwidth.is_symmetric:
        return solve_unsymmetric(operator, n)
    pencil = pencil_of(operator)
    pieces = find_pieces(pencil, components, operator.smallest_piece)
    modes = solve_modes(operator, pencil, pieces, n, engine, tolerance)
    spectrum = in_caller_order(operator, pencil, pieces, modes)
    warn_of_pieces(operator, pieces)
    warn_of_unresolved(spectrum)
    warn_of_weak_links(spectrum)
    return spectrum


def pencil_of(operator: Operator) -> Pencil:
    """Return the pencil of L without limiter: M = D ε m ρ²."""
    mass = operator.degrees * operator.steps
    graph = operator.weights.graph
    # Cells of a k-d tree hold near points only where near means near in the columns.
    points = graph.tree_points if graph.metric == "euclidean" else None
    return Pencil(operator.weights, operator.degrees, mass, points)


def in_caller_order(operator: Operator, pencil: Pencil, pieces: Pieces, modes: Modes) -> Spectrum:
    """Put everything into the caller's order and units."""
    graph = operator.weights.graph
    local = 1 / operator.steps
    held = np.zeros(len(local), dtype=np.bool_) if modes.limit is None else local < modes.limit.cut
    residuals = pencil.residuals(modes.theta, modes.vectors, modes.mass, modes.products)
    return Spectrum(
        operator,
        frozen(0.0 - modes.rates),
        frozen(normalised(graph.to_caller(modes.vectors))),
        frozen(residuals),
        frozen(graph.to_caller(pieces.labels)),
        frozen(graph.to_caller(held | pieces.strays)),
        frozen(graph.to_caller(local)),
        frozen(modes.theta),
        modes.limit,
        modes.passes,
        modes.pairs.solver,
        modes.pairs.iterations,
        modes.pairs.products,
        modes.pairs.error_estimate,
        frozen(modes.share),
        frozen(modes.extent),
        frozen(-modes.left_out),
        frozen(modes.set_aside),
        modes.pairs.converged,
        modes.reason,
        pieces.n_solved,
    )


def normalised(vectors: FloatArray) -> FloatArray:
    """Scale columns to mean square 1 and fix their signs."""
    scaled = vectors / np.sqrt(np.mean(np.abs(vectors) ** 2, axis=0))
    size = np.abs(scaled)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    peak = scaled[first, np.arange(scaled.shape[1])]
    return np.asarray(scaled * (np.conj(peak) / np.abs(peak)))


def warn_of_pieces(operator: Operator, pieces: Pieces) -> None:
    """Name the pieces, if there is more than one."""
    if pieces.n_pieces > 1:
        labels = operator.weights.graph.to_caller(pieces.labels)
        message = describe_pieces(Pieces(labels, pieces.n_solved))
        warnings.warn(message, DisconnectedWarning, stacklevel=4)


def warn_of_unresolved(spectrum: Spectrum) -> None:
    """Say what the limiter left out, and which modes rest on points that cannot resolve them."""
    if spectrum.left_out.size:
        values = ", ".join(f"{value:.3g}" for value in spectrum.left_out)
        warnings.warn(
            f"{spectrum.left_out.size} mode(s), at {values}, sat on a handful of outlying points "
            "that are too sparse to resolve them, and were left out (see `spectrum.left_out` and "
            "`spectrum.unresolved`). Look at these points: are they part of the data?",
            UnresolvedWarning,
            stacklevel=4,
        )
    too_fast = np.flatnonzero(np.isnan(spectrum.eigenvalues))
    if too_fast.size:
        warnings.warn(
            f"Eigenvalue(s) {', '.join(map(str, too_fast[:8]))} (counted from 0) are NaN: these "
            "modes decay by more than everything within one step of the kernel. There are too few "
            "points for them; ask for fewer eigenvalues.",
            UnresolvedWarning,
            stacklevel=4,
        )
    resting = np.flatnonzero(spectrum.unresolved_share > HEAVY)
    if resting.size:
        warnings.warn(
            f"The tail of the data is unresolved: eigenvalue(s) {', '.join(map(str, resting[:8]))} "
            f"(counted from 0) have more than {HEAVY:.0%} of their weight on "
            f"{int(spectrum.unresolved.sum())} points whose surroundings are too sparse for them, "
            "and may be wrong. Ask for fewer eigenvalues, or give more data (see "
            "`spectrum.unresolved`).",
            UnresolvedWarning,
            stacklevel=4,
        )


def warn_of_weak_links(spectrum: Spectrum) -> None:
    """Name the modes that hang on a thin link, and a point of it."""
    thin = np.flatnonzero(spectrum.extent < THIN)
    if thin.size == 0:
        return
    points = np.flatnonzero(spectrum.weak_links)
    warnings.warn(
        f"Eigenvalue(s) {', '.join(map(str, thin[:8]))} (counted from 0) hang on a thin link of "
        f"{points.size} points, such as point {points[0]}: a sparse tail, or a bridge between "
        "clusters. Their error bars are large for a reason (see `spectrum.weak_links`).",
        WeakLinkWarning,
        stacklevel=4,
    )


def solve_unsymmetric(operator: Operator, n: int) -> Spectrum:
    """Solve L u = λ u densely for a form that has no symmetric conjugate."""
    if operator.n_points > UNSYMMETRIC_POINTS:
        raise bad_input(
            "The spectrum of an unsymmetric form is computed densely, for small data only.",
            received=f"form={operator.form!r} with {operator.n_points} points",
            because=f"Memory and time grow like N² and N³; the limit is {UNSYMMETRIC_POINTS}.",
            hint="Use form='symmetric', which has the same kind of limit operator, or subsample.",
        )
    values, vectors = eig(operator.matrix.toarray())
    order = np.argsort(-values.real, kind="stable")[:n]
    values, vectors = values[order], vectors[:, order]
    residuals = np.linalg.norm(operator.matrix @ vectors - vectors * values, axis=0)
    # The limit operator has real eigenvalues; imaginary parts are errors, shown if they matter.
    if np.abs(values.imag).max() <= 1e-8 * np.abs(values).max():
        values, vectors = values.real, vectors.real
    whole = np.zeros(operator.n_points, dtype=np.intp)
    local = operator.weights.graph.to_caller(1 / operator.steps)
    # No bound, as it is for symmetric matrices, but the size of the error if nothing is defective.
    scale = np.maximum(np.abs(values), max(1e-6 * np.abs(values).max(), np.finfo(float).tiny))
    return Spectrum(
        operator, frozen(values), frozen(normalised(vectors)), frozen(residuals), frozen(whole),
        frozen(whole > 0), frozen(local), frozen(-values), None, 1, "dense unsymmetric",
        error_estimate=float((residuals / scale)[1:].max(initial=0.0)),
    )  # fmt: skip
