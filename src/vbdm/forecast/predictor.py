"""What both predictors have in common: from states to weights of the rows of the record."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from ..base.arrays import BoolArray, FloatArray
from ..operator.operator import Operator
from .ensemble import Ensemble
from .record import Record, Rows


class Predictor(Protocol):
    """Says which rows of the record a state will be like, some steps later.

    Both predictors answer with positive weights of the rows of the record, whose sum is 1: a
    forecast of any function of a row is its weighted mean, and so on.
    """

    @property
    def record(self) -> Record:
        """What was learned from."""

    @property
    def operator(self) -> Operator:
        """The operator of its states."""

    @property
    def name(self) -> str:
        """One word for it."""

    def begin(self, states: FloatArray) -> Any:
        """Return what is to be known of starting states, (n, …); its rows can be selected."""

    def weights(self, begun: Any, lead: int) -> Any:
        """Return the weights of the record's rows after `lead` steps, as CSR (n, N)."""

    def members(self, begun: Any, lead: int, values: FloatArray) -> list[Ensemble]:
        """Return forecasts of functions on the rows, (N, k), `lead` steps later."""

    def stepped(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Return the weights of the states, (S,), one step later, and the share of negative ones.

        These are what a filter expects before it has seen the next observation.
        """

    def without(self, rows: BoolArray) -> Predictor:
        """Return the predictor that has not seen some rows, (N,)."""


def normalised(weights: Any) -> Any:
    """Return a CSR matrix with rows divided by their sums; empty rows stay so."""
    sums = np.asarray(weights.sum(axis=1)).ravel()
    data = weights.data / np.repeat(np.where(sums > 0, sums, 1.0), np.diff(weights.indptr))
    return csr_array((data, weights.indices, weights.indptr), shape=weights.shape)


def drawn_rows(weights: Any, known: BoolArray, level: FloatArray) -> Rows:
    """Return rows of the record, drawn by weights, CSR (n, N), at levels from 0 to 1, (n, k).

    Rows that are not `known`, (N,), are never drawn; -1 if there is no other. Rows are in order, so
    the same level picks the same past at the next lead, as far as weights stay the same.
    """
    n = len(level)
    ordered = csr_array(weights)
    ordered.sort_indices()
    use = known[ordered.indices] & (ordered.data > 0)
    start = np.repeat(np.arange(n), np.diff(ordered.indptr))[use]
    index, data = ordered.indices[use], ordered.data[use]
    sums = np.bincount(start, data, minlength=n)
    ends = np.cumsum(np.bincount(start, minlength=n))
    if not len(index):
        return np.full(level.shape, -1)
    below = np.cumsum(data)
    before = np.concatenate([[0.0], below])[ends - np.bincount(start, minlength=n)]
    share = start + (below - before[start]) / sums[start]
    place = np.searchsorted(share, np.arange(n)[:, None] + level)
    first = (ends - np.bincount(start, minlength=n))[:, None]
    place = np.clip(place, np.minimum(first, len(index) - 1), np.maximum(ends[:, None] - 1, 0))
    return np.where(sums[:, None] > 0, index[place], -1)
