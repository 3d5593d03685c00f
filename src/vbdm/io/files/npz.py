"""NumPy's archives: one array of several, by its name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import InputError, bad_input
from .table import REAL, Content, Options, as_rows, listed


def read(path: Path, options: Options) -> Content:
    """Read one array of an ``.npz`` file: the one that is asked for, or the only one."""
    with np.load(path, allow_pickle=False) as archive:
        if not hasattr(archive, "files"):
            raise ValueError("a single array, not an archive of arrays")
        key = choose_key(options.key, archive.files, likely=tables_in(archive))
        try:
            array = archive[key]
        except ValueError as error:
            if "pickle" in str(error):
                raise no_objects(key) from error
            raise
    return Content(as_rows(array, f"The array {key!r}"), selection={"key": key})


def tables_in(archive: Any) -> list[str]:
    """Return the arrays of real numbers with two axes, by their headers alone."""
    found = []
    for key in archive.files:
        # What is damaged or unusual is only not suggested.
        with suppress(Exception), archive.zip.open(f"{key}.npy") as stream:
            np.lib.format.read_magic(stream)
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            if len(shape) == 2 and dtype.kind in REAL:
                found.append(key)
    return found


def choose_key(
    wanted: str | None,
    names: list[str],
    what: str = "array",
    option: str = "--key",
    likely: Sequence[str] = (),
) -> str:
    """Return the name that is asked for, or the only one.

    `likely` are those to suggest if what is asked for resembles nothing.
    """
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in names and wanted is not None:
        return wanted
    there = listed(sorted(names), 20) if names else "none"
    raise bad_input(
        f"The file has no such {what}." if wanted is not None else f"Which {what} is meant?",
        received=f"{option} {wanted!r}"
        if wanted is not None
        else f"no {option}, and {len(names)} {what}s",
        because=f"In the file: {there}.",
        hint=f"Choose one with {option}, such as {option} {suggested(wanted, names, likely)}."
        if names
        else "Choose another file.",
    )


def suggested(wanted: str | None, names: Sequence[str], likely: Sequence[str]) -> str:
    """Return the name that was probably meant.

    >>> from vbdm.io.files.npz import suggested
    >>> suggested("pca", ["X", "obsm/X_pca"], []), suggested("slt", ["depth", "salt"], [])
    ('obsm/X_pca', 'salt')
    """
    order = [*likely, *sorted(names)]
    if wanted:
        order = [name for name in names if wanted.lower() in name.lower()] + order
        close = difflib.get_close_matches(wanted, list(names)[:10_000], n=1)
        order = close + order
    return order[0]


def no_objects(key: str) -> InputError:
    """Return the error for an array of Python objects."""
    return bad_input(
        f"The array {key!r} must hold real numbers.",
        received="Python objects",
        because="Objects are stored as pickles, and unpacking them could run foreign code.",
        hint="Convert it to float64 and save it again, or choose another array with --key.",
    )
