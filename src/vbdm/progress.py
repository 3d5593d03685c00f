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
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TextIO


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
    """Send all reports from inside the block to `listener`; None silences them.

    A listener with a method `close` is closed at the end of the block.
    """
    token = LISTENER.set(listener)
    try:
        yield
    finally:
        LISTENER.reset(token)
        getattr(listener, "close", lambda: None)()


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
    stream: TextIO | None = None
    # rich's drawing, while there is one; its thread draws the seconds though nothing is reported.
    _drawing: Any = None
    _last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Tell how far the stage is; its line is drawn as soon as it has taken long enough."""
        if self._drawing is None:
            self._drawing = self._new_drawing()
            self._drawing.start()
        # A stage may come twice, as a search for longer lists does: each time has its own line.
        last = self._last
        if last is None or progress.room != last.room or progress.done < last.done:
            self.leave()
            self._drawing.add_task(progress.room, far="", note="")
        share = progress.share
        far = f"{share:4.0%}" if share is not None else f"step {progress.done}"
        self._last = progress
        self._drawing.update(
            self._drawing.task_ids[-1], completed=progress.done, total=progress.total,
            far=far if progress.done else "", note=progress.note,
        )  # fmt: skip

    def leave(self) -> None:
        """End the stage: its line stays, if it was drawn."""
        self._last = None
        for task in self._drawing.tasks if self._drawing is not None else ():
            self._drawing.stop_task(task.id)
            if task.elapsed >= self.patience:
                self._drawing.print(self._drawing.make_tasks_table([task]))
            self._drawing.remove_task(task.id)

    def close(self) -> None:
        """End the drawing."""
        self.leave()
        if self._drawing is not None:
            # Progress.stop() would end with an empty line where there is no terminal.
            self._drawing.live.stop()
        self._drawing = None

    def _new_drawing(self) -> Any:
        from rich import progress
        from rich.console import Console

        class Late(progress.Progress):
            def get_renderables(drawing) -> Iterator[Any]:
                late = [task for task in drawing.tasks if (task.elapsed or 0) >= self.patience]
                yield drawing.make_tasks_table(late)

        return Late(
            progress.TextColumn("{task.description:12s}"), progress.BarColumn(self.width),
            progress.TextColumn("{task.fields[far]} {task.elapsed:6.1f} s {task.fields[note]}"),
            console=Console(file=self.stream, stderr=True), transient=True,
        )  # fmt: skip


@contextmanager
def showing(verbose: bool) -> Iterator[None]:
    """Show progress bars inside the `with` block, if `verbose`."""
    with listening(Bar()) if verbose else nullcontext():
        yield
