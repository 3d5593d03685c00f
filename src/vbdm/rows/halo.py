"""What a block needs of others: its own rows, followed by the rows near it.

A sparse matrix whose rows live in blocks has columns in other blocks, too. Each block lists them
(*near* rows), and each block sends, in one array, all rows that any other block lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block_array import BlockArray, PerBlock, Rows, rows_of


@dataclass(frozen=True, eq=False)
class Halo:
    """The rows near each block.

    Attributes
    ----------
    rows : Rows
        The blocks.
    near : list of int arrays
        For each block the numbers of the rows of other blocks that it needs, ascending.
    """

    rows: Rows
    near: Sequence[NDArray[np.integer]]

    @cached_property
    def sources(self) -> list[NDArray[np.intp]]:
        """For each block the blocks that its near rows are in, ascending."""
        partition = self.rows.partition
        return [np.unique(partition.block_of(near)) for near in self.near]

    @cached_property
    def sent(self) -> list[NDArray[np.intp]]:
        """For each block the rows that others need of it, ascending, counted from its first."""
        partition = self.rows.partition
        wanted = np.zeros(partition.n_rows, dtype=np.bool_)
        for near in self.near:
            wanted[near] = True
        return [np.flatnonzero(wanted[rows]) for rows in partition.blocks()]

    @cached_property
    def kept(self) -> tuple[list[Any], list[Any], list[list[int]]]:
        """Handles of `sent`, of the places of near rows in it, and how many come from each source.

        They are the same for all arrays, and are kept where the blocks are.
        """
        partition, place = self.rows.partition, self.rows.place
        position = np.zeros(partition.n_rows, dtype=np.int32)
        for rows, wanted in zip(partition.blocks(), self.sent, strict=True):
            position[rows][wanted] = np.arange(len(wanted), dtype=np.int32)
        sent = [place.keep(block, wanted) for block, wanted in enumerate(self.sent)]
        picked = [place.keep(block, position[near]) for block, near in enumerate(self.near)]
        counts = [
            np.bincount(partition.block_of(near), minlength=self.rows.n_blocks)[sources].tolist()
            for near, sources in zip(self.near, self.sources, strict=True)
        ]
        return sent, picked, counts

    def given(self, array: NDArray[Any] | BlockArray) -> tuple[Any, Any, Any, Any]:
        """Return arguments for functions of blocks that begin with `own_and_near` of these four."""
        if not isinstance(array, BlockArray):
            return PerBlock(OwnAndNear(self, array)), [], None, []
        sent, picked, counts = self.kept
        asked = {
            block: (array.handles[block], sent[block])
            for block in range(self.rows.n_blocks)
            if len(self.sent[block])
        }
        boundary = dict(zip(asked, self.rows.place.run_all(rows_of, asked), strict=True))
        parts = [[boundary[source][0] for source in sources.tolist()] for sources in self.sources]
        return array, PerBlock(parts), PerBlock(picked), PerBlock(counts)

    def with_near(self, values: NDArray[Any]) -> list[Any]:
        """Keep, for each block, its own rows of an array and the near ones; return handles."""
        place, parts = self.rows.place, OwnAndNear(self, values)
        return [place.keep(block, parts[block]) for block in range(self.rows.n_blocks)]


@dataclass(frozen=True, eq=False)
class OwnAndNear(Sequence[Any]):
    """The rows of each block of an ordinary array and those near it, made when they are asked for.

    They are arrays of their own.
    """

    halo: Halo
    values: NDArray[Any]

    def __len__(self) -> int:
        return self.halo.rows.n_blocks

    def __getitem__(self, block: Any) -> Any:
        own = self.values[self.halo.rows.partition.rows(block)]
        return np.concatenate([own, self.values[self.halo.near[block]]])


def own_and_near(
    own: NDArray[Any],
    parts: list[NDArray[Any]],
    picked: NDArray[np.int32] | None,
    counts: list[int],
) -> NDArray[Any]:
    """Return the rows of a block followed by those near it.

    Parameters
    ----------
    own : array
        The rows of the block; followed by the others already, if `picked` is None.
    parts : list of arrays
        What other blocks sent.
    picked : int array or None
        The wanted rows of what they sent, one source after the other.
    counts : list of int
        How many are wanted from each source.
    """
    if picked is None:
        # Compiled code would be compiled anew for an array that cannot be written to.
        return np.require(own, requirements="W")
    at = len(own)
    result = np.empty((at + len(picked), *own.shape[1:]), dtype=own.dtype)
    result[:at] = own
    first = 0
    for part, count in zip(parts, counts, strict=True):
        np.take(part, picked[first : first + count], axis=0, out=result[at : at + count])
        at, first = at + count, first + count
    return result
