"""The spectrum room: eigenvalues and eigenfunctions of an operator, with what may be wrong."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig

from .arrays import FloatArray, check_count, check_positive, frozen
from .components import connected_pieces, describe_pieces
from .errors import DisconnectedWarning, bad_input
from .operator import Operator
from .solvers import Auto, EigenPairs, EigenSolver, Pencil

#: The unsymmetric forms are solved densely: O(N³), so for small clouds only.
UNSYMMETRIC_POINTS = 3000


@dataclass(frozen=True, eq=False)
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
        |L̂u - λu| for a unit vector u, in units of the eigenvalue.
    components : (N,) array
        To which connected piece each point belongs, the largest piece being 0.
    solver : str
        Which solver did it.
    """

    operator: Operator
    eigenvalues: FloatArray
    eigenfunctions: FloatArray
    residuals: FloatArray
    components: NDArray[np.intp]
    solver: str

    @property
    def timescales(self) -> FloatArray:
        """Relaxation times -1/λ; infinite for λ = 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.abs(self.eigenvalues))

    @property
    def n_components(self) -> int:
        """Number of connected pieces; 1 is healthy."""
        return int(self.components.max()) + 1


def compute_spectrum(
    operator: Operator, n: int, *, solver: EigenSolver | None = None, tol: float = 1e-8
) -> Spectrum:
    """Solve for the n eigenvalues of L nearest 0.

    Parameters
    ----------
    operator : Operator
        From `vbdm.estimate_operator`.
    n : int
        How many pairs, the constant included.
    solver : EigenSolver, optional
        By default chosen by `vbdm.solvers.Auto`.
    tol : float
        Wanted relative accuracy of the eigenvalues.

    Notes
    -----
    The constant is an eigenfunction of L with eigenvalue 0 exactly, and is not left to the solver.
    A disconnected cloud has one zero for each piece: the pieces are solved apart, the
    eigenfunctions of the zeros are the indicators of the pieces, largest first, and a
    `DisconnectedWarning` names them.
    """
    n = check_count(n, "n", low=1, high=operator.n_points)
    check_positive(tol, "tol")
    if not operator.kernel.bandwidth.is_symmetric:
        return solve_unsymmetric(operator, n)
    graph = operator.weights.graph
    pencil = Pencil(
        operator.weights, operator.degrees, operator.degrees * operator.steps, graph.tree_points
    )
    labels = connected_pieces(pencil)
    if labels.max() > 0:
        message = describe_pieces(np.asarray(graph.to_caller(labels)))
        warnings.warn(message, DisconnectedWarning, stacklevel=3)
    pairs = solve_pieces(pencil, labels, n, solver or Auto(), tol)
    residuals = pencil.residuals(pairs.values, pairs.vectors)
    return Spectrum(
        operator,
        frozen(0.0 - pairs.values),
        frozen(normalised(np.asarray(graph.to_caller(pairs.vectors)))),
        frozen(residuals),
        frozen(np.asarray(graph.to_caller(labels))),
        pairs.solver,
    )


def solve_pieces(
    pencil: Pencil, labels: NDArray[np.intp], n: int, solver: EigenSolver, tol: float
) -> EigenPairs:
    """Solve each connected piece apart and merge; the zeros are known, with their indicators."""
    n_pieces = int(labels.max()) + 1
    values = [np.zeros(n_pieces)]
    indicators = np.zeros((pencil.n_points, min(n, n_pieces)))
    for piece in range(indicators.shape[1]):
        indicators[labels == piece, piece] = 1.0
    columns, names = [indicators], []
    # Only if the zeros do not fill the list already is there anything to solve.
    for piece in range(n_pieces if n > n_pieces else 0):
        members = np.flatnonzero(labels == piece)
        wanted = min(n - n_pieces + 1, len(members))
        if wanted < 2:
            continue
        part = pencil if n_pieces == 1 else restricted(pencil, members)
        pairs = solver.solve(part, wanted, tol)
        block = np.zeros((pencil.n_points, wanted - 1))
        block[members] = pairs.vectors[:, 1:]
        values.append(np.maximum(pairs.values[1:], 0.0))
        columns.append(block)
        names.append(pairs.solver)
    merged = np.concatenate([values[0][: indicators.shape[1]], *values[1:]])
    order = np.argsort(merged, kind="stable")[:n]
    vectors = np.concatenate(columns, axis=1)[:, order]
    return EigenPairs(merged[order], vectors, ", ".join(dict.fromkeys(names)) or "known zeros")


def restricted(pencil: Pencil, members: NDArray[np.intp]) -> Pencil:
    """Return the pencil of some of the points."""
    merged = pencil.weights.merged() if hasattr(pencil.weights, "merged") else pencil.weights
    weights = merged[members][:, members]
    points = None if pencil.points is None else pencil.points[members]
    return Pencil(weights, np.asarray(weights.sum(axis=1)), pencil.mass[members], points)


def normalised(vectors: FloatArray) -> FloatArray:
    """Scale columns to mean square 1 and fix their signs."""
    scaled = vectors / np.sqrt(np.mean(np.abs(vectors) ** 2, axis=0))
    size = np.abs(scaled)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    peak = scaled[first, np.arange(scaled.shape[1])]
    return np.asarray(scaled * (np.conj(peak) / np.abs(peak)))


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
    whole: NDArray[Any] = np.zeros(operator.n_points, dtype=np.intp)
    return Spectrum(
        operator, frozen(values), frozen(normalised(vectors)), residuals, whole, "dense unsymmetric"
    )
