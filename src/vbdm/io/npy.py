"""NumPy's ``.npy`` files: mapped, so that only what is used comes into memory."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np

from .table import Content, Options, as_rows, check_real_numbers, no_rows

WHAT = "The array in the file"


def read(path: Path, options: Options) -> Content:
    """Map an ``.npy`` file into memory, after its header is checked."""
    with open(path, "rb") as stream:
        shape, dtype = header_of(stream)
    check_real_numbers(dtype, WHAT)
    if 0 in shape:
        # An empty array cannot be mapped.
        raise no_rows(WHAT, f"shape {shape}")
    return Content(as_rows(np.load(path, mmap_mode="r", allow_pickle=False), WHAT))


def header_of(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of the array in an ``.npy`` stream; its numbers are not read."""
    if np.lib.format.read_magic(stream) == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    return shape, dtype
