r"""The network that all equations are solved on: corrected links between points, and their mass.

L u = f is (D - K) u = -M f on the points: a network of resistors with links K. Links and mass are
those of the operator with two corrections, without which times come out 10 to 20 % wrong.

* A random sample makes eigenvalues :math:`η` times as large (`vbdm.spectrum.modes`). Here
  each link is divided by :math:`\sqrt{η_i η_j}`. Dividing the right-hand side by a mean η is not
  the same: resistance sits at a barrier, where points are few and η is far from 1.
* Far outliers have so large a mass that they would carry the equation. Their local time ε m ρ² is
  held at the time in which the limiter's reference mode, the ninth, decays on the solver's cells.

The network and its coarse levels belong to the operator: they are made once, for all equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array

from ..base.arrays import FloatArray
from ..base.threads import one_blas_thread
from ..operator.method import Limiter
from ..operator.operator import Operator, refuse_unsymmetric
from ..operator.sums import counts_of, row_sums_of
from ..solvers.multilevel.hierarchy import Hierarchy
from ..solvers.multilevel.solver import (
    NARROW,
    Multilevel,
    PreparedMultilevel,
    points_averaged,
)
from ..solvers.multilevel.start import block_size, coarse_pairs
from ..solvers.pencil import Pencil
from ..spectrum.limiter import first_limit
from ..spectrum.modes import share_of_points
from ..spectrum.pieces import connected_pieces
from ..spectrum.solve import pencil_of

#: Points in a cell where kernels average over few: 13 iterations where cells of 8 take 24.
SMALL_CELLS = 2


@dataclass(frozen=True, eq=False)
class Network:
    """Corrected links between the points, in the order inside."""

    operator: Operator
    #: The links K, a matrix of pairs or of blocks.
    weights: Any
    #: Their row sums D, (M,); 1 at isolated points, so that they can be divided by.
    degrees: FloatArray
    #: Cells of points, and the same network on them; None if there are too few points.
    coarse: PreparedMultilevel | None

    @cached_property
    def mass(self) -> FloatArray:
        """M = D ε m ρ² of the operator, (M,), with local times that are limited."""
        op, limiter = self.operator, self.operator.settings.method.limiter
        degrees, steps = op.inside.degrees, op.inside.steps
        linked = degrees > 0
        if limiter is None or not linked.any():
            return np.asarray(degrees * steps)
        highest = first_limit(1 / steps[linked], limiter, op.dim).highest
        mass = degrees * np.minimum(steps, 1 / highest)
        cut = min(highest, self.rate_of_mode(limiter.n_reference, mass))
        return np.asarray(degrees * np.minimum(steps, 1 / cut))

    def rate_of_mode(self, number: int, mass: FloatArray) -> float:
        """Return the rate of a mode on the first cells, zeros not counted; infinite if none.

        Cells are stiffer than points: it is up to twice the rate on the points.
        """
        if self.coarse is None:
            root = np.sqrt(np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0))
            values = eigvalsh(root[:, None] * self.whole_matrix() * root)
        else:
            finest = self.coarse.finest
            with one_blas_thread():
                carried = finest.summed(finest.spread(without_zeros(mass)))
                hierarchy = Hierarchy.with_mass(self.coarse.levels, carried)
                values, _ = coarse_pairs(hierarchy, block_size(number + 1), finest.cell_rows)
        # Every piece has a zero of its own, which rounding makes small.
        nonzero = values[values > 1e-9 * values.max(initial=0.0)]
        return float(nonzero[number - 1]) if len(nonzero) >= number else np.inf

    def whole_matrix(self) -> FloatArray:
        """Return D - K as a dense matrix, of so few points that they have no coarse levels."""
        return np.asarray(np.diag(self.degrees) - self.weights @ np.eye(len(self.degrees)))

    @cached_property
    def sums(self) -> Any:
        """P'K, (n_cells, M), where cells are ordinary arrays: K P of the coarse levels, turned."""
        return None if self.coarse is None else csr_array(self.coarse.finest.averages.T)

    @cached_property
    def resistance(self) -> FloatArray:
        """1/√π at the points, (M,), up to a factor; π is the invariant density over a kernel.

        In many dimensions densities of neighbours differ by orders of magnitude, for the most part
        by chance: the mean over a kernel is what a stream through it meets.
        """
        op = self.operator
        often, alone = counts_of(op), op.kernel.row_sums
        counts = 1.0 if often is None else often
        weighted = np.divide(row_sums_of(op), alone, out=np.ones_like(alone), where=alone > 0)
        # The mass of a sample is the invariant density over that of the sample.
        density = self.mass / counts * weighted * op.kernel.density(op.dim)
        density = (self.weights @ density) / self.degrees
        known = density[density > 0]
        typical = float(np.median(known)) if known.size else 1.0
        return np.asarray(1 / np.sqrt(np.where(density > 0, density, typical) / typical))

    @cached_property
    def pieces(self) -> NDArray[np.intp]:
        """The connected piece of each point, (M,), the largest being 0."""
        return connected_pieces(Pencil(self.weights, self.degrees, self.mass))


def network_of(operator: Operator) -> Network:
    """Make the network of an operator (kept as `op.equations.network`)."""
    refuse_unsymmetric(operator, "Equations")
    share = 1 / np.sqrt(share_of_points(operator))
    weights = operator.alpha_kernel.scaled(share, share)
    pencil = pencil_of(operator)
    sums = weights.row_sums()
    degrees = np.where(sums > 0, sums, 1.0)
    mass = without_zeros(pencil.mass)
    pencil = Pencil(weights, degrees, mass, pencil.points, pencil.in_tree_order)
    with one_blas_thread():
        narrow = points_averaged(weights, degrees) < NARROW
        cells = Multilevel(cell_size=SMALL_CELLS) if narrow else Multilevel()
        limiter = operator.settings.method.limiter or Limiter()
        prepared = cells.prepare(pencil, limiter.n_reference + 1)
    coarse = prepared if isinstance(prepared, PreparedMultilevel) else None
    return Network(operator, weights, degrees, coarse)


def without_zeros(mass: FloatArray) -> FloatArray:
    """Return the mass with the smallest one at isolated points, by which cells are divided."""
    return np.asarray(np.where(mass > 0, mass, mass[mass > 0].min(initial=1.0)))
