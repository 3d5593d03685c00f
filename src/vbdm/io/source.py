"""The file behind a table: checks before it is opened; pipes; its name, size and hash."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.files import plain, readable
from ..base.memory import refuse_array
from ..errors import InputError
from ..progress import report
from ..rows.sources import check_store

#: Bytes that are read at a time.
CHUNK = 1 << 22


@dataclass(frozen=True)
class Source:
    """The file that a table came from, with enough to recognise the very same file later."""

    #: Name of the file, without its folder.
    name: str = ""
    #: Name of the format, as in `vbdm.io.formats`.
    format: str = ""
    #: Size in bytes; of a folder, that of all files inside.
    size: int = 0
    #: SHA-256 of the contents.
    sha256: str = ""
    #: What was taken from the file: key, columns, header and the like.
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
            f"{what} does not exist; received {os.fspath(path)!r}. Check its name and folder."
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
            f"The topology must be a file; received {os.fspath(path)!r}, a pipe. Save it first."
        )
    return source


def check_folder(path: Path, format: str | None) -> None:
    """Refuse a folder where a file is wanted."""
    may_be_folder = path.suffix.lower() == ".zarr" or format in ("zarr", "netcdf")
    if path.is_dir() and not may_be_folder:
        raise InputError(
            f"A file is needed, not a folder; received {os.fspath(path)!r}. Name one inside it."
        )
    if path.is_dir():
        check_store(path)


def cannot_open(path: Any, error: Exception, what: str = "The file") -> InputError:
    """Return the error for a file that the system does not open."""
    denied = isinstance(error, PermissionError)
    reason = "You may not have the right to" if denied else "The system refuses to"
    return InputError(
        f"{what} cannot be opened; received {path!r} "
        f"({getattr(error, 'strerror', None) or error}). {reason} read it. Ask its owner for the "
        "right, or copy it to a folder of your own."
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


def is_pipe(path: Path) -> bool:
    """Tell whether a path is a pipe; raise if it is a terminal, another device or a socket."""
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return False
    if stat.S_ISFIFO(mode):
        return True
    raise InputError(
        f"A file is needed, or a pipe; received {os.fspath(path)!r}, a "
        f"{('device' if not stat.S_ISSOCK(mode) else 'socket')}. Name a file, or send one through "
        "a pipe: cat FILE | vbdm fit /dev/stdin."
    )


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """Yield the path of a file with the contents: the path itself or, for a pipe, a copy."""
    if not is_pipe(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="vbdm-") as folder:
        copy, size = Path(folder, path.name), 0
        # Opening waits until somebody writes, and hears Ctrl-C meanwhile.
        with open(path, "rb", buffering=0) as pipe, open(copy, "wb") as target:
            while block := pipe.read(CHUNK):
                size += len(block)
                refuse_array(size, "What comes through the pipe", bytes_each=1)
                target.write(block)
                report("reading", size, None, "bytes from a pipe")
        if not size:
            raise InputError(
                f"Nothing comes out of the pipe; received {os.fspath(path)!r}. Look at the program "
                "that writes into it."
            )
        yield copy
