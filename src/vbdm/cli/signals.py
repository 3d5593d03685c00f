"""Ctrl-C and termination while a command runs: both end it, and leave nothing unfinished behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Terminated(KeyboardInterrupt):
    """The process was asked to end (SIGTERM), by a scheduler or by `kill`."""


#: Signals that were heard while the command runs, the first one first.
HEARD: list[type[KeyboardInterrupt]] = []


@contextmanager
def heard() -> Iterator[list[type[KeyboardInterrupt]]]:
    """Turn both signals into exceptions inside the block; yield the list of those that came.

    Only the main thread may say so, and a signal that is ignored (``nohup``) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield []
        return
    before = {}
    for number, kind in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, raising(kind))
    try:
        yield HEARD
    finally:
        HEARD.clear()
        for number, handler in before.items():
            signal.signal(number, handler)


def raising(kind: type[KeyboardInterrupt]) -> Any:
    """Return a handler that notes the signal and raises."""

    def handle(*_: Any) -> None:
        HEARD.append(kind)
        raise kind

    return handle


def stop_if_heard() -> None:
    """Raise again if a signal was heard.

    The first exception can get lost: raised inside a callback of compiled code, as while that is
    loaded, it is printed and forgotten.
    """
    if HEARD:
        raise HEARD[0]
