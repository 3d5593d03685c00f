"""What matrices on pairs have in common, in memory and in blocks: factors beside the entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..rows.block_array import Tall
from ..rows.fetching import sparse_times


class Factored(ABC):
    """The matrix diag(left) · entries^power · diag(right); scaling copies no entry.

    Attributes
    ----------
    left, right : (M,) arrays or None
        Factors of rows and columns; None if they are 1.
    power : int
        Power to which the stored entries are raised when they are used.
    """

    left: FloatArray | None
    right: FloatArray | None
    power: int

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
        sums: FloatArray = self.product(self.ones(), power)
        return sums

    def scaled(self, left: FloatArray, right: FloatArray) -> Self:
        """Return diag(left) · self · diag(right); the entries are shared, not copied."""
        return cast(
            Self,
            replace(
                cast(Any, self),
                left=left if self.left is None else left * self.left,
                right=right if self.right is None else right * self.right,
            ),
        )

    @abstractmethod
    def rows_at(self, rows: NDArray[np.intp]) -> Any:
        """Return some rows, in any order, as a SciPy matrix with all factors multiplied in."""

    def product_at(self, rows: NDArray[np.intp], f: Tall) -> FloatArray:
        """Return some rows of the product with vectors, (m, n)."""
        return sparse_times(self.rows_at(rows), f)

    def squared(self) -> Self:
        """Return the matrix with stored entries squared, factors as they are; nothing is copied."""
        return cast(Self, replace(cast(Any, self), power=2 * self.power))

    def on_diagonal(self, entries: Any) -> FloatArray:
        """Return the diagonal, (M,), from that of the stored entries."""
        left = 1.0 if self.left is None else self.left
        right = 1.0 if self.right is None else self.right
        product: FloatArray = left * right * entries
        return product
