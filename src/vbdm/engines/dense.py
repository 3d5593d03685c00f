"""Dense matrices where they live."""

from __future__ import annotations

from typing import Any

from scipy.linalg import eigh

from ..base.arrays import is_elsewhere


def all_eigenpairs(matrix: Any) -> tuple[Any, Any]:
    """Return all eigenvalues of a symmetric matrix, ascending, and its eigenvectors.

    It is diagonalised where it lives: of some hundred rows or more, a device is the faster.
    """
    if is_elsewhere(matrix):
        from .cuda.device import device_of

        return device_of(matrix).eigh(matrix)
    values, vectors = eigh(matrix, driver="evd")
    return values, vectors
