"""Brute force: the distances of all pairs, by matrix products, and the k smallest of each row.

A product in single precision sieves: it gives every squared distance up to an error with a proven
bound. What may be among the k nearest is measured in double precision, so the result is exact. A
row that the sieve cannot decide is sieved again in double precision; if that fails as well, all its
distances are measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, IntArray
from ..base.threads import for_each, one_blas_thread, slices
from .exact import squared_distances

#: Queries and points in one product, chosen so that it fits the cache of a core.
ROWS, TILE = 256, 2048
#: Points in the sample that sets the threshold of each row.
SAMPLE = 2048


@dataclass(frozen=True)
class BruteForce:
    """All distances in blocks, by matrix products: the fastest if the effective dimension is high.

    Notes
    -----
    A pair in 30 columns takes 1.4 ns of processor time, and each of the k nearest another 0.1 µs,
    to be measured and sorted.
    """

    def index(self, cloud: FloatArray, k: int) -> BruteIndex:
        """Centre the cloud and scale it by a power of two: products lose digits far from 0."""
        centre = cloud.mean(axis=0)
        largest = max(float(np.abs(cloud - centre).max(initial=0.0)), np.finfo(float).tiny)
        return BruteIndex(cloud, centre, -int(np.frexp(largest)[1]))


@dataclass(frozen=True, eq=False)
class BruteIndex:
    """A cloud, its centre, and the power of two that brings its coordinates between -1 and 1."""

    cloud: FloatArray
    centre: FloatArray
    power: int
    rows_per_call: int = 2048
    #: Each call shares out its own work, with BLAS held at one thread around all of it.
    parallel: bool = False
    is_exact: bool = True

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest; of equal ones, the first."""
        indices, sqdist = np.empty((len(points), k), dtype=np.int32), np.empty((len(points), k))

        def work(rows: slice) -> None:
            self.search(points[rows], k, indices[rows], sqdist[rows])

        with one_blas_thread():
            for_each(work, slices(len(points), size=ROWS))
        return indices, sqdist

    def search(self, points: FloatArray, k: int, indices: IntArray, sqdist: FloatArray) -> None:
        """Write the k nearest of a few points."""
        near, open_rows = self.near_zero(points), np.arange(len(points))
        for precision, margin in (("single", 3.0), ("double", 9.0)):
            if not len(open_rows):
                return
            sieve: Sieve = getattr(self, precision)
            # Products of points that are far away overflow; they are then not decided.
            with np.errstate(over="ignore", invalid="ignore"):
                candidates, decided = sieve.candidates(near[open_rows], k, margin)
            rows = open_rows[decided]
            if len(rows):
                indices[rows], sqdist[rows] = nearest(points[rows], self.cloud, candidates, k)
            open_rows = open_rows[~decided]
        all_points = np.arange(len(self.cloud), dtype=np.int32)[None]
        for row in open_rows[:, None]:
            indices[row], sqdist[row] = nearest(points[row], self.cloud, all_points, k)

    def near_zero(self, points: FloatArray) -> FloatArray:
        """Return points relative to the centre, scaled."""
        return np.asarray(np.ldexp(points - self.centre, self.power))

    @cached_property
    def single(self) -> Sieve:
        """The cloud in single precision."""
        return Sieve.of(self.near_zero(self.cloud), np.float32)

    @cached_property
    def double(self) -> Sieve:
        """The cloud in double precision, for rows that single precision cannot decide."""
        return Sieve.of(self.near_zero(self.cloud), np.float64)


@dataclass(frozen=True, eq=False)
class Sieve:
    """Points y as factors ``(-2y, |y|²)``; products with (x, 1) are ``|x-y|² - |x|²``."""

    factors: NDArray[Any]  # (n + 1, N): the factors, in the precision of the products
    # (n + 1, m): those of a sample of the points, evenly spaced; of few points, none
    sample: NDArray[Any]
    radius: float  # the largest ``|y|``

    @classmethod
    def of(cls, points: FloatArray, dtype: Any) -> Sieve:
        """Return the factors of these points."""
        squares = np.einsum("ij,ij->i", points, points)
        factors = np.empty((points.shape[1] + 1, len(points)), dtype=dtype)
        factors[:-1], factors[-1] = -2 * points.T, squares
        step = len(points) // SAMPLE
        sample = factors[:, ::step] if step > 1 else factors[:, :0]
        return cls(factors, np.ascontiguousarray(sample), float(np.sqrt(squares.max(initial=0.0))))

    def error(self, points: FloatArray) -> FloatArray:
        """Return a bound on the error of the products with each point, (m,).

        Factors are rounded once, and a sum of n + 1 products, in whatever order, at most n + 1
        times: with u half the distance of 1 to the next number, the error is at most (n + 4) u
        times the sum of the products' sizes, ``2|x||y| + |y|²``, up to terms of order u².
        """
        precision, r = np.finfo(self.factors.dtype), self.radius
        size = r * (2 * np.sqrt(np.einsum("ij,ij->i", points, points)) + r)
        n = len(self.factors) + 4
        return np.asarray(0.55 * n * precision.eps * size + n * float(precision.tiny))

    def candidates(self, points: FloatArray, k: int, margin: float) -> tuple[IntArray, BoolArray]:
        """Return who may be among the k nearest, and for which points that is sure to be complete.

        Candidates, (m, c), are those of the m points that were decided; free places hold -1.

        Notes
        -----
        Products g up to a threshold t are kept. With an error of at most e, and the k-th smallest
        g at most t - 2e, none of the k nearest was lost; and they all have g within 2e of the k-th
        smallest. Thresholds come from the sample; `margin` counts standard deviations.
        """
        error = 2 * self.error(points)
        left = np.ones((len(points), len(self.factors)), dtype=self.factors.dtype)
        left[:, :-1] = points
        limit = self.thresholds(left, k, margin)
        who, values = self.below(left, limit, k)
        kth = np.partition(values, k - 1, axis=1)[:, k - 1].astype(np.float64)
        # In single precision infinity stands for free places, whose comparison is never true.
        ceiling = np.nextafter((kth + error).astype(values.dtype), np.inf)
        within = (values <= ceiling[:, None]) & (who >= 0)
        decided = np.isfinite(kth) & (kth <= limit - error) & (within.sum(axis=1) <= 2 * k + 64)
        return pack_rows(who[decided], within[decided]), decided

    def thresholds(self, left: NDArray[Any], k: int, margin: float) -> NDArray[Any]:
        """Return a threshold for each row below which there are somewhat more than k points."""
        n_points, n_sampled = self.factors.shape[1], self.sample.shape[1]
        expected = k * n_sampled / n_points
        rank = int(np.ceil(expected + margin * np.sqrt(expected) + margin))
        if rank >= n_sampled:
            return np.full(len(left), np.inf, dtype=left.dtype)
        return np.asarray(np.partition(left @ self.sample, rank - 1, axis=1)[:, rank - 1])

    def below(
        self, left: NDArray[Any], limit: NDArray[Any], k: int
    ) -> tuple[IntArray, NDArray[Any]]:
        """Return the points with products up to the limit, and these products, row by row.

        Both are (m, c), c >= k, with -1 and infinity in free places.
        """
        rows, places, values = [], [], []
        for tile in slices(self.factors.shape[1], size=TILE):
            product = left @ self.factors[:, tile]
            found = np.flatnonzero(product <= limit[:, None])
            row = found // product.shape[1]
            rows.append(row.astype(np.int16))
            places.append((found - row * product.shape[1] + tile.start).astype(np.int32))
            values.append(product.ravel()[found])
        row = np.concatenate(rows)
        order = np.argsort(row, kind="stable")
        row, counts = row[order], np.bincount(row, minlength=len(left))
        column = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = len(left), max(int(counts.max(initial=0)), k)
        who = np.full(shape, -1, dtype=np.int32)
        kept = np.full(shape, np.inf, dtype=left.dtype)
        who[row, column] = np.concatenate(places)[order]
        kept[row, column] = np.concatenate(values)[order]
        return who, kept


def pack_rows(table: IntArray, wanted: BoolArray) -> IntArray:
    """Return the wanted entries of each row, moved to its beginning; free places hold -1."""
    counts = wanted.sum(axis=1)
    result = np.full((len(table), int(counts.max(initial=0))), -1, dtype=np.int32)
    result[np.arange(result.shape[1]) < counts[:, None]] = table[wanted]
    return result


def nearest(
    points: FloatArray, cloud: FloatArray, candidates: IntArray, k: int
) -> tuple[IntArray, FloatArray]:
    """Measure candidates, in ascending order, and return the k nearest; of equal ones the first."""
    exact = squared_distances(points, cloud, np.maximum(candidates, 0))
    exact[candidates < 0] = np.inf
    order = np.argsort(exact, axis=1)
    sqdist = np.take_along_axis(exact, order, axis=1)
    # A stable sort would take three times as long; equal distances are rare.
    tied = np.flatnonzero((sqdist[:, 1:] == sqdist[:, :-1]).any(axis=1))
    order[tied] = np.argsort(exact[tied], axis=1, kind="stable")
    return np.take_along_axis(candidates, order[:, :k], axis=1), sqdist[:, :k]


#: Number of rows on which an approximate search is checked.
RECALL_ROWS = 200


def recall_of(cloud: FloatArray, table: IntArray) -> float:
    """Return the share of the true neighbours that lists (N, k) hold, on a sample of their rows."""
    k = table.shape[1]
    rows = np.linspace(0, len(cloud) - 1, min(len(cloud), RECALL_ROWS)).round().astype(np.intp)
    truth, _ = BruteForce().index(cloud, k).query(cloud[rows], k)
    found = [np.isin(true, table[row]).mean() for row, true in zip(rows, truth, strict=True)]
    return float(np.mean(found))
