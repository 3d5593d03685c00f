"""Folders of Zarr: nothing outside the folder is read, and nothing is unpickled."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..errors import InputError

#: Names of the files in which Zarr describes its arrays.
DESCRIPTIONS = (".zarray", ".zmetadata", "zarr.json")


def check_store(folder: Path) -> None:
    """Raise if a link inside a folder leads out of it, or if arrays in it are pickles."""
    home = folder.resolve()
    for inner in folder.rglob("*"):
        if inner.is_symlink() and not inner.resolve().is_relative_to(home):
            raise leads_out(inner.name, f"a link to {os.readlink(inner)!r}")
        if inner.name in DESCRIPTIONS and inner.is_file() and names_pickles(inner):
            raise InputError(
                "The array must hold real numbers; received pickles, by "
                f"{inner.relative_to(folder).as_posix()!r}. Save the numbers again, as float64."
            )


def names_pickles(path: Path) -> bool:
    """Tell whether a description has arrays packed or unpacked by pickling."""
    try:
        description = json.loads(path.read_bytes())
    except (ValueError, OSError, RecursionError):
        # The library tells what is wrong with it.
        return False
    return has_pickle(description)


def has_pickle(value: Any) -> bool:
    """Tell whether a value, or one inside it, is the name of the codec that unpickles.

    >>> has_pickle({"filters": [{"id": "pickle", "protocol": 5}]}), has_pickle({"id": "zlib"})
    (True, False)
    """
    if isinstance(value, dict):
        return any(map(has_pickle, value.values()))
    if isinstance(value, list):
        return any(map(has_pickle, value))
    return isinstance(value, str) and value.endswith("pickle")


def leads_out(name: str, what: str) -> InputError:
    """Return the error for a part of a file, or of a folder, that names another file."""
    return InputError(
        f"The file leads to another file; received {name!r} with {what}. Copy everything into one "
        "place first; for HDF5, h5repack does it."
    )
