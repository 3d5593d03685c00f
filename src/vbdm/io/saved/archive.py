"""The file behind a saved result: written whole or not at all, read with suspicion.

A zip archive without compression: ``model.json`` and arrays in NumPy's own format, little-endian.
Any tool that reads ``.npz`` files can look into it. What stands where is said in
docs/file-format.md.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base import memory
from ...base.checks import a_path
from ...base.files import PathLike, check_target, replacing
from ...errors import InputError, OutOfMemoryError
from .older import upgraded

#: What the file says it is, and which layout it has; raised when older readers would stumble.
FORMAT, VERSION = "vbdm model", 4
#: The oldest layout that is still read.
OLDEST = 2
HEADER = "model.json"
#: The most bytes of its text: long lists of names and lengths take some ten megabytes.
LONGEST_HEADER = 2**28
#: How an array begins, as NumPy writes it: the kind of its numbers, and its shape. Read by NumPy,
#: what stands there would be evaluated.
BEGINNING = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '[<>|](b1|i4|i8|f4|f8|c16)', "
    rb"'fortran_order': (?:True|False), 'shape': \((\d{1,18},(?: \d{1,18})?)\), \} *\n",
    re.DOTALL,
)
#: What reading a damaged archive may raise; the last two, NumPy where an array begins.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, KeyError, IndexError,
    TypeError, AttributeError, RuntimeError, OverflowError, SyntaxError, TokenError,
)  # fmt: skip


def write_archive(path: PathLike, head: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a header and arrays into one file, which appears only when it is complete."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **head}, allow_nan=False, indent=1)
    target = check_target(path)
    with replacing(target) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(entry_named(HEADER), text)
        for name, array in arrays.items():
            with archive.open(entry_named(name), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, little_endian(array), allow_pickle=False)


def check_notes(notes: Any) -> Any:
    """Return notes as they will be read again, or say that they are not plain."""
    try:
        return json.loads(json.dumps(notes, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "Notes must be plain: text, finite numbers, lists and dicts of them; received "
            f"something else ({error}). Turn arrays into lists with `.tolist()`, and objects into "
            "text."
        ) from None


@contextmanager
def reading(path: PathLike) -> Iterator[Source]:
    """Open a file to be read; whatever fails in the block is the file's fault."""
    source = check_source(path)
    with complaining(source), zipfile.ZipFile(source) as archive:
        yield Source(read_header(archive, source), archive)


@dataclass(frozen=True, eq=False)
class Source:
    """A file that is being read.

    Attributes
    ----------
    head : dict
        What ``model.json`` says.
    archive : ZipFile
        Where the arrays are.
    sizes : dict
        How long axes are, by their names in the schema: those that have been seen so far. An axis
        may be longer or shorter than a name says: "M + 1".
    """

    head: dict[str, Any]
    archive: zipfile.ZipFile
    sizes: dict[str, int] = field(default_factory=dict)

    def array(self, entry: str, axes: Sequence[str], kinds: str) -> NDArray[Any]:
        """Return an array; its kind of numbers and its shape are checked before it is read."""
        kind, shape = describe_array(self.archive, entry)
        if ("s" if kind == "f4" else kind[0]) not in kinds:
            raise ValueError(f"{entry} holds numbers of the kind {kind}")
        for axis, length in zip(axes, shape, strict=True):
            name, *more = axis.split()
            extra = int("".join(more) or 0)
            if self.sizes.setdefault(name, length - extra) != length - extra:
                raise ValueError(f"{entry} has the shape {shape}")
        refuse_large(self.archive.getinfo(entry).file_size)
        return read_array(self.archive, entry)


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
    """Return the JSON text, as this version says it; refuse other archives and versions."""
    head = None
    if HEADER in archive.namelist():
        check_entry(archive, HEADER)
        if archive.getinfo(HEADER).file_size > LONGEST_HEADER:
            raise ValueError(f"{HEADER} is too long")
        head = json.loads(archive.read(HEADER))
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise not_readable(source, "an archive of another kind")
    version = head.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise not_readable(source, "damaged (it has no version)")
    if version > VERSION:
        raise InputError(
            "The file was saved by a newer version of vbdm; received format version "
            f"{version!r:.20} from vbdm {head.get('vbdm')!r:.40}. This version reads formats "
            f"{OLDEST} to {VERSION}. Update with: pip install --upgrade vbdm."
        )
    if version < OLDEST:
        raise InputError(
            "The file was saved by a version of vbdm from before its first release; received "
            f"format version {version} from vbdm {head.get('vbdm')!r:.40}. Formats before "
            f"{OLDEST} were drafts, and are not read any more. Estimate again from the points, "
            "and save the result."
        )
    return head if version == VERSION else upgraded(head)


def check_entry(archive: zipfile.ZipFile, name: str) -> None:
    """Refuse an entry that is packed, or says to be longer than the whole file."""
    entry = archive.getinfo(name)
    length = os.path.getsize(str(archive.filename))
    stored = entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size
    if not stored or entry.file_size > length:
        raise ValueError(f"{name} is not stored as it is")


def describe_array(archive: zipfile.ZipFile, name: str) -> tuple[str, tuple[int, ...]]:
    """Return kind and shape of an array, without making room for it.

    Refuses what is no plain array, or has not the length that it says. Read to its very end, as it
    then will be, the sum of the array is checked.
    """
    check_entry(archive, name)
    with archive.open(name) as entry:
        found = BEGINNING.match(entry.read(512))
    if found is None or int.from_bytes(found[1], "little") + 10 != found.end():
        raise ValueError(f"{name} is not a plain array")
    shape = tuple(int(length) for length in found[3].split(b",") if length)
    size = found.end() + math.prod(shape) * int(found[2][1:])
    if size != archive.getinfo(name).file_size:
        raise ValueError(f"{name} has not the length that it says")
    return found[2].decode(), shape


def refuse_large(size: int) -> None:
    """Raise if there is no room for an array; a file with holes is longer than the disk is full."""
    free = memory.available_memory()
    if free is not None and size > free:
        raise OutOfMemoryError(
            f"The saved model does not fit into memory. Received an array of {size / 1e9:.1f} GB, "
            f"where {free / 1e9:.1f} GB are free. Arrays are read as a whole. Close other "
            "programs, or load it on a larger machine."
        )


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read one array, in this machine's byte order; the archive checks its sum."""
    with archive.open(name) as entry:
        array = np.lib.format.read_array(entry, allow_pickle=False)
    return np.asarray(array, dtype=array.dtype.newbyteorder("="))


def check_source(path: PathLike) -> Path:
    """Return the file to read, if it can be a saved result at all."""
    source = Path(a_path(path, "path"))
    if not source.exists():
        raise FileNotFoundError(f"There is no file {os.fspath(path)!r} to load.")
    if source.is_dir():
        raise not_readable(source, "a folder")
    if not source.is_file():
        raise not_readable(source, "no plain file")
    if source.stat().st_size == 0:
        raise not_readable(source, "empty")
    if not zipfile.is_zipfile(source):
        raise not_readable(source, "of another kind, or cut off")
    return source


def not_readable(source: Path, state: str) -> InputError:
    """Say that a file is no saved result."""
    return InputError(
        f"The file is not a result saved by vbdm; received {os.fspath(source)!r}, which is "
        f"{state}. Pass a file that vbdm.save has written, or save it again."
    )
