"""The file behind a saved model: written whole or not at all, read with suspicion.

A zip archive without compression: ``model.json`` and arrays in NumPy's own format; its comment is
the SHA-256 of all of them. Any tool that reads ``.npz`` files can look into it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...base import memory
from ...base.checks import a_path
from ...base.files import PathLike, check_target, replacing
from ...errors import InputError, OutOfMemoryError

#: What the file says it is, and which layout it has.
FORMAT, VERSION = "vbdm model", 1
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
#: What reading a damaged archive may raise.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, msgspec.MsgspecError, EOFError, ValueError,
    KeyError, IndexError, TypeError, AttributeError, RuntimeError, OverflowError, ZeroDivisionError,
    SyntaxError, TokenError,
)  # fmt: skip
#: Arrays by the names of their entries, without ".npy".
Arrays = dict[str, NDArray[Any]]
LARGEST = float(np.finfo(np.float64).max)
#: What a user may have given that is code, and what to do instead.
PER_POINT = "Pass an array, one value per point: it is saved, but not known at new points."
LISTS = "Pass the neighbours, found in your own way, to `NeighborGraph.from_arrays`."
FUNCTIONS = {
    "shape": "Use one of the named shapes: 'gaussian', 'broad' or 'compact'.",
    "bandwidth": PER_POINT, "potential": PER_POINT, "metric": LISTS, "search": LISTS,
}  # fmt: skip


class Hashed:
    """A stream that keeps a checksum of what is written to it."""

    def __init__(self, stream: IO[bytes], digest: Any) -> None:
        self.stream, self.digest = stream, digest

    def write(self, content: Any) -> int:
        """Write bytes."""
        self.digest.update(content)
        return self.stream.write(content)


def write_archive(path: PathLike, head: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a header and arrays into one file, which appears only when it is complete."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **head}, allow_nan=False, indent=1)
    digest = hashlib.sha256(HEADER.encode() + text.encode())
    target = check_target(path)
    with replacing(target) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(entry_named(HEADER), text)
        for name, array in arrays.items():
            digest.update(f"{name}.npy".encode())
            with archive.open(entry_named(f"{name}.npy"), "w", force_zip64=True) as entry:
                hashed: Any = Hashed(entry, digest)
                np.lib.format.write_array(hashed, little_endian(array), allow_pickle=False)
        archive.comment = digest.hexdigest().encode()


def entry_named(name: str) -> zipfile.ZipInfo:
    """Return an entry with the default date, which is fixed: equal models make equal files."""
    entry = zipfile.ZipInfo(name)
    # Readable, if somebody unpacks it.
    entry.external_attr = 0o644 << 16
    return entry


def little_endian(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in the byte order of the file."""
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"))


@contextmanager
def reading(path: PathLike) -> Iterator[tuple[dict[str, Any], zipfile.ZipFile]]:
    """Open a file, and yield its header and the archive; what fails in the block is its fault."""
    source = check_source(path)
    with complaining(source), zipfile.ZipFile(source) as archive:
        yield read_header(archive, source), archive


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


def cannot_save(item: Any, name: str) -> InputError:
    """Say what cannot be written down, and what to do instead."""
    name = "bandwidth" if name in ("values", "first", "second") else name
    kind = f"{type(item).__name__} {getattr(item, '__name__', '')}".strip()
    advice = FUNCTIONS.get(name, "Pass plain numbers, text, lists or arrays of numbers.")
    return InputError(f"`{name}` cannot be saved; received {kind}. Files hold no code. {advice}")


def not_readable(source: Path, state: str) -> InputError:
    """Say that a file is no saved result."""
    return InputError(
        f"The file is not a result saved by vbdm; received {os.fspath(source)!r}, which is "
        f"{state}. Pass a file that vbdm.save has written, or save it again."
    )


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


def read_header(archive: zipfile.ZipFile, source: Path) -> dict[str, Any]:
    """Return the JSON text; refuse packed or overlong entries, other archives and versions."""
    head = None
    if HEADER in archive.namelist():
        entries = archive.infolist()
        for entry in entries:
            stored = entry.compress_type == zipfile.ZIP_STORED
            require(stored and entry.file_size == entry.compress_size, entry.filename, "is packed")
        total = sum(entry.file_size for entry in entries)
        require(total <= os.path.getsize(str(archive.filename)), "the archive", "overlaps itself")
        require(archive.getinfo(HEADER).file_size <= LONGEST_HEADER, HEADER, "is too long")
        head = msgspec.json.decode(archive.read(HEADER))
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise not_readable(source, "an archive of another kind")
    version = head.get("version")
    if version != VERSION:
        raise InputError(
            f"The file has another format; received format version {version!r:.20} from vbdm "
            f"{head.get('vbdm')!r:.40}, where this vbdm reads version {VERSION}. Read it with the "
            "vbdm that wrote it."
        )
    return head


def check_sum(archive: zipfile.ZipFile) -> None:
    """Raise if the entries are not those that were written."""
    digest = hashlib.sha256()
    for info in archive.infolist():
        digest.update(info.filename.encode())
        with archive.open(info) as entry:
            while piece := entry.read(2**20):
                digest.update(piece)
    same = archive.comment == digest.hexdigest().encode()
    require(same, "the contents", "are not what was written")


@dataclass(frozen=True)
class Array:
    """What an array may hold."""

    # Names of the lengths of its axes: arrays with axes of one name have one length.
    axes: tuple[str, ...]
    # Kinds of numbers: f(loat), s(ingle precision), i(nteger), b(ool), c(omplex).
    kinds: str = "f"
    # Bounds, both included; infinities only where a bound is one.
    low: float = -LARGEST
    high: float = LARGEST
    # The name of a length that all numbers are below: they are indices.
    below: str = ""
    # Whether NaN may stand in it; whether there may be no number at all.
    missing: bool = False
    empty: bool = False
    # Compiled loops would be compiled again for read-only arrays: an estimate makes writable ones.
    writable: bool = False

    def suits(self, array: NDArray[Any], sizes: Mapping[str, int]) -> bool:
        """Tell whether an array holds only what it may hold; no copy is made."""
        if array.size == 0 or array.dtype.kind == "b":
            return self.empty or array.size > 0
        low, high = (0, sizes[self.below] - 1) if self.below else (self.low, self.high)
        parts = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
        smaller, larger = (np.fmin, np.fmax) if self.missing else (np.minimum, np.maximum)
        with np.errstate(invalid="ignore"):
            # As Python's numbers: beside one of single precision, NumPy would round the bounds.
            ends = [
                (smaller.reduce(p, axis=None).item(), larger.reduce(p, axis=None).item())
                for p in parts
            ]
        return all(
            (low <= lowest and highest <= high) or (self.missing and lowest != lowest)
            for lowest, highest in ends
        )


def read_arrays(archive: zipfile.ZipFile, kinds: Mapping[str, Array]) -> Arrays:
    """Return the arrays of these names that are in the archive.

    Kinds and shapes are looked at before there is room made for them, then bounds. Axes of one name
    have one length; a file without an array of copies has as many rows N as points M.
    """
    names = [name for name in kinds if f"{name}.npy" in archive.namelist()]
    sizes: dict[str, int] = {}
    for name in names:
        kind, shape = describe_array(archive, f"{name}.npy")
        known = ("s" if kind == "f4" else kind[0]) in kinds[name].kinds
        require(known, name, f"holds numbers of the kind {kind}")
        for axis, length in zip(kinds[name].axes, shape, strict=True):
            axis, *more = axis.split()  # "M + 1"
            inner = length - int("".join(more) or 0)
            require(sizes.setdefault(axis, inner) == inner, name, f"has the shape {shape}")
    if "M" in sizes and "graph/point_of" not in names:
        require(sizes.setdefault("N", sizes["M"]) == sizes["M"], "graph", "has other rows")
    refuse_large(sum(archive.getinfo(f"{name}.npy").file_size for name in names))
    arrays = {name: read_array(archive, f"{name}.npy") for name in names}
    for name, array in arrays.items():
        require(kinds[name].suits(array, sizes), name, "holds what cannot be there")
        array.flags.writeable = kinds[name].writable
    return arrays


def describe_array(archive: zipfile.ZipFile, name: str) -> tuple[str, tuple[int, ...]]:
    """Return kind and shape of a plain array that has the length that it says."""
    with archive.open(name) as entry:
        found = BEGINNING.match(entry.read(512))
    if found is None or int.from_bytes(found[1], "little") + 10 != found.end():
        raise ValueError(f"{name} is not a plain array")
    shape = tuple(int(length) for length in found[3].split(b",") if length)
    size = found.end() + math.prod(shape) * int(found[2][1:])
    require(size == archive.getinfo(name).file_size, name, "has not the length that it says")
    return found[2].decode(), shape


def refuse_large(size: int) -> None:
    """Raise if there is no room for arrays; a file with holes is longer than the disk is full."""
    free = memory.available_memory()
    if free is not None and size > free:
        raise OutOfMemoryError(
            f"The saved model does not fit into memory; received {size / 1e9:.1f} GB of arrays, "
            f"where {free / 1e9:.1f} GB are free. Load it on a larger machine."
        )


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read one array, in this machine's byte order."""
    with archive.open(name) as entry:
        array = np.lib.format.read_array(entry, allow_pickle=False)
    return np.asarray(array, dtype=array.dtype.newbyteorder("="))


def require(holds: Any, place: str, what: str) -> None:
    """Raise if something does not hold of a file: it is damaged."""
    if not holds:
        raise ValueError(f"{place} {what}")
