"""The finest level: products with K itself, and the way to and from the first cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..arrays import FloatArray
from ..pairs import PairMatrix
from .aggregates import Labels
from .blocks import row_chunks

#: Where θM exceeds this share of D, Jacobi's step divides by D - θM instead of D.
HEAVY = 0.05


@dataclass(frozen=True, eq=False)
class Finest:
    """K on the points, D, and the first cells.

    Attributes
    ----------
    parts : list of csr_array
        Their sum is K.
    degrees : (N,) array
        D.
    labels : (N,) array
        The cell of each point.
    restriction : csr_array
        Sums over the cells, P'.
    averages : list of csr_array
        Their sum is K P: a third of the entries of K, or less, for the same work as K.
    """

    parts: list[Any]
    degrees: FloatArray
    labels: Labels
    restriction: Any
    averages: list[Any]

    def stiffness(self, block: FloatArray) -> FloatArray:
        """Return (D - K) times a block."""
        product = summed_product(self.parts, block)
        for rows in row_chunks(len(block), block.shape[1]):
            np.subtract(self.degrees[rows, None] * block[rows], product[rows], out=product[rows])
        return product

    def averaged(self, coarse: FloatArray) -> FloatArray:
        """Return K times the piecewise constant function with these values on the cells."""
        return summed_product(self.averages, coarse)

    def interpolated(self, coarse: FloatArray, values: FloatArray, mass: FloatArray) -> FloatArray:
        """Return approximate eigenvectors from those of the cells: one Jacobi step.

        From K x = (D - θM) x: each point takes the weighted mean of its neighbours' cells, but
        a point so heavy that its θM is near D keeps the value of its cell.
        """
        x = self.averaged(coarse)
        heavy = self.divide(x, values, mass)
        gap = 1 - (mass[heavy] / self.degrees[heavy])[:, None] * values
        kept = coarse[self.labels[heavy]]
        x[heavy] = np.where(np.abs(gap) > 0.5, x[heavy], kept)
        return x

    def corrected(
        self, residual: FloatArray, coarse: FloatArray, values: FloatArray, mass: FloatArray
    ) -> FloatArray:
        """Return a coarse correction after one Jacobi step: (D - θM)⁻¹ (residual + K P coarse)."""
        x = self.averaged(coarse)
        x += residual
        self.divide(x, values, mass)
        return x

    def divide(self, block: FloatArray, values: FloatArray, mass: FloatArray) -> Any:
        """Divide by D - θM in place, but by no less than D/2; return the rows where θM matters."""
        block /= self.degrees[:, None]
        heavy = np.flatnonzero(mass * values.max() > HEAVY * self.degrees)
        gap = 1 - (mass[heavy] / self.degrees[heavy])[:, None] * values
        block[heavy] /= np.copysign(np.maximum(np.abs(gap), 0.5), gap)
        return heavy


def summed_product(parts: list[Any], block: FloatArray) -> FloatArray:
    """Return the sum of the matrices times a block."""
    product: FloatArray = parts[0] @ block
    for part in parts[1:]:
        product += part @ block
    return product


def matrix_parts(weights: Any) -> list[Any]:
    """Return CSR matrices whose sum is K; a PairMatrix is not merged."""
    if isinstance(weights, PairMatrix):
        returned = [] if weights.returned is None else [weights.returned]
        return [narrowed(part) for part in (weights.listed, *returned)]
    return [narrowed(csr_array(weights))]


def narrowed(matrix: Any) -> Any:
    """Return a CSR matrix with 32-bit indices, if they fit: products read half as much."""
    if matrix.indptr.dtype == np.int32 or matrix.nnz > np.iinfo(np.int32).max:
        return matrix
    indices, pointer = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return csr_array((matrix.data, indices, pointer), shape=matrix.shape)
