"""The choice of ε: what a rule for it is, and what the rule returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from ..base.arrays import FloatArray, beside_array, frozen, to_host
from ..base.threads import in_order, slices_of
from ..search.exact import squared_distances
from .bandwidth import Bandwidth
from .scaled import SampledRows, ScaledPairs

#: Number of far points per sampled row, which stand for the part of S(ε) beyond the neighbours.
FAR_PAIRS = 64


@dataclass(frozen=True, eq=False, repr=False)
class SlopeCurve:
    """S(ε) as the paper defines it."""

    epsilons: FloatArray  # (41,): the grid, powers of two
    # (41,): S(ε): the mean of the kernel over all N² pairs, those outside the graph counted as 0
    sums: FloatArray
    slopes: FloatArray  # (40,): slope of log S against log ε from each grid point to the next

    def dim_at(self, epsilon: float) -> float:
        """Return twice the largest slope, at whichever ε that is."""
        return float(2 * self.slopes.max())


@dataclass(frozen=True, eq=False, repr=False)
class DegreeCurve:
    r"""Degrees and S(ε) on 20 octaves around the chosen ε, computed when first asked for.

    Near pairs are those of the sampled rows; of the far pairs, a few per row stand for all.

    Notes
    -----
    With z = t/4ε, S = Σ e^{-z} and d log S/d log ε = Σ z e^{-z} / Σ e^{-z}: no finite differences.
    Cost: 41 passes over at most 4,000 rows, whatever N.
    """

    points: FloatArray | None
    bandwidth: Bandwidth
    rows: SampledRows
    epsilon: float
    period: FloatArray | None = None

    @cached_property
    def epsilons(self) -> FloatArray:
        """The grid: half octaves, ten octaves to either side."""
        return frozen(self.epsilon * 2.0 ** (np.arange(-20, 21) / 2))

    @property
    def levels(self) -> FloatArray:
        """Levels of the quantiles."""
        return np.array([0.01, 0.1, 0.5, 0.9])

    @property
    def quantiles(self) -> FloatArray:
        """Quantiles of the degrees over the points, (4, 41)."""
        return frozen(np.quantile(self._degrees_and_moments[0], self.levels, axis=1))

    @property
    def sums(self) -> FloatArray:
        """S(ε): mean of the kernel over all pairs of different points, (41,)."""
        degrees = self._degrees_and_moments[0]
        n_pairs = degrees.shape[1] * (self.rows.n_points - 1)
        return frozen(degrees.sum(axis=1) / n_pairs)

    @property
    def slopes(self) -> FloatArray:
        """Slopes of log S against log ε, (41,)."""
        degrees, moments = self._degrees_and_moments
        return frozen(moments.sum(axis=1) / np.maximum(degrees.sum(axis=1), 1e-300))

    def dim_at(self, epsilon: float) -> float:
        """Return the dimension seen at the kernel's own scale: twice the slope of S."""
        return float(2 * np.interp(np.log(epsilon), np.log(self.epsilons), self.slopes))

    @cached_property
    def _degrees_and_moments(self) -> tuple[FloatArray, FloatArray]:
        """Σ e^{-z} and Σ z e^{-z}, both (41, m): a row for every ε, a column for every point."""
        far, weight = far_pairs(self.points, self.bandwidth, self.rows, self.period)

        def work(part: slice) -> tuple[FloatArray, FloatArray]:
            near, distant = self.rows.scaled[part] / 4, far[part] / 4
            degrees = np.empty((len(self.epsilons), len(near)), like=near)
            moments = np.empty_like(degrees)
            for i, eps in enumerate(self.epsilons.tolist()):
                z, z_far = near / eps, distant / eps
                h, h_far = np.exp(-z), weight[part] * np.exp(-z_far)
                degrees[i] = h.sum(axis=1) + h_far.sum(axis=1)
                moments[i] = np.einsum("ij,ij->i", z, h) + np.einsum("ij,ij->i", z_far, h_far)
            return to_host((degrees, moments))  # type: ignore[no-any-return]

        results = in_order(work, slices_of(self.rows.scaled, size=64))
        degrees, moments = (np.hstack(part) for part in zip(*results, strict=True))
        return degrees, moments


@dataclass(frozen=True, eq=False, repr=False)
class KeptCurve:
    """The values of a `DegreeCurve`, without the sampled rows that they came from.

    A saved model holds this: a few thousand bytes instead of up to 30 million.
    """

    epsilons: FloatArray
    levels: FloatArray
    quantiles: FloatArray
    sums: FloatArray
    slopes: FloatArray

    @classmethod
    def of(cls, curve: DegreeCurve) -> KeptCurve:
        """Return the values of a curve."""
        return cls(curve.epsilons, curve.levels, curve.quantiles, curve.sums, curve.slopes)

    def dim_at(self, epsilon: float) -> float:
        """Return the dimension seen at the kernel's own scale: twice the slope of S."""
        return float(2 * np.interp(np.log(epsilon), np.log(self.epsilons), self.slopes))


def far_pairs(
    cloud: FloatArray | None,
    bandwidth: Bandwidth,
    rows: SampledRows,
    period: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return scaled distances to far points, and the number of points that each stands for.

    Each row is paired with points at even spacing when sorted by bandwidth; any rule would do that
    does not depend on the order of the points. A point within the row's list stands for 0.
    """
    n, index = rows.n_points, rows.index
    beyond = n - rows.n_neighbors
    if cloud is None or beyond <= 0:
        none = np.zeros((len(index), 1), like=rows.scaled)
        return none, none
    ranked = np.argsort(bandwidth.squared, kind="stable")
    rank = np.empty_like(ranked)
    rank[ranked] = np.arange(n, like=ranked)
    count = min(FAR_PAIRS, n - 1)
    offsets = beside_array(1 + (np.arange(count) * (n - 1)) // count, rank)
    partners = ranked[(rank[index][:, None] + offsets) % n]
    sqdist = squared_distances(cloud[index], cloud, partners, period)
    scaled = sqdist / (bandwidth.row[index][:, None] * bandwidth.column[partners])
    # Strictly, a list ends at a true distance. Scaled distances have almost the same order, so a
    # point counts as beyond the list if it is beyond all of its scaled distances.
    outside = scaled > rows.scaled.max(axis=1)[:, None]
    return scaled, outside * (beyond / np.maximum(outside.sum(axis=1), 1))[:, None]


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """The choice of ε, with the curve by which it can be judged."""

    epsilon: float  #: the chosen ε
    #: Name of the rule: "degree", "slope", "given", or that of a rule of the user's own; if left
    #: empty, it becomes the name of the rule's class
    rule: str = ""
    #: How ε was chosen, to stand after "ε was chosen automatically, "; may be left empty
    words: str = ""
    #: S(ε) with its slope and, where degrees were computed, their quantiles
    curve: SlopeCurve | DegreeCurve | KeptCurve | None = None
    #: n*, to which the 1 % quantile of the degrees was set; None for other rules
    target: float | None = None
    #: Number of neighbours k that holds the kernel at this ε; 0 if the rule did not find out
    n_neighbors: int = 0

    @property
    def dim(self) -> float:
        """The dimension that S(ε) shows: twice its slope; NaN without a curve."""
        return np.nan if self.curve is None else self.curve.dim_at(self.epsilon)

    @property
    def epsilons(self) -> FloatArray:
        """The grid of ε on which the curve is known."""
        return np.empty(0) if self.curve is None else self.curve.epsilons

    @property
    def sums(self) -> FloatArray:
        """S(ε): the mean of the kernel over all pairs."""
        return np.empty(0) if self.curve is None else self.curve.sums

    @property
    def slopes(self) -> FloatArray:
        """Slopes of log S against log ε."""
        return np.empty(0) if self.curve is None else self.curve.slopes

    def __repr__(self) -> str:
        """Name ε and the rule."""
        return f"Tuning(epsilon={self.epsilon:.4g}, rule={self.rule!r})"


@runtime_checkable
class EpsilonRule(Protocol):
    """A rule for ε; a user may pass one as `epsilon`."""

    def choose(self, pairs: ScaledPairs) -> Tuning:
        """Return ε for these pairs and a kernel of the shape `pairs.shape`."""


def choose_by(rule: EpsilonRule, pairs: ScaledPairs) -> Tuning:
    """Return the choice of a rule; one that leaves out its name goes by that of its class."""
    tuning = rule.choose(pairs)
    return tuning if tuning.rule else replace(tuning, rule=type(rule).__name__)
