"""Files: the libraries that read them, files that are written whole or not at all, plain JSON."""

from __future__ import annotations

import dataclasses
import math
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import InputError
from .checks import a_path

PathLike = str | os.PathLike[str]
#: Seconds after which what a killed run has left is removed.
STALE = 3600


def need(module: str, path: str | os.PathLike[str], extra: str, doing: str = "Reading") -> Any:
    """Import a library that a file needs, or raise with how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise missing_library(module, path, extra, str(error), doing) from error


def missing_library(
    module: str, path: str | os.PathLike[str], extra: str, why: str = "", doing: str = "Reading"
) -> InputError:
    """Return the error that names the install command."""
    library = module.split(".")[0]
    return InputError(
        f"{doing} {Path(path).name!r} needs the library {library}, which cannot be imported here; "
        f"received an import of {module}{(f' ({why})' if why else '')}. Install it with: pip "
        f"install 'vbdm[{extra}]'"
    )


def damaged(
    path: str | os.PathLike[str],
    format: str,
    error: Exception,
    hint: str = "Copy it again, or write it again.",
) -> InputError:
    """Return the error for a file that its library cannot read."""
    words = " ".join(str(error).split())[:200]
    return InputError(
        f"The file cannot be read as {format}; received {Path(path).name!r} "
        f"({type(error).__name__}: {words}). {hint}"
    )


def check_target(path: PathLike) -> Path:
    """Return the path of the file to write; raise if it is a folder or its folder is missing."""
    # Links are followed, so that the file behind a link is replaced and the link itself stays.
    target = Path(os.path.realpath(a_path(path, "path")))
    if target.is_dir() or not target.parent.is_dir():
        raise InputError(
            "The path must name a file in a folder that exists; received "
            f"{os.fspath(path)!r}. Pass, for example, 'results/sphere.vbdm', and create the "
            "folder first."
        )
    return target


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file for the block, which then takes the target's place."""
    with replacing_path(target) as temporary, open(temporary, "xb") as stream:
        yield stream


@contextmanager
def replacing_path(target: Path) -> Iterator[Path]:
    """Yield the path of a new file or folder that takes the target's place once it is complete.

    If the block raises, what it made is removed and the target stays as it was.
    """
    put_back(target)
    new, old = beside(target, "partial"), beside(target, "old")
    try:
        yield new
        sync(new)
        if target.is_dir():
            # A folder cannot be renamed over another one that holds something.
            os.rename(target, old)
            try:
                os.rename(new, target)
            except BaseException:
                os.rename(old, target)
                raise
        else:
            os.replace(new, target)
    except BaseException:
        remove(new)
        raise
    sync_folder(target.parent)
    remove(old)
    for path in leftovers(target, "partial") + leftovers(target, "old"):
        # A younger one may belong to another run, which may be cleaning up as well.
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > STALE:
                remove(path)


def beside(target: Path, kind: str) -> Path:
    """Return a new path next to the target, named after it and its kind: "partial" or "old"."""
    return target.with_name(f".{target.name}.vbdm-{secrets.token_hex(4)}.{kind}")


def leftovers(target: Path, kind: str) -> list[Path]:
    """Return what killed runs have left of one kind beside the target, sorted."""
    start, end = f".{target.name}.vbdm-", f".{kind}"
    names = (path.name for path in target.parent.iterdir())
    return sorted(target.with_name(n) for n in names if n.startswith(start) and n.endswith(end))


def put_back(target: Path) -> None:
    """Give an old folder its name back, if a run was killed between the two renamings."""
    if target.parent.is_dir() and not target.exists():
        for old in leftovers(target, "old")[-1:]:
            os.rename(old, target)


def remove(path: Path) -> None:
    """Remove a file or a folder, as far as that can be done."""
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink()


def sync(path: Path) -> None:
    """Write a file, or all files of a folder, to the disk (fsync)."""
    # Windows syncs only files open for writing; elsewhere, read-only files must be synced as well.
    mode = "r+b" if os.name == "nt" else "rb"
    for inner in (path, *path.rglob("*")):
        if inner.is_dir():
            sync_folder(inner)
        elif not inner.is_symlink():
            with open(inner, mode) as stream:
                os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, so that they survive a power failure.

    Systems that cannot do this (Windows) are left to themselves.
    """
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def plain(value: Any) -> Any:
    """Return a value made of text, numbers, truth values, None, lists and dicts only.

    Dicts get keys of text, unknown objects become their `str`. JSON knows neither NaN nor infinity:
    both become None. All text can be written as UTF-8.

    >>> plain({"values": np.array([1.0, np.nan]), "count": np.int64(3), "pair": (True, None)})
    {'values': [1.0, None], 'count': 3, 'pair': [True, None]}
    """
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return readable(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        kind = value.dtype.kind
        if kind == "f":
            # Python's float is 64 bits wide: wider NumPy types would not become plain numbers.
            value = value.astype(np.float64)
        finite = kind in "biu" or (kind == "f" and np.isfinite(value).all())
        return value.tolist() if finite else plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {readable(str(key)): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    return readable(str(value))


def readable(text: str) -> str:
    """Return text that can be written as UTF-8: undecodable bytes become replacement characters.

    File names may hold such bytes.

    >>> readable("caf" + chr(0xDCE9)) == "caf" + chr(0xFFFD)
    True
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
