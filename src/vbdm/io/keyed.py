"""Files that hold several arrays by name: NumPy's archives, HDF5 and Zarr. One array is read."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..base.files import need
from ..base.memory import refuse_array
from ..errors import InputError
from ..rows.sources import chunks_of
from .hdf5 import datasets_inside
from .npy import header_of
from .table import REAL, Content, Options, as_rows, check_real_numbers, listed, wrong_axes


def read_npz(path: Path, options: Options) -> Content:
    """Read one array of an ``.npz`` file: the one that `key` names, or the only one."""
    loaded = np.load(path, allow_pickle=False)
    if not hasattr(loaded, "files"):
        raise ValueError("a single array, not an archive of arrays")
    with loaded as archive:
        key = choose_key(options.key, archive.files, likely=tables_in(archive))
        refuse_declared(archive, key)
        try:
            array = archive[key]
        except ValueError as error:
            if "pickle" in str(error):
                raise no_objects(key) from error
            raise
    return Content(as_rows(array, f"The array {key!r}"), selection={"key": key})


def read_hdf5(path: Path, options: Options) -> Content:
    """Read one dataset: the one that `key` names, or the only table of real numbers."""
    h5py = need("h5py", path, "hdf5")
    with h5py.File(path, "r") as file:
        datasets = datasets_inside(file, path)
        return content_of(datasets, key_of_table(options.key, datasets), options)


def read_zarr(path: Path, options: Options) -> Content:
    """Read one array: the one that `key` names, or the only table; the store may be one array."""
    zarr = need("zarr", path, "zarr")
    node = zarr.open(path, mode="r")
    if isinstance(node, zarr.Array):
        return content_of({"": node}, "", options)
    members = node.members(max_depth=None)
    arrays = {name: item for name, item in members if isinstance(item, zarr.Array)}
    return content_of(arrays, key_of_table(options.key, arrays), options)


def content_of(arrays: Mapping[str, Any], key: str, options: Options) -> Content:
    """Read the array of that name, after its type and shape are checked."""
    what, array = f"The dataset {key!r}" if key else "The array", arrays[key]
    check_real_numbers(array.dtype, what)
    if array.ndim not in (1, 2):
        raise wrong_axes(array.shape, what)
    if options.scratch is not None and array.ndim == 2 and 0 not in array.shape:
        values = chunks_of(array, what).gathered(options.scratch, mapped=True)
    else:
        refuse_array(math.prod(array.shape), what, max(8, array.dtype.itemsize))
        values = as_rows(np.asarray(array[...]), what)
    return Content(values, selection={"key": key} if key else {})


def key_of_table(wanted: str | None, arrays: Mapping[str, Any]) -> str:
    """Return the name of the array to read: the wanted one, or the only table of real numbers.

    Where there is no table, it is the only one-dimensional array of real numbers.

    >>> from vbdm.io.keyed import key_of_table
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
    """Return the names of the tables of real numbers in an ``.npz``, from their headers alone."""
    found = []
    for key in archive.files:
        # The names are only suggestions, so an array with a damaged or unusual header is skipped.
        with suppress(Exception), archive.zip.open(f"{key}.npy") as stream:
            shape, dtype = header_of(stream)
            if len(shape) == 2 and dtype.kind in REAL:
                found.append(key)
    return found


def refuse_declared(archive: Any, key: str) -> None:
    """Raise if an array in an ``.npz`` is larger than the free memory, by its header."""
    entry = f"{key}.npy" if f"{key}.npy" in archive.zip.namelist() else key
    refuse_array(archive.zip.getinfo(entry).file_size, f"The entry {entry!r}", bytes_each=1)
    try:
        with archive.zip.open(entry) as stream:
            shape, dtype = header_of(stream)
    except ValueError:
        # NumPy tells what is wrong with the header, when it reads it again.
        return
    refuse_array(math.prod(shape), f"The array {key!r}", max(8, dtype.itemsize))


def choose_key(
    wanted: str | None,
    names: list[str],
    what: str = "array",
    parameter: str = "key",
    likely: Sequence[str] = (),
) -> str:
    """Return the wanted name, or the only one; raise with a suggestion if there is no such name.

    Parameters
    ----------
    wanted : str or None
        The name that the user gave.
    names : list of str
        All names in the file.
    what, parameter : str
        Words for the message: what is chosen, and the parameter that chooses it.
    likely : sequence of str
        Names to suggest if the wanted one resembles none.
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
    seen = (
        f"no `{parameter}`, and {len(names)} {what}s"
        if wanted is None
        else f"{parameter}={wanted!r}"
    )
    raise InputError(
        f"{(f'Which {what} is meant?' if wanted is None else f'The file has no such {what}.')}; "
        f"received {seen}. In the file: {there}. {advice}"
    )


def suggested(wanted: str | None, names: Sequence[str], likely: Sequence[str]) -> str:
    """Return the name that was probably meant.

    >>> from vbdm.io.keyed import suggested
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
    return InputError(
        f"The array {key!r} must hold real numbers; received Python objects. Objects are stored "
        "as pickles, and unpacking them could run foreign code. Convert it to float64 and save "
        "it again, or choose another array with `key`."
    )
