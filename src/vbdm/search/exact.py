"""Exact engines, and the protocol that all engines follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ..arrays import FloatArray, IntArray


class NeighborIndex(Protocol):
    """A cloud made ready to be searched."""

    @property
    def rows_per_call(self) -> int:
        """How many points one call should take."""

    @property
    def parallel(self) -> bool:
        """Whether calls may run side by side."""

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices (M, k) and squared distances (M, k) of the k nearest, nearest first."""


class NeighborSearch(Protocol):
    """Makes a cloud ready to be searched."""

    def index(self, cloud: FloatArray, k: int) -> NeighborIndex:
        """Return the cloud's index; `k` says how many neighbours will mostly be asked for."""


#: Coordinates gathered at a time when distances are measured.
GATHERED = 1 << 18


def chunks(n_rows: int, size: int) -> Iterator[slice]:
    """Yield slices that cover range(n_rows)."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


@dataclass(frozen=True)
class KDTree:
    """SciPy's exact k-d tree; the best choice up to about ten effective columns."""

    leafsize: int = 16

    def index(self, cloud: FloatArray, k: int) -> TreeIndex:
        """Build the tree."""
        # Sliding midpoints build faster than medians, and the points already are in tree order.
        many = cloud.shape[1] > 3
        return TreeIndex(
            cKDTree(cloud, leafsize=self.leafsize, balanced_tree=False, compact_nodes=many)
        )


@dataclass(frozen=True, eq=False)
class TreeIndex:
    """A k-d tree. SciPy's results take 16 bytes per pair, so calls are kept short."""

    tree: Any
    rows_per_call: int = 1024
    parallel: bool = True

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        distance, index = self.tree.query(points, k=k)
        distance = distance.reshape(-1, k)
        return index.reshape(-1, k).astype(np.int32), np.square(distance, out=distance)


@dataclass(frozen=True)
class BruteForce:
    """All distances in blocks, by scikit-learn: wins when the effective dimension is high."""

    #: Extra candidates: fast distances (|x|² + |y|² - 2xy) are inexact, so a few more are fetched,
    #: measured again in full precision, and the k nearest kept.
    spare: int = 8

    def index(self, cloud: FloatArray, k: int) -> BruteIndex:
        """Centre the cloud: fast distances lose digits far from the origin."""
        from sklearn.neighbors import NearestNeighbors

        centre = cloud.mean(axis=0)
        engine = NearestNeighbors(algorithm="brute", n_jobs=-1).fit(cloud - centre)
        return BruteIndex(engine, cloud, centre, self.spare)


@dataclass(frozen=True, eq=False)
class BruteIndex:
    """A centred cloud; scikit-learn uses all cores by itself."""

    engine: Any
    cloud: FloatArray
    centre: FloatArray
    spare: int
    rows_per_call: int = 4096
    parallel: bool = False

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        n_candidates = min(k + self.spare, len(self.cloud))
        candidates = self.engine.kneighbors(points - self.centre, n_candidates, False)
        return nearest_of(points, self.cloud, candidates, k)


def nearest_of(
    points: FloatArray, cloud: FloatArray, candidates: NDArray[np.integer], k: int
) -> tuple[IntArray, FloatArray]:
    """Measure candidates in full precision and return the k nearest."""
    exact = squared_distances(points, cloud, candidates)
    nearest = np.argsort(exact, axis=1, kind="stable")[:, :k]
    indices = np.take_along_axis(candidates, nearest, axis=1).astype(np.int32)
    return indices, np.take_along_axis(exact, nearest, axis=1)


def squared_distances(
    points: FloatArray, cloud: FloatArray, indices: NDArray[np.integer]
) -> FloatArray:
    """Return |points_i - cloud_j|² for j in indices_i, in float64, a few rows at a time."""
    result = np.empty(indices.shape)
    size = max(1, GATHERED // max(1, indices.shape[1] * cloud.shape[1]))
    for rows in chunks(len(points), size=size):
        gap = np.take(cloud, indices[rows], axis=0)
        gap -= points[rows, None, :]
        np.einsum("ijk,ijk->ij", gap, gap, out=result[rows])
    return result


def distances_by_column(
    points: FloatArray, columns: FloatArray, indices: NDArray[np.integer]
) -> FloatArray:
    """Return the same from the cloud's contiguous columns (n, N): several times faster, if few."""
    # Converted once: NumPy would do it again for every column.
    wanted = indices.astype(np.intp, copy=False)
    total, gap = np.zeros(wanted.shape), np.empty(wanted.shape)
    for own, column in zip(points.T, columns, strict=True):
        np.take(column, wanted, out=gap, mode="clip")
        gap -= own[:, None]
        total += np.square(gap, out=gap)
    return total
