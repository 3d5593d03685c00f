"""What both predictors have in common: from states to weights of the rows of the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from ..base.arrays import BoolArray, FloatArray
from ..operator.operator import Operator
from .ensemble import Ensemble
from .record import Record, Rows


@dataclass(frozen=True, eq=False)
class Begun:
    """What a predictor knows of n starting states."""

    #: The kernel at the states of the record near them, over its largest value, CSR (n, S); or
    #: coefficients in the basis, (n, m).
    values: Any
    #: Starting states that no kernel reaches: the nearest states stand in for those alike.
    outside: BoolArray

    def __getitem__(self, which: Any) -> Begun:
        """Return those of some starting states."""
        return Begun(self.values[which], self.outside[which])


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

    def begin(self, states: FloatArray) -> Begun:
        """Return what is to be known of starting states, (n, …)."""

    def weights(self, begun: Begun, lead: int) -> Any:
        """Return the weights of the record's rows after `lead` steps, as CSR (n, N)."""

    def members(self, begun: Begun, lead: int, values: FloatArray) -> list[Ensemble]:
        """Return forecasts of functions on the rows, (N, k), `lead` steps later."""

    def stepped(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Return the weights of the states, (S,), one step later, and the share of negative ones.

        These are what a filter expects before it has seen the next observation.
        """

    def without(self, rows: BoolArray) -> Predictor:
        """Return the predictor that has not seen some rows, (N,)."""


def normalize_rows(weights: Any) -> Any:
    """Return a CSR matrix with rows divided by their sums; empty rows stay so."""
    sums = np.asarray(weights.sum(axis=1)).ravel()
    data = weights.data / np.repeat(np.where(sums > 0, sums, 1.0), np.diff(weights.indptr))
    return csr_array((data, weights.indices, weights.indptr), shape=weights.shape)


def draw_rows(weights: Any, known: BoolArray, level: FloatArray) -> Rows:
    """Return rows of the record, drawn by weights, CSR (n, N), at levels from 0 to 1, (n, k).

    Rows that are not `known`, (N,), are never drawn; -1 if there is no other. Rows are in order, so
    the same level picks the same past at the next lead, as far as weights stay the same.
    """
    rows = Ensemble.of(weights, np.where(known, np.arange(len(known)), np.nan))
    if not len(rows.rows):
        return np.full(level.shape, -1)
    first = np.minimum(rows.pointer[:-1, None], len(rows.rows) - 1)
    last = np.maximum(rows.pointer[1:, None] - 1, 0)
    place = np.searchsorted(rows.start + rows.below, np.arange(rows.n_starts)[:, None] + level)
    return np.where(rows.empty[:, None], -1, rows.rows[np.clip(place, first, last)])


@dataclass(frozen=True, eq=False)
class ByLead:
    """Numbers that depend on the lead: known at some leads, and between them interpolated."""

    #: Ascending numbers of steps, (L,).
    leads: FloatArray
    #: One number, or several, for each of them, (L, …).
    values: FloatArray

    def at(self, lead: float) -> FloatArray:
        """Return the values at a lead: linear in its logarithm, constant beyond both ends.

        Examples
        --------
        >>> float(ByLead(np.array([1, 4]), np.array([0.0, 1.0])).at(2))
        0.5
        """
        place = np.interp(np.log(lead), np.log(self.leads), np.arange(len(self.leads)))
        low = int(place)
        high = min(low + 1, len(self.leads) - 1)
        share = place - low
        return np.asarray((1 - share) * self.values[low] + share * self.values[high])


def grid(horizon: int) -> tuple[int, ...]:
    """Return leads from 1 to a horizon, the later ones further apart.

    Examples
    --------
    >>> grid(20)
    (1, 2, 3, 4, 6, 8, 12, 16, 20)
    """
    found = {1, horizon}
    power = 2
    while power <= horizon:
        found.update({power, power * 3 // 2})
        power *= 2
    return tuple(sorted(lead for lead in found if lead <= horizon))


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned:
    """A predictor with a spread that was set by what was held out."""

    predictor: Predictor
    #: Factor by which members are moved away from their mean, (L, m).
    spread: ByLead
    #: Score on what was held out, over that of climatology, (L,): below 1 it is better.
    score: ByLead

    @property
    def record(self) -> Record:
        """What was learned from."""
        return self.predictor.record

    def members(self, begun: Begun, lead: int, values: FloatArray | None = None) -> list[Ensemble]:
        """Return forecasts `lead` steps later, of the columns of the record or of other functions.

        Functions of the rows, (N, k), have the spread that the predictor gives them.
        """
        if values is not None:
            return self.predictor.members(begun, lead, values)
        found = self.predictor.members(begun, lead, self.record.values)
        return [own.spread(by) for own, by in zip(found, self.spread.at(lead), strict=True)]

    def drawn(
        self, begun: Begun, lead: int, level: FloatArray, values: FloatArray | None = None
    ) -> FloatArray:
        """Return members at levels, (starts, n), of the sums of weights, (starts, n, columns)."""
        weights = self.predictor.weights(begun, lead)
        own = self.record.values if values is None else values
        rows = draw_rows(weights, np.asarray(np.isfinite(own).all(axis=1)), level)
        drawn = np.where((rows >= 0)[..., None], own[rows], np.nan)
        for j, forecast in enumerate(self.members(begun, lead, values)):
            # Moved and spread as the members of the forecast were.
            plain = Ensemble.of(weights, own[:, j])
            size = np.sqrt(np.where(plain.variance > 0, plain.variance, 1.0))
            factor = np.sqrt(forecast.variance) / size
            away = drawn[..., j] - plain.mean[:, None]
            drawn[..., j] = forecast.mean[:, None] + factor[:, None] * away
        return drawn
