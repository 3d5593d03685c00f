"""The reference engine, on NumPy and SciPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array, vstack

from ..base.arrays import BoolArray, FloatArray, IntArray
from ..base.references import Credit
from ..base.threads import for_each, in_order, slices
from .numpy_new_pairs import pairs_to
from .numpy_order import tree_order
from .numpy_pairs import count_within, pairs_within
from .scipy_graph import parts_of_cells, pieces, some_rows
from .sparse import piecewise_constant
from .tree import Reach, Tree


@dataclass(frozen=True)
class ScipyEngine:
    """NumPy for pairs, SciPy's k-d tree for nearest points and its sparse matrices for products."""

    credit: ClassVar[Credit] = Credit("scipy", "NumPy and SciPy")

    def placed(self, points: Any) -> Any:
        """Return points as they are: this machine's memory is the place."""
        return points

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
        diagonal: FloatArray | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return a product, one block of rows after the other."""
        inside = block if right is None else right[:, None] * block
        result = np.empty((matrix.shape[0], block.shape[1])) if out is None else out

        def work(rows: slice) -> None:
            product = some_rows(matrix, rows, power) @ inside
            np.multiply(product, 1.0 if left is None else left[rows, None], out=result[rows])
            if diagonal is not None:
                np.subtract(diagonal[rows, None] * block[rows], result[rows], out=result[rows])

        for_each(work, slices(len(result), size=rows_per_product(len(result))))
        return result

    def jacobi(
        self,
        matrix: Any,
        block: FloatArray,
        added: FloatArray,
        divisor: FloatArray,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return (matrix · block + added) / divisor."""
        result = self.multiply(matrix, block, out=out)

        def work(rows: slice) -> None:
            result[rows] += added[rows]
            result[rows] /= divisor[rows, None]

        for_each(work, slices(len(result), size=rows_per_product(len(result))))
        return result

    def sums_over_cells(self, matrix: Any, factor: FloatArray, labels: IntArray) -> Any:
        """Return diag(f) A diag(f) P as CSR, one block of rows after the other."""
        columns = diags_array(factor) @ piecewise_constant(labels)

        def work(rows: slice) -> Any:
            return diags_array(factor[rows]) @ (some_rows(matrix, rows) @ columns)

        return vstack(list(in_order(work, slices(matrix.shape[0], size=8192))), format="csr")

    def parts_of_cells(
        self,
        links: list[Any],
        labels: IntArray,
        root: FloatArray,
        apart: BoolArray,
        least: float,
    ) -> IntArray:
        """Return the connected parts of cells."""
        return parts_of_cells(links, labels, root, apart, least)

    def pieces(self, matrix: Any, scale: FloatArray, least: float, few: int) -> NDArray[np.intp]:
        """Return the first point of the piece of each point."""
        return pieces(matrix, scale, least, few)


def rows_per_product(n_rows: int) -> int:
    """Return how many rows to multiply at a time: enough to outweigh making a matrix of them."""
    return min(max(n_rows // 16, 4096), 32_768)
