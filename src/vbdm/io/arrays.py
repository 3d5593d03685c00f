"""NumPy's files, HDF5 and Zarr: one of their arrays is read, and nothing outside the file."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..base.files import need
from ..base.memory import refuse_array
from ..errors import InputError
from ..rows.sources import chunks_of, leads_out
from .source import Source
from .table import REAL, Options, Table, as_rows, check_real_numbers, listed, no_rows, wrong_axes

WHAT = "The array in the file"


def read(path: Path, options: Options) -> Table:
    """Map an ``.npy`` file into memory, after its header is checked."""
    with open(path, "rb") as stream:
        shape, dtype = header_of(stream)
    check_real_numbers(dtype, WHAT)
    if 0 in shape:
        # An empty array cannot be mapped.
        raise no_rows(WHAT, f"shape {shape}")
    return Table(as_rows(np.load(path, mmap_mode="r", allow_pickle=False), WHAT))


def header_of(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of the array in an ``.npy`` stream; its numbers are not read."""
    if np.lib.format.read_magic(stream) == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    return shape, dtype


def read_npz(path: Path, options: Options) -> Table:
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
                raise InputError(
                    f"The array {key!r} must hold real numbers; received Python objects, which are "
                    "never unpacked. Convert it to float64 and save it again, or choose another "
                    "array with `key`."
                ) from error
            raise
    return Table(as_rows(array, f"The array {key!r}"), source=Source(selection={"key": key}))


def read_hdf5(path: Path, options: Options) -> Table:
    """Read one dataset: the one that `key` names, or the only table of real numbers."""
    h5py = need("h5py", path, "hdf5")
    with h5py.File(path, "r") as file:
        datasets = datasets_inside(file, path)
        return content_of(datasets, key_of_table(options.key, datasets), options)


def read_zarr(path: Path, options: Options) -> Table:
    """Read one array: the one that `key` names, or the only table; the store may be one array."""
    zarr = need("zarr", path, "zarr")
    node = zarr.open(path, mode="r")
    if isinstance(node, zarr.Array):
        return content_of({"": node}, "", options)
    members = node.members(max_depth=None)
    arrays = {name: item for name, item in members if isinstance(item, zarr.Array)}
    return content_of(arrays, key_of_table(options.key, arrays), options)


def content_of(arrays: Mapping[str, Any], key: str, options: Options) -> Table:
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
    return Table(values, source=Source(selection={"key": key} if key else {}))


def key_of_table(wanted: str | None, arrays: Mapping[str, Any]) -> str:
    """Return the name of the array to read: the wanted one, or the only table of real numbers.

    Where there is no table, it is the only one-dimensional array of real numbers.

    >>> from vbdm.io.arrays import key_of_table
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

    `likely` names are suggested if the wanted one resembles none; `what` is chosen by `parameter`.
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
    first, seen = f"The file has no such {what}.", f"{parameter}={wanted!r}"
    if wanted is None:
        first, seen = f"Which {what} is meant?", f"no `{parameter}`, and {len(names)} {what}s"
    raise InputError(f"{first}; received {seen}. In the file: {there}. {advice}")


def suggested(wanted: str | None, names: Sequence[str], likely: Sequence[str]) -> str:
    """Return the name that was probably meant.

    >>> from vbdm.io.arrays import suggested
    >>> suggested("pca", ["X", "obsm/X_pca"], []), suggested("slt", ["depth", "salt"], [])
    ('obsm/X_pca', 'salt')
    """
    order = [*likely, *sorted(names)]
    if wanted:
        order = [name for name in names if wanted.lower() in name.lower()] + order
        close = difflib.get_close_matches(wanted, list(names)[:10_000], n=1)
        order = close + order
    return order[0]


def datasets_inside(file: Any, path: Path) -> dict[str, Any]:
    """Return all datasets of an open file by name; raise if any leads out of the file."""
    h5py = need("h5py", path, "hdf5")
    found = {}
    for name, item in nodes_of(h5py, file):
        if isinstance(item, h5py.Dataset):
            check_storage(name, item)
            found[name] = item
    return found


def refuse_other_files(path: Path, extra: str) -> None:
    """Raise if a file is HDF5 and leads out of itself; other files are not looked at."""
    with open(path, "rb") as stream:
        # NetCDF's own format begins like this, and is not HDF5.
        if stream.read(3) == b"CDF":
            return
    h5py = need("h5py", path, extra)
    if h5py.is_hdf5(path):
        with h5py.File(path, "r") as file:
            datasets_inside(file, path)


def nodes_of(
    h5py: Any, group: Any, prefix: str = "", seen: Any = None
) -> Iterator[tuple[str, Any]]:
    """Yield the names and objects below a group, each object once; raise at a link to a file."""
    seen = set() if seen is None else seen
    for name in group:
        link, place = group.get(name, getlink=True), f"{prefix}{name}"
        if isinstance(link, h5py.ExternalLink):
            raise leads_out(place, f"a link to {link.filename!r}")
        if not isinstance(link, h5py.HardLink):
            continue
        item = group[name]
        info = h5py.h5o.get_info(item.id)
        if (info.fileno, info.addr) in seen:
            continue
        seen.add((info.fileno, info.addr))
        yield place, item
        if isinstance(item, h5py.Group):
            yield from nodes_of(h5py, item, f"{place}/", seen)


def check_storage(name: str, dataset: Any) -> None:
    """Raise if the numbers of a dataset lie in another file."""
    others = [place[0] for place in dataset.external or ()]
    if dataset.is_virtual:
        others += [source.file_name for source in dataset.virtual_sources()]
    outside = [str(other) for other in others if str(other) != "."]
    if outside:
        raise leads_out(name, f"numbers stored in {outside[0]!r}")
