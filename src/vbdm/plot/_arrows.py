"""A vector field on the points, such as a gradient, a drift or a current, as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..base.checks import a_count, accepts, as_floats, shown
from ..errors import InputError
from ._canvas import (
    BLUE,
    FAINT,
    Positions,
    check_axes,
    dress,
    new_axes,
    operator_of,
    scatter,
    thinned,
)


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
    vectors = check_field(field, known.shape)[:, [first, second]]
    places = known[:, [first, second]]
    labels = [f"coordinate {i + 1}" for i in (first, second)]
    ax = new_axes(ax)
    drawn = thinned(Positions(places, labels, np.arange(len(places))))
    scatter(ax, drawn, color=FAINT)
    at, mean, _ = means_in_squares(places, vectors, squares)
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


def check_field(field: Any, shape: tuple[int, ...]) -> FloatArray:
    """Return a vector for each point."""
    values = as_floats(field)
    if values is not None and values.shape == shape:
        return values
    seen = type(field).__name__ if values is None else f"shape {values.shape}"
    raise InputError(
        f"A field has a vector for each point, shape {shape}; received {seen}. Pass, for example, "
        "op.gradient(f) with f of shape (N,)."
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
