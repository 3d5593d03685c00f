"""Metastable states on the points, beside the rates between them: the picture of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..dynamics.states import States
from ..operator.operator import Operator
from ._canvas import CYCLE, FAINT, Positions, dress, import_pyplot, place, scatter
from ._clouds import chosen
from ._dynamics import states as draw_rates


def states_on_points(
    result: States,
    operator: Operator,
    points: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> Any:
    """Draw points in the colour of their state, paler where they belong to several; and the rates.

    Parameters
    ----------
    result : States
        From `spectrum.states()`.
    operator : Operator
        The operator of that spectrum.
    points : (N, 1 or 2) array, optional
        Other places at which to draw the points.
    names : sequence of str, optional
        Labels of the axes.
    """
    figure = import_pyplot().figure(figsize=(10, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    positions = place(operator, points, left)
    if names is not None:
        positions = replace(positions, labels=[*names, *positions.labels[len(names) :]])
    shares = result.memberships[positions.rows]
    if positions.n_dims == 1:
        draw_memberships(left, positions, shares)
    else:
        draw_labels(left, positions, shares)
    draw_rates(result, right)
    return figure


def colour_of(state: int) -> str:
    """Return the colour of a state."""
    return CYCLE[state % len(CYCLE)]


def draw_memberships(ax: Any, positions: Positions, shares: FloatArray) -> None:
    """Draw the memberships against the only coordinate."""
    for state, own in enumerate(shares.T):
        ax.plot(positions.coordinates[:, 0], own, ".", ms=2, color=colour_of(state), label=state)
    dress(ax, positions, "Memberships")
    ax.legend(title="state", frameon=False, markerscale=4)


def draw_labels(ax: Any, positions: Positions, shares: FloatArray) -> None:
    """Draw points in the colour of the state to which they belong most."""
    known = np.isfinite(shares).all(axis=1)
    if not known.all():
        scatter(ax, chosen(positions, ~known), color=FAINT)
    best = np.where(known, np.argmax(np.nan_to_num(shares), axis=1), -1)
    for state in range(shares.shape[1]):
        own = best == state
        if not own.any():
            continue
        scatter(ax, chosen(positions, own), color=colour_of(state), alpha=shares[own, state],
                label=str(state), s=positions.marker_size)  # fmt: skip
    dress(ax, positions, "The state of each point")
    ax.legend(title="state", frameon=False, markerscale=3)
