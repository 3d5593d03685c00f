r"""One system of equations on the network: (κ - L) u = f, with u given on some sets.

In weak form it is :math:`(D - K + κM) u = M f` at the free points, symmetric and positive.
At points of the sets the values are known, and pull at their neighbours.

A walk on the points jumps, and is caught only at points of a set, so it would see the set's edge
about half a jump too far inside. The **soft edge** mends this: at a point j of the set, a free
neighbour i sees the value that continues u through the edge, :math:`u_j = v - (u_i - v) s_j/s_i`.
Here s is the resistance between a point and the edge, the distance over :math:`\sqrt{π}`, because a
steady stream has slopes ∝ 1/π (π, the invariant density, falls by a half across some kernels). This
adds :math:`Σ_j K_{ij} s_j/s_i` to the diagonal at i, and v times as much to the right-hand side:
the matrix stays symmetric, its solutions within the bounds of their data. Distances come from the
user, or from the share of its neighbours that a point has across the edge, which is
:math:`½\,\mathrm{erfc}(s/h)` for a kernel of width h, if neighbours are weighted such that the
density's slope does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import erfinv

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import one_blas_thread
from ..base.wording import counted
from ..errors import SmallSetWarning, UnreachedWarning, warn_user
from .network import Network
from .sets import Region
from .solver import TOLERANCE, Multigrid, Solution, conjugate_gradients

#: Distances to an edge are at least this share of the kernel's width, and at most so many widths:
#: from the share of neighbours across the edge they cannot be told beyond.
NEAREST, FARTHEST = 0.1, 2.5
#: Dimension from which on a single point is not found by a walk.
POINTS_ARE_LOST = 1.5


@dataclass(frozen=True, eq=False)
class Held:
    """A set of points, (M,) in the order inside, at which the solution is known."""

    mask: BoolArray
    #: The values of m solutions there: the same at all points of the set, (m,), or (M, m).
    values: FloatArray
    #: Distance of all points to the edge of the set, (M,); None: estimated from the mask.
    distance: FloatArray | None = None

    def on_points(self) -> FloatArray:
        """Return the values on all points, (M, m); 0 outside the set."""
        return np.where(self.mask[:, None], self.values, 0.0)


@dataclass(frozen=True, eq=False)
class Edge:
    """How strongly the points of a set pull at others, in the order inside."""

    #: q_i = Σ_j K_ij over the points j of the set, (M,).
    links: FloatArray
    #: t_i = Σ_j K_ij s_j/s_i, (M,): what the soft edge adds.
    extra: FloatArray
    #: The pull on the right-hand side, (M, m): values times q + t.
    pull: FloatArray


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
        masks = [np.zeros_like(self.left_out), *(own.mask for own in self.sets)]
        return np.asarray(np.any(masks, axis=0))

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
        """The pulls of the sets on all points, by two products with K for all of them."""
        network, sets = self.network, self.sets
        if not sets:
            return []
        level, masks = network.resistance, np.stack([own.mask for own in sets], axis=1)
        n, inside = len(sets), masks.astype(np.float64)
        columns = np.hstack([inside, inside * level[:, None], level[:, None]])
        products = (network.weights @ columns).T
        links, of_sets, of_all = products[:n], products[n:-1], products[-1]
        pairs = zip(sets, of_sets, strict=True)
        distances = [distance_to(network, own, of_set, of_all) for own, of_set in pairs]
        far = np.stack(distances, axis=1)
        extra = ((network.weights @ (inside * far)) / far).T
        return [
            Edge(own_links, more, pull_of(network, own, own_links + more, far[:, j]))
            for j, (own, own_links, more) in enumerate(zip(sets, links, extra, strict=True))
        ]

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
        for own in self.sets:
            found.values[own.mask] = own.on_points()[own.mask]
        found.values[self.left_out] = np.nan
        return found


def distance_to(network: Network, held: Held, of_set: FloatArray, of_all: FloatArray) -> FloatArray:
    """Return the resistance s between each point and the edge of a set, (M,).

    `of_set` and `of_all` are sums over the neighbours in the set and over all, weighted by 1/√π.
    """
    distance, width = held.distance, network.operator.kernel.widths
    if distance is None:
        share = np.divide(of_set, of_all, out=np.zeros_like(of_all), where=of_all > 0)
        across = np.where(held.mask, 1 - share, share)
        distance = width * erfinv(1 - 2 * np.clip(across, 0.0, 0.5))
    near = np.clip(np.abs(distance), NEAREST * width, FARTHEST * width)
    return np.asarray(network.resistance * near)


def pull_of(network: Network, held: Held, strength: FloatArray, far: FloatArray) -> FloatArray:
    """Return the pull of a set on the right-hand side, (M, m)."""
    if held.values.ndim == 1:
        return np.outer(strength, held.values)
    values, m = held.on_points(), held.values.shape[1]
    both = network.weights @ np.hstack([values, values * far[:, None]])
    return np.asarray(both[:, :m] + both[:, m:] / far[:, None])


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
    alone, order = lost & (operator.inside.degrees <= 0), operator.graph.order
    in_pieces, n_alone = (int(order.to_caller(some).sum()) for some in (lost & ~alone, alone))
    n_pieces = len(np.unique(pieces[lost & ~alone]))
    reasons = []
    if in_pieces:
        reasons.append(f"{in_pieces} of them lie in {counted(n_pieces, 'piece')} {why}")
    if n_alone:
        reasons.append(f"{n_alone} have no neighbour within the kernel's reach")
    if reasons:
        warn_user(
            f"{in_pieces + n_alone} of {order.n_rows} points have no solution, and get NaN: "
            f"{'; '.join(reasons)}. See `spectrum.components` for the pieces of the data.",
            UnreachedWarning,
        )
    return np.asarray(lost)


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
