"""Parts of the record that are held out in turn: forecasts there are judged by what came.

Consecutive rows are alike, so whole blocks of them are held out, with a margin on both sides in
which nothing is learned either. Each block is held out once, so that choices and the spread rest on
the whole record, not on its last part alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from ..base.arrays import BoolArray, FloatArray
from ..trust.randomness import autocorrelation_time
from .climatology import Climatology
from .ensemble import Ensemble
from .predictor import Predictor
from .record import Record, Rows, changing

#: Number of blocks, and of states in all of them from which forecasts are tried.
BLOCKS, STARTS = 8, 1000
#: The margin beyond the reach of a state is at most this share of a block.
LARGEST_MARGIN = 0.5


@dataclass(frozen=True, eq=False)
class Block:
    """Rows that are held out.

    Attributes
    ----------
    starts : array of int
        Numbers of the starts, of all that are tried, that lie in it.
    left_out : (N,) bool array
        The rows of the block and of its margins.
    climatology : Climatology
        What is known without a forecast, from the other rows.
    values : (N, n) array
        The record.
    """

    starts: Rows
    left_out: BoolArray
    climatology: Climatology
    values: FloatArray

    @cached_property
    def distances(self) -> tuple[FloatArray, ...]:
        """Mean distances of all rows of each column from the climatology, (N,) each."""
        return tuple(self.climatology.distance(j, own) for j, own in enumerate(self.values.T))


@dataclass(frozen=True, eq=False)
class HoldOut:
    """The blocks of a record, and the states from which forecasts are tried.

    Attributes
    ----------
    record : Record
        The record.
    states : (n,) array of int
        Numbers of the starting states.
    blocks : tuple of Block
        The blocks that have some of them.
    """

    record: Record
    states: Rows
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, record: Record, n_starts: int = STARTS) -> HoldOut:
        """Cut a record into blocks; starts are the same rows whatever the delays."""
        n, n_states = record.n_rows, len(record.rows)
        largest = int(LARGEST_MARGIN * n_states / BLOCKS)
        # States that reach into a block are none of those outside it.
        margin = record.delays.reach + min(memory(record), largest)
        wanted = np.unique(np.linspace(0, n - 1, n_starts).round().astype(np.intp))
        # Rows without a state give way to the next that has one.
        chosen = np.unique(np.searchsorted(record.rows, wanted))
        chosen = chosen[chosen < len(record.rows)]
        # Blocks have equal numbers of states: much of a record may have none.
        inner = np.linspace(0, n_states, BLOCKS + 1)[1:-1].astype(np.intp)
        edges = np.concatenate([[0], record.rows[inner], [n]])
        block_of = np.searchsorted(edges, record.rows[chosen], side="right") - 1
        blocks = []
        for b in np.unique(block_of):
            left_out = np.zeros(n, dtype=np.bool_)
            left_out[max(edges[b] - margin, 0) : edges[b + 1] + margin] = True
            starts = np.flatnonzero(block_of == b)
            blocks.append(
                Block(starts, left_out, Climatology.of(record.values[~left_out]), record.values)
            )
        return cls(record, chosen, tuple(blocks))

    def thinned(self, n_starts: int) -> HoldOut:
        """Return the same blocks with fewer starts, evenly chosen; the numbers of starts change."""
        kept = np.unique(np.linspace(0, len(self.states) - 1, n_starts).astype(np.intp))
        blocks = []
        for block in self.blocks:
            starts = np.flatnonzero(np.isin(kept, block.starts))
            if len(starts):
                blocks.append(replace(block, starts=starts))
        return HoldOut(self.record, self.states[kept], tuple(blocks))

    @property
    def rows(self) -> Rows:
        """Rows of the starting states, (n,)."""
        return self.record.rows[self.states]

    @cached_property
    def points(self) -> FloatArray:
        """The starting states, (n, …)."""
        return self.record.states[self.states]

    def truths(self, lead: int) -> FloatArray:
        """Return what came `lead` steps later, (n, columns); NaN where nothing is known."""
        ahead = self.record.later(lead)[self.states]
        return np.where((ahead >= 0)[:, None], self.record.values[ahead], np.nan)

    def members(
        self, predictor: Predictor, begun: Any, leads: Sequence[int]
    ) -> Iterator[list[Ensemble]]:
        """Yield, lead by lead, forecasts of each column from all starts by what is outside."""
        unseen = [(own, begun[block.starts]) for block, own in self.unseen(predictor)]
        for lead in leads:
            parts = [own.members(start, lead, self.record.values) for own, start in unseen]
            yield [Ensemble.joined(own) for own in zip(*parts, strict=True)]

    def unseen(self, predictor: Predictor) -> Iterator[tuple[Block, Any]]:
        """Yield the blocks, each with the predictor that has not seen it."""
        for block in self.blocks:
            yield block, predictor.without(block.left_out)

    def joined(self, parts: Iterator[Any]) -> Any:
        """Return the rows of all blocks as one matrix; starts are in order, so are blocks."""
        return csr_array(vstack(list(parts), format="csr"))


def memory(record: Record) -> int:
    """Return over how many rows the slowest column is correlated with itself."""
    lengths = np.bincount(record.series_of).tolist()
    columns = record.values[:, changing(record.values)].T
    found = [autocorrelation_time(column, lengths) for column in columns]
    return int(np.ceil(max(found, default=0)))
