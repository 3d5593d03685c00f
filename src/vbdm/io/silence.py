"""Silence for libraries whose C code prints to the terminal past Python."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def silenced() -> Iterator[None]:
    """Discard what C code prints to stdout and stderr inside the block.

    mdtraj prints remarks even about good files, which would spoil output that another program
    reads. They pass Python's streams, so they can be stopped only at the file descriptors.
    """
    copies: dict[int, int] = {}
    for number in (1, 2):
        # A descriptor that is closed cannot be copied, and needs no silence.
        with suppress(OSError):
            copies[number] = os.dup(number)
    flush_all()
    try:
        with open(os.devnull, "wb") as nowhere:
            for number in copies:
                os.dup2(nowhere.fileno(), number)
        yield
    finally:
        flush_all()
        for number, copy in copies.items():
            os.dup2(copy, number)
            os.close(copy)


def flush_all() -> None:
    """Write out what Python and C hold in their buffers."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.flush()
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).fflush(None)
