"""Sparse matrices where their arrays live."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csr_array

from ..base.arrays import is_elsewhere


def csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """Return the CSR matrix of three arrays; nothing is copied.

    Of NumPy's arrays it is SciPy's; on a device it is one that has what rooms use of SciPy's.
    """
    if is_elsewhere(data):
        from .cuda.csr import DeviceCsr

        return DeviceCsr(data, indices, indptr, shape)
    return csr_array((data, indices, indptr), shape=shape)
