"""How long each stage of a command takes, and a line on the terminal for those that take long."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TextIO

from ..progress import Bar, Progress
from .signals import stop_if_heard

#: Seconds between two updates of the line.
TICK = 0.5


class Ledger:
    """A listener of `vbdm.progress` that adds up the seconds of every stage.

    Stages of the library report under their own names. The time since the last report is added to
    the stage that reports; the time at the end of a block, to the last stage of the block.
    """

    def __init__(
        self, screen: Screen | None = None, lines: TextIO | None = None, quiet: bool = False
    ) -> None:
        self.seconds: dict[str, float] = {}
        self._screen, self._lines, self._quiet = screen, lines, quiet
        self._open: tuple[str, ...] = ()
        self._last = perf_counter()

    @contextmanager
    def stage(self, *names: str) -> Iterator[None]:
        """Time the named stages, which may alternate inside the block.

        Reports under other names count for the first of them.
        """
        stop_if_heard()
        self._open, self._last = names, perf_counter()
        self._show(names[0])
        try:
            yield
            self._add(names[-1])
            self._tell(names)
        finally:
            self._open = ()
            if self._screen is not None:
                self._screen.leave()

    def __call__(self, progress: Progress) -> None:
        """Add the time since the last report to the stage that reports."""
        stop_if_heard()
        if not self._open:
            return
        inside = progress.room in self._open
        stage = progress.room if inside else self._open[0]
        self._add(stage)
        self._show(stage, progress if inside else None)

    def tell(self, text: str) -> None:
        """Write why nothing will happen for a while: as text, or as a line of JSON."""
        if self._screen is not None:
            self._screen.leave()
        line = text if self._lines is None else json.dumps({"note": text, "kind": "Note"})
        if not self._quiet:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def _add(self, stage: str) -> None:
        now = perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now

    def _show(self, stage: str, progress: Progress | None = None) -> None:
        if self._screen is not None:
            self._screen.enter(stage, progress)

    def _tell(self, names: tuple[str, ...]) -> None:
        """Write one line of JSON for each of these stages that took time."""
        if self._lines is None:
            return
        for name in names:
            if name in self.seconds:
                line = {"room": name, "seconds": round(self.seconds[name], 3)}
                self._lines.write(json.dumps(line) + "\n")
        self._lines.flush()


class Screen:
    """One line on the terminal for the current stage, once it has taken `patience` seconds.

    A thread updates the seconds on the line even while the stage reports nothing.
    """

    def __init__(self, stream: TextIO | None = None, patience: float = 2.0) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.patience = patience
        self._stage, self._started = "", 0.0
        self._progress: Progress | None = None
        self._drawn = False
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._bar = Bar()

    @contextmanager
    def on(self) -> Iterator[None]:
        """Run the thread that updates the line, inside the block."""
        thread = threading.Thread(target=self._tick, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join()
            self.leave()

    def enter(self, stage: str, progress: Progress | None = None) -> None:
        """Show this stage from now on."""
        # A stage may come twice, as a search for longer lists does: each time has its own line.
        before = self._progress
        again = progress is not None and before is not None and progress.done < before.done
        if stage != self._stage or again:
            self.leave()
        with self._lock:
            if stage != self._stage:
                self._stage, self._started = stage, perf_counter()
            self._progress = progress or self._progress

    def leave(self) -> None:
        """End the line, if one was drawn."""
        with self._lock:
            if self._drawn:
                self._draw()
                self.stream.write("\n")
                self.stream.flush()
            self._stage, self._drawn, self._progress = "", False, None

    def look(self) -> None:
        """Draw the line, if the stage has taken long enough."""
        with self._lock:
            if self._stage and perf_counter() - self._started >= self.patience:
                self._draw()

    def text(self) -> str:
        """Return the line: the stage, how far it is if that is known, and the seconds."""
        elapsed = perf_counter() - self._started
        if self._progress is None:
            return f"{self._stage:12s} {elapsed:6.1f} s"
        return self._bar.line(self._progress, elapsed)

    def _draw(self) -> None:
        width = shutil.get_terminal_size().columns - 1
        self.stream.write(f"\r{self.text()[:width]}\033[K")
        self.stream.flush()
        self._drawn = True

    def _tick(self) -> None:
        while not self._done.wait(TICK):
            self.look()
