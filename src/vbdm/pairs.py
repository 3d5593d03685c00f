"""A sparse matrix on the pairs of a neighbour graph, symmetric without ever being merged.

The k nearest neighbours of a point need not list it in return. Instead of building the union
pattern, the matrix is kept as the sum of two: the (N, k) table as it is, read as CSR, and the
transposed one-way pairs, a few per cent of it. Products need no more, and nothing is copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .arrays import FloatArray
from .graph import NeighborGraph
from .search.exact import chunks


@dataclass(frozen=True, eq=False)
class PairMatrix:
    """The matrix listed + returned, both in the tree's order.

    Attributes
    ----------
    graph : NeighborGraph
        Its pattern.
    values : (N, k) array
        One number per listed pair.
    returned : csr_array or None
        The one-way pairs seen from their other end; None for a matrix that is not symmetric.
    """

    graph: NeighborGraph
    values: FloatArray
    returned: Any = None

    @classmethod
    def symmetrised(cls, graph: NeighborGraph, values: FloatArray, share: float) -> PairMatrix:
        """Complete a table of symmetric pair values to a symmetric matrix.

        `share` is what a one-way pair counts: 1/2 is the paper's (K + Kᵀ)/2, 1 is the union.
        The table is changed in place.
        """
        source, owner, pointer = graph.one_way
        flat = values.reshape(-1)
        if share != 1:
            flat[source] *= share
        n = graph.n_points
        returned = csr_array((flat[source], owner, pointer), shape=(n, n))
        return cls(graph, values, returned)

    @property
    def listed(self) -> Any:
        """The table as a CSR matrix; a view, nothing is copied."""
        n, k = self.values.shape
        # Pointers as short as the indices: SciPy would copy all indices to make them alike.
        pointer = np.arange(0, n * k + 1, k, dtype=np.int32 if n * k < 2**31 else np.int64)
        return csr_array(
            (self.values.reshape(-1), self.graph.tree_indices.reshape(-1), pointer), shape=(n, n)
        )

    def __matmul__(self, f: FloatArray) -> FloatArray:
        """Return the product with a vector (N,) or a block (N, m)."""
        product: FloatArray = self.listed @ f
        if self.returned is not None:
            product += self.returned @ f
        return product

    def row_sums(self) -> FloatArray:
        """Return the sum of each row."""
        total: FloatArray = self.values.sum(axis=1)
        if self.returned is not None:
            total += np.asarray(self.returned.sum(axis=1))
        return total

    def scaled(self, left: FloatArray, right: FloatArray) -> PairMatrix:
        """Return diag(left) · self · diag(right)."""
        values = np.empty_like(self.values)
        for rows in chunks(len(values), size=4096):
            np.multiply(self.values[rows], left[rows, None], out=values[rows])
            values[rows] *= right[self.graph.tree_indices[rows]]
        returned = self.returned
        if returned is not None:
            data = returned.data * right[returned.indices]
            data *= np.repeat(left, np.diff(returned.indptr))
            returned = csr_array((data, returned.indices, returned.indptr), shape=returned.shape)
        return PairMatrix(self.graph, values, returned)

    def squared(self) -> PairMatrix:
        """Return the matrix of squared entries."""
        returned = None if self.returned is None else self.returned.power(2)
        return PairMatrix(self.graph, np.square(self.values), returned)

    def diagonal(self) -> FloatArray:
        """Return the self-loops: column 0 of the table."""
        return self.values[:, 0].copy()

    def merged(self) -> Any:
        """Return one canonical CSR matrix in the tree's order (copies; only when asked for)."""
        matrix = self.listed.copy()
        if self.returned is not None:
            matrix = matrix + self.returned
        matrix.sum_duplicates()
        return matrix

    def in_caller_order(self, matrix: Any) -> Any:
        """Return a CSR matrix whose rows and columns are numbered as the caller's points."""
        coo = matrix.tocoo()
        order: NDArray[np.intp] = self.graph.order
        moved = csr_array((coo.data, (order[coo.row], order[coo.col])), shape=matrix.shape)
        moved.sort_indices()
        return moved
