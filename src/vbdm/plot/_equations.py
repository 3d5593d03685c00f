"""Pictures of equations: solutions on the points, the ½ line of a committor, its flux."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from ..base.arrays import FloatArray
from ..base.checks import accepts, an, or_none, words
from ..equations.solved import Committor, HittingProbabilities, PassageTime, Solved
from ._arrows import draw_flux
from ._canvas import (
    DIVERGING,
    FAINT,
    INK,
    SEQUENTIAL,
    dress,
    new_axes,
    place,
    scatter,
)
from ._clouds import COLOURED, chosen, color_bar, panels_for

#: Nodes along each side of the grid on which the ½ line is drawn.
NODES = 80
#: Neighbours that are averaged at a node.
AVERAGED = 12


@accepts(
    result=an(Solved, "Pass op.committor(A, B), op.solve(f) and the like."), names=or_none(words)
)
def solution(
    result: Solved,
    ax: Any = None,
    points: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> Any:
    """Draw a solution on the points; also ``result.plot()``.

    Parameters
    ----------
    result : Solved
        What `op.solve`, `op.committor`, `op.mean_first_passage` and the like return.
    ax : Axes or sequence of Axes, optional
        Where to draw, flat axes; one for each column of the values.
    points : (N, 1 or 2) array, optional
        Other places at which to draw the points. By default their columns; of three or more, two
        principal axes.
    names : sequence of str, optional
        Labels of the axes.

    Returns
    -------
    Axes, or an array of them if several were needed
        Points coloured by value, grey where there is none; on the line, values against the
        coordinate. A committor has the line where it is ½ and arrows along the flux of
        transitions, q^c1 ∇u; the arrows of points that lie on each other are added up.
    """
    columns = result.values.reshape(len(result.values), -1)
    panels = panels_for(ax, columns.shape[1], 2)
    for panel, values, title in zip(panels, columns.T, titles(result), strict=True):
        draw(new_axes(panel), result, values, title, points, names)
    return panels[0] if len(panels) == 1 else np.array(panels, dtype=object)


def titles(result: Solved) -> list[str]:
    """Return what each column of the values is."""
    if isinstance(result, Committor):
        return ["probability to reach B before A"]
    if isinstance(result, HittingProbabilities):
        return [f"probability to reach {name} first" for name in result.names]
    if isinstance(result, PassageTime):
        return ["mean time until the set is reached, in length²/D"]
    several = result.values.ndim > 1
    return [f"solution {j}" for j in range(result.values.shape[1])] if several else ["solution"]


def draw(
    ax: Any,
    result: Solved,
    values: FloatArray,
    title: str,
    points: ArrayLike | None,
    names: Sequence[str] | None,
) -> None:
    """Draw one column of values."""
    positions = place(result.operator, points, ax).named(names)
    own = values[positions.rows]
    if positions.n_dims == 1:
        order = np.argsort(positions.coordinates[:, 0])
        ax.plot(positions.coordinates[order, 0], own[order], ".", markersize=2, color=INK)
        dress(ax, positions, title)
        return
    known = np.isfinite(own)
    if not known.all():
        scatter(ax, chosen(positions, ~known), color=FAINT)
    seen = chosen(positions, known)
    drawn = scatter(ax, seen, c=own[known], **colours(result, own[known]))
    dress(ax, positions, title)
    color_bar(ax, drawn, "")
    if isinstance(result, Committor):
        # The line where the mean of the committor over nearby places is ½.
        nodes, means = means_on_grid(seen.coordinates, own[known])
        finite = means[np.isfinite(means)]
        if finite.size and finite.min() < 0.5 < finite.max():
            grid = (*nodes.T.reshape(2, NODES, NODES), means.reshape(NODES, NODES))
            ax.contour(*grid, levels=[0.5], colors=[INK], linewidths=1.6)
        draw_flux(ax, result, seen, points)


def colours(result: Solved, values: FloatArray) -> dict[str, Any]:
    """Return the colour map and its ends: probabilities from 0 to 1, signed values around 0."""
    if isinstance(result, Committor | HittingProbabilities):
        return {"cmap": DIVERGING, "vmin": 0.0, "vmax": 1.0}
    low, high = np.quantile(values, [1 - COLOURED, COLOURED])
    if low < 0 < high:
        end = max(-low, high)
        return {"cmap": DIVERGING, "vmin": -end, "vmax": end}
    return {"cmap": SEQUENTIAL, "vmin": low, "vmax": high}


def means_on_grid(places: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the nodes of a grid, (m, 2), and means of nearby values; NaN where no point is near.

    Four points must be as near as the fifth neighbour of the nearest one is to that.
    """
    low, high = places.min(axis=0), places.max(axis=0)
    sides = [np.linspace(low[j], high[j], NODES) for j in range(2)]
    nodes = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    tree = cKDTree(places)
    spacing = tree.query(places, k=min(6, len(places)))[0][:, -1]
    distances, rows = tree.query(nodes, k=min(AVERAGED, len(places)))
    weights = np.exp(-np.square(distances / np.maximum(distances[:, -1:], 1e-300)))
    means = (weights * values[rows]).sum(axis=1) / weights.sum(axis=1)
    fourth = distances[:, min(3, distances.shape[1] - 1)]
    return nodes, np.where(fourth <= spacing[rows[:, 0]], means, np.nan)
