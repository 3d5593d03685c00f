"""Blocks in a scratch file that no longer has a name: after a crash nothing is left behind."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from bisect import bisect
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ScratchError
from .place import AtOnce, not_in_blocks, results_of

#: Arrays of at least this many bytes go to the file; smaller ones stay in memory.
SMALL = 1 << 16
#: Places in the file are multiples of this, the largest size of a page in use.
PAGE = 1 << 16
#: What systems say when a disk is full, or a file has become larger than allowed.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Scratch:
    """A file without a name, in which arrays get places and give them up again."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = os.fspath(tempfile.gettempdir() if folder is None else folder)
        try:
            # The name is taken away at once: the file lives until it is closed, or the process
            # ends.
            self.file = tempfile.TemporaryFile(dir=self.folder, prefix="vbdm-", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise no_room(f"{self.folder!r}: {error.strerror}") from error
        weakref.finalize(self, self.file.close)
        self.process = os.getpid()
        # Bytes of the file now, and most that it has had.
        self.size = self.largest = 0
        self.gaps: list[tuple[int, int]] = []
        self.given_up: deque[tuple[int, int]] = deque()
        self.lock, self.writing = Lock(), Lock()

    @property
    def is_foreign(self) -> bool:
        """Whether this is another process, begun as a copy: the file is not its to change."""
        return os.getpid() != self.process

    def check_own(self) -> None:
        """Raise in another process: it would write over what this one keeps."""
        if self.is_foreign:
            raise not_in_blocks(
                "Work in another process",
                "a copy of this one, made by fork, with a result whose rows are on disk",
                "They are in a file that belongs to the process that made it.",
            )

    def __reduce__(self) -> Any:
        """Refuse to be pickled: the file belongs to this process."""
        raise not_in_blocks(
            "A copy by pickle",
            "a result whose rows are on disk",
            "Its method `save` writes a result to a file of its own.",
        )

    def check_space(self, n_bytes: int) -> None:
        """Raise if the disk has less room than this."""
        free = shutil.disk_usage(self.folder).free
        if n_bytes > free:
            raise no_room(
                f"{free / 1e9:.3g} GB free in {self.folder!r}, where about {n_bytes / 1e9:.3g} GB "
                "are needed"
            )

    def store(self, values: NDArray[Any]) -> Stored:
        """Write an array to the file."""
        self.check_own()
        room = -(-max(values.nbytes, 1) // PAGE) * PAGE
        offset = self.take(room)
        try:
            self.append(values, offset)
        except BaseException:
            self.give(offset, room)
            raise
        stored = Stored(self, offset, values.shape, values.dtype)
        weakref.finalize(stored, self.give, offset, room)
        return stored

    def append(self, values: NDArray[Any], offset: int) -> int:
        """Write an array at a place in the file, and return how many bytes it takes."""
        self.check_own()
        if values.size == 0:
            return 0
        try:
            self.write(np.ascontiguousarray(values).data.cast("B"), offset)
        except OSError as error:
            if error.errno not in FULL:
                raise
            full = f"{self.folder!r}, full after {self.largest / 1e9:.3g} GB of ours"
            raise no_room(full) from error
        return values.nbytes

    def write(self, data: memoryview, offset: int) -> None:
        """Write all bytes at a place in the file: one call may write fewer."""
        while data:
            if hasattr(os, "pwrite"):
                written = os.pwrite(self.file.fileno(), data, offset)
            else:
                with self.writing:
                    self.file.seek(offset)
                    written = self.file.write(data)
            data, offset = data[written:], offset + written

    def take(self, room: int) -> int:
        """Return a place with so many bytes: the first gap that is large enough, or the end."""
        with self.lock:
            self.make_gaps()
            for i, (offset, size) in enumerate(self.gaps):
                if size >= room:
                    self.gaps[i : i + 1] = [(offset + room, size - room)] if size > room else []
                    return offset
            self.size += room
            self.largest = max(self.largest, self.size)
            return self.size - room

    def give(self, offset: int, room: int) -> None:
        """Give a place up; Python may call this at any moment, also while a place is taken."""
        if self.is_foreign:
            return
        self.given_up.append((offset, room))
        if self.lock.acquire(blocking=False):
            try:
                self.make_gaps()
            finally:
                self.lock.release()

    def make_gaps(self) -> None:
        """Join places that were given up with the gaps around them; the file's end is cut off."""
        while self.given_up:
            offset, room = self.given_up.popleft()
            i = bisect(self.gaps, (offset, 0))
            if i < len(self.gaps) and offset + room == self.gaps[i][0]:
                room += self.gaps.pop(i)[1]
            if i and sum(self.gaps[i - 1]) == offset:
                i -= 1
                start, size = self.gaps.pop(i)
                offset, room = start, room + size
            if offset + room < self.size:
                self.gaps.insert(i, (offset, room))
                continue
            self.size = offset
            with suppress(OSError, ValueError):
                self.file.truncate(self.size)


class Stored:
    """An array in a scratch file; its place is given up with this object and all its maps."""

    def __init__(
        self, scratch: Scratch, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self.scratch, self.offset, self.shape, self.dtype = scratch, offset, shape, dtype

    def mapped(self) -> NDArray[Any]:
        """Return the array, mapped into memory page by page as it is used.

        What is written to it goes to the file. Arrays closed to writing would cost: compiled code
        would be compiled anew for them. And private copies would count as memory of the process
        where that is limited.
        """
        self.scratch.check_own()
        array = np.memmap(self.scratch.file, self.dtype, "r+", self.offset, self.shape)
        # Parts of the array hold on to its map, so this object stays as long as there are any.
        weakref.finalize(array._mmap, hold, self)  # type: ignore[attr-defined]
        return array


def hold(stored: Stored) -> None:
    """Do nothing, but hold on to an object until it is called."""


def no_room(received: str) -> ScratchError:
    """Return the error for a scratch folder that cannot be used."""
    return ScratchError(
        f"The scratch folder must exist, be yours, and have room; received {received}. Pass "
        "another one, vbdm.placement.Disk(scratch='/a/large/disk'); nothing was left in it."
    )


class OnDisk(AtOnce):
    """Blocks in a scratch file; one block at a time is worked on, with all cores."""

    words = "on disk"

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.scratch = Scratch(folder)

    def run(
        self,
        block: int,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        n_results: int = 1,
        n_written: int = 0,
    ) -> list[Any]:
        """Map the arguments, call the function, and write what it returns."""
        values = [self.value(arg) for arg in args]
        found = results_of(function(*values), n_results)
        return [*args[:n_written], *(self.keep(block, value) for value in found)]

    def keep(self, block: int, value: Any) -> Any:
        """Write an array to the file; anything else, and small arrays, stay in memory."""
        large = isinstance(value, np.ndarray) and value.nbytes >= SMALL
        return self.scratch.store(value) if large else value

    def read(self, handles: Iterable[Any]) -> Iterator[Any]:
        """Yield the values, mapped one after the other."""
        return (self.value(handle) for handle in handles)

    def value(self, arg: Any) -> Any:
        """Return an argument with everything stored replaced by mapped arrays."""
        if isinstance(arg, Stored):
            return arg.mapped()
        if isinstance(arg, list):
            return [self.value(entry) for entry in arg]
        return arg
