"""Arrows along the flux of transitions, q^c1 ∇u, in the two directions of a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..base.points import check_points
from ..equations.solved import Committor
from ._arrows import means_in_squares
from ._canvas import INK, Positions

#: Squares along the longer side of the picture; each has one arrow.
SQUARES = 16
#: Arrows shorter than this share of the longest are left out.
SHORTEST = 0.1
#: Points that tell whether places are a linear function of the columns.
TRIED = 2000


def draw_flux(ax: Any, result: Committor, positions: Positions, points: ArrayLike | None) -> None:
    """Draw arrows along the flux of transitions, summed over the points of each square."""
    currents = currents_of(result, positions, points)
    if currents is None:
        return
    weights = result.operator.equations.measure[positions.rows]
    centres, means, mass = means_in_squares(positions.coordinates, currents, SQUARES, weights)
    sums = means * mass[:, np.newaxis]
    lengths = np.hypot(*sums.T)
    kept = lengths > SHORTEST * lengths.max(initial=0.0)
    if kept.any():
        ax.quiver(
            *centres[kept].T, *sums[kept].T, color=INK, angles="xy", pivot="mid",
            scale=lengths.max() * SQUARES * 0.8, width=0.004, headwidth=4, zorder=3,
        )  # fmt: skip


def currents_of(
    result: Committor, positions: Positions, points: ArrayLike | None
) -> FloatArray | None:
    """Return ∇p·∇u, (M, 2), for the two places p at which points are drawn; None if unknown."""
    operator, rows = result.operator, positions.rows
    values = np.where(result.unreached, 0.0, result.values)
    known = operator.graph.points
    if known is None or operator.graph.metric != "euclidean":
        # There are no directions, but products of gradients there are.
        if points is None:
            return None
        own = [operator.calculus.carre_du_champ(p, values)[rows] for p in check_points(points).T]
        return np.stack(own, axis=1)
    slopes = operator.gradient(values)
    period = np.zeros(known.shape[1]) if operator.graph.period is None else operator.graph.period
    matrix = linear_map(np.asarray(known)[rows], positions.coordinates, period)
    if matrix is not None:
        return np.asarray(slopes[rows] @ matrix)
    others = operator.gradient(check_points(np.asarray(points)))
    return np.asarray((slopes[..., None] * others).sum(axis=1)[rows])


def linear_map(columns: FloatArray, places: FloatArray, period: FloatArray) -> FloatArray | None:
    """Return the matrix that takes columns to places, up to shifts; None if none does.

    Places in another period of a column than the points are shifted, too.
    """
    some = np.linspace(0, len(columns) - 1, min(len(columns), TRIED)).astype(np.intp)
    x, found = columns[some], []
    for p in places[some].T:
        same = [is_image(p - own, length) for own, length in zip(x.T, period, strict=True)]
        centred = x - x.mean(axis=0), p - p.mean()
        fitted = None if any(same) else np.linalg.lstsq(*centred, rcond=None)[0]
        row = np.eye(x.shape[1])[np.argmax(same)] if fitted is None else fitted
        if not any(same) and np.abs(centred[0] @ row - centred[1]).max() > 1e-8 * np.ptp(p):
            return None
        found.append(row)
    return np.stack(found, axis=1)


def is_image(shift: FloatArray, period: float) -> bool:
    """Tell whether values differ by whole periods, and by the same else."""
    if period <= 0:
        return False
    turns = (shift - shift[0]) / period
    return bool(np.abs(turns - np.round(turns)).max() < 1e-6)
