"""A vector field on the points, such as a gradient, a drift or a current, as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..base.checks import a_count, accepts, as_floats, shown
from ..base.points import check_points
from ..equations.solved import Committor
from ..errors import InputError
from ._canvas import (
    BLUE,
    FAINT,
    INK,
    Positions,
    check_axes,
    dress,
    new_axes,
    operator_of,
    scatter,
    thinned,
)

#: Squares along the longer side of a picture of a flux; each has one arrow.
SQUARES = 16
#: Arrows of a flux that are shorter than this share of the longest are left out.
SHORTEST = 0.1
#: Points that tell whether places are a linear function of the columns.
TRIED = 2000


@accepts(ax=check_axes, squares=a_count(1, 200))
def arrows(
    result: Any,
    field: ArrayLike,
    columns: Sequence[int] = (0, 1),
    ax: Any = None,
    *,
    squares: int = 24,
) -> Any:
    """Draw a vector field on the points in two of their columns.

    Parameters
    ----------
    result : Operator, Spectrum or DiffusionMap
        The result whose points are drawn.
    field : (N, n) array
        A vector for each point, such as `op.gradient(f)` or `spectrum.dynamics.drift()`; points
        where it is NaN have no share in an arrow.
    columns : pair of int
        The columns of points and field that are drawn, counted from 0.
    ax : Axes, optional
        Where to draw.
    squares : int
        The longer side of the picture is cut into so many squares. Each arrow is the mean over
        the points in a square, at their mean place: one for each point would be a thicket.

    Returns
    -------
    Axes

    Examples
    --------
    >>> points = vbdm.datasets.ou(500, dim=2, random_state=0).points
    >>> op = vbdm.estimate_operator(points, "generator")
    >>> ax = vbdm.plot.arrows(op, op.gradient(points[:, 0] ** 2))
    """
    operator = operator_of(result)
    known = operator.graph.points
    if known is None:
        raise InputError(
            "The points are needed to be drawn; received a result from precomputed distances. "
            "Estimate from the points themselves."
        )
    first, second = check_columns(columns, known.shape[1])
    values = as_floats(field)
    if values is None or values.shape != known.shape:
        seen = type(field).__name__ if values is None else f"shape {values.shape}"
        raise InputError(
            f"A field has a vector for each point, shape {known.shape}; received {seen}. Pass, "
            "for example, op.gradient(f) with f of shape (N,)."
        )
    places = known[:, [first, second]]
    labels = [f"coordinate {i + 1}" for i in (first, second)]
    ax = new_axes(ax)
    drawn = thinned(Positions(places, labels, np.arange(len(places))))
    scatter(ax, drawn, color=FAINT)
    at, mean, _ = means_in_squares(places, values[:, [first, second]], squares)
    ax.quiver(*at.T, *mean.T, color=BLUE, angles="xy", pivot="tail", width=0.004)
    dress(ax, drawn, "Arrows: means over squares")
    return ax


def check_columns(columns: Any, n_columns: int) -> tuple[int, int]:
    """Return two different columns."""
    found = as_floats(columns)
    wanted = [] if found is None or found.shape != (2,) else found.tolist()
    known = [number for number in wanted if number in range(n_columns)]
    if len(set(known)) == 2:
        return int(known[0]), int(known[1])
    raise InputError(
        f"`columns` must be two different columns of the points; received {shown(columns)}, with "
        f"points of {n_columns} column(s). Pass, for example, columns=(0, 1)."
    )


def means_in_squares(
    places: FloatArray, vectors: FloatArray, squares: int, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean places, mean vectors and the weight of the points in each square that has some.

    Without weights all points weigh 1.
    """
    own = np.ones(len(places)) if weights is None else weights
    told = np.isfinite(vectors).all(axis=1) & (own > 0)
    places, vectors, own = places[told], vectors[told], own[told]
    low, extent = places.min(axis=0, initial=np.inf), np.ptp(places, axis=0).max(initial=0.0)
    side = max(extent / squares, np.finfo(float).tiny)
    cell = np.minimum((places - low) / side, squares - 1).astype(np.intp)
    _, square = np.unique(cell, axis=0, return_inverse=True)
    square = square.reshape(-1)
    weight = np.asarray(np.bincount(square, own), dtype=np.float64)
    means = [np.bincount(square, own * column) / weight for column in (*places.T, *vectors.T)]
    return np.column_stack(means[:2]), np.column_stack(means[2:]), weight


# --- The flux of transitions ---------------------------------------------------------------------


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

    def is_image(shift: FloatArray, length: float) -> bool:
        # Whether values differ by whole periods, and by the same else.
        turns = (shift - shift[0]) / (length if length > 0 else np.inf)
        return length > 0 and bool(np.abs(turns - np.round(turns)).max() < 1e-6)

    for p in places[some].T:
        same = [is_image(p - own, length) for own, length in zip(x.T, period, strict=True)]
        centred = x - x.mean(axis=0), p - p.mean()
        fitted = None if any(same) else np.linalg.lstsq(*centred, rcond=None)[0]
        row = np.eye(x.shape[1])[np.argmax(same)] if fitted is None else fitted
        if not any(same) and np.abs(centred[0] @ row - centred[1]).max() > 1e-8 * np.ptp(p):
            return None
        found.append(row)
    return np.stack(found, axis=1)
