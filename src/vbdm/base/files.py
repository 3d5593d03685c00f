"""Writing files whole or not at all: a file gets its name when it is complete and on the disk."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ..errors import InputError
from .accepts import a_path

PathLike = str | os.PathLike[str]


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
    """Yield the path of a temporary file that the block writes and that then replaces the target.

    If the block raises, the temporary file is removed and the target stays as it was.
    """
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        yield temporary
        with open(temporary, "rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


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
