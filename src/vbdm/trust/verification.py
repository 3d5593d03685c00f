"""Solve again in another way, count, and compare: the spectrum must be that of its matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..base.arrays import FloatArray, frozen
from ..base.checks import an
from ..errors import InputError, SolverError
from ..rows.place import not_in_blocks
from ..solvers import Dense, EigenSolver, Lanczos, Pencil, ShiftInvert
from ..solvers.direct import affordable, count_below
from ..spectrum.limited import merged, prepare_pieces, restricted, solve_pieces
from ..spectrum.pieces import Pieces, find_pieces
from ..spectrum.solve import pencil_of
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import in_blocks

#: Up to this many points the reference is the dense solver.
DENSE_POINTS = 2500
#: Eigenvalues solved for beyond those of the spectrum, to see what it lacks.
SPARE = 6
#: Relative accuracy of the reference.
TIGHT = 1e-10
#: A spectrum passes with errors up to this, relative to θ or, if larger, to `ZERO` times the last.
TOLERANCE = 1e-4
ZERO = 1e-6
#: Relative width of a gap that is wide enough to count below it.
CLEAR = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Verification:
    """What an independent solve said about a spectrum.

    Attributes
    ----------
    error : float
        Largest relative difference of the θ of the spectrum from those of the reference, matched
        one to one; a θ below 1e-6 of the last counts as that much. Infinite if the spectrum has
        more of them than the reference.
    missing : int
        Number of eigenvalues of the pencil below the last one that the spectrum does not have,
        copies of equal ones included. Modes that were left out on purpose are not missing.
    reference : (m,) array
        The reference eigenvalues θ, upwards; a few more than the spectrum has.
    solver : str
        Names of the solvers that found them.
    note : str
        How `missing` was counted, in words.
    tolerance : float
        The error up to which a spectrum passes.
    """

    error: float
    missing: int
    reference: FloatArray
    solver: str
    note: str
    tolerance: float = TOLERANCE

    @property
    def passed(self) -> bool:
        """Whether the spectrum is complete and as accurate as promised."""
        return self.missing == 0 and self.error <= self.tolerance

    def __repr__(self) -> str:
        """Show the verdict and what it rests on."""
        return (
            f"Verification({'passed' if self.passed else 'FAILED'}: error={self.error:.1e}, "
            f"missing={self.missing}, solver={self.solver!r}, {self.note})"
        )


def verify(spectrum: Spectrum) -> Verification:
    """Compare the eigenvalues θ of the pencil with an independent solve, and count them.

    Parameters
    ----------
    spectrum : Spectrum
        From `op.spectrum(n)`, of a symmetric operator.

    Notes
    -----
    The same pencil (D - K) u = θ M u, limited mass included, is solved again (once for each limit,
    where modes have their own; the count is made for the one that all share): by LAPACK up to
    2,500 points, else by Lanczos on a sparse factorisation. Sorted lists are compared with their
    copies, so that a lost member of a degenerate group shows. Both solvers might lose the same one;
    so the eigenvalues are also counted by the signs of a factorisation, which overlooks nothing
    (`vbdm.solvers.direct.count_below`). Where factors would be too large (surfaces beyond
    some 40,000 points, three dimensions beyond 10,000), Lanczos on products alone is the reference,
    nothing is counted, and `note` says so. A group of equal values is not cut: eigenvalues are
    counted up to the first gap of 1e-3 after the last one, or else the last such gap before it.

    Only the matrix is trusted; this checks the solver, not the estimate.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.circle(2000, random_state=0).points)
    >>> vbdm.verify(op.spectrum(5)).passed
    True
    """
    spectrum = an(Spectrum, "Call op.spectrum(10).")(spectrum, "spectrum").on_host
    op = spectrum.operator
    if not op.kernel.is_symmetric:
        raise InputError(
            f"There is nothing to verify; received form={op.settings.form!r}. Look at "
            "`spectrum.residuals`."
        )
    if (stored := in_blocks(spectrum)) is not None:
        raise not_in_blocks(
            "A verification",
            f"{op.n_points:,} points {stored.rows.place.words}",
            "It would need the whole matrix in memory, and its factors.",
        )
    shared = (
        op.inside.steps
        if spectrum.limits.shared is None
        else spectrum.limits.shared.time(1 / op.inside.steps)
    )
    pencil = replace(pencil_of(op), mass=op.inside.degrees * shared)
    smallest = op.settings.smallest_piece
    pieces = replace(find_pieces(pencil, "each", smallest), n_solved=spectrum.pieces.n_solved)
    # The surest solver that the size of the pencil allows.
    solver: EigenSolver = Dense()
    if pencil.n_points > DENSE_POINTS:
        solver = ShiftInvert() if affordable(pencil) else Lanczos()
    n = min(len(spectrum.eigenvalues) + len(spectrum.log.set_aside) + SPARE, pencil.n_points)
    parts = prepare_pieces(pencil, pieces, n, solver)
    solved = merged(parts, pieces, solve_pieces(parts, pieces, pencil.mass, n, TIGHT, []), n)
    log = spectrum.log
    listed = log.pencil_eigenvalues.copy()
    for j, limit in enumerate(spectrum.limits.of_modes):
        if limit != spectrum.limits.shared:
            listed[j] = log.shared_eigenvalues[j]
    error, last, absent = compare(listed, log.set_aside, solved.values)
    # Modes that have limits of their own, each group against its own pencil.
    for limit in set(spectrum.limits.of_modes) - {spectrum.limits.shared}:
        members = [j for j, own in enumerate(spectrum.limits.of_modes) if own == limit]
        mass = op.inside.degrees * limit.time(1 / op.inside.steps)
        m = min(members[-1] + 1 + SPARE, len(spectrum.eigenvalues) + SPARE, pencil.n_points)
        found = merged(parts, pieces, solve_pieces(parts, pieces, mass, m, TIGHT, []), m)
        # The modes before them have other limits; in this pencil they need no partner.
        theirs = compare(log.pencil_eigenvalues[members], np.empty(0), found.values)
        error = max(error, theirs[0])
    names = ", ".join(credit.name for credit in solved.credits)
    overlooked, note = 0, "complete by construction"
    if isinstance(solver, ShiftInvert):
        overlooked, note = overlooked_by(solved.values, last, pencil, pieces)
    if isinstance(solver, Lanczos):
        note = "not counted, too large to factorise"
    return Verification(error, absent + overlooked, frozen(solved.values), names, note)


def compare(
    listed: FloatArray, set_aside: FloatArray, reference: FloatArray
) -> tuple[float, int, int]:
    """Match two lists of θ one to one, in the best way.

    Returns the largest relative difference of a listed θ from its partner; the place in the sorted
    reference of the partner of the largest one; and how many θ of the reference below that one
    have no partner.
    """
    # Modes are listed by rate, after the limiter's last step, so the list may rightly skip a few θ
    # below its largest. Those are in `set_aside`, and must have partners as well. θ that are set
    # aside beyond the largest listed one are not accurate, and do not matter.
    found = np.concatenate([listed, set_aside[set_aside <= listed.max()]])
    difference = np.abs(found[:, None] - reference) / np.maximum(reference, floor_of(listed))
    row, column = linear_sum_assignment(difference)
    ours = row < len(listed)
    last = int(column[ours].max())
    # Of equal θ at the end of the list, it does not matter which ones are listed.
    below = reference < (1 - TOLERANCE) * reference[last]
    absent = int(np.count_nonzero(np.delete(below, column)))
    error = float(difference[row, column][ours].max()) if len(row) == len(found) else np.inf
    return error, last, absent


def floor_of(theta: FloatArray) -> float:
    """Return the size below which θ count as zero."""
    return max(ZERO * float(theta.max()), np.finfo(np.float64).tiny)


def overlooked_by(
    reference: FloatArray, last: int, pencil: Pencil, pieces: Pieces
) -> tuple[int, str]:
    """Count the eigenvalues that even the reference overlooked, and say up to which level."""
    place = clear_gap(reference, last)
    if place is None:
        return 0, "nothing to count between equal values"
    low, high = reference[place], reference[place + 1]
    for share in (0.5, 0.4, 0.6):  # the factorisation may break down at one level, hardly at three
        level = low + share * (high - low)
        try:
            total = sum(
                count_in_piece(pencil, pieces, piece, level) for piece in range(pieces.n_solved)
            )
        except SolverError:
            continue
        # To count fewer than were found is as wrong as to count more: the two must agree.
        return abs(total - place - 1), f"{total} counted below θ = {level:.4g}"
    return 0, "not counted, the factorisation broke down"


def clear_gap(reference: FloatArray, last: int) -> int | None:
    """Return the place of the θ after which there is a gap wide enough to count below it.

    It is the first such place from the last θ on, or else the last one before; None: no gap.
    """
    # Between θ that are 0 up to rounding nothing can be counted: they leave no gap.
    wide = np.flatnonzero(
        np.diff(reference) > CLEAR * np.maximum(reference[1:], floor_of(reference))
    )
    if len(wide) == 0:
        return None
    after = wide[wide >= last]
    return int(after[0] if len(after) else wide[-1])


def count_in_piece(pencil: Pencil, pieces: Pieces, piece: int, level: float) -> int:
    """Count the eigenvalues below a level in one piece; a single point has one, 0."""
    members = np.flatnonzero(pieces.labels == piece)
    if len(members) == 1:
        return 1
    whole = len(members) == pencil.n_points
    return count_below(pencil if whole else restricted(pencil, members), level)
