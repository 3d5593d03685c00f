"""The finest level: products with K itself, and the way to and from the first cells.

A matrix in blocks has cells in blocks: no cell has points of two blocks, and cells are numbered by
their first points, so those of a block have consecutive numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ...base.arrays import FloatArray, beside_array, contiguous
from ...engines.engine import Engine
from ...engines.scipy_engine import ScipyEngine
from ...engines.sparse import as_csr, graph_laplacian, piecewise_constant
from ...kernel.block_matrix import BlockMatrix
from ...kernel.pair_matrix import PairMatrix
from ...rows.block_array import PerBlock, Rows, Tall, to_numpy
from ...rows.place import Partition
from ...rows.sparse_blocks import Halo, SparseBlocks, applied, arrays_of, csr_of, owned
from .cells import Labels, to_power

#: Where θM exceeds this share of D, Jacobi's step divides by D - θM instead of D.
HEAVY = 0.05


@dataclass(frozen=True, eq=False)
class Finest:
    """K on the points, D, and the first cells.

    Values on cells, (n_cells, m), are ordinary arrays, or live on the device of K.
    """

    weights: Any  # the kernel K, (N, N)
    degrees: Any  # (N,): the diagonal D: row sums of K. In blocks, if K is; so are vectors.
    labels: Labels  # (N,): number of the cell of each point
    own_labels: Any  # (N,): the same; in blocks, each counts from the first of its own cells
    restriction: Any  # P', (n_cells, N): sums over the cells
    averages: Any  # K P, (N, n_cells): it averages as K does, with a third of its entries or less

    @property
    def engine(self) -> Engine:
        """Who multiplies."""
        return engine_of(self.weights)

    @property
    def cell_rows(self) -> Rows | None:
        """Where blocks of cells live; None if K is an ordinary matrix."""
        in_blocks = isinstance(self.restriction, SparseBlocks)
        return self.restriction.rows if in_blocks else None

    def spread(self, values: FloatArray) -> Tall:
        """Return an ordinary array of N rows as vectors are: in blocks, if K is."""
        in_blocks = isinstance(self.weights, BlockMatrix)
        return self.weights.rows.spread(values) if in_blocks else values

    def stiffness(self, block: Tall, out: FloatArray | None = None) -> Any:
        """Return (D - K) times a block of vectors, in `out` if that is given."""
        if hasattr(self.weights, "subtracted_from"):
            return self.weights.subtracted_from(self.degrees, block, out)
        rows = contiguous(block)
        return self.engine.multiply(self.weights, rows, diagonal=self.degrees, out=out)

    def summed(self, block: Tall) -> FloatArray:
        """Return the sums over the cells of one vector (N,) or several; never in blocks."""
        return cast(FloatArray, to_numpy(applied(self.restriction, product, block, self.engine)))

    def interpolated(self, coarse: FloatArray, values: FloatArray, mass: Tall) -> Any:
        """Return approximate eigenvectors from those of the cells: one Jacobi step.

        From K x = (D - θM) x: each point takes the weighted mean of its neighbours' cells, but
        a point so heavy that its θM is near D keeps the value of its cell.
        """
        return applied(
            self.averages, interpolated_rows, coarse, self.engine, self.degrees, self.own_labels,
            values, mass,
        )  # fmt: skip

    def corrected(
        self,
        residual: Tall,
        coarse: FloatArray,
        values: FloatArray,
        mass: Tall,
        out: FloatArray | None,
    ) -> Any:
        """Return a coarse correction after one Jacobi step: (D - θM)⁻¹ (residual + K P coarse).

        The divisor is no less than D/2.
        """
        return applied(
            self.averages, corrected_rows, coarse, self.engine, residual, self.degrees, values,
            mass, out,
        )  # fmt: skip


def product(matrix: Any, f: FloatArray, engine: Engine) -> FloatArray:
    """Return the product of a CSR matrix with one vector or several."""
    block = contiguous(f.reshape(len(f), -1))
    return engine.multiply(matrix, block).reshape(-1, *f.shape[1:])


def interpolated_rows(
    averages: Any,
    coarse: FloatArray,
    engine: Engine,
    degrees: FloatArray,
    labels: Labels,
    values: FloatArray,
    mass: FloatArray,
) -> FloatArray:
    """Make a Jacobi step on eigenvectors of cells; return some rows of `Finest.interpolated`."""
    x, heavy = product(averages, coarse, engine), heavy_points(values, mass, degrees)
    values = beside_array(values, x)
    gap = 1 - (mass[heavy] / degrees[heavy])[:, None] * values
    kept = coarse[labels[heavy]]
    x /= degrees[:, None]
    x[heavy] = np.where(np.abs(gap) > 0.5, x[heavy] / bound_divisor(gap), kept)
    return x


def corrected_rows(
    averages: Any,
    coarse: FloatArray,
    engine: Engine,
    residual: FloatArray,
    degrees: FloatArray,
    values: FloatArray,
    mass: FloatArray,
    out: FloatArray | None,
) -> FloatArray:
    """Make a Jacobi step after a coarse correction; return some rows of `Finest.corrected`."""
    x = engine.jacobi(averages, contiguous(coarse), owned(residual), owned(degrees), out)
    heavy = heavy_points(values, mass, degrees)
    values = beside_array(values, x)
    x[heavy] /= bound_divisor(1 - (mass[heavy] / degrees[heavy])[:, None] * values)
    return x


def heavy_points(values: FloatArray, mass: FloatArray, degrees: FloatArray) -> NDArray[np.intp]:
    """Return the points where θM is no longer small beside D."""
    return np.flatnonzero(mass * float(values.max()) > HEAVY * degrees)


def bound_divisor(gap: FloatArray) -> FloatArray:
    """Return a divisor whose size is at least 1/2."""
    return cast(FloatArray, np.copysign(np.maximum(np.abs(gap), 0.5), gap))


def engine_of(weights: Any) -> Engine:
    """Return who multiplies with K: the engine of a `PairMatrix` or `BlockMatrix`, or SciPy."""
    return getattr(weights, "engine", None) or ScipyEngine()


def parts_of(weights: Any) -> tuple[list[Any], FloatArray]:
    """Return CSR matrices and a factor f, (N,), with K = diag(f) · (their sum) · diag(f).

    Of a matrix in blocks this is the matrix without its factors.
    """
    if isinstance(weights, PairMatrix):
        return weights.parts, weights.factor
    if isinstance(weights, BlockMatrix):
        return [replace(weights, left=None, right=None)], weights.factor
    matrix = csr_array(weights)
    if matrix.indptr.dtype != np.int32 and matrix.nnz <= np.iinfo(np.int32).max:
        # Products read fewer bytes.
        indices, pointer = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        matrix = csr_array((matrix.data, indices, pointer), shape=matrix.shape)
    return [matrix], np.ones(weights.shape[0])


def finest_level(weights: Any, degrees: FloatArray, labels: Labels) -> tuple[Finest, Any]:
    """Return K on the points with its first cells, and the stiffness matrix of the cells."""
    if isinstance(weights, BlockMatrix):
        return finest_in_blocks(weights, degrees, labels)
    parts, factor = parts_of(weights)
    engine = engine_of(weights)
    restriction = as_csr(piecewise_constant(labels).T)
    first, *others = (engine.sums_over_cells(part, factor, labels) for part in parts)
    averages = sum(others, start=first)
    whole = weights if hasattr(weights, "engine") else parts[0]
    finest = Finest(whole, degrees, labels, labels, restriction, averages)
    return finest, graph_laplacian(restriction @ averages)


def finest_in_blocks(
    weights: BlockMatrix, degrees: FloatArray, labels: Labels
) -> tuple[Finest, Any]:
    """Do the same block by block; only the matrix of the cells is fetched."""
    rows, near = weights.rows, weights.stored.halo.near
    last = np.maximum.reduceat(labels, rows.partition.starts[:-1])
    starts = np.concatenate([[0], last + 1])
    cells = Rows(Partition(starts, starts), rows.place)
    near_cells = [np.unique(labels[points]) for points in near]
    own_labels = rows.spread(labels - np.repeat(starts[:-1], np.diff(rows.partition.starts)))
    found = rows.run(restriction_of, own_labels, n_results=3)
    nothing = np.empty(0, dtype=np.int32)
    restriction = SparseBlocks(cells, Halo(rows, [nothing] * rows.n_blocks), *found)
    local = [
        np.searchsorted(others, labels[points]) + starts[block + 1] - starts[block]
        for block, (others, points) in enumerate(zip(near_cells, near, strict=True))
    ]
    found = weights.stored.run(
        sums_over_cells, weights.engine, weights.factors[1], own_labels, PerBlock(local),
        weights.power, n_results=3,
    )  # fmt: skip
    averages = SparseBlocks(rows, Halo(cells, near_cells), *found)
    found = restriction.run(laplacian_of_cells, *averages.csr, n_results=3)
    stiffness = SparseBlocks(cells, averages.halo, *found).fetched()
    finest = Finest(weights, rows.spread(degrees), labels, own_labels, restriction, averages)
    return finest, stiffness


def restriction_of(labels: Labels) -> tuple[Any, Any, Any]:
    """Return P' of a block, from the numbers of its points' cells, as CSR arrays."""
    return arrays_of(csr_array(piecewise_constant(np.asarray(labels)).T))


def sums_over_cells(
    matrix: Any,
    engine: Engine,
    factor: FloatArray | None,
    own: Labels,
    near: NDArray[np.intp],
    power: int,
) -> tuple[Any, Any, Any]:
    """Return K P of a block as CSR arrays; `own` and `near` are the cells of its columns."""
    labels = np.concatenate([own, near]).astype(np.int32)
    factor = np.ones(len(labels)) if factor is None else owned(factor)
    return arrays_of(engine.sums_over_cells(to_power(matrix, power), factor, labels))


def laplacian_of_cells(restriction: Any, *averages: Any) -> tuple[Any, Any, Any]:
    """Return the stiffness matrix of a block of cells as CSR arrays; so are K P given."""
    return arrays_of(graph_laplacian(restriction @ csr_of(*averages)))
