"""Matrices where their arrays live, here or on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array

from ..base.arrays import is_elsewhere, ones_for


def csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """Return the CSR matrix of three arrays; nothing is copied.

    Of NumPy's arrays it is SciPy's; on a device it is one that has what rooms use of SciPy's.
    """
    if is_elsewhere(data):
        from .cuda.csr import DeviceCsr

        return DeviceCsr(data, indices, indptr, shape)
    return csr_array((data, indices, indptr), shape=shape)


def is_csr_elsewhere(value: Any) -> bool:
    """Tell whether this is a CSR matrix on a device; its `get` returns SciPy's."""
    return hasattr(value, "indptr") and is_elsewhere(value.data)


def as_csr(matrix: Any) -> Any:
    """Return a sparse matrix as CSR; those on a device are."""
    return matrix if is_elsewhere(matrix.data) else csr_array(matrix)


def piecewise_constant(labels: Any) -> Any:
    """Return P, (N, n_cells), the matrix that gives each point the value of its cell."""
    n = len(labels)
    pointer = np.arange(n + 1, dtype=np.int32, like=labels)
    return csr(ones_for(labels), labels, pointer, (n, int(labels.max()) + 1))


def scaled_rows(matrix: Any, factors: Any) -> Any:
    """Return diag(factors) times a CSR matrix."""
    return matrix.scaled(factors) if is_elsewhere(matrix.data) else diags_array(factors) @ matrix


def row_numbers(matrix: Any) -> Any:
    """Return the row of each stored entry of a CSR matrix, (nnz,)."""
    if is_elsewhere(matrix.data):
        return matrix.row_numbers
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def graph_laplacian(links: Any) -> Any:
    """Return D - K of symmetric weights, or some rows of it; the diagonal of K drops out.

    D is summed up from the links, so that weak ones keep all their digits. Of some rows, the first
    columns must be those of the same points.
    """
    links, n = as_csr(links), links.shape[0]
    row = row_numbers(links)
    links.data[row == links.indices] = 0.0
    if not is_elsewhere(links.data):
        degrees = np.bincount(row, links.data, n)
        return csr_array(diags_array(degrees, shape=links.shape) - links)
    places = np.arange(n + 1, dtype=np.int32, like=links.data)
    return csr(links.sum(axis=1), places[:n], places, links.shape) - links


def all_eigenpairs(matrix: Any) -> tuple[Any, Any]:
    """Return all eigenvalues of a symmetric matrix, ascending, and its eigenvectors.

    It is diagonalised where it lives: of some hundred rows or more, a device is the faster.
    """
    if is_elsewhere(matrix):
        from .cuda.device import device_of

        return device_of(matrix).eigh(matrix)
    values, vectors = eigh(matrix, driver="evd")
    return values, vectors
