"""The file behind a saved result: written whole or not at all, read with suspicion.

A zip archive without compression: ``model.json`` and arrays in NumPy's own format, little-endian.
Any tool that reads ``.npz`` files can look into it.
"""

from __future__ import annotations

import errno
import json
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.errors import InputError, bad_input
from ...base.files import PathLike, check_target, replacing
from .packing import NUMBERS

#: What the file says it is, and which layout it has; raised when older readers would stumble.
FORMAT, VERSION = "vbdm model", 1
HEADER = "model.json"
#: What reading a damaged archive may raise.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, KeyError, IndexError,
    TypeError, AttributeError, RuntimeError, OverflowError,
)  # fmt: skip


def write_archive(path: PathLike, head: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> None:
    """Write a header and arrays into one file, which appears only when it is complete."""
    text = json.dumps(
        {"format": FORMAT, "version": VERSION, **head, "n_arrays": len(arrays)},
        allow_nan=False,
        indent=1,
    )
    target = check_target(path)
    with replacing(target) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(entry_named(HEADER), text)
        for number, array in enumerate(arrays):
            with archive.open(entry_named(f"{number}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, little_endian(array), allow_pickle=False)


def check_notes(notes: Any) -> Any:
    """Return notes as they will be read again, or say that they are not plain."""
    try:
        return json.loads(json.dumps(notes, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise bad_input(
            "Notes must be plain: text, finite numbers, lists and dicts of them.",
            received=f"something else ({error})",
            because="They are stored as JSON, so that any tool can read them.",
            hint="Turn arrays into lists with `.tolist()`, and objects into text.",
        ) from None


def read_head(path: PathLike) -> dict[str, Any]:
    """Read the header alone."""
    source = check_source(path)
    with complaining(source), zipfile.ZipFile(source) as archive:
        return read_header(archive, source)


@contextmanager
def reading(path: PathLike) -> Iterator[tuple[dict[str, Any], list[NDArray[Any]]]]:
    """Read the header and the arrays; whatever fails in the block is the file's fault, too."""
    source = check_source(path)
    with complaining(source):
        with zipfile.ZipFile(source) as archive:
            head = read_header(archive, source)
            names = [f"{number}.npy" for number in range(head["n_arrays"])]
            arrays = [read_array(archive, name) for name in names]
        yield head, arrays


@contextmanager
def complaining(source: Path) -> Iterator[None]:
    """Say that a file is damaged, whatever shows it inside the block."""
    try:
        yield
    except InputError:
        raise
    except (*DAMAGE, OSError) as error:
        # A wrong offset is a place that no file has; other errors are those of the disk.
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise not_readable(source, f"damaged ({type(error).__name__}: {error})") from error


def entry_named(name: str) -> zipfile.ZipInfo:
    """Return an entry with the default date, which is fixed: equal models make equal files."""
    entry = zipfile.ZipInfo(name)
    # Readable, if somebody unpacks it.
    entry.external_attr = 0o644 << 16
    return entry


def little_endian(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in the byte order of the file."""
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"))


def read_header(archive: zipfile.ZipFile, source: Path) -> dict[str, Any]:
    """Return the JSON text; refuse other people's archives and the files of later versions."""
    head = json.loads(archive.read(HEADER)) if HEADER in archive.namelist() else None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise not_readable(source, "an archive of another kind")
    version = head.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise bad_input(
            "The file was saved by a newer version of vbdm.",
            received=f"format version {version} from vbdm {head.get('vbdm')}",
            because=f"This version reads formats up to {VERSION}.",
            hint="Update with: pip install --upgrade vbdm.",
        )
    return head


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read one array, in this machine's byte order; the archive checks its sum."""
    check_size(archive, name)
    with archive.open(name) as entry:
        array = np.lib.format.read_array(entry, allow_pickle=False)
    return np.asarray(array, dtype=array.dtype.newbyteorder("="))


def check_size(archive: zipfile.ZipFile, name: str) -> None:
    """Refuse what is no plain array of the size that its header says, before room is made for it.

    Read to its very end, as it then is, the sum of the array is checked.
    """
    with archive.open(name) as entry:
        np.lib.format.read_magic(entry)
        shape, _, dtype = np.lib.format.read_array_header_1_0(entry)
        size = entry.tell() + math.prod(shape) * dtype.itemsize
    if dtype.kind not in NUMBERS or size != archive.getinfo(name).file_size:
        raise ValueError(f"{name} is not a plain array")


def check_source(path: PathLike) -> Path:
    """Return the file to read, if it can be a saved result at all."""
    source = Path(path)
    if not source.exists():
        raise FileNotFoundError(f"There is no file {os.fspath(path)!r} to load.")
    if source.is_dir():
        raise not_readable(source, "a folder")
    if source.stat().st_size == 0:
        raise not_readable(source, "empty")
    if not zipfile.is_zipfile(source):
        raise not_readable(source, "of another kind, or cut off")
    return source


def not_readable(source: Path, state: str) -> InputError:
    """Say that a file is no saved result."""
    return bad_input(
        "The file is not a result saved by vbdm.",
        received=f"{os.fspath(source)!r}, which is {state}",
        because="Copies that broke off and files of other programs look like this.",
        hint="Pass a file that vbdm.save has written, or save it again.",
    )
