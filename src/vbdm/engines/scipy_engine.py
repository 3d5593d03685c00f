"""The reference engine, on NumPy and SciPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..base.arrays import FloatArray, IntArray
from ..base.credit import Credit
from ..base.threads import for_each, slices
from .numpy_new_pairs import pairs_to
from .numpy_order import tree_order
from .numpy_pairs import count_within, pairs_within
from .tree import Reach, Tree


@dataclass(frozen=True)
class ScipyEngine:
    """NumPy for pairs, SciPy's k-d tree for nearest points and its sparse matrices for products."""

    credit: ClassVar[Credit] = Credit("scipy", "NumPy and SciPy")

    def order(self, columns: FloatArray, depth: int) -> NDArray[np.intp]:
        """Return the points in tree order."""
        return tree_order(columns, depth)

    def nearest(self, tree: Tree) -> Any:
        """Return None: the search room has SciPy's tree."""
        return None

    def count_within(self, reach: Reach, leaves: slice) -> NDArray[np.intp]:
        """Return the number of points within reach of each point of some leaves."""
        return count_within(reach, leaves)

    def pairs_within(
        self, reach: Reach, leaves: slice, n_pairs: int
    ) -> tuple[IntArray, FloatArray]:
        """Return the pairs of the points of some leaves."""
        return pairs_within(reach, leaves)

    def pairs_to(
        self, reach: Reach, points: FloatArray, rho: FloatArray
    ) -> tuple[NDArray[np.intp], IntArray, FloatArray]:
        """Return the pairs of new points with the points of the tree."""
        return pairs_to(reach, points, rho)

    def multiply(
        self,
        matrix: Any,
        block: FloatArray,
        left: FloatArray | None = None,
        right: FloatArray | None = None,
        power: int = 1,
    ) -> FloatArray:
        """Return a product, one block of rows after the other."""
        inside = block if right is None else right[:, None] * block
        result = np.empty((matrix.shape[0], block.shape[1]))

        def work(rows: slice) -> None:
            product = some_rows(matrix, rows, power) @ inside
            np.multiply(product, 1.0 if left is None else left[rows, None], out=result[rows])

        for_each(work, slices(len(result), size=rows_per_product(len(result))))
        return result


def rows_per_product(n_rows: int) -> int:
    """Return how many rows to multiply at a time: enough to outweigh making a matrix of them."""
    return min(max(n_rows // 16, 4096), 32_768)


def some_rows(matrix: Any, rows: slice, power: int = 1) -> Any:
    """Return rows of a CSR matrix, entries raised to a power; a view, if the power is 1."""
    pointer = matrix.indptr[rows.start : rows.stop + 1]
    entries = slice(pointer[0], pointer[-1])
    data = matrix.data[entries]
    if power != 1:
        data = data.astype(np.float64) ** power
    return csr_array(
        (data, matrix.indices[entries], pointer - pointer[0]),
        shape=(len(pointer) - 1, matrix.shape[1]),
    )
