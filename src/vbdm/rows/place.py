"""Blocks of rows, what a place for them must do, and the simplest one: blocks in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..engines.tree import LEAF, levels_to, starts_of
from ..errors import InputError


@dataclass(frozen=True, eq=False)
class Partition:
    """How M rows in tree order are cut into B blocks, where leaves of the tree begin."""

    # Where the blocks begin, (B + 1,), and M as last entry; the same of their leaves.
    starts: NDArray[np.intp]
    leaf_starts: NDArray[np.intp]

    @classmethod
    def into(cls, n_rows: int, n_blocks: int) -> Partition:
        """Cut rows into blocks of nearly equal size; no more blocks than there are leaves.

        Cells of the solver are parts of leaves, so no cell is ever cut.

        Examples
        --------
        >>> Partition.into(100, 3).starts.tolist()
        [0, 25, 62, 100]
        """
        depth = levels_to(n_rows, LEAF)
        n_leaves = 1 << depth
        n_blocks = min(n_blocks, n_leaves)
        leaves = np.arange(n_blocks + 1) * n_leaves // n_blocks
        return cls(starts_of(n_rows, depth)[leaves], leaves)

    @property
    def n_rows(self) -> int:
        """Number M of rows."""
        return int(self.starts[-1])

    @property
    def n_blocks(self) -> int:
        """Number B of blocks."""
        return len(self.starts) - 1

    def rows(self, block: int) -> slice:
        """Return the rows of a block."""
        return slice(int(self.starts[block]), int(self.starts[block + 1]))

    def leaves(self, block: int) -> slice:
        """Return the leaves of a block."""
        return slice(int(self.leaf_starts[block]), int(self.leaf_starts[block + 1]))

    def blocks(self) -> Iterator[slice]:
        """Yield the rows of each block."""
        return (self.rows(block) for block in range(self.n_blocks))

    def block_of(self, rows: NDArray[np.integer]) -> NDArray[np.intp]:
        """Return the block of each of some rows."""
        return np.searchsorted(self.starts, rows, side="right") - 1


class Place(Protocol):
    """Runs functions of one block each, and keeps what they return.

    A *handle* stands for a kept value: only its place can read it, and a value without handles is
    given up. Functions are pure, but for the arguments that they are allowed to write to; they are
    module-level functions, so that they can be sent elsewhere.
    """

    @property
    def words(self) -> str:
        """Where the rows are, in words for reports: "in memory", "on disk", "on 4 workers"."""

    @property
    def at_once(self) -> bool:
        """Whether a function is done when `run` returns; otherwise, when `finished` says so."""

    def run(
        self,
        block: int,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        n_results: int = 1,
        n_written: int = 0,
    ) -> list[Any]:
        """Call a function of a block, near its values, and return handles of what it returns.

        Handles among the arguments, also in lists, are replaced by their values. `n_results` is 1
        for what is returned, more for the entries of a tuple, or 0. The function changes the values
        of its first `n_written` arguments, all of them handles, which must not be used any more:
        their new handles come first in the list.
        """

    def run_all(
        self,
        function: Callable[..., Any],
        args: Mapping[int, tuple[Any, ...]],
        n_results: int = 1,
        n_written: int = 0,
    ) -> list[list[Any]]:
        """Call a function of several blocks, whose arguments are given by block; see `run`."""

    def keep(self, block: int, value: Any) -> Any:
        """Return a handle of a value that the caller has."""

    def share(self, value: Any) -> Any:
        """Return a handle of an argument that is the same for all blocks, for one call."""

    def finished(self, handles: Sequence[Any]) -> Iterator[Any]:
        """Yield handles as their values are ready, in any order."""

    def read(self, handles: Iterable[Any]) -> Iterator[Any]:
        """Yield the values of some handles, in their order, as they are ready."""


class AtOnce:
    """What places have in common whose functions are done when they return."""

    at_once = True

    def share(self, value: Any) -> Any:
        """Return the value: it is here already."""
        return value

    def finished(self, handles: Sequence[Any]) -> Iterator[Any]:
        """Yield all handles."""
        return iter(handles)

    def run_all(
        self: Place,
        function: Callable[..., Any],
        args: Mapping[int, tuple[Any, ...]],
        n_results: int = 1,
        n_written: int = 0,
    ) -> list[list[Any]]:
        """Call a function of one block after the other."""
        return [self.run(block, function, own, n_results, n_written) for block, own in args.items()]


@dataclass(frozen=True)
class InMemory(AtOnce):
    """Blocks in this process: a handle is the value itself."""

    words = "in memory"

    def run(
        self,
        block: int,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        n_results: int = 1,
        n_written: int = 0,
    ) -> list[Any]:
        """Call the function."""
        found = results_of(function(*args), n_results)
        return [*args[:n_written], *found]

    def keep(self, block: int, value: Any) -> Any:
        """Return the value."""
        return value

    def read(self, handles: Iterable[Any]) -> Iterator[Any]:
        """Yield the values."""
        return iter(handles)


def results_of(found: Any, n_results: int) -> list[Any]:
    """Return what a function returned as a list of so many results."""
    if n_results == 0:
        return []
    return [found] if n_results == 1 else list(found)


def not_in_blocks(what: str, received: str, because: str) -> InputError:
    """Return the error for something that needs all rows in one block; `because` is a sentence."""
    return InputError(
        f"{what} cannot be had from rows in blocks; received {received}. {because} Pass "
        "run='memory' if all rows fit there, or a random subset of the points."
    )


class NeedsLists(InputError):
    """Lists of neighbours are needed, which do not live in blocks."""


def no_lists(received: str) -> NeedsLists:
    """Return the error for something that needs lists of neighbours."""
    because = "There the pairs of points are those within the kernel's reach."
    return NeedsLists(str(not_in_blocks("Lists of neighbours", received, because)))
