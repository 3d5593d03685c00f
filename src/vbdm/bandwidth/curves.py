"""Curves against ε: what the choice of ε was made from, to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..base.arrays import FloatArray, frozen
from ..base.threads import in_order, slices
from ..graph.search.exact import squared_distances
from .bandwidth import Bandwidth
from .scaled import SampledRows

#: Far points drawn for each sampled row, to see the part of S(ε) beyond the neighbours.
FAR_PAIRS = 64


@dataclass(frozen=True, eq=False, repr=False)
class SlopeCurve:
    """S(ε) as the paper prints it.

    Attributes
    ----------
    epsilons : (41,) array
        The grid, powers of two.
    sums : (41,) array
        S(ε): the mean of the kernel over all N² pairs, those outside the graph counted as 0.
    slopes : (40,) array
        Slope of log S against log ε from each grid point to the next.
    """

    epsilons: FloatArray
    sums: FloatArray
    slopes: FloatArray

    def dim_at(self, epsilon: float) -> float:
        """Return twice the largest slope, wherever it is."""
        return float(2 * self.slopes.max())


@dataclass(frozen=True, eq=False, repr=False)
class DegreeCurve:
    r"""Degrees and S(ε) on 20 octaves around the chosen ε; computed when first looked at.

    Near pairs come from the sampled rows, far pairs are sampled.

    Attributes
    ----------
    epsilons : (41,) array
        The grid.
    levels : (4,) array
        Levels of the quantiles.
    quantiles : (4, 41) array
        Quantiles of the degrees over the points.
    sums : (41,) array
        S(ε): mean of the kernel over all pairs of different points.
    slopes : (41,) array
        d log S / d log ε in closed form; twice it is the dimension seen at that scale.

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
        """Quantiles of the degrees."""
        return frozen(np.quantile(self._degrees_and_moments[0], self.levels, axis=1))

    @property
    def sums(self) -> FloatArray:
        """S(ε)."""
        degrees = self._degrees_and_moments[0]
        n_pairs = degrees.shape[1] * (self.rows.n_points - 1)
        return frozen(degrees.sum(axis=1) / n_pairs)

    @property
    def slopes(self) -> FloatArray:
        """Slopes of log S against log ε."""
        degrees, moments = self._degrees_and_moments
        return frozen(moments.sum(axis=1) / np.maximum(degrees.sum(axis=1), 1e-300))

    def dim_at(self, epsilon: float) -> float:
        """Return the dimension seen at the kernel's own scale: twice the slope of S."""
        return float(2 * np.interp(np.log(epsilon), np.log(self.epsilons), self.slopes))

    @cached_property
    def _degrees_and_moments(self) -> tuple[FloatArray, FloatArray]:
        """Σ e^{-z} and Σ z e^{-z} for every ε (rows of the tables) and sampled point (columns)."""
        far, weight = far_pairs(self.points, self.bandwidth, self.rows, self.period)

        def work(part: slice) -> tuple[FloatArray, FloatArray]:
            near, distant = self.rows.scaled[part] / 4, far[part] / 4
            degrees = np.empty((len(self.epsilons), len(near)))
            moments = np.empty_like(degrees)
            for i, eps in enumerate(self.epsilons):
                z, z_far = near / eps, distant / eps
                h, h_far = np.exp(-z), weight[part] * np.exp(-z_far)
                degrees[i] = h.sum(axis=1) + h_far.sum(axis=1)
                moments[i] = np.einsum("ij,ij->i", z, h) + np.einsum("ij,ij->i", z_far, h_far)
            return degrees, moments

        results = in_order(work, slices(len(self.rows.index), size=64))
        degrees, moments = (np.hstack(part) for part in zip(*results, strict=True))
        return degrees, moments


@dataclass(frozen=True, eq=False, repr=False)
class KeptCurve:
    """The values of a `DegreeCurve`, without the sampled rows that they came from.

    This is what a file holds: some thousand bytes instead of up to 30 million.
    """

    epsilons: FloatArray
    levels: FloatArray
    quantiles: FloatArray
    sums: FloatArray
    slopes: FloatArray

    @classmethod
    def of(cls, curve: DegreeCurve) -> KeptCurve:
        """Evaluate a curve."""
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
    """Return scaled distances to points beyond each row's list, and what each of them stands for.

    Partners are taken at even spacing in the order of the bandwidth: any rule would do that does
    not depend on the order of the points.
    """
    n, index = rows.n_points, rows.index
    beyond = n - rows.n_neighbors
    if cloud is None or beyond <= 0:
        return np.zeros((len(index), 1)), np.zeros((len(index), 1))
    ranked = np.argsort(bandwidth.squared, kind="stable")
    rank = np.empty(n, dtype=np.intp)
    rank[ranked] = np.arange(n)
    count = min(FAR_PAIRS, n - 1)
    offsets = 1 + (np.arange(count) * (n - 1)) // count
    partners = ranked[(rank[index, None] + offsets) % n]
    sqdist = squared_distances(cloud[index], cloud, partners, period)
    scaled = sqdist / (bandwidth.row[index, None] * bandwidth.column[partners])
    # The list ends at its last neighbour in true distance; scaled distance orders almost alike.
    outside = scaled > rows.scaled.max(axis=1)[:, None]
    return scaled, outside * (beyond / np.maximum(outside.sum(axis=1), 1))[:, None]
