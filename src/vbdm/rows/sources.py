"""Points that are not in memory: files, arrays of Zarr, HDF5 and Dask, read chunk by chunk.

They end as one array of the process that drives the estimate: in memory or, where rows live
elsewhere because memory is small, mapped from a file without a name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.files import damaged, need
from ..base.memory import refuse_array
from ..base.points import check_finite, refuse_columns, refuse_kind, wrong_shape
from ..base.threads import rows_that_fit, slices
from ..errors import InputError
from ..progress import report
from .disk import Scratch

#: Numbers that are read at a time.
AT_A_TIME = 1 << 22
#: Names of files that hold points and nothing else.
SUFFIXES = (".npy", ".zarr", ".parquet", ".pq")
#: Names of the files in which Zarr describes its arrays.
DESCRIPTIONS = (".zarray", ".zmetadata", "zarr.json")


@dataclass(frozen=True, eq=False)
class Chunks:
    """A table of real numbers that is read chunk by chunk."""

    # Its name in messages.
    what: str
    shape: tuple[int, int]
    # Returns an iterator over arrays of consecutive rows.
    read: Callable[[], Iterator[NDArray[Any]]]

    def gathered(self, folder: Any = None, *, mapped: bool = False) -> FloatArray:
        """Return all rows as one array: in memory, or `mapped` from a file in a folder."""
        n_rows, n_columns = self.shape
        if not mapped:
            refuse_array(n_rows * n_columns, self.what)
            values = np.empty(self.shape)
            for start, chunk in self.numbered():
                values[start : start + len(chunk)] = chunk
            return values
        scratch, offset = Scratch(folder), 0
        scratch.check_space(8 * n_rows * n_columns)
        # The file is written, not mapped, as it grows: a full disk is then an error, where a map
        # would end the process.
        for _, chunk in self.numbered():
            offset += scratch.append(np.asarray(chunk, dtype=np.float64), offset)
        return np.memmap(scratch.file, np.float64, "r", shape=self.shape)

    def numbered(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the first row and the values of each chunk; raise unless all rows come."""
        start, (n_rows, n_columns) = 0, self.shape
        for chunk in self.read():
            if chunk.shape[1:] != (n_columns,) or start + len(chunk) > n_rows:
                break
            yield start, chunk
            start += len(chunk)
            report("reading", start, n_rows)
        if start != n_rows:
            raise InputError(
                f"{self.what} does not hold what it declares; received {start:,} rows, where "
                f"{n_rows:,} are announced. Write it again."
            )

    def checked(self) -> Chunks:
        """Return the chunks with a check that all numbers are finite; it tells the first row."""

        def read() -> Iterator[NDArray[Any]]:
            start = 0
            for chunk in self.read():
                check_finite(np.asarray(chunk, dtype=np.float64), "points", start)
                start += len(chunk)
                yield chunk

        return replace(self, read=read)


def open_points(X: Any) -> Any:
    """Return points that can be read by their path, or chunk by chunk, as an array or as `Chunks`.

    Whatever is neither such a path nor such an array comes back as it is.
    """
    if isinstance(X, str | os.PathLike) and Path(X).suffix.lower() in SUFFIXES:
        path = Path(X)
        if not path.exists():
            raise InputError(
                f"The file does not exist; received {os.fspath(path)!r}. Check the name and the "
                "folder in which Python runs."
            )
        suffix = path.suffix.lower()
        if suffix == ".parquet" or suffix == ".pq":
            return opened_parquet(path)
        if suffix == ".npy":
            with reading(path, "npy"):
                values = np.load(path, mmap_mode="r", allow_pickle=False)
                if not isinstance(values, np.ndarray):
                    raise ValueError("an archive of arrays")
            if values.dtype == np.float64 and values.flags.c_contiguous:
                return values
            # Numbers of another type are converted chunk by chunk.
            return chunks_of(values, f"The array in {path.name!r}")
        zarr = need("zarr", path, "zarr")
        check_store(path)
        with reading(path, "zarr"):
            node = zarr.open(path, mode="r")
            array = node if isinstance(node, zarr.Array) else only_table(node)
        return with_errors_of_file(chunks_of(array, f"The array in {path.name!r}"), path, "zarr")
    library = type(X).__module__.partition(".")[0]
    if library == "zarr" and hasattr(X, "members"):
        return chunks_of(only_table(X), "The array in the group")
    if library in ("zarr", "h5py") and hasattr(X, "dtype"):
        return chunks_of(X, "The array")
    if is_dask_array(X):
        return chunks_of_dask(X)
    return X


def is_dask_array(X: Any) -> bool:
    """Tell whether this is an array of Dask, without loading Dask."""
    return type(X).__module__.startswith("dask.array") and hasattr(X, "dask")


def only_table(group: Any) -> Any:
    """Return the only table of real numbers in a group of Zarr."""
    arrays = {
        name: item
        for name, item in group.members(max_depth=None)
        if getattr(item, "ndim", 0) == 2 and item.dtype.kind in "iuf"
    }
    if len(arrays) != 1:
        raise InputError(
            f"The group must hold one table; received {', '.join(sorted(arrays)[:8]) or 'none'}. "
            "Pass the array itself: zarr.open(path)['name']."
        )
    return next(iter(arrays.values()))


def opened_parquet(path: Path) -> Chunks:
    """Return the rows of a Parquet file, all of whose columns must be real numbers."""
    parquet = need("pyarrow.parquet", path, "parquet")
    if path.is_dir():
        raise InputError(
            f"A file is needed, not a folder; received {os.fspath(path)!r}. Pass "
            "dask.dataframe.read_parquet(path).to_dask_array(lengths=True)."
        )
    with reading(path, "parquet"), parquet.ParquetFile(path) as file:
        # Columns of this name are row labels of pandas.
        names = [n for n in file.schema_arrow.names if not n.startswith("__index_level_")]
        kinds = {name: file.schema_arrow.field(name).type for name in names}
        n_rows = file.metadata.num_rows
    refuse_columns({name: str(kind) for name, kind in kinds.items() if not is_real(kind)})
    chunks = Chunks(
        f"The table in {path.name!r}", (n_rows, len(names)), partial(batches, path, names)
    )
    return with_errors_of_file(chunks, path, "parquet")


def batches(path: Path, names: list[str]) -> Iterator[NDArray[Any]]:
    """Yield the rows of a Parquet file, some at a time; missing values are NaN."""
    parquet = need("pyarrow.parquet", path, "parquet")
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(rows_that_fit(len(names), most=AT_A_TIME), columns=names):
            yield np.column_stack([numbers_of(batch.column(name)) for name in names])


def numbers_of(column: Any) -> Any:
    """Return a column of Arrow as numbers of NumPy; missing values are NaN."""
    # Arrow cannot cast numbers of two bytes, and NumPy can.
    short = str(column.type) == "halffloat"
    return np.asarray(column if short else column.cast("float64", safe=False))


def is_real(kind: Any) -> bool:
    """Tell whether a type of Arrow is a real number."""
    types = need("pyarrow.types", "a table", "parquet")
    return any(test(kind) for test in (types.is_floating, types.is_integer, types.is_decimal))


def chunks_of(array: Any, what: str) -> Chunks:
    """Return the chunks of an array that is read by slices, such as those of Zarr and HDF5."""
    refuse_no_table(array)
    return Chunks(what, array.shape, partial(rows_in_turn, array))


def rows_in_turn(array: Any) -> Iterator[NDArray[Any]]:
    """Yield consecutive rows: whole chunks, as many as fit into a small part of memory."""
    n_rows, n_columns = array.shape
    stored = (getattr(array, "chunks", None) or (1,))[0]
    together = max(1, rows_that_fit(n_columns, most=AT_A_TIME) // stored)
    for rows in slices(n_rows, stored * together):
        yield np.asarray(array[rows])


def chunks_of_dask(array: Any) -> Chunks:
    """Return the chunks of an array of Dask: whole rows, whatever its columns are cut into."""
    if any(np.isnan(size) for sizes in array.chunks for size in sizes):
        raise InputError(
            f"The chunks of the array must be known; received shape {array.shape}. Call "
            "X.compute_chunk_sizes() first."
        )
    refuse_no_table(array)
    return Chunks("The array", array.shape, partial(chunks_in_turn, array))


def chunks_in_turn(array: Any) -> Iterator[NDArray[Any]]:
    """Yield the rows of an array of Dask, one chunk after the other.

    Each chunk is computed by itself, so that memory holds one: work that chunks share, such as
    reading a file or an average over all rows, is repeated for each, unless the array was persisted
    before (``X = X.persist()``).
    """
    for place in range(array.numblocks[0]):
        yield np.asarray(array.blocks[place].compute())


def refuse_no_table(array: Any) -> None:
    """Raise unless an array, whose numbers have not been read, is a table of real numbers."""
    if array.ndim != 2 or array.shape[1] == 0:
        raise wrong_shape(array)
    refuse_kind(np.empty(0, array.dtype))
    if array.dtype.kind not in "iuf":
        raise InputError(
            "The points must be an array of real numbers; received an array of the type "
            f"{array.dtype}. Convert it to float64."
        )


def with_errors_of_file(chunks: Chunks, path: Path, format: str) -> Chunks:
    """Return the chunks of a file; any failure to read them becomes an error about the file."""

    def read() -> Iterator[NDArray[Any]]:
        with reading(path, format):
            yield from chunks.read()

    return replace(chunks, read=read)


@contextmanager
def reading(path: Path, format: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into an error in words."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise damaged(path, format, error) from error


def check_store(folder: Path) -> None:
    """Raise if a link inside a folder leads out of it, or if arrays in it are pickles."""
    home = folder.resolve()
    for inner in folder.rglob("*"):
        if inner.is_symlink() and not inner.resolve().is_relative_to(home):
            raise leads_out(inner.name, f"a link to {os.readlink(inner)!r}")
        description = None
        if inner.name in DESCRIPTIONS and inner.is_file():
            # The library tells what is wrong with a description that cannot be read.
            with suppress(ValueError, OSError, RecursionError):
                description = json.loads(inner.read_bytes())
        if has_pickle(description):
            raise InputError(
                "The array must hold real numbers; received pickles, by "
                f"{inner.relative_to(folder).as_posix()!r}. Save the numbers again, as float64."
            )


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
