"""Choose the engine by measuring it on a sample of the points."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ..arrays import FloatArray, IntArray
from .exact import BruteForce, KDTree, NeighborIndex, NeighborSearch, nearest_of

#: Up to this many effective columns the tree wins always; beyond, it is timed.
TREE_COLUMNS = 8


@dataclass(frozen=True)
class Choice:
    """An engine, the columns it will search in, and the reason in words."""

    engine: NeighborSearch
    rotation: FloatArray | None
    reason: str


@dataclass(frozen=True)
class Auto:
    """Rotate away empty directions, then take the tree or brute force, whichever is faster."""

    #: Queries used to time the engines.
    n_timed: int = 64

    def choose(self, cloud: FloatArray, k: int) -> Choice:
        """Return the engine for this cloud and say why."""
        if cloud.shape[1] <= TREE_COLUMNS:
            return Choice(KDTree(), None, f"{cloud.shape[1]} columns: the k-d tree wins")
        rotation = principal_axes(cloud)
        rank = rotation.shape[1]
        if rank <= TREE_COLUMNS:
            return Choice(KDTree(), rotation, f"{rank} directions hold all the variance: k-d tree")
        # Without a direction to drop the rotation gains nothing, and distances would be redone.
        full = rank == cloud.shape[1]
        rotated = cloud if full else cloud @ rotation
        sample = rotated[:: max(1, len(cloud) // self.n_timed)]
        seconds = {}
        for engine in (KDTree(), BruteForce()):
            index = engine.index(rotated, k)
            started = perf_counter()
            index.query(sample, k)
            seconds[engine] = perf_counter() - started
        best = min(seconds, key=lambda engine: seconds[engine])
        times = ", ".join(f"{type(e).__name__} {t:.3g} s" for e, t in seconds.items())
        reason = f"{rank} directions; {len(sample)} queries took {times}"
        return Choice(best, None if full else rotation, reason)

    def index(self, cloud: FloatArray, k: int) -> NeighborIndex:
        """Return the index of the chosen engine."""
        choice = self.choose(cloud, k)
        if choice.rotation is None:
            return choice.engine.index(cloud, k)
        inner = choice.engine.index(cloud @ choice.rotation, k)
        return RotatedIndex(inner, cloud, choice.rotation, inner.rows_per_call, inner.parallel)


@dataclass(frozen=True, eq=False)
class RotatedIndex:
    """An index of the rotated cloud; distances are measured in the original columns."""

    inner: NeighborIndex
    cloud: FloatArray
    rotation: FloatArray
    rows_per_call: int
    parallel: bool

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        candidates, _ = self.inner.query(points @ self.rotation, k)
        # Measured again: the rotation rounds.
        return nearest_of(points, self.cloud, candidates, k)


def principal_axes(cloud: FloatArray) -> FloatArray:
    """Return an orthonormal basis (n, r) of the directions in which the cloud extends.

    Dropping the others is an isometry, so neighbours do not change; trees get faster.
    """
    centred = cloud - cloud.mean(axis=0)
    wide = cloud.shape[1] > len(cloud)
    # The smaller of the two products: with fewer points than columns, N×N instead of n×n.
    variances, axes = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    # The covariance squares singular values: 1e-12 of the variance is what rounding leaves.
    wanted = variances > 1e-12 * max(variances[-1], np.finfo(float).tiny)
    axes = axes[:, wanted]
    if wide:
        axes = (centred.T @ axes) / np.sqrt(variances[wanted])
    return np.ascontiguousarray(axes[:, ::-1])
