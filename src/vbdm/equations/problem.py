"""From the user's sets to a system: which points can be solved for, and which are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.arrays import BoolArray, FloatArray
from ..errors import SmallSetWarning, UnreachedWarning, warn_user
from .edges import Held
from .network import Network
from .region import Region
from .system import System

#: Dimension from which on a single point is not found by a walk.
POINTS_ARE_LOST = 1.5


def system_of(
    network: Network,
    sets: Sequence[Region],
    values: Sequence[FloatArray],
    screen: float | FloatArray = 0.0,
) -> System:
    """Return the system with some sets held at values, (m,) or (N, m), and warn of what is lost.

    `screen` is κ, a number or (N,).
    """
    order = network.operator.order
    held = tuple(
        Held(
            order.to_inside(own.mask.astype(np.float64)) > 0,
            value if value.ndim == 1 else order.to_inside(value),
            None if own.distance is None else order.to_inside(own.distance),
        )
        for own, value in zip(sets, values, strict=True)
    )
    inside = order.to_inside(screen) if isinstance(screen, np.ndarray) else screen
    system = System(network, held, inside, np.zeros(len(network.degrees), dtype=np.bool_))
    left_out = unreached(system)
    if not np.all(np.asarray(screen) > 0):
        for own, points in zip(sets, held, strict=True):
            left_out = left_out | lost_to(network, points, own.name)
    return replace(system, left_out=left_out & ~system.held)


def unreached(system: System) -> BoolArray:
    """Return the points at which the equation has no solution, (M,), and warn of them.

    They lie in pieces where nothing is held and κ is 0, if there are others. If there is no other,
    a solution is found but for a constant, on pieces that are large enough.
    """
    network = system.network
    operator, pieces = network.operator, network.pieces
    if system.is_singular:
        lost = np.bincount(pieces)[pieces] < operator.settings.smallest_piece
        why = "too small to be solved"
    else:
        lost = ~np.isin(pieces, pieces[system.tied])
        why = "where nothing is held"
    if lost.any():
        warn_user(words_on(network, lost, why), UnreachedWarning)
    return np.asarray(lost)


def words_on(network: Network, lost: BoolArray, why: str) -> str:
    """Return what is said about points without a solution."""
    order = network.operator.order
    alone = lost & (network.operator.degrees <= 0)
    in_pieces, n_alone = (int(order.to_caller(some).sum()) for some in (lost & ~alone, alone))
    n_pieces = len(np.unique(network.pieces[lost & ~alone]))
    reasons = []
    if in_pieces:
        pieces = "1 piece" if n_pieces == 1 else f"{n_pieces} pieces"
        reasons.append(f"{in_pieces} of them lie in {pieces} {why}")
    if n_alone:
        reasons.append(f"{n_alone} have no neighbour within the kernel's reach")
    return (
        f"{in_pieces + n_alone} of {order.n_rows} points have no solution, and get NaN: "
        f"{'; '.join(reasons)}. See `spectrum.components` for the pieces of the data."
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
        f"The set {name} has {n_held:.0f} point{'s' * (n_held > 1)}, fewer than the {needed:.0f} "
        f"that a kernel holds: in {operator.dim:.2g} dimensions a walk does not find so small a "
        "set, and all that depends on it would depend on the kernel's width. "
        f"{int(operator.order.to_caller(lost).sum())} points get NaN. Make the set larger.",
        SmallSetWarning,
    )
    return np.asarray(lost)
