"""Zarr: an array in a folder, or one of several in a group."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .formats import need
from .hdf5 import check_dataset, key_of_table
from .table import Content, Options, as_rows


def read(path: Path, options: Options) -> Content:
    """Read an array: the one that is asked for, or the only table of numbers."""
    zarr = need("zarr", path, "zarr")
    node = zarr.open(path, mode="r")
    if isinstance(node, zarr.Array):
        key, array = "", node
    else:
        members = node.members(max_depth=None)
        arrays = {name: item for name, item in members if isinstance(item, zarr.Array)}
        kinds = {name: (item.ndim, item.dtype.kind) for name, item in arrays.items()}
        key = key_of_table(options.key, kinds)
        array = arrays[key]
    check_dataset(array, key)
    selection = {"key": key} if key else {}
    return Content(as_rows(np.asarray(array[...]), f"The array {key!r}"), selection=selection)
