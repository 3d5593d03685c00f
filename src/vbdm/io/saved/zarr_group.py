"""Results as a group of Zarr: one array each, written in parts that fit into memory.

Any program that reads Zarr can open it; `docs/file-format.md` says what is in it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...base.arrays import frozen, to_host
from ...base.files import PathLike, damaged, need, plain, replacing_path
from ...base.memory import refuse_array
from ...base.threads import slices
from ...base.versions import __version__
from ...errors import InputError
from ...progress import report
from ...report.facts import facts_of
from ...rows.sources import check_store
from ...spectrum.spectrum import Spectrum
from ...spectrum.vectors import known_eigenfunctions
from ...trust.diagnose import diagnose
from ...trust.findings import Finding

#: What the attributes of the group say about its format.
FORMAT, VERSION = "vbdm spectrum", 1
#: Fewest rows in a chunk, and most chunks of a column.
ROWS_PER_CHUNK, MOST_CHUNKS = 1 << 17, 1000


def write_zarr(spectrum: Spectrum, path: PathLike, notes: Mapping[str, Any] | None = None) -> None:
    """Write eigenvalues, errors, eigenfunctions, density and bandwidth into a group of Zarr."""
    need("zarr", path, "zarr", "Writing")
    with replacing_group(path) as partial:
        write_group(partial, arrays_of(spectrum), attributes_of(spectrum, notes))


@contextmanager
def replacing_group(path: PathLike) -> Iterator[Path]:
    """Yield the path of a new group that takes the place of one of ours once it is complete."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InputError(
            "The path must name a folder inside one that exists; received "
            f"{os.fspath(target)!r}. Create that folder first."
        )
    if target.exists() and not is_ours(target):
        raise InputError(
            f"Something else has this name; received {os.fspath(target)!r}. Choose another name."
        )
    with replacing_path(target) as partial:
        yield partial


def write_group(path: Path, arrays: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """Write arrays, which may live in blocks, into a new group of Zarr."""
    zarr = need("zarr", path, "zarr", "Writing")
    with warnings.catch_warnings():
        # Text has no settled place in the format yet.
        warnings.simplefilter("ignore")
        group = zarr.open_group(path, mode="w-", attributes=plain(attributes))
        for done, (name, values) in enumerate(arrays.items()):
            report("saving", done, len(arrays), name)
            stored = group.create_array(
                name, shape=values.shape, dtype=values.dtype, chunks=chunks_for(values.shape)
            )
            fill(stored, values)
    report("saving", len(arrays), len(arrays))


def read_group(path: Path) -> dict[str, Any]:
    """Return the arrays of a group: NumPy's, but for tables of many rows, which stay on disk.

    Nothing outside the folder is read, and nothing is unpickled.
    """
    zarr = need("zarr", path, "zarr")
    check_store(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays = dict(zarr.open_group(path, mode="r").arrays())
            small = {
                name: array
                for name, array in arrays.items()
                if len(array.shape) < 2 or array.shape[0] <= ROWS_PER_CHUNK
            }
            refuse_array(sum(array.size for array in small.values()), "The group of arrays")
            return arrays | {name: frozen(np.asarray(a[...])) for name, a in small.items()}
    except InputError:
        raise
    except Exception as error:  # each library has its own exceptions for damaged files
        raise damaged(path, "zarr", error) from error


def chunks_for(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of chunks: many rows of one column, and not too many chunks.

    Only tables have many rows; arrays with more axes, or with none, are one chunk.

    Examples
    --------
    >>> chunks_for((10,)), chunks_for((1_000_000, 5)), chunks_for((1_000_000_000, 5))
    ((10,), (131072, 1), (1000000, 1))
    """
    if len(shape) not in (1, 2):
        return tuple(max(1, size) for size in shape)
    rows = max(1, min(shape[0], max(ROWS_PER_CHUNK, -(-shape[0] // MOST_CHUNKS))))
    return (rows, *(1 for _ in shape[1:]))


def fill(stored: Any, values: Any) -> None:
    """Write an array, a chunk of rows at a time."""
    if values.ndim == 0:
        stored[...] = values
        return
    for rows in slices(values.shape[0], stored.chunks[0]):
        stored[rows] = np.asarray(values[rows])


def arrays_of(spectrum: Spectrum) -> dict[str, Any]:
    """Return the arrays of a spectrum, by name."""
    operator = spectrum.operator
    found = {
        "eigenvalues": spectrum.eigenvalues,
        "residuals": spectrum.residuals,
        "eigenfunctions": known_eigenfunctions(spectrum),
        "unresolved": spectrum.unresolved,
        "density": operator.density,
        "widths": operator.widths,
    }
    if not isinstance(operator.bandwidth, tuple):
        found["bandwidth"] = operator.bandwidth
    if operator.kernel.is_symmetric:
        found["intervals"] = spectrum.intervals()
        found["total_errors"] = spectrum.total_errors
        found["standard_errors"] = spectrum.standard_errors
    return {name: to_host(values) for name, values in found.items()}


def attributes_of(spectrum: Spectrum, notes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the attributes of the group: plain numbers and words."""
    operator = spectrum.operator
    return {
        "format": FORMAT,
        "version": VERSION,
        "vbdm": __version__,
        **facts_of(operator),
        "settings": operator.settings.as_dict(),
        "findings": [as_entry(finding) for finding in diagnose(spectrum)]
        if operator.kernel.is_symmetric
        else [],
        "notes": dict(notes or {}),
    }


def as_entry(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain values, with its warning class by name."""
    warning = None if finding.warning is None else finding.warning.__name__
    return {**vars(finding), "warning": warning}


def is_ours(target: Path) -> bool:
    """Tell whether a folder is a group that this package wrote."""
    zarr = need("zarr", target, "zarr")
    try:
        return str(zarr.open_group(target, mode="r").attrs.get("format")).startswith("vbdm ")
    except Exception:  # whatever zarr raises at something that is no group
        return False
