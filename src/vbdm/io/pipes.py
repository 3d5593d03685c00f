"""Pipes: `vbdm fit <(command) --format text` and /dev/stdin are read through a temporary file."""

from __future__ import annotations

import os
import select
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..base.memory import refuse_array
from ..errors import InputError
from ..progress import report

#: Seconds to wait until somebody begins to write into a pipe.
PATIENCE = 10.0
#: Bytes that are read at a time.
CHUNK = 1 << 20


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
        copy = Path(folder, path.name)
        # Opened so that it does not wait for somebody at the other end.
        pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            with open(copy, "wb") as target:
                drain(pipe, target, path)
        finally:
            os.close(pipe)
        yield copy


def drain(pipe: int, target: IO[bytes], path: Path) -> None:
    """Copy all that comes out of a pipe; raise if nothing comes, or more than fits into memory."""
    size, give_up = 0, time.monotonic() + PATIENCE
    while True:
        select.select([pipe], [], [], 0.1)
        block = read_some(pipe)
        if block:
            size += len(block)
            refuse_array(size, "What comes through the pipe", bytes_each=1)
            target.write(block)
            report("reading", size, None, "bytes from a pipe")
        elif block == b"" and size:
            return
        elif block == b"":
            # Nobody has opened the other end yet, or nothing was written.
            if time.monotonic() > give_up:
                raise no_writer(path)
            time.sleep(0.05)


def read_some(pipe: int) -> bytes | None:
    """Return what is in a pipe: bytes, none at its end, or None while its writer is busy."""
    try:
        return os.read(pipe, CHUNK)
    except BlockingIOError:
        return None


def no_writer(path: Any) -> InputError:
    """Return the error for a pipe out of which nothing comes."""
    return InputError(
        f"Nothing comes out of the pipe; received {os.fspath(path)!r}, empty for {PATIENCE:.0f} "
        "seconds. Look at that program, or save its output to a file first."
    )
