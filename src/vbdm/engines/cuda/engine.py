"""The engine of a GPU: the operations of all engines, by kernels of our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.arrays import contiguous, row_pointer
from ...base.references import CUPY, Credit
from .csr import DeviceCsr, product
from .device import Device, device_of
from .walks import DeviceIndex, count_within, pairs_to, pairs_within, tree_order


def jacobi(matrix: DeviceCsr, block: Any, added: Any, divisor: Any, out: Any = None) -> Any:
    """Return (matrix · block + added) / divisor."""
    return product(matrix, block, added=added, divisor=divisor, out=out)


def sums_over_cells(matrix: DeviceCsr, factor: Any, labels: Any) -> DeviceCsr:
    """Return diag(f) A diag(f) P in single precision (`Engine.sums_over_cells`).

    An entry is the sum of the entries of a row in one cell. Where the columns of rows ascend, the
    points of a cell stand together, and the first of them sums up those that follow; where they do
    not, each looks at all of its row.
    """
    device, n = matrix.device, matrix.shape[0]
    n_cells = int(labels.max()) + 1
    first = last = None
    if matrix.ascends:
        first = device.empty(n_cells, np.int32)
        first[...] = len(labels)
        last = np.zeros(n_cells, dtype=np.int32, like=labels)
        on_points(device, "extend_cells", labels, first, last)
    counts = device.empty(n, np.int64)
    matrix.on_rows("count_cells", labels, first, counts)
    pointer = row_pointer(counts)
    total = int(pointer[-1])
    columns, values = device.empty(total, np.int32), device.empty(total, np.float32)
    matrix.on_rows("sum_cells", labels, first, last, factor, pointer, columns, values)
    result = DeviceCsr(values, columns, pointer, (n, n_cells), is_sorted=True)
    result.on_rows("sort_rows")
    return result


def parts_of_cells(links: list[DeviceCsr], labels: Any, root: Any, apart: Any, least: float) -> Any:
    """Return the connected parts of cells (`Engine.parts_of_cells`)."""
    parents = np.arange(len(labels), dtype=np.int32, like=labels)
    for part in links:
        part.on_rows("join_within", labels, root, apart, float(least), parents)
    number = np.cumsum(flatten(parents), dtype=np.int32) - np.int32(1)
    return number[parents]


def pieces(matrix: DeviceCsr, scale: Any, least: float, few: int) -> Any:
    """Return the first point of the piece of each point (`Engine.pieces`)."""
    parents = np.arange(matrix.shape[0], dtype=np.int32, like=matrix.data)
    for links in (few, matrix.nnz):
        matrix.on_rows("join", scale, float(least), links, parents)
        if int(flatten(parents).sum()) == 1:
            break
    return parents.astype(np.int64)


def flatten(parents: Any) -> Any:
    """Give every point the first point of its piece; return 1 for each first point, else 0."""
    device = device_of(parents)
    is_first = device.empty(len(parents), np.int32)
    on_points(device, "flatten", parents, is_first)
    return is_first


def on_points(device: Device, kernel: str, values: Any, *args: Any) -> None:
    """Run a kernel that takes an array, a thread per entry."""
    device.launch("rows", kernel, len(values), len(values), values, *args, columns=64)


@dataclass(frozen=True)
class CudaEngine:
    """Kernels that give a leaf of the tree, or a row of a matrix, to a warp of the device.

    Arrays that it is given live on the device, and so do those that it returns.
    """

    device: Device

    @property
    def credit(self) -> Credit:
        """Name and words of the engine; the device is among these."""
        return Credit(
            "cuda",
            f"kernels of our own on a GPU ({self.device.name}), through CuPy (Okuta et al. 2017)",
            (CUPY,),
        )

    def placed(self, points: Any) -> Any:
        """Return points on the device, in double precision and with contiguous rows."""
        return contiguous(self.device.array(points).astype(np.float64, copy=False))

    order = staticmethod(tree_order)
    nearest = DeviceIndex
    count_within = staticmethod(count_within)
    pairs_within = staticmethod(pairs_within)
    pairs_to = staticmethod(pairs_to)
    multiply = staticmethod(product)
    jacobi = staticmethod(jacobi)
    sums_over_cells = staticmethod(sums_over_cells)
    parts_of_cells = staticmethod(parts_of_cells)
    pieces = staticmethod(pieces)
