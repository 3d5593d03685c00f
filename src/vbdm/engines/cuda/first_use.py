"""The first use of a device takes up to a minute, for it compiles: that is said, once.

CuPy keeps compiled code in a folder, and so do we keep a note for each kind of work that was done
with that code: where the note is missing, code will be compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import local

from ...progress import announce


@dataclass
class FirstUse:
    """Whether work of some kind is done for the first time with this device and these versions.

    Attributes
    ----------
    device : str
        Name of the device.
    folder : Path
        Where compiled code is kept.
    versions : str
        What the code was compiled for and by.
    """

    device: str
    folder: Path
    versions: str
    # Threads of the user's do work of their own.
    _thread: local = field(default_factory=local)
    _seen: set[str] = field(default_factory=set)

    @contextmanager
    def of(self, work: str) -> Iterator[None]:
        """Do some work; when it is done, a note is left that its code has been compiled."""
        if self.current_work:
            # A part of other work.
            yield
            return
        self._thread.work = work
        try:
            yield
        finally:
            self._thread.work = ""
        if work in self._seen and not self.note(work).exists():
            self.leave_note(work)

    def launched(self) -> None:
        """Say that code is compiled, if this is the first launch for work never done before."""
        work = self.current_work
        if work and work not in self._seen:
            self._seen.add(work)
            if not self.note(work).exists():
                announce(f"compiling for {self.device}, first use only: up to a minute ({work})")

    @property
    def current_work(self) -> str:
        """The work that this thread does; empty: none."""
        return str(getattr(self._thread, "work", ""))

    def note(self, work: str) -> Path:
        """Return the path of the note for some work."""
        return self.folder / f"vbdm-{self.versions}-{work.replace(' ', '-')}"

    def leave_note(self, work: str) -> None:
        """Write a note; without a folder to write to there is none, and code is compiled again."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.note(work).touch()
        except OSError:
            pass
