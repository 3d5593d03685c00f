"""Files that hold several arrays by name: NumPy's archives, HDF5 and Zarr; one of them is read."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import InputError, bad_input
from .formats import need
from .table import REAL, Content, Options, as_rows, check_real_numbers, listed, wrong_axes


def read_npz(path: Path, options: Options) -> Content:
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


def read_hdf5(path: Path, options: Options) -> Content:
    """Read a dataset: the one that is asked for, or the only table of numbers."""
    h5py = need("h5py", path, "hdf5")
    datasets: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            datasets[name] = item

    with h5py.File(path, "r") as file:
        file.visititems(note)
        return content_of(datasets, key_of_table(options.key, datasets))


def read_zarr(path: Path, options: Options) -> Content:
    """Read an array, which may be alone: the one that is asked for, or the only table."""
    zarr = need("zarr", path, "zarr")
    node = zarr.open(path, mode="r")
    if isinstance(node, zarr.Array):
        return content_of({"": node}, "")
    members = node.members(max_depth=None)
    arrays = {name: item for name, item in members if isinstance(item, zarr.Array)}
    return content_of(arrays, key_of_table(options.key, arrays))


def content_of(arrays: Mapping[str, Any], key: str) -> Content:
    """Read one of several arrays, which is refused by type and shape before it is read."""
    what, array = f"The dataset {key!r}" if key else "The array", arrays[key]
    check_real_numbers(array.dtype, what)
    if array.ndim not in (1, 2):
        raise wrong_axes(array.shape, what)
    values = as_rows(np.asarray(array[...]), what)
    return Content(values, selection={"key": key} if key else {})


def key_of_table(wanted: str | None, arrays: Mapping[str, Any]) -> str:
    """Return the array that is meant: without a wish the only table of real numbers.

    Where there is no table, a single list of numbers will do.

    >>> from vbdm.io.files.keyed import key_of_table
    >>> key_of_table(None, {"time": np.ones(3), "run/points": np.ones((3, 2))})
    'run/points'
    """
    if wanted is not None:
        return choose_key(wanted.strip("/"), list(arrays), "dataset")
    real = {name: a.ndim for name, a in arrays.items() if a.dtype.kind in REAL}
    tables = [name for name, axes in real.items() if axes == 2]
    lists = [name for name, axes in real.items() if axes == 1]
    return choose_key(None, tables or lists or list(arrays), "dataset")


def tables_in(archive: Any) -> list[str]:
    """Return the arrays of real numbers with two axes in an ``.npz``, by their headers alone."""
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
    parameter: str = "key",
    likely: Sequence[str] = (),
) -> str:
    """Return the name that is asked for, or the only one.

    Parameters
    ----------
    wanted : str or None
        What is asked for.
    names : list of str
        What there is.
    what, parameter : str
        What such a thing is called in messages, and the parameter that chooses one.
    likely : sequence of str
        Those to suggest if what is asked for resembles nothing.
    """
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in names and wanted is not None:
        return wanted
    there = listed(sorted(names), 20) if names else "none"
    advice = "Choose another file."
    if names:
        suggestion = suggested(wanted, names, likely)
        advice = f"Choose one with `{parameter}`, such as {parameter}={suggestion!r}."
    raise bad_input(
        f"Which {what} is meant?" if wanted is None else f"The file has no such {what}.",
        received=f"no `{parameter}`, and {len(names)} {what}s"
        if wanted is None
        else f"{parameter}={wanted!r}",
        because=f"In the file: {there}.",
        hint=advice,
    )


def suggested(wanted: str | None, names: Sequence[str], likely: Sequence[str]) -> str:
    """Return the name that was probably meant.

    >>> from vbdm.io.files.keyed import suggested
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
        hint="Convert it to float64 and save it again, or choose another array with `key`.",
    )
