"""How far the work is: stages of the work report, and a listener decides what to show.

>>> seen = []
>>> with vbdm.progress.listening(seen.append):
...     graph = vbdm.neighbors(vbdm.datasets.sphere(2000, random_state=0).points)
>>> seen[-1].room, seen[-1].share
('neighbours', 1.0)

The logger "vbdm" of Python's `logging` hears of every stage as well, once when it begins and once
when it ends, of every operator and spectrum, and of rows that go to disk for want of memory, all at
the level INFO:
``logging.basicConfig(level=logging.INFO)`` shows them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import TextIO


@dataclass(frozen=True)
class Progress:
    """How far one stage of the work is.

    Attributes
    ----------
    room : str
        Name of the stage: "neighbours", "kernel", "eigenpairs", "reading" …
    done : int
        Number of blocks, or of iterations, that are done.
    total : int or None
        Number of blocks in all; None if it is not known beforehand, as in an iteration.
    note : str
        Further information, such as an error estimate.
    """

    room: str
    done: int
    total: int | None = None
    note: str = ""

    @property
    def share(self) -> float | None:
        """Share of the stage that is done, from 0 to 1; None if the total is not known."""
        return None if not self.total else self.done / self.total


#: Says nothing unless the user sets logging up.
LOGGER = logging.getLogger("vbdm")
LOGGER.addHandler(logging.NullHandler())
Listener = Callable[[Progress], None]
#: The function that is called with every report; None if nothing listens.
LISTENER: ContextVar[Listener | None] = ContextVar("vbdm_progress", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Send all reports from inside the block to `listener`; None silences them."""
    token = LISTENER.set(listener)
    try:
        yield
    finally:
        LISTENER.reset(token)


def is_heard() -> bool:
    """Tell whether anybody listens: a listener, or the logger."""
    return LISTENER.get() is not None or LOGGER.isEnabledFor(logging.INFO)


def report(room: str, done: int, total: int | None = None, note: str = "") -> None:
    """Report the progress of a stage to the listener, if there is one; see `Progress`."""
    if LOGGER.isEnabledFor(logging.INFO):
        log_stage(room, finished=total is not None and done >= total)
    listener = LISTENER.get()
    if listener is not None:
        listener(Progress(room, done, total, note))


def announce(text: str) -> None:
    """Say why nothing will happen for a while: to the logger, the listener, or on standard error.

    A listener with a method `tell` is given the text.
    """
    LOGGER.info("%s", text)
    tell = getattr(LISTENER.get(), "tell", None)
    if tell is not None:
        tell(text)
    elif not LOGGER.isEnabledFor(logging.INFO):
        sys.stderr.write(f"vbdm: {text}\n")
        sys.stderr.flush()


#: The stage that the logger heard of last, and when it began.
STAGE: ContextVar[tuple[str, float]] = ContextVar("vbdm_stage", default=("", 0.0))


def log_stage(room: str, finished: bool) -> None:
    """Tell the logger that a stage begins, or that it ends."""
    known, started = STAGE.get()
    if room != known:
        started = perf_counter()
        STAGE.set((room, started))
        LOGGER.info("%s …", room)
    if finished:
        STAGE.set(("", 0.0))
        LOGGER.info("%s: %.1f s", room, perf_counter() - started)


@dataclass
class Bar:
    """A listener that draws one line per stage, once the stage has taken `patience` seconds.

    Examples
    --------
    >>> with vbdm.progress.listening(vbdm.progress.Bar()):
    ...     op = vbdm.estimate_operator(vbdm.datasets.sphere(500, random_state=0).points)
    """

    patience: float = 2.0
    width: int = 30
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    _room: str = ""
    _started: float = 0.0
    _drawn: bool = False
    _done: int = 0

    def __call__(self, progress: Progress) -> None:
        """Draw the line anew, if the stage has taken long enough."""
        now = perf_counter()
        # A stage may come twice, as a search for longer lists does: each time has its own line.
        if progress.room != self._room or progress.done < self._done:
            self.close()
            self._room, self._started = progress.room, now
        self._done = progress.done
        elapsed = now - self._started
        if elapsed >= self.patience:
            self.stream.write(f"\r{self.line(progress, elapsed)}\033[K")
            self.stream.flush()
            self._drawn = True

    def line(self, progress: Progress, elapsed: float) -> str:
        """Return one line: name of the stage, bar or number of the iteration, seconds, note."""
        share = progress.share
        if share is None:
            bar = f"step {progress.done}"
        else:
            full = int(share * self.width)
            bar = f"[{'█' * full}{'·' * (self.width - full)}] {share:4.0%}"
        return f"{progress.room:12s} {bar} {elapsed:6.1f} s {progress.note}".rstrip()

    def close(self) -> None:
        """End the line, if one was drawn."""
        if self._drawn:
            self.stream.write("\n")
        self._drawn = False


@contextmanager
def showing(verbose: bool) -> Iterator[None]:
    """Show progress bars inside the `with` block, if `verbose`."""
    if not verbose:
        yield
        return
    with listening(bar := Bar()):
        try:
            yield
        finally:
            bar.close()
