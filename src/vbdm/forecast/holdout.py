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

from ..base.arrays import BoolArray, FloatArray
from ..trust.series import autocorrelation_time
from .ensemble import Climatology, Ensemble
from .predictor import Predictor
from .record import Record, Rows, changing

#: Number of blocks, and of states in all of them from which forecasts are tried.
BLOCKS, STARTS = 8, 1000
#: Number of consecutive parts from whose means errors are told.
PARTS = 8
#: The margin beyond the reach of a state is at most this share of a block.
LARGEST_MARGIN = 0.5


@dataclass(frozen=True, eq=False)
class Block:
    """Rows that are held out."""

    #: Numbers of the starts, of all that are tried, that lie in it.
    starts: Rows
    #: The rows of the block and of its margins, (N,).
    left_out: BoolArray
    #: What is known without a forecast, from the other rows.
    climatology: Climatology
    #: The record, (N, n).
    values: FloatArray

    @cached_property
    def distances(self) -> tuple[FloatArray, ...]:
        """Mean distances of all rows of each column from the climatology, (N,) each."""
        return tuple(self.climatology.distance(j, own) for j, own in enumerate(self.values.T))


@dataclass(frozen=True, eq=False)
class HoldOut:
    """The blocks of a record, and the states from which forecasts are tried."""

    record: Record
    #: Numbers of the starting states, (n,).
    states: Rows
    #: The blocks that have some of them.
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, record: Record, n_starts: int = STARTS) -> HoldOut:
        """Cut a record into blocks; starts are the same rows whatever the delays."""
        n, n_states = record.n_rows, len(record.rows)
        largest = int(LARGEST_MARGIN * n_states / BLOCKS)
        # Over how many rows the slowest column is correlated with itself.
        lengths = np.bincount(record.series_of).tolist()
        columns = record.values[:, changing(record.values)].T
        memory = max((autocorrelation_time(column, lengths) for column in columns), default=0)
        # States that reach into a block are none of those outside it.
        margin = record.delays.reach + min(int(np.ceil(memory)), largest)
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
            outside = Climatology.of(record.values[~left_out])
            blocks.append(Block(starts, left_out, outside, record.values))
        return cls(record, chosen, tuple(blocks))

    def thinned(self, n_starts: int) -> HoldOut:
        """Return the same blocks with fewer starts, evenly chosen; the numbers of starts change."""
        kept = np.unique(np.linspace(0, len(self.states) - 1, n_starts).astype(np.intp))
        own = (replace(b, starts=np.flatnonzero(np.isin(kept, b.starts))) for b in self.blocks)
        return HoldOut(self.record, self.states[kept], tuple(b for b in own if len(b.starts)))

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

    def members(self, predictor: Predictor, leads: Sequence[int]) -> Iterator[list[Ensemble]]:
        """Yield, lead by lead, forecasts of each column from all starts by what is outside."""
        begun = predictor.begin(self.points)
        unseen = [(predictor.without(own.left_out), begun[own.starts]) for own in self.blocks]
        for lead in leads:
            parts = [own.members(start, lead, self.record.values) for own, start in unseen]
            yield [Ensemble.joined(own) for own in zip(*parts, strict=True)]


@dataclass(frozen=True, eq=False)
class Judged:
    r"""Scores of held-out starts at one lead, each a quadratic in the share a of climatology.

    The continuous ranked probability score of a mixture :math:`(1-a) F + a C` is

    .. math:: (1-a) E|X_F-y| + a E|X_C-y|
              - \tfrac12 [(1-a)^2 E|X_F-X_F'| + 2a(1-a) E|X_F-X_C| + a^2 E|X_C-X_C'|],

    so the best share is known at once.
    """

    #: Coefficients of the score of each start and column, (n, m); NaN where nothing is known.
    constant: FloatArray
    linear: FloatArray
    square: FloatArray

    @cached_property
    def climatology(self) -> FloatArray:
        """The mean score of climatology of each column, a = 1; NaN if there is nothing to know."""
        found = mean_known(self.constant + self.linear + self.square, axis=0)
        return np.where(found > 0, found, np.nan)

    def scores(self, share: float) -> FloatArray:
        """Return the score of each start over that of climatology, in the mean of columns, (n,)."""
        own = (self.constant + share * self.linear + share**2 * self.square) / self.climatology
        return mean_known(own, axis=1)

    @cached_property
    def share(self) -> float:
        """The share of climatology with the least score, as far as that is no chance."""
        linear = mean_known(self.linear / self.climatology, axis=1)
        square = float(mean_known(self.square / self.climatology))
        if not square > 0:
            return 0.0
        # Nearer to 0 by twice its error.
        mean, error = mean_in_time(-linear / (2 * square))
        share = np.sign(mean) * max(0.0, abs(mean) - 2 * error)
        return float(np.clip(share, 0.0, 1.0))

    @property
    def score(self) -> float:
        """The mean relative score at that share; NaN if nothing is known at this lead."""
        return float(mean_known(self.scores(self.share)))


def mean_known(values: FloatArray, axis: int | None = None) -> FloatArray:
    """Return the mean of the values that are known; NaN if none is."""
    known = np.isfinite(values)
    total, count = np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def mean_in_time(values: FloatArray) -> tuple[float, float]:
    """Return the mean of values along time, and its error from the means of consecutive parts.

    Neighbours in time are alike; parts that are much longer than the memory are not.
    """
    known = values[np.isfinite(values)]
    if len(known) < 2 * PARTS:
        return 0.0, np.inf
    means = [part.mean() for part in np.array_split(known, PARTS)]
    return float(known.mean()), float(np.std(means, ddof=1) / np.sqrt(PARTS))


def judge(held: HoldOut, weights: Any, lead: int) -> Judged:
    """Score held-out forecasts, CSR (n, N), by what came, for any share of climatology."""
    truths, values = held.truths(lead), held.record.values
    columns = [
        judge_column(held, j, Ensemble.of(weights, values[:, j]), truths[:, j])
        for j in range(values.shape[1])
    ]
    found = np.array(columns).transpose(1, 2, 0)
    return Judged(*np.where(changing(values), found, np.nan))


def judge_alone(held: HoldOut, members: Sequence[Ensemble], lead: int) -> Judged:
    """Score held-out forecasts of each column by what came, without a share of climatology."""
    truths = held.truths(lead)
    own = np.column_stack([part.crps(truths[:, j]) for j, part in enumerate(members)])
    own[:, ~changing(held.record.values)] = np.nan
    known = np.full(truths.shape, np.nan)
    for block in held.blocks:
        for j in range(truths.shape[1]):
            known[block.starts, j] = block.climatology.crps(j, truths[block.starts, j])
    return Judged(own, known - own, np.zeros_like(own))


def judge_column(held: HoldOut, j: int, members: Ensemble, y: FloatArray) -> FloatArray:
    """Return the three coefficients of the score of each start, (3, n); NaN where y is."""
    near = members.expectation(np.abs(members.values - y[members.start]))
    among = 2 * members.expectation(members.values * (2 * members.below - members.weights - 1))
    far, alone = np.empty(len(y)), np.empty(len(y))
    distances = np.empty(len(members.values))
    for block in held.blocks:
        own, known = block.starts, block.climatology
        far[own], alone[own] = known.distance(j, y[own]), known.spread(j)
        part = slice(members.pointer[own[0]], members.pointer[own[-1] + 1])
        distances[part] = block.distances[j][members.rows[part]]
    between = members.expectation(distances)
    # A start without members has climatology.
    none = members.empty
    near, among = np.where(none, far, near), np.where(none, alone, among)
    between = np.where(none, alone, between)
    return np.array([near - among / 2, far - near + among - between, between - (among + alone) / 2])
