"""Exact neighbour engines: SciPy's k-d tree, and scikit-learn's brute force for many columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ..arrays import FloatArray, IntArray

#: Rows per call: large enough to keep all cores busy, small enough that SciPy's 64-bit results
#: (16 bytes per pair) never exist for the whole cloud at once.
CHUNK = 32_768


class NeighborSearch(Protocol):
    """Finds, for each of some points, the k nearest of a cloud."""

    def query(
        self, cloud: FloatArray, k: int, queries: FloatArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Return indices (M, k) and squared distances (M, k), nearest first.

        `queries` are the points to search for; None means every point of the cloud itself.
        """


def chunks(n_rows: int, size: int = CHUNK) -> Iterator[slice]:
    """Yield slices that cover range(n_rows)."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


@dataclass(frozen=True)
class KDTree:
    """SciPy's exact k-d tree on all cores; the best choice up to about ten effective columns."""

    leafsize: int = 32
    workers: int = -1

    def query(
        self, cloud: FloatArray, k: int, queries: FloatArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        # Sliding midpoints build faster than medians, and the points already are in tree order.
        many = cloud.shape[1] > 3
        tree = cKDTree(cloud, leafsize=self.leafsize, balanced_tree=False, compact_nodes=many)
        points = cloud if queries is None else queries
        indices = np.empty((len(points), k), dtype=np.int32)
        sqdist = np.empty((len(points), k))
        for rows in chunks(len(points)):
            distance, index = tree.query(points[rows], k=k, workers=self.workers)
            indices[rows] = index.reshape(-1, k)
            np.square(distance.reshape(-1, k), out=sqdist[rows])
        return indices, sqdist


@dataclass(frozen=True)
class BruteForce:
    """All distances in blocks, by scikit-learn: wins when the effective dimension is high."""

    #: Extra candidates: fast distances (|x|² + |y|² - 2xy) are inexact, so a few more are fetched,
    #: measured again in full precision, and the k nearest kept.
    spare: int = 8

    def query(
        self, cloud: FloatArray, k: int, queries: FloatArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        from sklearn.neighbors import NearestNeighbors

        centre = cloud.mean(axis=0)
        engine = NearestNeighbors(algorithm="brute", n_jobs=-1).fit(cloud - centre)
        points = cloud if queries is None else queries
        n_candidates = min(k + self.spare, len(cloud))
        indices = np.empty((len(points), k), dtype=np.int32)
        sqdist = np.empty((len(points), k))
        for rows in chunks(len(points), size=4096):
            candidates = engine.kneighbors(points[rows] - centre, n_candidates, False)
            exact = squared_distances(points[rows], cloud, candidates)
            nearest = np.argsort(exact, axis=1, kind="stable")[:, :k]
            indices[rows] = np.take_along_axis(candidates, nearest, axis=1)
            sqdist[rows] = np.take_along_axis(exact, nearest, axis=1)
        return indices, sqdist


def squared_distances(
    points: FloatArray, cloud: FloatArray, indices: NDArray[np.integer]
) -> FloatArray:
    """Return |points_i - cloud_j|² for j in indices_i, in float64, one coordinate at a time."""
    total = np.zeros(indices.shape)
    for column in range(cloud.shape[1]):
        gap = cloud[:, column][indices]
        gap -= points[:, column, None]
        total += np.square(gap, out=gap)
    return total
