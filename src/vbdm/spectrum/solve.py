"""From an operator to its spectrum: the pencil, its solution, and the way back to the caller."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig

from ..base.arrays import (
    FloatArray,
    column_largest,
    column_sums,
    contiguous,
    filled,
    from_user,
    frozen,
    is_elsewhere,
    to_host,
    to_user,
)
from ..base.checks import a_count, check_choice, check_positive
from ..base.memory import refuse_spectrum
from ..base.references import Credit
from ..base.threads import one_blas_thread, rows_that_fit, slices_of
from ..engines.engine import free_bytes
from ..errors import InputError
from ..graph.order import Order, as_caller_sees
from ..operator.operator import Operator
from ..rows.block_array import BlockArray, Tall, beside, each, overwrite
from ..solvers import Dense, EigenSolver, Pencil
from ..solvers.auto import as_solver
from .limiter import Limits
from .modes import Modes
from .passes import solve_modes
from .pieces import Pieces, find_pieces
from .spectrum import SolveLog, Spectrum
from .vectors import vectors_of

#: The most points for the unsymmetric forms, which are solved densely, in O(N³).
UNSYMMETRIC_POINTS = 3000
#: The most points for which the dense solver is held at one thread of BLAS.
LARGE_DENSE = 3000
#: Default relative accuracy of the eigenvalues: far below the sampling error of any data set.
TOLERANCE = 1e-4
#: A larger tolerance says no less: no digit is asked for.
LARGEST_TOLERANCE = 1.0
UNSYMMETRIC = Credit("dense unsymmetric", "a dense solver")


def compute_spectrum(
    operator: Operator,
    n: int,
    *,
    components: str = "each",
    solver: EigenSolver | str | None = None,
    tol: float | None = None,
    start: Spectrum | None = None,
) -> Spectrum:
    """Solve for the n eigenvalues of L nearest 0.

    Parameters
    ----------
    operator : Operator
        From `vbdm.estimate_operator`.
    n : int
        Number of eigenpairs, the constant included.
    components : {"each", "largest", "error"}
        What to do if the data is not connected: solve every piece, only the largest, or refuse.
    solver : {"auto", "dense", "shift-invert", "lanczos", "multilevel"} or EigenSolver, optional
        By default chosen by `vbdm.solvers.Auto`; `spectrum.log.reason` then says why.
    tol : float, optional
        Wanted relative accuracy of the eigenvalues; 1e-4 by default. With the limiter or the
        finite-sample correction some 1e-9 is the best that can be had.
    start : Spectrum, optional
        A result for the same points at another ε, to start from.

    Notes
    -----
    The constant is an eigenfunction of L with eigenvalue 0 exactly, and is not left to the solver.
    A disconnected cloud has one zero for each piece: the pieces are solved apart, the
    eigenfunctions of the zeros are the indicators of the pieces, largest first, and a
    `DisconnectedWarning` names them. The limiter is set by the ninth nonzero mode, whatever n is,
    so that the first eigenvalues do not depend on n. In heavy tails they may: modes are found by θ
    and listed by their rates, and where the tail cannot resolve them (an `UnresolvedWarning` says
    so) a mode far beyond the n-th may have a lower rate than some before it. If the pieces that are
    solved have fewer points than n, fewer pairs come back.
    """
    n = a_count(1, operator.n_points)(n, "n")
    check_choice(components, "components", ("each", "largest", "error"))
    tolerance = TOLERANCE if tol is None else min(check_positive(tol, "tol"), LARGEST_TOLERANCE)
    engine = as_solver(solver)
    if not operator.kernel.is_symmetric:
        return solve_unsymmetric(operator.on_host, n)
    if getattr(engine, "on_devices", False):
        free = free_bytes(operator.graph.point_set.engine)
        refuse_spectrum(operator.n_points, operator.n_neighbors, n, free)
    pencil = pencil_of(operator)
    pieces = find_pieces(pencil, components, operator.settings.smallest_piece)
    near: Any = None
    if start is not None and start.operator.kernel.is_symmetric:
        near = vectors_of(start)
    # Of a matrix with a thousand rows, threads are the slower the busier the machine is, by factors
    # of ten; and their number changes the last bits of all eigenvectors.
    large = isinstance(engine, Dense) and operator.n_points > LARGE_DENSE
    with nullcontext() if large else one_blas_thread():
        modes = solve_modes(operator, pencil, pieces, n, engine, tolerance, near)
    return in_caller_order(operator, pieces, modes)


def pencil_of(operator: Operator) -> Pencil:
    """Return the pencil of L without limiter: M = D ε m ρ²."""
    mass = operator.inside.degrees * operator.inside.steps
    # The multilevel solver makes cells of near points with a k-d tree. With another metric than the
    # Euclidean one, points that are near in their columns need not be near: the graph has to do.
    graph = operator.graph
    points = graph.point_set.coordinates if graph.metric == "euclidean" else None
    sorted_points = graph.point_set.tree is not None
    return Pencil(operator.alpha_kernel, operator.inside.degrees, mass, points, sorted_points)


def in_caller_order(operator: Operator, pieces: Pieces, modes: Modes) -> Spectrum:
    """Return the modes as a `Spectrum`: λ is minus the rate, and rows are in the caller's order."""
    order, local = operator.graph.order, 1 / operator.inside.steps
    held = pieces.strays if modes.limit is None else modes.limit.holds(local) | pieces.strays
    limiter = operator.settings.method.limiter
    log = SolveLog(
        solvers=modes.pairs.credits,
        reason=modes.pairs.reason,
        passes=n_solves(modes, 0 if limiter is None else limiter.passes),
        iterations=modes.pairs.iterations,
        products=modes.pairs.products,
        converged=modes.pairs.converged,
        error_estimate=modes.pairs.error_estimate,
        residuals=frozen(modes.residuals),
        pencil_eigenvalues=frozen(modes.theta),
        set_aside=frozen(modes.set_aside),
        shared_eigenvalues=frozen(modes.shared_theta),
    )
    functions, stored = functions_of(modes.vectors, order, operator.settings.output)
    return Spectrum(
        operator=operator,
        eigenvalues=frozen(0.0 - modes.rates),
        eigenfunctions=functions,
        pieces=pieces_of_rows(pieces, order),
        unresolved=frozen(to_host(order.to_caller(held))),
        limits=Limits(modes.limit, modes.limits),
        correction=frozen(modes.share),
        extent=frozen(modes.extent),
        left_out=frozen(-modes.left_out),
        log=log,
        _stored=stored,
    )


def pieces_of_rows(pieces: Pieces, order: Order) -> Pieces:
    """Return the pieces of the caller's rows, in this memory."""
    if not is_elsewhere(pieces.labels):
        return Pieces(frozen(order.to_caller(pieces.labels)), pieces.n_solved)
    # A million equal numbers need not travel.
    whole = not pieces.labels.any()
    labels = np.zeros(order.n_rows, dtype=np.intp)
    found = labels if whole else to_host(order.to_caller(pieces.labels))
    return Pieces(frozen(found), pieces.n_solved)


def functions_of(vectors: Tall, order: Order, output: str = "numpy") -> tuple[Any, Any]:
    """Return eigenvectors, normalised, in the caller's order.

    Also those inside, if they live in blocks or on a device: these are written over.
    """
    if isinstance(vectors, np.ndarray):
        return frozen(normalised(order.to_caller(vectors))), None
    inside = normalised(vectors, order.caller_rows, order.counts)
    if isinstance(inside, BlockArray):
        return as_caller_sees(inside, order), inside
    return to_user(order.to_caller(inside), output), inside


def n_solves(modes: Modes, passes: int) -> int:
    """Return the number of solves that the limiter took: passes, the shared limit, own ones."""
    return 1 if modes.limit is None else passes + len({modes.limit, *modes.limits})


def solve_unsymmetric(operator: Operator, n: int) -> Spectrum:
    """Solve L u = λ u densely for a form that has no symmetric conjugate."""
    if operator.n_points > UNSYMMETRIC_POINTS:
        raise InputError(
            f"An unsymmetric form is solved densely, for {UNSYMMETRIC_POINTS} points at most; "
            f"received form={operator.settings.form!r} with {operator.n_points} points. Use "
            "form='symmetric', which has the same kind of limit operator, or subsample."
        )
    with one_blas_thread():
        values, vectors = eig(operator.matrix.toarray())
    order = np.argsort(-values.real, kind="stable")[:n]
    values, vectors = values[order], vectors[:, order]
    residuals = np.linalg.norm(operator.matrix @ vectors - vectors * values, axis=0)
    # The limit operator has real eigenvalues; imaginary parts are errors, kept only if they matter.
    if np.abs(values.imag).max() <= 1e-8 * np.abs(values).max():
        values, vectors = values.real, vectors.real
    whole = np.zeros(operator.n_points, dtype=np.intp)
    # Residuals bound the errors of a symmetric matrix. Here they only tell their size, and only if
    # the matrix is not close to a defective one.
    scale = np.maximum(np.abs(values), max(1e-6 * np.abs(values).max(), np.finfo(float).tiny))
    return Spectrum(
        operator=operator,
        eigenvalues=frozen(values),
        eigenfunctions=frozen(
            from_user(normalised(vectors), operator.inside.degrees, operator.settings.output)
        ),
        pieces=Pieces(frozen(whole), 1),
        unresolved=frozen(whole > 0),
        limits=Limits(),
        correction=np.ones(n),
        extent=np.empty(0),
        left_out=np.empty(0),
        log=SolveLog(
            solvers=(UNSYMMETRIC,),
            error_estimate=float((residuals / scale)[1:].max(initial=0.0)),
            residuals=frozen(residuals),
            pencil_eigenvalues=frozen(-values),
        ),
    )


def normalised(
    vectors: Any, rows: NDArray[np.intp] | None = None, counts: FloatArray | None = None
) -> Any:
    """Scale columns to mean square 1, and make the entry of largest absolute value positive.

    This is done in place. `rows` are the caller's rows, (M,), if the vectors are not in that order,
    and `counts` how often each occurs, if not once. Of entries that are equal up to rounding, the
    first counts, in the order of the caller's rows.
    """
    n = len(vectors) if counts is None else float(counts.sum())
    parts = each(squares_and_largest, vectors, beside(vectors, counts))
    squares, largest = zip(*parts, strict=True)
    least = (1 - 1e-6) * np.max(largest, axis=0)
    found = each(first_above, vectors, beside(vectors, rows), least)
    numbers, peaks = (np.array(part) for part in zip(*found, strict=True))
    peak = np.take_along_axis(peaks, numbers.argmin(axis=0)[None], axis=0)[0]
    factor = np.conj(peak) / np.abs(peak) / np.sqrt(sum(squares) / n)
    (scaled,), _ = overwrite(scale_columns, [vectors], factor)
    return scaled


def row_blocks(vectors: FloatArray) -> list[slice]:
    """Return blocks of rows that fit the cache."""
    return list(slices_of(vectors, rows_that_fit(vectors.shape[1])))


def squares_and_largest(
    vectors: FloatArray, counts: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the sum of squares of each column, and its largest absolute value, both (n,)."""
    square, largest = np.zeros((2, vectors.shape[1]), like=vectors)
    for rows in row_blocks(vectors):
        size = np.abs(vectors[rows])
        largest = np.maximum(largest, column_largest(size))
        size = np.square(size)
        square += column_sums(size if counts is None else counts[rows, None] * size)
    return square, largest


def first_above(
    vectors: FloatArray, numbers: NDArray[np.intp] | None, least: FloatArray
) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the lowest number of a row whose size is at least `least`, and the value there; (n,).

    Without such a row the number is larger than all, and the value 0.
    """
    none = np.iinfo(np.intp).max
    lowest = filled(vectors.shape[1], none, vectors, np.intp)
    peak = np.zeros(vectors.shape[1], dtype=vectors.dtype, like=vectors)
    for rows in row_blocks(vectors):
        own = np.arange(rows.start, rows.stop, like=vectors) if numbers is None else numbers[rows]
        columns = contiguous(vectors[rows].T)
        candidates = np.where(np.abs(columns) >= least[:, None], own, none)
        place = candidates.argmin(axis=1)[:, None]
        number, value = (
            np.take_along_axis(each, place, axis=1)[:, 0] for each in (candidates, columns)
        )
        better = number < lowest
        lowest, peak = np.where(better, number, lowest), np.where(better, value, peak)
    return lowest, peak


def scale_columns(vectors: FloatArray, factor: FloatArray) -> None:
    """Multiply columns by their factors, in place."""
    for rows in row_blocks(vectors):
        vectors[rows] *= factor
