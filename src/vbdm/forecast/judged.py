r"""How forecasts with a share of climatology score, for any share, from four sums.

The continuous ranked probability score of a mixture :math:`(1-a) F + a C` is

.. math:: (1-a) E|X_F-y| + a E|X_C-y|
          - \tfrac12 [(1-a)^2 E|X_F-X_F'| + 2a(1-a) E|X_F-X_C| + a^2 E|X_C-X_C'|],

a quadratic in a: the best share is known at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from .ensemble import Ensemble
from .holdout import HoldOut
from .record import changing

#: Number of consecutive parts from whose means errors are told.
PARTS = 8


@dataclass(frozen=True, eq=False)
class Judged:
    """Scores of held-out starts at one lead, each a quadratic in the share a of climatology.

    Attributes
    ----------
    constant, linear, square : (n, m) arrays
        Coefficients of the score of each start and column; NaN where nothing is known.
    """

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
        steps = -linear / (2 * square)
        return float(np.clip(beyond_chance(steps), 0.0, 1.0))

    @property
    def score(self) -> float:
        """The mean relative score at that share; NaN if nothing is known at this lead."""
        return float(mean_known(self.scores(self.share)))


def mean_known(values: FloatArray, axis: int | None = None) -> FloatArray:
    """Return the mean of the values that are known; NaN if none is."""
    known = np.isfinite(values)
    total, count = np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def beyond_chance(values: FloatArray) -> float:
    """Return the mean of values along time, nearer to 0 by twice its error, or 0."""
    mean, error = mean_in_time(values)
    return float(np.sign(mean) * max(0.0, abs(mean) - 2 * error))


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
