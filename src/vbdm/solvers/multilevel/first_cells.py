"""Sums of K over the first cells, and the matrix of the first coarse level.

A matrix in blocks has cells in blocks: no cell has points of two blocks, and cells are numbered by
their first points, so those of a block have consecutive numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ...base.arrays import FloatArray
from ...engines.engine import Engine
from ...engines.sparse import as_csr, graph_laplacian, piecewise_constant
from ...kernel.block_matrix import BlockMatrix
from ...rows.block_array import PerBlock, Rows
from ...rows.halo import Halo
from ...rows.partition import Partition
from ...rows.sparse_blocks import SparseBlocks, arrays_of, csr_of, owned
from .finest import Finest, engine_of, parts_of
from .tree_cells import Labels, raised


def finest_level(weights: Any, degrees: FloatArray, labels: Labels) -> tuple[Finest, Any]:
    """Return K on the points with its first cells, and the stiffness matrix of the cells."""
    if isinstance(weights, BlockMatrix):
        return finest_in_blocks(weights, degrees, labels)
    parts, factor = parts_of(weights)
    engine = engine_of(weights)
    restriction = as_csr(piecewise_constant(labels).T)
    averages = added([engine.sums_over_cells(part, factor, labels) for part in parts])
    whole = weights if hasattr(weights, "engine") else parts[0]
    finest = Finest(whole, degrees, labels, labels, restriction, averages)
    return finest, graph_laplacian(restriction @ averages)


def added(matrices: list[Any]) -> Any:
    """Return the sum of some matrices."""
    first, *others = matrices
    return sum(others, start=first)


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
    return arrays_of(engine.sums_over_cells(raised(matrix, power), factor, labels))


def laplacian_of_cells(restriction: Any, *averages: Any) -> tuple[Any, Any, Any]:
    """Return the stiffness matrix of a block of cells as CSR arrays; so are K P given."""
    return arrays_of(graph_laplacian(restriction @ csr_of(*averages)))
