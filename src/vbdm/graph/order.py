"""The order in which points stand inside, and the way back to the rows that the caller passed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from ..base.checks import FloatArray, frozen
from .copies import Copies


@dataclass(frozen=True, eq=False)
class Order:
    """Two steps from the caller's rows to the points inside: copies are merged, then points sorted.

    Inside, points stand in the order of a k-d tree, so that neighbours lie close in memory and
    matrix products run several times faster. Whatever a user sees is in the caller's order.

    Attributes
    ----------
    permutation : (M,) int array
        Which distinct point stands at each place inside.
    copies : Copies or None
        Which of the caller's N rows were merged into one of M distinct points; None: M = N.
    """

    permutation: NDArray[np.intp]
    copies: Copies | None = None

    @classmethod
    def unchanged(cls, n_points: int) -> Order:
        """Return the order of points that stay as they are."""
        return cls(frozen(np.arange(n_points)))

    @property
    def n_points(self) -> int:
        """Number M of distinct points."""
        return len(self.permutation)

    @property
    def n_rows(self) -> int:
        """Number N of rows that the caller passed: all copies count."""
        return self.n_points if self.copies is None else len(self.copies.point_of)

    @cached_property
    def counts(self) -> FloatArray | None:
        """How often each point inside occurs among the caller's rows, (M,); None: once."""
        return None if self.copies is None else frozen(self.copies.counts[self.permutation])

    @property
    def caller_rows(self) -> NDArray[np.intp]:
        """The caller's row of each point inside, (M,); the first of its copies."""
        return self.permutation if self.copies is None else self.copies.first[self.permutation]

    def to_caller(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring rows (M, …) from the order inside into the caller's, (N, …)."""
        result = np.empty_like(values)
        result[self.permutation] = values
        return result if self.copies is None else self.copies.expand(result)

    def to_tree(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring rows (N, …) from the caller's order inside, (M, …); copies are averaged."""
        distinct = values if self.copies is None else self.copies.average(values)
        return distinct[self.permutation]

    def matrix_to_caller(self, matrix: Any, symmetric: bool = False) -> Any:
        """Return a CSR matrix whose rows and columns are numbered as the caller's points.

        Copies of a point have equal rows, and share its column; if the matrix is to stay
        symmetric, both by the square root of their number.
        """
        coo, place = matrix.tocoo(), self.permutation
        moved = csr_array((coo.data, (place[coo.row], place[coo.col])), shape=matrix.shape)
        if self.copies is not None:
            share, expanded = self.copies.averaging, self.copies.averaging.T
            root = diags_array(self.copies.counts ** (0.5 if symmetric else 1.0))
            moved = csr_array(expanded @ root @ moved @ (root @ share if symmetric else share))
        moved.sort_indices()
        return moved
