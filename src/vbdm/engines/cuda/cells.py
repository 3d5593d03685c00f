"""Sums over cells of points, and connected pieces, on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .csr import DeviceCsr
from .device import Device, device_of


def sums_over_cells(matrix: DeviceCsr, factor: Any, labels: Any) -> DeviceCsr:
    """Return diag(f) A diag(f) P in single precision (`Engine.sums_over_cells`).

    An entry is the sum of the entries of a row in one cell. Where the columns of rows ascend, the
    points of a cell stand together, and the first of them sums up those that follow; where they
    do not, each looks at all of its row.
    """
    device, n = device_of(matrix.data), matrix.shape[0]
    kind = kind_of(matrix)
    n_cells = int(labels.max()) + 1
    first, last = first_and_last(device, labels, n_cells, matrix)
    counts = device.empty(n, np.int64)
    given = matrix.indptr, matrix.indices, labels, first, last
    device.launch("rows", "count_cells", n, n, *given, counts, per_warp=True)
    pointer = pointers(device, counts)
    total = int(pointer[-1])
    columns, values = device.empty(total, np.int32), device.empty(total, np.float32)
    device.launch(
        "rows", f"sum_cells{kind}", n, n, *given, matrix.data, factor, pointer, columns, values,
        per_warp=True,
    )  # fmt: skip
    device.launch("rows", "sort_rows32", n, n, pointer, columns, values, per_warp=True)
    return DeviceCsr(values, columns, pointer, (n, n_cells))


def first_and_last(device: Device, labels: Any, n_cells: int, matrix: DeviceCsr) -> tuple[Any, Any]:
    """Return the first and the last point of each cell; None, None if columns do not ascend."""
    descents = np.zeros(1, dtype=np.int32, like=labels)
    n = matrix.shape[0]
    device.launch(
        "rows", "find_descent", n, n, matrix.indptr, matrix.indices, descents, per_warp=True
    )
    if int(descents[0]):
        return None, None
    first, last = device.empty(n_cells, np.int32), np.zeros(n_cells, dtype=np.int32, like=labels)
    first[...] = len(labels)
    device.launch("rows", "extend_cells", len(labels), len(labels), labels, first, last)
    return first, last


def pointers(device: Device, counts: Any) -> Any:
    """Return row pointers from the lengths of rows."""
    result = np.zeros(len(counts) + 1, dtype=np.int64, like=counts)
    np.cumsum(counts, out=result[1:])
    return result


def kind_of(matrix: DeviceCsr) -> str:
    """Return how the kernels for a matrix's numbers are marked."""
    return "32" if matrix.data.dtype == np.float32 else "64"


def parts_of_cells(links: list[DeviceCsr], labels: Any, root: Any, apart: Any, least: float) -> Any:
    """Return the connected parts of cells (`Engine.parts_of_cells`)."""
    device, n = device_of(labels), len(labels)
    parents = np.arange(n, dtype=np.int32, like=labels)
    for part in links:
        device.launch(
            "rows", f"join_within{kind_of(part)}", n, n, part.indptr, part.indices, part.data,
            labels, root, apart, float(least), parents, per_warp=True,
        )  # fmt: skip
    is_first = flattened(device, parents)
    number = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
    return number[parents]


def pieces(matrix: DeviceCsr, scale: Any, least: float, few: int) -> Any:
    """Return the first point of the piece of each point (`Engine.pieces`)."""
    device, n = device_of(matrix.data), matrix.shape[0]
    parents = np.arange(n, dtype=np.int32, like=matrix.data)
    for links in (few, max(matrix.shape[1], few)):
        device.launch(
            "rows", f"join{kind_of(matrix)}", n, n, matrix.indptr, matrix.indices, matrix.data,
            scale, float(least), links, parents, per_warp=True,
        )  # fmt: skip
        if int(flattened(device, parents).sum()) == 1:
            break
    return parents.astype(np.int64)


def flattened(device: Device, parents: Any) -> Any:
    """Give every point the first point of its piece; return 1 for each first point, else 0."""
    is_first = device.empty(len(parents), np.int32)
    device.launch("rows", "flatten", len(parents), len(parents), parents, is_first)
    return is_first
