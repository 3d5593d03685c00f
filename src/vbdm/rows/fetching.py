"""Products of sparse matrices with arrays in blocks: only the rows that occur are fetched."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..base.arrays import FloatArray
from .block_array import BlockArray, Tall


def occurring(matrix: Any) -> tuple[Any, NDArray[np.intp]]:
    """Return a CSR matrix (m, M) without its empty columns, and the numbers of the others.

    Examples
    --------
    >>> small, columns = occurring(csr_array(np.array([[0.0, 2.0, 0.0, 3.0]])))
    >>> small.toarray().tolist(), columns.tolist()
    ([[2.0, 3.0]], [1, 3])
    """
    columns, place = np.unique(matrix.indices, return_inverse=True)
    arrays = matrix.data, place.reshape(-1), matrix.indptr
    return csr_array(arrays, shape=(matrix.shape[0], len(columns))), columns


def sparse_times(matrix: Any, f: Tall) -> FloatArray:
    """Return the product of a CSR matrix (m, M) with vectors (M, n), in memory."""
    if not isinstance(f, BlockArray):
        return np.asarray(matrix @ f)
    small, rows = occurring(matrix)
    return np.asarray(small @ f[rows])
