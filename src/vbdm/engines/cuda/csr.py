"""A sparse matrix on the device: three arrays, and what rooms use of SciPy's matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .device import CsrArrays, Device, device_of


@dataclass(eq=False)
class DeviceCsr:
    """A CSR matrix whose arrays live on a device.

    Attributes
    ----------
    data, indices, indptr : arrays
        As of SciPy's matrix. Row pointers have 64 bits, indices have 32.
    shape : tuple of int
        Numbers of rows and columns.
    """

    data: Any
    indices: Any
    indptr: Any
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        """Bring indices and row pointers into the types that kernels take."""
        self.indices = self.indices.astype(np.int32, copy=False)
        self.indptr = self.indptr.astype(np.int64, copy=False)

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return len(self.data)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the stored numbers."""
        kind: np.dtype[Any] = self.data.dtype
        return kind

    @property
    def device(self) -> Device:
        """Where the arrays live."""
        return device_of(self.data)

    @property
    def arrays(self) -> CsrArrays:
        """Arrays and shape, as a device's library takes them."""
        return self.data, self.indices, self.indptr, self.shape

    def get(self) -> csr_array:
        """Return SciPy's matrix of the same entries, in this machine's memory."""
        # SciPy would copy all indices into the type of the row pointers.
        short = np.int32 if self.nnz < 2**31 else np.int64
        arrays = self.data.get(), self.indices.get(), self.indptr.get().astype(short, copy=False)
        return csr_array(arrays, shape=self.shape)
