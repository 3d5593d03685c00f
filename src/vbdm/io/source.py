"""The file behind a table: checks before it is opened; its name, size and hash afterwards."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.files import plain, readable
from ..errors import InputError
from ..progress import report
from ..rows.sources import check_store
from .pipes import is_pipe

#: Bytes that are read at a time.
CHUNK = 1 << 22


@dataclass(frozen=True)
class Source:
    """The file that a table came from, with enough to recognise the very same file later.

    Attributes
    ----------
    name : str
        Name of the file, without its folder.
    format : str
        Name of the format, as in `vbdm.io.formats`.
    size : int
        Size in bytes; of a folder, that of all files inside.
    sha256 : str
        SHA-256 of the contents.
    selection : dict of str
        What was taken from the file: key, columns, header and the like.
    """

    name: str
    format: str
    size: int
    sha256: str
    selection: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return dict(plain(self))


def check_file(path: Any, what: str = "The file") -> Path:
    """Return the path; raise unless it exists, is not empty and can be opened."""
    try:
        source = Path(path)
        exists = source.exists()
    except (TypeError, ValueError, OSError) as error:
        # The name has a zero byte or is too long, or a folder on the way may not be entered.
        raise cannot_open(path, error, what) from None
    if not exists:
        raise InputError(
            f"{what} does not exist; received {os.fspath(path)!r}. Check the name and the "
            "folder in which the command runs."
        )
    try:
        # Looked at before it is opened: a pipe may have nobody at its other end.
        if is_pipe(source):
            return source
        for inner in files_inside(source):
            open(inner, "rb").close()
            break
        empty = not source.is_dir() and source.stat().st_size == 0
    except OSError as error:
        raise cannot_open(path, error, what) from error
    if empty:
        raise InputError(
            f"{what} is empty; received {source.name!r} with 0 bytes. Make or copy the file again."
        )
    return source


def check_topology(path: Any) -> Path:
    """Return the path of a topology file, which must be a file: it is read twice."""
    source = check_file(path, "The topology file")
    if is_pipe(source):
        raise InputError(
            f"The topology must be a file; received {os.fspath(path)!r}, a pipe. Save it to a "
            "file first."
        )
    return source


def check_folder(path: Path, format: str | None) -> None:
    """Refuse a folder where a file is wanted."""
    may_be_folder = path.suffix.lower() == ".zarr" or format in ("zarr", "netcdf")
    if path.is_dir() and not may_be_folder:
        raise InputError(
            f"A file is needed, not a folder; received {os.fspath(path)!r}. Name a file "
            "inside the folder."
        )
    if path.is_dir():
        check_store(path)


def cannot_open(path: Any, error: Exception, what: str = "The file") -> InputError:
    """Return the error for a file that the system does not open."""
    denied = isinstance(error, PermissionError)
    reason = (
        "You may not have the right to read it." if denied else "The system refuses to read it."
    )
    return InputError(
        f"{what} cannot be opened; received {path!r} "
        f"({getattr(error, 'strerror', None) or error}). {reason} Ask its owner for the right to "
        "read it, or copy it to a folder of your own."
    )


def source_of(path: Path, format: str, selection: Mapping[str, str]) -> Source:
    """Return the `Source` of a file that was read."""
    try:
        size, sha256 = size_and_hash(path)
    except OSError as error:
        raise cannot_open(os.fspath(path), error) from error
    return Source(readable(path.name), format, size, sha256, dict(selection))


def files_inside(source: Path) -> Iterator[Path]:
    """Yield the file itself, or all files inside a folder, sorted by name."""
    if source.is_dir():
        inner = (path for path in source.rglob("*") if path.is_file())
        yield from sorted(inner, key=lambda path: path.relative_to(source).as_posix())
    else:
        yield source


def size_and_hash(source: Path) -> tuple[int, str]:
    """Return the size in bytes and the SHA-256; a folder's is that of names and contents inside.

    Cost: one pass over the file, 4 MiB at a time.
    """
    digest = hashlib.sha256()
    paths = list(files_inside(source))
    total = sum(path.stat().st_size for path in paths)
    done = 0
    for path in paths:
        if source.is_dir():
            # The length of each file is hashed as well, so that no name can pass for contents.
            name = path.relative_to(source).as_posix()
            digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        with open(path, "rb") as stream:
            while block := stream.read(CHUNK):
                digest.update(block)
                done += len(block)
                report("reading", done, total, "checksum")
    return total, digest.hexdigest()
