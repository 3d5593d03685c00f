r"""PCCA+: from the slowest modes to memberships in metastable states.

Where a process stays long in some regions and moves seldom between them, its n slowest modes are
nearly constant on each region: the points, in coordinates of these modes, lie near the corners of a
simplex. The barycentric coordinates of that simplex, :math:`χ = V A`, are shares of membership in
the regions. They sum to 1, and are positive if no point lies outside.

The corners are first taken from the points (the inner simplex of Weber and Galliat 2002). Then A is
moved, always so that no point lies outside, until the states overlap as little as they can: the
trace of :math:`\mathrm{diag}(π)^{-1} ⟨χ, χ⟩`, which is n if they do not overlap at all, is made
as large as it gets (Deuflhard and Weber 2005; Röblitz and Weber 2013).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ..base.arrays import FloatArray
from ..base.threads import rows_that_fit, slices

#: Directions in which the outermost points are kept for the search; others never touch a side.
DIRECTIONS = 2000
#: The most evaluations of the search, for each number that is free.
EVALUATIONS = 400


def memberships_of(modes: FloatArray) -> FloatArray:
    """Return the matrix A, (n, n), with memberships V A, from the modes V at points, (m, n).

    The first column of V is 1, and the columns are orthonormal in the invariant measure.
    """
    outer = modes[outermost(modes)]
    start = np.linalg.inv(outer[corners(outer)])
    n = modes.shape[1]
    best = np.asarray(start[1:, 1:], dtype=np.float64)
    if n > 2:

        def overlap(free: Any) -> float:
            found = feasible(free.reshape(n - 1, n - 1), outer)
            # The k-th state's share of the trace is Σ_i A_ik² / A_0k.
            return -float((found**2 / found[0]).sum())

        search = minimize(
            overlap, best.ravel(), method="Nelder-Mead",
            options={"maxfev": EVALUATIONS * best.size, "xatol": 1e-5, "fatol": 1e-7},
        )  # fmt: skip
        moved = np.asarray(search.x, dtype=np.float64)
        if overlap(moved) < overlap(best.ravel()):
            best = moved.reshape(best.shape)
    return feasible(best, modes)


def feasible(free: FloatArray, modes: FloatArray) -> FloatArray:
    """Return A with rows that keep the sum at 1, and no membership below 0, from its free part."""
    n = modes.shape[1]
    result = np.empty((n, n))
    result[1:, 1:] = free
    result[1:, 0] = -free.sum(axis=1)
    result[0] = -(modes[:, 1:] @ result[1:]).min(axis=0)
    return np.asarray(result / result[0].sum())


def corners(modes: FloatArray) -> NDArray[np.intp]:
    """Return the rows of n points that span the largest simplex, chosen one after the other.

    Examples
    --------
    >>> corners(np.array([[1, 0.0], [1, 0.9], [1, -2.0], [1, 1.0]])).tolist()
    [2, 3]
    """
    n = modes.shape[1]
    found = np.empty(n, dtype=np.intp)
    found[0] = np.square(modes[:, 1:]).sum(axis=1).argmax()
    left = modes - modes[found[0]]
    for k in range(1, n):
        length = np.square(left).sum(axis=1)
        found[k] = length.argmax()
        direction = left[found[k]] / np.sqrt(length[found[k]])
        left = left - np.outer(left @ direction, direction)
    return found


def outermost(modes: FloatArray) -> NDArray[np.intp]:
    """Return the rows of the points that are the outermost in one of many directions.

    Examples
    --------
    >>> outermost(np.array([[1, 0.0], [1, 0.9], [1, -2.0], [1, 1.0]])).tolist()
    [2, 3]
    """
    rng, axes = np.random.default_rng(0), np.eye(modes.shape[1] - 1)
    directions = np.vstack([rng.standard_normal((DIRECTIONS, len(axes))), axes, -axes])
    farthest = np.full(len(directions), -np.inf)
    found = np.zeros(len(directions), dtype=np.intp)
    for rows in slices(len(modes), rows_that_fit(len(directions))):
        reach = directions @ modes[rows, 1:].T
        best = reach.argmax(axis=1)
        value = np.take_along_axis(reach, best[:, None], axis=1)[:, 0]
        further = value > farthest
        farthest[further] = value[further]
        found[further] = rows.start + best[further]
    return np.unique(found)
