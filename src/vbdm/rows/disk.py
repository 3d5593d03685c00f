"""Blocks in a scratch file that no longer has a name: after a crash nothing is left behind."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .place import results_of
from .refused import not_in_blocks

#: Arrays of at least this many bytes go to the file; smaller ones stay in memory.
SMALL = 1 << 16
#: Places in the file are multiples of this, the largest size of a page in use.
PAGE = 1 << 16


class Scratch:
    """A file without a name, in which arrays get places and give them up again.

    Attributes
    ----------
    size : int
        Bytes of the file so far.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        # The name is taken away at once: the file lives until it is closed, or the process ends.
        self.file = tempfile.TemporaryFile(dir=folder, prefix="vbdm-", buffering=0)  # noqa: SIM115
        self.size = 0
        self.free: dict[int, list[int]] = {}

    def __reduce__(self) -> Any:
        """Refuse to be pickled: the file belongs to this process."""
        raise not_in_blocks(
            "A copy by pickle",
            "a result whose rows are on disk",
            "They are in a file without a name, which belongs to this process; its method `save` "
            "writes a result to a file of its own.",
        )

    def store(self, values: NDArray[Any]) -> Stored:
        """Write an array to the file."""
        room = -(-max(values.nbytes, 1) // PAGE) * PAGE
        places = self.free.get(room)
        if places:
            offset = places.pop()
        else:
            offset = self.size
            self.size += room
        write_all(self.file.fileno(), np.ascontiguousarray(values).data.cast("B"), offset)
        stored = Stored(self, offset, values.shape, values.dtype)
        weakref.finalize(stored, self.free.setdefault(room, []).append, offset)
        return stored


class Stored:
    """An array in a scratch file; its place is given up with this object."""

    def __init__(
        self, scratch: Scratch, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self.scratch, self.offset, self.shape, self.dtype = scratch, offset, shape, dtype

    def mapped(self, mode: Any = "c") -> NDArray[Any]:
        """Return the array, mapped into memory page by page as it is used.

        In the mode "c" the file never changes. The array looks as if it could be written to:
        compiled code would be compiled anew for one that cannot.
        """
        return np.memmap(self.scratch.file, self.dtype, mode, self.offset, self.shape)


def write_all(file: int, data: memoryview, offset: int) -> None:
    """Write all bytes at a place in a file: one call may write fewer."""
    while data:
        written = os.pwrite(file, data, offset)
        data, offset = data[written:], offset + written


class OnDisk:
    """Blocks in a scratch file; one block at a time is worked on, with all cores."""

    words = "on disk"
    at_once = True

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
        values = [self.value(arg, "r+" if i < n_written else "c") for i, arg in enumerate(args)]
        found = results_of(function(*values), n_results)
        return [*args[:n_written], *(self.keep(block, value) for value in found)]

    def keep(self, block: int, value: Any) -> Any:
        """Write an array to the file; anything else, and small arrays, stay in memory."""
        large = isinstance(value, np.ndarray) and value.nbytes >= SMALL
        return self.scratch.store(value) if large else value

    def share(self, value: Any) -> Any:
        """Return the value: it is here already."""
        return value

    def finished(self, handles: Sequence[Any]) -> Iterator[Any]:
        """Yield all: a function is done when it returns."""
        return iter(handles)

    def read(self, handles: Iterable[Any]) -> Iterator[Any]:
        """Yield the values, mapped one after the other."""
        return (self.value(handle, "c") for handle in handles)

    def value(self, arg: Any, mode: str) -> Any:
        """Return an argument with everything stored replaced by mapped arrays."""
        if isinstance(arg, Stored):
            return arg.mapped(mode)
        if isinstance(arg, list):
            return [self.value(entry, mode) for entry in arg]
        return arg
