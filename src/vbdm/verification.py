"""Solve again in another way, and compare: the spectrum must be that of its matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .components import find_pieces
from .errors import bad_input
from .modes import prepare_pieces, solve_pieces
from .solvers import Dense, EigenSolver, ShiftInvert
from .spectrum import Spectrum, pencil_of
from .uncertainty import local_times

#: Up to this many points the reference is the dense solver.
DENSE_POINTS = 2500
#: Modes may have been left out of the spectrum: so many more are sought to find its own among them.
SPARE = 6


def verify(spectrum: Spectrum) -> float:
    """Return how far the eigenvalues θ of the pencil are from an independent solve.

    Parameters
    ----------
    spectrum : Spectrum
        From `op.spectrum(n)`, of a symmetric operator.

    Returns
    -------
    float
        The largest relative difference over the nonzero θ (`spectrum.pencil_eigenvalues`).

    Notes
    -----
    The same pencil (D - K) u = θ M u, limited mass included, is solved by LAPACK up to 2,500
    points, else by Lanczos on a sparse factorisation: on curves at any N, on surfaces up to some
    20,000 points. Only the matrix is trusted; this checks the solver, not the estimate.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.circle(2000, random_state=0).points)
    >>> vbdm.verification.verify(op.spectrum(5)) < 1e-4
    True
    """
    op = spectrum.operator
    if not op.kernel.bandwidth.is_symmetric:
        raise bad_input(
            "There is nothing to verify.",
            received=f"form={op.form!r}",
            because="The unsymmetric forms are solved densely in the first place.",
            hint="Look at `spectrum.residuals`.",
        )
    pencil = replace(pencil_of(op), mass=op.degrees * local_times(spectrum))
    pieces = find_pieces(pencil, "each", op.smallest_piece)
    solver: EigenSolver = Dense() if op.n_points <= DENSE_POINTS else ShiftInvert()
    n = min(len(spectrum.eigenvalues) + SPARE, op.n_points - 1)
    parts = prepare_pieces(pencil, pieces, n, solver)
    reference = solve_pieces(parts, pieces, pencil.mass, n, 1e-10, [])[0].values
    theta = spectrum.pencil_eigenvalues[spectrum.pencil_eigenvalues > 0]
    nearest = np.abs(reference[None, :] - theta[:, None]).min(axis=1)
    return float((nearest / theta).max(initial=0.0))
