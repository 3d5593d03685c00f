"""Consecutive rows, cut into blocks where leaves of the tree begin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engines.tree import LEAF, levels_to, starts_of


@dataclass(frozen=True, eq=False)
class Partition:
    """How M rows in tree order are cut into blocks.

    Attributes
    ----------
    starts : (B + 1,) int array
        Where the blocks begin, and M as last entry.
    leaf_starts : (B + 1,) int array
        The first leaf of each block (`vbdm.engines.tree`), and the number of leaves as last entry.
    """

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
