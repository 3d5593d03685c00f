"""Sparse matrices on pairs of points, symmetric without ever being merged.

Pairs within reach make one symmetric matrix. Lists do not: the k nearest neighbours of a point need
not list it in return. Instead of building the union pattern, the matrix is then kept as the sum of
two: the listed pairs, row by row as in the lists of neighbours, and the transposed one-way pairs, a
few per cent of all. Scaling rows and columns copies nothing: the factors are kept, and applied to
vectors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from ..base.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    beside_array,
    contiguous,
    filled,
    is_elsewhere,
    to_host,
)
from ..base.threads import in_order
from ..engines.engine import Engine
from ..engines.scipy_engine import ScipyEngine
from ..graph.lists import ROUNDING, ListedRows
from ..graph.neighbor_graph import NeighborGraph
from ..graph.on_host import copy_of_fields
from ..rows.block_array import Tall
from ..rows.sparse_blocks import sparse_times


@dataclass(frozen=True, eq=False, kw_only=True)
class Factored(ABC):
    """The matrix diag(left) · entries^power · diag(right); scaling copies no entry."""

    # (M,): factors of rows and columns; None if they are 1
    left: FloatArray | None = None
    right: FloatArray | None = None
    power: int = 1  # power to which the stored entries are raised when they are used
    engine: Engine = field(default_factory=ScipyEngine)  # who multiplies

    @property
    @abstractmethod
    def n_points(self) -> int:
        """Number M of rows."""

    @abstractmethod
    def product(self, f: Any, power: int = 1) -> Any:
        """Return the product with vectors (M,) or (M, m), all entries raised to a power first."""

    def __matmul__(self, f: Any) -> Any:
        """Return the product with one vector (M,) or several (M, m)."""
        return self.product(f)

    @property
    def factor(self) -> FloatArray:
        """The common factor of rows and columns, (M,), where left and right are equal."""
        return self.ones() if self.left is None else self.left

    def ones(self) -> FloatArray:
        """Return a 1 for each row, (M,), where the factors live."""
        return np.ones(self.n_points)

    def row_sums(self, power: int = 1) -> FloatArray:
        """Return the sum of each row, (M,), all entries raised to a power first."""
        return cast(FloatArray, self.product(self.ones(), power))

    def scaled(self, left: FloatArray, right: FloatArray) -> Self:
        """Return diag(left) · self · diag(right); the entries are shared, not copied."""
        left = left if self.left is None else left * self.left
        right = right if self.right is None else right * self.right
        return replace(self, left=left, right=right)

    @abstractmethod
    def rows_at(self, rows: NDArray[np.intp]) -> Any:
        """Return some rows, in any order, as a SciPy matrix with all factors multiplied in."""

    def product_at(self, rows: NDArray[np.intp], f: Tall) -> FloatArray:
        """Return some rows of the product with vectors, (m, n)."""
        return sparse_times(self.rows_at(rows), f)

    def squared(self) -> Self:
        """Return the matrix with stored entries squared, factors as they are; nothing is copied."""
        return replace(self, power=2 * self.power)

    def on_diagonal(self, entries: Any) -> FloatArray:
        """Return the diagonal, (M,), from that of the stored entries."""
        left = 1.0 if self.left is None else self.left
        right = 1.0 if self.right is None else self.right
        return cast(FloatArray, left * right * entries)


@dataclass(frozen=True, eq=False)
class PairMatrix(Factored):
    """The matrix diag(left) · (listed + returned) · diag(right), in the order inside."""

    listed: Any  # one number per pair within reach, or per listed pair, (M, M); zeros are left out
    # The one-way pairs seen from their other end, (M, M); None where there are none: by reach, or
    # in a matrix that is not symmetric
    returned: Any = None

    @classmethod
    def evaluated(
        cls, graph: NeighborGraph, evaluate: Callable[[ListedRows], FloatArray], share: float | None
    ) -> PairMatrix:
        """Build a matrix from a function that returns the values (m, k) of a block of the lists.

        `share` is the weight of a one-way pair: 1/2 is the paper's (K + Kᵀ)/2, 1 is the union;
        None leaves the matrix as it is listed, not symmetric.
        """

        def work(rows: slice) -> tuple[FloatArray, IntArray, NDArray[np.intp], list[Any]]:
            block = graph.block(rows)
            table = evaluate(block)
            stored = table > 0
            one_way: list[Any] = []
            if share is not None:
                row, column = one_way_places(graph, block, stored)
                table[row, column] *= share
                target = block.neighbors[row, column].astype(np.int32)
                owner = (row + block.rows.start).astype(np.int32)
                one_way = [table[row, column], target, owner]
            columns = block.neighbors[stored].astype(np.int32)
            return table[stored], columns, stored.sum(axis=1), one_way

        n, total = graph.n_points, 0
        # Space for all pairs is asked for: what is never written to takes no memory.
        data, indices = np.empty(n * graph.n_neighbors), np.empty(n * graph.n_neighbors, np.int32)
        counts, found = [np.zeros(1, dtype=np.intp)], []
        for values, columns, count, one_way in in_order(work, graph.row_blocks(), "kernel"):
            end = total + len(values)
            data[total:end], indices[total:end], total = values, columns, end
            counts.append(count)
            found.append(one_way)
        data.resize(total, refcheck=False)
        indices.resize(total, refcheck=False)
        # The row pointers get the type of the indices: if the types differed, SciPy would copy all
        # indices to make them alike.
        short = np.int32 if total < 2**31 else np.int64
        pointer = np.cumsum(np.concatenate(counts), dtype=short)
        listed = csr_array((data, indices, pointer), shape=(n, n))
        returned = None
        if share is not None:
            # Each one-way pair in the row of the point that does not list it.
            values, *places = (np.concatenate(part) for part in zip(*found, strict=True))
            returned = csr_array((values, tuple(places)), shape=(n, n))
        return cls(listed, returned, engine=graph.point_set.engine)

    @property
    def n_points(self) -> int:
        """Number M of rows."""
        return int(self.listed.shape[0])

    @property
    def nnz(self) -> int:
        """Number of listed pairs."""
        return int(self.listed.nnz)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the stored numbers."""
        return cast(np.dtype[Any], self.listed.dtype)

    @property
    def parts(self) -> list[Any]:
        """Matrices whose sum, with `factor` on both sides, is this one."""
        stored = [self.listed] if self.returned is None else [self.listed, self.returned]
        if self.power == 1:
            return stored
        return [part.astype(np.float64).power(self.power) for part in stored]

    def product(self, f: FloatArray, power: int = 1) -> FloatArray:
        """Return the product with vectors (M,) or (M, m), all entries raised to a power first."""
        block = contiguous(beside_array(f, self.listed.data).reshape(len(f), -1))
        block = block.astype(np.float64, copy=False)
        left, right = power_of(self.left, power), power_of(self.right, power)
        total = self.power * power
        result = self.engine.multiply(self.listed, block, left, right, total)
        if self.returned is not None:
            result += self.engine.multiply(self.returned, block, left, right, total)
        return result.reshape(f.shape)

    def subtracted_from(
        self, diagonal: FloatArray, block: FloatArray, out: FloatArray | None = None
    ) -> FloatArray:
        """Return (diag(diagonal) - self) times vectors (M, m), in one pass, in `out` if given."""
        rows = contiguous(block)
        result = self.engine.multiply(
            self.listed, rows, self.left, self.right, self.power, diagonal, out
        )
        if self.returned is not None:
            result -= self.engine.multiply(self.returned, rows, self.left, self.right, self.power)
        return result

    def ones(self) -> FloatArray:
        """Return a 1 for each row, (M,), where the entries live."""
        return cast(FloatArray, filled(self.n_points, 1.0, self.listed.data))

    def pairs_per_row(self) -> NDArray[np.intp]:
        """Return the number of stored pairs of each row with other points, (M,)."""
        count = np.zeros(self.n_points, dtype=np.intp, like=self.listed.data)
        for part in (self.listed, self.returned):
            if part is not None:
                count += np.diff(part.indptr) - (part.diagonal() != 0)
        return count

    def diagonal(self) -> FloatArray:
        """Return the diagonal, (M,)."""
        return self.on_diagonal(sum(part.diagonal() for part in self.parts))

    def merged(self) -> Any:
        """Return SciPy's canonical CSR matrix in the order inside; this copies all entries."""
        if is_elsewhere(self.listed.data):
            return copy_of_fields(self, self.n_points, {}).merged()
        parts = [part.astype(np.float64) for part in self.parts]
        matrix = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        matrix.sum_duplicates()
        if self.left is not None:
            matrix = diags_array(self.left) @ matrix
        if self.right is not None:
            matrix = matrix @ diags_array(self.right)
        return csr_array(matrix)

    def product_at(self, rows: NDArray[np.intp], f: Tall) -> FloatArray:
        """Return some rows of the product with vectors, (m, n)."""
        if not is_elsewhere(self.listed.data):
            return super().product_at(rows, f)
        # A kernel on lists, which has returned pairs, is evaluated in this machine's memory.
        left = None if self.left is None else self.left[rows]
        part, block = self.listed[rows], contiguous(f)
        return self.engine.multiply(part, block, left, self.right, self.power)

    def rows_at(self, rows: NDArray[np.intp]) -> Any:
        """Return some rows, in any order, as SciPy's CSR matrix with all factors multiplied in."""
        some = (part[rows] for part in self.parts)
        total = sum(part.get() if is_elsewhere(part.data) else part for part in some)
        left = 1.0 if self.left is None else to_host(self.left[rows])
        right = np.ones(self.n_points) if self.right is None else to_host(self.right)
        return diags_array(left * np.ones(len(rows))) @ total @ diags_array(right)


def power_of(factor: FloatArray | None, power: int) -> FloatArray | None:
    """Return a diagonal factor to a power."""
    return factor if factor is None or power == 1 else factor**power


def one_way_places(
    graph: NeighborGraph, block: ListedRows, wanted: BoolArray
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places (row, column) in a block of those wanted pairs that are one-way.

    j is among i's neighbours there, but i is not among j's. A pair (i, j) is in j's list if it is
    shorter than the radius of that list, and not if it is longer. Only pairs that agree with the
    radius up to rounding are looked up, so this costs one pass. Where lists may have holes, all
    pairs are looked up.
    """
    radius = np.take(graph.radii, block.neighbors)
    if graph.exact:
        wanted = wanted & (block.sqdist >= (1 - ROUNDING) * radius)
    row, column = np.nonzero(wanted)
    mutual = np.zeros(len(row), dtype=np.bool_)
    inside = block.sqdist[row, column] <= (1 + ROUNDING) * radius[row, column]
    near = np.flatnonzero(inside) if graph.exact else np.arange(len(row))
    owner = (row[near] + block.rows.start).astype(np.int32)
    listed = graph.kept.indices[block.neighbors[row[near], column[near]]]
    mutual[near] = (listed == owner[:, None]).any(axis=1)
    return row[~mutual], column[~mutual]
