"""From the user's sets to a system: which points can be solved for, and which are left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import BoolArray, FloatArray
from ..base.errors import SmallSetWarning, UnreachedWarning, warn_user
from ..operator.operator import Operator
from .network import Network
from .sets import PointSet
from .system import Held, System

#: Dimension from which on a single point is not found by a walk.
POINTS_ARE_LOST = 1.5


def system_of(
    operator: Operator,
    sets: Sequence[PointSet],
    values: Sequence[FloatArray],
    screen: float | FloatArray = 0.0,
) -> System:
    """Return the system with some sets held at values, (m,) or (N, m), and warn of what is lost.

    `screen` is κ, a number or (N,).
    """
    network, order = operator.network, operator.order
    held = tuple(
        Held(
            order.to_inside(own.mask.astype(np.float64)) > 0,
            value if value.ndim == 1 else order.to_inside(value),
            None if own.distance is None else order.to_inside(own.distance),
        )
        for own, value in zip(sets, values, strict=True)
    )
    inside = order.to_inside(screen) if isinstance(screen, np.ndarray) else screen
    everywhere = bool(np.all(np.asarray(screen) > 0))
    left_out = unreached(network, held, everywhere)
    for own, points in zip(sets, held, strict=True):
        left_out |= lost_to(network, points, own.name) & (not everywhere)
    system = System(network, held, inside, left_out)
    system.left_out[system.held] = False
    return system


def unreached(network: Network, sets: Sequence[Held], everywhere: bool) -> BoolArray:
    """Return the points at which the equation has no solution, (M,), and warn of them."""
    operator, pieces = network.operator, network.pieces
    isolated = np.asarray(operator.degrees <= 0)
    if everywhere:
        other = np.zeros_like(isolated)
    elif sets:
        touched = np.unique(np.concatenate([pieces[own.mask] for own in sets]))
        other = ~np.isin(pieces, touched)
    else:
        other = np.bincount(pieces)[pieces] < operator.settings.smallest_piece
    held = np.any([np.zeros_like(isolated), *(own.mask for own in sets)], axis=0)
    lost = (isolated | other) & ~held
    if lost.any():
        warn_user(words_on(network, lost, isolated & lost, bool(sets)), UnreachedWarning)
    return np.asarray(lost)


def words_on(network: Network, lost: BoolArray, isolated: BoolArray, has_sets: bool) -> str:
    """Return what is said about points without a solution."""
    order = network.operator.order
    n, alone = int(order.to_caller(lost).sum()), int(order.to_caller(isolated).sum())
    n_pieces = len(np.unique(network.pieces[lost & ~isolated]))
    pieces = "1 piece" if n_pieces == 1 else f"{n_pieces} pieces"
    reasons = []
    if n > alone:
        why = "without a point of a set" if has_sets else "too small to be solved"
        reasons.append(f"{n - alone} of them lie in {pieces} {why}")
    if alone:
        reasons.append(f"{alone} have no neighbour within the kernel's reach")
    return (
        f"{n} of {order.n_rows} points have no solution, and get NaN: {'; '.join(reasons)}. "
        "See `spectrum.components` for the pieces of the data."
    )


def lost_to(network: Network, held: Held, name: str) -> BoolArray:
    """Return the points whose solution hangs on a set with fewer points than a kernel, (M,)."""
    operator = network.operator
    nothing = np.zeros_like(held.mask)
    if operator.dim < POINTS_ARE_LOST:
        return nothing
    counts = operator.order.counts
    n_held = float(held.mask.sum() if counts is None else counts[held.mask].sum())
    needed = float(np.median(operator.kernel.row_sums[held.mask]))
    if n_held >= min(needed, np.median(operator.kernel.row_sums)):
        return nothing
    lost = np.isin(network.pieces, np.unique(network.pieces[held.mask])) & ~held.mask
    warn_user(
        f"The set {name} has {n_held:.0f} points, fewer than the {needed:.0f} that a kernel holds: "
        f"in {operator.dim:.2g} dimensions a walk does not find so small a set, and all that "
        "depends on it would depend on the kernel's width. "
        f"{int(operator.order.to_caller(lost).sum())} points get NaN. Make the set larger.",
        SmallSetWarning,
    )
    return np.asarray(lost)
