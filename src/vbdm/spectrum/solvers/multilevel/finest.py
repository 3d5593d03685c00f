"""The finest level: products with K itself, and the way to and from the first cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ....base.arrays import FloatArray
from ....engines.engine import Engine
from ....engines.scipy_engine import ScipyEngine
from ....kernel.pair_matrix import PairMatrix
from .tree_cells import Labels

#: Where θM exceeds this share of D, Jacobi's step divides by D - θM instead of D.
HEAVY = 0.05


@dataclass(frozen=True, eq=False)
class Finest:
    """K on the points, D, and the first cells.

    Attributes
    ----------
    weights : PairMatrix or csr_array
        The kernel K, (N, N).
    degrees : (N,) array
        The diagonal D: row sums of K.
    labels : (N,) array
        Number of the cell of each point.
    restriction : csr_array
        P', (n_cells, N): sums over the cells.
    averages : csr_array
        K P, (N, n_cells): it averages as K does, with a third of its entries or less.
    """

    weights: Any
    degrees: FloatArray
    labels: Labels
    restriction: Any
    averages: Any

    @property
    def engine(self) -> Engine:
        """Who multiplies."""
        return engine_of(self.weights)

    def stiffness(self, block: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return (D - K) times a block of vectors, in `out` if that is given."""
        if isinstance(self.weights, PairMatrix):
            return self.weights.subtracted_from(self.degrees, block, out)
        rows = np.ascontiguousarray(block)
        return self.engine.multiply(self.weights, rows, diagonal=self.degrees, out=out)

    def summed(self, block: FloatArray) -> FloatArray:
        """Return the sums over the cells of a block of vectors."""
        return self.engine.multiply(self.restriction, np.ascontiguousarray(block))

    def averaged(self, coarse: FloatArray) -> FloatArray:
        """Return K times the piecewise constant function with these values on the cells."""
        return self.engine.multiply(self.averages, np.ascontiguousarray(coarse))

    def interpolated(self, coarse: FloatArray, values: FloatArray, mass: FloatArray) -> FloatArray:
        """Return approximate eigenvectors from those of the cells: one Jacobi step.

        From K x = (D - θM) x: each point takes the weighted mean of its neighbours' cells, but
        a point so heavy that its θM is near D keeps the value of its cell.
        """
        x = self.averaged(coarse)
        heavy = self.heavy(values, mass)
        gap = 1 - (mass[heavy] / self.degrees[heavy])[:, None] * values
        kept = coarse[self.labels[heavy]]
        x /= self.degrees[:, None]
        x[heavy] = np.where(np.abs(gap) > 0.5, x[heavy] / bounded(gap), kept)
        return x

    def corrected(
        self,
        residual: FloatArray,
        coarse: FloatArray,
        values: FloatArray,
        mass: FloatArray,
        out: FloatArray,
    ) -> FloatArray:
        """Return a coarse correction after one Jacobi step: (D - θM)⁻¹ (residual + K P coarse).

        The divisor is no less than D/2.
        """
        block = np.ascontiguousarray(coarse)
        x = self.engine.jacobi(self.averages, block, residual, self.degrees, out)
        heavy = self.heavy(values, mass)
        x[heavy] /= bounded(1 - (mass[heavy] / self.degrees[heavy])[:, None] * values)
        return x

    def heavy(self, values: FloatArray, mass: FloatArray) -> NDArray[np.intp]:
        """Return the points where θM is no longer small beside D."""
        return np.flatnonzero(mass * values.max() > HEAVY * self.degrees)


def bounded(gap: FloatArray) -> FloatArray:
    """Return a divisor whose size is at least 1/2."""
    return np.asarray(np.copysign(np.maximum(np.abs(gap), 0.5), gap))


def engine_of(weights: Any) -> Engine:
    """Return who multiplies with K: the engine of a `PairMatrix`, or SciPy."""
    return weights.engine if isinstance(weights, PairMatrix) else ScipyEngine()


def averages_over(weights: Any, labels: Labels) -> Any:
    """Return K P, the sums of K over cells."""
    parts, factor = parts_of(weights)
    engine = engine_of(weights)
    return sum(engine.sums_over_cells(part, factor, labels) for part in parts)


def parts_of(weights: Any) -> tuple[list[Any], FloatArray]:
    """Return CSR matrices and a factor f, (N,), with K = diag(f) · (their sum) · diag(f)."""
    if isinstance(weights, PairMatrix):
        return weights.parts, weights.factor
    return [narrowed(csr_array(weights))], np.ones(weights.shape[0])


def narrowed(matrix: Any) -> Any:
    """Return a CSR matrix with 32-bit indices, if they fit: products read fewer bytes."""
    if matrix.indptr.dtype == np.int32 or matrix.nnz > np.iinfo(np.int32).max:
        return matrix
    indices, pointer = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return csr_array((matrix.data, indices, pointer), shape=matrix.shape)
