r"""One system of equations on the network: (κ - L) u = f, with u given on some sets.

In weak form it is :math:`(D - K + κM) u = M f` at the free points, symmetric and positive.
At points of the sets the values are known, and pull at their neighbours (`edges`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import one_blas_thread
from ..errors import SmallSetWarning, UnreachedWarning, warn_user
from .edges import Edge, Held, edges_of
from .network import Network
from .sets import Region
from .solver import TOLERANCE, Multigrid, Solution, conjugate_gradients

#: Dimension from which on a single point is not found by a walk.
POINTS_ARE_LOST = 1.5


@dataclass(frozen=True, eq=False)
class System:
    """The matrix of an equation: which points are held, and what is added to the diagonal."""

    network: Network
    #: The sets with known values.
    sets: tuple[Held, ...]
    #: κ >= 0, a number or (M,).
    screen: float | FloatArray
    #: Points at which the equation is not solved, besides those that are held, (M,).
    left_out: BoolArray

    @cached_property
    def held(self) -> BoolArray:
        """Points of the sets, (M,)."""
        return np.asarray(
            np.any([np.zeros_like(self.left_out), *(own.mask for own in self.sets)], axis=0)
        )

    @cached_property
    def tied(self) -> BoolArray:
        """Points that are held, or killed: where there are none, a constant is not known, (M,)."""
        return np.asarray(self.held | (self.screen * self.network.mass > 0))

    @cached_property
    def free(self) -> BoolArray:
        """Points at which the equation is solved, (M,)."""
        return np.asarray(~(self.held | self.left_out))

    @cached_property
    def edges(self) -> Sequence[Edge]:
        """The pulls of the sets."""
        return edges_of(self.network, self.sets)

    @cached_property
    def killing(self) -> FloatArray:
        """What is added to D on the diagonal, (M,)."""
        extra = np.sum([np.zeros(len(self.free)), *(edge.extra for edge in self.edges)], axis=0)
        return np.where(self.free, self.screen * self.network.mass + extra, 0.0)

    @cached_property
    def diagonal(self) -> FloatArray:
        """D and the killing, (M,): the matrix is this diagonal less K."""
        return self.network.degrees + self.killing

    @cached_property
    def inverse(self) -> Multigrid:
        """The approximate inverse."""
        return Multigrid.of(self.network, self.killing, ~self.free)

    @property
    def is_singular(self) -> bool:
        """Whether constants solve the equation without a right-hand side."""
        return not self.tied.any()

    def product(self, block: FloatArray) -> FloatArray:
        """Return A times columns that are 0 at held points."""
        image = self.network.weights @ block
        np.subtract(self.diagonal[:, None] * block, image, out=image)
        image *= self.free[:, None]
        return np.asarray(image)

    def solve(self, right: FloatArray, tol: float = TOLERANCE) -> Solution:
        """Solve A u = right for the columns (M, m), which count at the free points only.

        On each piece u is a constant, which the sum of the right-hand side tells, and a rest that
        takes no part in that sum. So a piece that is hardly tied to anything, where the constant
        is huge, costs no digits of the rest, and no more steps.
        """
        right = np.where(self.free[:, None], right, 0.0)
        size = np.abs(right).max(axis=0, initial=0.0)
        size[size == 0] = 1.0
        right = right / size
        constant = self.constants(right)
        rest = right - self.load[:, None] * constant
        if self.is_singular:
            constant = np.zeros_like(right)
        known = np.einsum("ij,ij->j", constant, right)
        with one_blas_thread():
            found = conjugate_gradients(self.product, rest, self.balanced_inverse, tol, known)
        return Solution(size * (found.values + constant), found.iterations, found.residual)

    def balanced_inverse(self, residual: FloatArray) -> FloatArray:
        """Return roughly A⁻¹ times residuals, (M, m), without constants on the pieces."""
        load = self.load[:, None]
        found = self.inverse(residual - load * self.constants(residual))
        return found - self.constants(load * found)

    def constants(self, right: FloatArray) -> FloatArray:
        """Return the constant c on the free points of each piece with Σ A c = Σ right, (M, m)."""
        pieces, whole = self.network.pieces, self.piece_loads
        if len(whole) == 1:
            return np.asarray(self.free[:, None] * (right.sum(axis=0) / whole))
        columns = [np.bincount(pieces, column) / whole for column in right.T]
        return np.where(self.free[:, None], np.stack(columns, axis=1)[pieces], 0.0)

    @cached_property
    def load(self) -> FloatArray:
        """A times 1 at the free points, (M,): their links to sets, and κM; M if all that is 0."""
        if self.is_singular:
            return np.where(self.free, self.network.mass, 0.0)
        links = np.sum([edge.links for edge in self.edges], axis=0)
        return np.where(self.free, self.killing + links, 0.0)

    @cached_property
    def piece_loads(self) -> FloatArray:
        """Sums of the load over the pieces; 1 where there is none."""
        whole = np.bincount(self.network.pieces, self.load)
        return np.where(whole > 0, whole, 1.0)

    def with_values(self, source: FloatArray, tol: float = TOLERANCE) -> Solution:
        """Solve (κ - L) u = source, (M, m), with the values of the sets; NaN where left out."""
        right = self.network.mass[:, None] * source
        for edge in self.edges:
            right = right + edge.pull
        found = self.solve(right, tol)
        values = found.values
        for own in self.sets:
            values[own.mask] = own.on_points()[own.mask]
        values[self.left_out] = np.nan
        return Solution(values, found.iterations, found.residual)


def system_of(
    network: Network,
    sets: Sequence[Region],
    values: Sequence[FloatArray],
    screen: float | FloatArray = 0.0,
) -> System:
    """Return the system with some sets held at values, (m,) or (N, m), and warn of what is lost.

    `screen` is κ, a number or (N,).
    """
    order = network.operator.graph.order
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
        warn_of(network, lost, why)
    return np.asarray(lost)


def warn_of(network: Network, lost: BoolArray, why: str) -> None:
    """Warn of points without a solution."""
    order = network.operator.graph.order
    alone = lost & (network.operator.inside.degrees <= 0)
    in_pieces, n_alone = (int(order.to_caller(some).sum()) for some in (lost & ~alone, alone))
    n_pieces = len(np.unique(network.pieces[lost & ~alone]))
    reasons = []
    if in_pieces:
        pieces = "1 piece" if n_pieces == 1 else f"{n_pieces} pieces"
        reasons.append(f"{in_pieces} of them lie in {pieces} {why}")
    if n_alone:
        reasons.append(f"{n_alone} have no neighbour within the kernel's reach")
    warn_user(
        f"{in_pieces + n_alone} of {order.n_rows} points have no solution, and get NaN: "
        f"{'; '.join(reasons)}. See `spectrum.components` for the pieces of the data.",
        UnreachedWarning,
    )


def lost_to(network: Network, held: Held, name: str) -> BoolArray:
    """Return the points whose solution hangs on a set with fewer points than a kernel, (M,)."""
    operator = network.operator
    counts = operator.graph.order.counts
    n_held = float(held.mask.sum() if counts is None else counts[held.mask].sum())
    needed = float(np.median(operator.kernel.row_sums[held.mask]))
    is_found = n_held >= min(needed, np.median(operator.kernel.row_sums))
    if is_found or operator.dim < POINTS_ARE_LOST:
        return np.zeros_like(held.mask)
    lost = np.isin(network.pieces, np.unique(network.pieces[held.mask])) & ~held.mask
    n_lost = int(operator.graph.order.to_caller(lost).sum())
    warn_user(
        f"The set {name} has {n_held:.0f} point{'s' * (n_held > 1)}, fewer than the {needed:.0f} "
        f"that a kernel holds: in {operator.dim:.2g} dimensions a walk does not find so small a "
        f"set. {n_lost} points get NaN. Make the set larger.",
        SmallSetWarning,
    )
    return np.asarray(lost)
