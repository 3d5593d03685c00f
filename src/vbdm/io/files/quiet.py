"""Silence for libraries that write to the terminal behind Python's back."""

from __future__ import annotations

import ctypes
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def silenced() -> Iterator[None]:
    """Throw away what C code writes to stdout and stderr inside the block.

    Readers of trajectories print remarks from C even about good files, which would spoil output
    that another program is to read. Readers that fail half-way also complain when they are
    destroyed; so they are destroyed here, where nobody hears them.
    """
    kept = [(number, copy_of(number)) for number in (1, 2)]
    hook = sys.unraisablehook
    flush_all()
    try:
        with open(os.devnull, "wb") as nowhere:
            for number, copy in kept:
                if copy is not None:
                    os.dup2(nowhere.fileno(), number)
        sys.unraisablehook = lambda _: None
        yield
    except Exception as error:
        forget_frames(error)
        raise
    finally:
        sys.unraisablehook = hook
        flush_all()
        for number, copy in kept:
            if copy is not None:
                os.dup2(copy, number)
                os.close(copy)


def copy_of(number: int) -> int | None:
    """Return a copy of an open file's number, None if it is closed."""
    try:
        return os.dup(number)
    except OSError:
        return None


def flush_all() -> None:
    """Write out what Python and C have kept back so far."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.flush()
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).fflush(None)


def forget_frames(error: BaseException) -> None:
    """Let go of everything that the failed calls were working on."""
    link: BaseException | None = error
    while link is not None:
        traceback.clear_frames(link.__traceback__)
        link = link.__cause__ or link.__context__
