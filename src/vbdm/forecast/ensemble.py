r"""Weighted values: what a forecast is at one lead and of one column, for several starts.

Members of a start are values that the column had in the record, each with a weight; weights are
positive and have the sum 1. All questions about a forecast are answered from them: mean, variance,
quantiles, density, and how well they agree with what then came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..base.arrays import FloatArray
from ..base.checks import as_floats, shown
from ..errors import InputError

#: Kernel width of a density in standard deviations, for one member; Silverman's rule for n of them
#: divides by the fifth root of n.
SILVERMAN = 0.9
#: Pairs of members and places that are looked at together.
AT_ONCE = 1 << 22
#: Least variance that is believed, as a share of the members' own.
LEAST_SHARE = 0.05
#: Levels at which the shortest interval with a quarter of the weight is looked for, and the length
#: of that of a normal distribution, in standard deviations.
QUARTERS, QUARTER_OF_NORMAL = 40, 0.6373
#: Effective number of members from which on their densest part tells how wide they are.
MANY = 100


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Members of n starts, one after the other, in ascending order for each start."""

    #: Where the members of each start begin, (n + 1,).
    pointer: NDArray[np.intp]
    #: The members, (E,), and their weights. A start without members has NaN in every answer.
    values: FloatArray
    weights: FloatArray
    #: Rows of the record that they are from, (E,).
    rows: NDArray[np.intp]

    @classmethod
    def of(cls, weights: Any, column: FloatArray) -> Ensemble:
        """Return the members of a column of the record, (N,), by weights of its rows, CSR (n, N).

        Rows without a value are left out, and the others count for more.
        """
        n, width = weights.shape
        order = np.argsort(column, kind="stable")
        rank = np.empty(width, dtype=weights.indices.dtype)
        rank[order] = np.arange(width)
        moved = csr_array((weights.data, rank[weights.indices], weights.indptr), shape=(n, width))
        # Transposed twice, the members of each start are in order: faster than sorting them.
        sorted_rows = moved.tocsc().tocsr()
        start = np.repeat(np.arange(n), np.diff(sorted_rows.indptr))
        known = (sorted_rows.indices < np.isfinite(column).sum()) & (sorted_rows.data > 0)
        if not known.all():
            start = start[known]
        rows, data = order[sorted_rows.indices[known]], sorted_rows.data[known]
        sums = np.bincount(start, data, minlength=n)
        pointer = np.concatenate([[0], np.cumsum(np.bincount(start, minlength=n))])
        return cls(pointer, column[rows], data / sums[start], rows)

    @property
    def n_starts(self) -> int:
        """Number n of starts."""
        return len(self.pointer) - 1

    @cached_property
    def start(self) -> NDArray[np.intp]:
        """Number of the start of each member, (E,)."""
        return np.repeat(np.arange(self.n_starts), np.diff(self.pointer))

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """Starts without a member, (n,)."""
        return np.asarray(np.diff(self.pointer) == 0)

    @cached_property
    def below(self) -> FloatArray:
        """Sum of the weights up to each member and with it, inside its start, (E,)."""
        total = np.cumsum(self.weights)
        before = np.concatenate([[0.0], total])[self.pointer[:-1]]
        return np.asarray(total - before[self.start])

    def expectation(self, f: FloatArray) -> FloatArray:
        """Return Σ w f over the members of each start, (n,), for values f of the members."""
        sums = np.bincount(self.start, self.weights * f, minlength=self.n_starts)
        return np.where(self.empty, np.nan, sums)

    @cached_property
    def mean(self) -> FloatArray:
        """Mean of each start, (n,)."""
        return self.expectation(self.values)

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of each start, (n,)."""
        return self.expectation((self.values - self.mean[self.start]) ** 2)

    @cached_property
    def effective(self) -> FloatArray:
        """Effective number of members, 1/Σ w², (n,)."""
        return 1 / self.expectation(self.weights)

    def spread(self, factor: FloatArray | float) -> Ensemble:
        """Return the members moved away from their mean by a factor, (n,) or one for all."""
        return self.moved(self.mean, np.broadcast_to(factor, (self.n_starts,)))

    def moved(self, mean: FloatArray, factor: FloatArray) -> Ensemble:
        """Return the members with another mean, and distances from it times a factor, (n,) each."""
        away = factor[self.start] * (self.values - self.mean[self.start])
        return replace(self, values=mean[self.start] + away)

    def matched(self, mean: FloatArray, variance: FloatArray) -> Ensemble:
        """Return the members moved and spread so that they have these moments, (n,) each.

        A variance that is less than a small share of the members' own is no variance: noise has
        made it so. Then the spread is theirs.
        """
        own = np.where(self.variance > 0, self.variance, 1.0)
        usable = variance > LEAST_SHARE * self.variance
        return self.moved(mean, np.sqrt(np.where(usable, variance, self.variance) / own))

    @classmethod
    def joined(cls, parts: Sequence[Ensemble]) -> Ensemble:
        """Return the starts of several ensembles, one after the other."""
        sizes = np.concatenate([np.diff(part.pointer) for part in parts])
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]),
            *(np.concatenate([getattr(part, name) for part in parts])
              for name in ("values", "weights", "rows")),
        )  # fmt: skip

    def quantile(self, p: FloatArray) -> FloatArray:
        """Return quantiles, (n, P), linear between the middles of the members' weights.

        Examples
        --------
        >>> two = Ensemble.of(csr_array([[0.5, 0.5]]), np.array([3.0, 1.0]))
        >>> two.quantile(np.array([0.0, 0.5, 1.0])).tolist()
        [[1.0, 2.0, 3.0]]
        """
        if not len(self.values):
            return np.full((self.n_starts, len(p)), np.nan)
        # Inside each start probabilities ascend from 0 to 1; behind each other, all ascend.
        middle = self.start + np.clip(self.below - self.weights / 2, 1e-12, 1 - 1e-12)
        wanted = np.arange(self.n_starts)[:, None] + np.clip(p, 0.0, 1.0)
        first, last = self.pointer[:-1, None], np.maximum(self.pointer[1:, None] - 1, 0)
        first = np.minimum(first, last)
        right = np.clip(np.searchsorted(middle, wanted), first, last)
        left = np.clip(right - 1, first, last)
        gap = middle[right] - middle[left]
        share = np.clip((wanted - middle[left]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)
        found = self.values[left] + share * (self.values[right] - self.values[left])
        return np.where(self.empty[:, None], np.nan, found)

    def crps(self, y: FloatArray) -> FloatArray:
        r"""Return the continuous ranked probability score of what came, y (n,): ∫ (F - 1[y])².

        Notes
        -----
        Implements :math:`E|X-y| - E|X-X'|/2`, with the second term from the ascending members:
        :math:`E|X-X'| = 2 Σ w v (2 c - w - 1)`, c the sums of weights.
        """
        near = self.expectation(np.abs(self.values - y[self.start]))
        among = self.expectation(self.values * (2 * self.below - self.weights - 1))
        return near - among

    def probability_below(self, y: FloatArray) -> FloatArray:
        """Return F(y), (n,), members equal to y counted half; uniform if forecasts are right."""
        level = y[self.start]
        found = self.expectation((self.values < level) + 0.5 * (self.values == level))
        return np.where(np.isfinite(y), found, np.nan)

    @cached_property
    def size(self) -> FloatArray:
        """How wide the distributions are where they are densest, (n,), in standard deviations.

        The least of the standard deviation and of the shortest interval that holds a quarter, over
        that of a normal distribution: two peaks far apart are as narrow as each of them.
        """
        levels = np.linspace(0.0, 1.0, QUARTERS + 1)
        ends = self.quantile(levels)
        quarter = QUARTERS // 4
        shortest = (ends[:, quarter:] - ends[:, :-quarter]).min(axis=1) / QUARTER_OF_NORMAL
        spread = np.sqrt(self.variance)
        # Of few members, some are close by chance.
        told = (shortest > 0) & (self.effective > MANY)
        found = np.where(told, np.minimum(spread, shortest), spread)
        return np.where(found > 0, found, 1e-9 * (1 + np.abs(self.mean)))

    def density(self, places: FloatArray) -> FloatArray:
        """Return the density at places, (n, P), by a Gaussian kernel around each member.

        Its width follows Silverman's rule, from the effective number of members.
        """
        width = SILVERMAN * self.size * self.effective**-0.2
        found = np.full((self.n_starts, places.shape[1]), np.nan)
        for i in np.flatnonzero(~self.empty):
            own = slice(self.pointer[i], self.pointer[i + 1])
            found[i] = sum_of_gaussians(self.values[own], self.weights[own], width[i], places[i])
        return found


def probabilities(p: Any) -> FloatArray:
    """Return one probability, or a list of them, as an array."""
    levels = as_floats(p)
    if levels is None or levels.ndim > 1 or not ((levels >= 0) & (levels <= 1)).all():
        raise InputError(
            f"`p` must be probabilities; received {shown(p)}. Pass, for example, [0.05, 0.95]."
        )
    return levels


def sum_of_gaussians(
    members: FloatArray, weights: FloatArray, width: float, places: FloatArray
) -> FloatArray:
    """Return the sum of Gaussians of one width around members, at places, (P,)."""
    found = np.zeros(len(places))
    block = max(1, AT_ONCE // max(len(places), 1))
    for begin in range(0, len(members), block):
        part = slice(begin, begin + block)
        z = (places - members[part, None]) / width
        found += weights[part] @ np.exp(-0.5 * z * z)
    return np.asarray(found / (width * np.sqrt(2 * np.pi)))


@dataclass(frozen=True, eq=False)
class Climatology:
    """What is known without a forecast: the values of each column, in ascending order."""

    values: tuple[FloatArray, ...]

    @classmethod
    def of(cls, values: FloatArray) -> Climatology:
        """Return the climatology of a table (N, m)."""
        return cls(tuple(np.sort(column[np.isfinite(column)]) for column in values.T))

    def distance(self, j: int, y: FloatArray) -> FloatArray:
        """Return the mean distance of numbers y from the values of column j: E|C - y|."""
        own = self.values[j]
        n, sums = len(own), np.concatenate([[0.0], np.cumsum(own)])
        place = np.searchsorted(own, y)
        return np.asarray((y * (2 * place - n) + sums[-1] - 2 * sums[place]) / n)

    def spread(self, j: int) -> float:
        """Return the mean distance of two values of column j: E|C - C'|."""
        own = self.values[j]
        n = len(own)
        return float(2 * np.sum(own * (2 * np.arange(n) + 1 - n)) / n**2)

    def crps(self, j: int, y: FloatArray) -> FloatArray:
        """Return the continuous ranked probability score of what came, y."""
        return self.distance(j, y) - self.spread(j) / 2
