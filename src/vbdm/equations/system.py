r"""One system of equations on the network: (κ - L) u = f, with u given on some sets.

In weak form it is :math:`(D - K + κM) u = M f` at the free points, symmetric and positive.
At points of the sets the values are known, and pull at their neighbours (`edges`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import one_blas_thread
from .conjugate_gradients import TOLERANCE, Solution, conjugate_gradients
from .edges import Edge, Held, edges_of
from .multigrid import Multigrid
from .network import Network


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
