"""NumPy's ``.npy`` files: mapped, so that only what is used comes into memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .table import Content, Options, as_rows, check_real_numbers, no_rows

WHAT = "The array in the file"


def read(path: Path, options: Options) -> Content:
    """Map an ``.npy`` file into memory, after its header is checked."""
    with open(path, "rb") as stream:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    check_real_numbers(dtype, WHAT)
    if 0 in shape:
        # An empty array cannot be mapped.
        raise no_rows(WHAT, f"shape {shape}")
    return Content(as_rows(np.load(path, mmap_mode="r", allow_pickle=False), WHAT))
