r"""One system of equations on the network: (κ - L) u = f, with u given on some sets.

In weak form it is :math:`(D - K + κM) u = M f` at the free points, symmetric and positive. A walk
on the points jumps, and is caught only at points of a set, so it would see the set's edge about
half a jump too far inside. The **soft edge** mends this: at a point j of the set, a free neighbour
i sees the value that continues u through the edge, :math:`u_j = v - (u_i - v) s_j/s_i`. Here s is
the resistance between a point and the edge, the distance over :math:`\sqrt{π}`, because a steady
stream has slopes ∝ 1/π (π, the invariant density, falls by a half across some kernels). This adds
:math:`Σ_j K_{ij} s_j/s_i` to the diagonal at i, and v times as much to the right-hand side: the
matrix stays symmetric, its solutions within the bounds of their data. Distances come from the user,
or from the share of its neighbours that a point has across the edge, which is
:math:`½\,\mathrm{erfc}(s/h)` for a kernel of width h, if neighbours are weighted such that the
density's slope does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import erfinv

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import one_blas_thread
from .conjugate_gradients import TOLERANCE, Solution, conjugate_gradients
from .multigrid import Multigrid
from .network import Network

#: Distances to an edge are at least this share of the kernel's width, and at most so many widths:
#: from the share of neighbours across the edge they cannot be told beyond.
NEAREST, FARTHEST = 0.1, 2.5


@dataclass(frozen=True, eq=False)
class Held:
    """A set of points at which the solution is known.

    Attributes
    ----------
    mask : (M,) bool array
        Its points, in the order inside.
    values : (m,) or (M, m) array
        The values of m solutions there: the same at all points of the set, or one for each.
    distance : (M,) array or None
        Distance of all points to the edge of the set; None: estimated from the mask.
    """

    mask: BoolArray
    values: FloatArray
    distance: FloatArray | None = None

    def on_points(self) -> FloatArray:
        """Return the values on all points, (M, m); 0 outside the set."""
        return np.where(self.mask[:, None], self.values, 0.0)


@dataclass(frozen=True, eq=False)
class Edge:
    """How strongly the points of a set pull at others, in the order inside.

    Attributes
    ----------
    links : (M,) array
        q_i = Σ_j K_ij over the points j of the set.
    extra : (M,) array
        t_i = Σ_j K_ij s_j/s_i: what the soft edge adds.
    pull : (M, m) array
        The pull on the right-hand side: values times q + t.
    """

    links: FloatArray
    extra: FloatArray
    pull: FloatArray


def edge_of(network: Network, held: Held) -> Edge:
    """Return the pulls of a held set on all points."""
    one, m = held.mask.astype(np.float64), held.values.shape[-1]
    level, width = network.resistance, network.widths
    links, of_set, of_all = (network.weights @ np.stack([one, one * level, level], axis=1)).T
    distance = held.distance
    if distance is None:
        share = np.divide(of_set, of_all, out=np.zeros_like(of_all), where=of_all > 0)
        across = np.where(held.mask, 1 - share, share)
        distance = width * erfinv(1 - 2 * np.clip(across, 0.0, 0.5))
    distance = level * np.clip(np.abs(distance), NEAREST * width, FARTHEST * width)
    extra = (network.weights @ (one * distance)) / distance
    if held.values.ndim == 1:
        return Edge(links, extra, np.outer(links + extra, held.values))
    both = held.on_points()
    both = network.weights @ np.hstack([both, both * distance[:, None]])
    return Edge(links, extra, both[:, :m] + both[:, m:] / distance[:, None])


@dataclass(frozen=True, eq=False)
class System:
    """The matrix of an equation: which points are held, and what is added to the diagonal.

    Attributes
    ----------
    network : Network
        Links and mass.
    sets : tuple of Held
        The sets with known values.
    screen : float or (M,) array
        κ >= 0.
    left_out : (M,) bool array
        Points at which the equation is not solved, besides those that are held.
    """

    network: Network
    sets: tuple[Held, ...]
    screen: float | FloatArray
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
        return [edge_of(self.network, own) for own in self.sets]

    @cached_property
    def killing(self) -> FloatArray:
        """What is added to D on the diagonal, (M,)."""
        extra = np.sum([np.zeros(len(self.free)), *(edge.extra for edge in self.edges)], axis=0)
        return np.where(self.free, self.screen * self.network.mass + extra, 0.0)

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
        diagonal = self.network.degrees + self.killing
        image = diagonal[:, None] * block - self.network.weights @ block
        return np.where(self.free[:, None], image, 0.0)

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
