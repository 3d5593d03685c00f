"""NumPy's archives: one array of several, by its name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import InputError, bad_input
from .table import Content, Options, as_rows, listed


def read(path: Path, options: Options) -> Content:
    """Read one array of an ``.npz`` file: the one that is asked for, or the only one."""
    with np.load(path, allow_pickle=False) as archive:
        if not hasattr(archive, "files"):
            raise ValueError("a single array, not an archive of arrays")
        key = choose_key(options.key, archive.files)
        try:
            array = archive[key]
        except ValueError as error:
            if "pickle" in str(error):
                raise no_objects(key) from error
            raise
    return Content(as_rows(array, f"The array {key!r}"), selection={"key": key})


def choose_key(wanted: str | None, names: list[str], what: str = "array") -> str:
    """Return the name that is asked for, or the only one."""
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in names and wanted is not None:
        return wanted
    there = listed(sorted(names), 20) if names else "none"
    raise bad_input(
        f"The file has no such {what}." if wanted is not None else f"Which {what} is meant?",
        received=f"key {wanted!r}" if wanted is not None else f"no key, and {len(names)} {what}s",
        because=f"In the file: {there}.",
        hint=f"Choose one with --key, such as --key {sorted(names)[0]}."
        if names
        else "Choose another file.",
    )


def no_objects(key: str) -> InputError:
    """Return the error for an array of Python objects."""
    return bad_input(
        f"The array {key!r} must hold real numbers.",
        received="Python objects",
        because="Objects are stored as pickles, and unpacking them could run foreign code.",
        hint="Convert it to float64 and save it again, or choose another array with --key.",
    )
