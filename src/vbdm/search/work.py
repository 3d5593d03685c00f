"""How much work each exact engine would have, counted on a few queries: no clock is involved.

The same points lead to the same engine, however busy the machine is. The nanoseconds per operation
were measured on the clouds of `benchmarks/engines.py` (seed 4000); they need not be right, only
their ratios nearly so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import FloatArray
from ..engines.tree import LEAF, levels_to, starts_of
from .brute import BruteForce

#: Number of queries on which work is counted.
N_COUNTED = 32
#: Nanoseconds for one point in a leaf that a tree looks into.
PER_VISIT = 45.0
#: Nanoseconds for one pair by brute force, and for one column of it.
PER_PAIR, PER_COLUMN = 2.3, 0.03
#: Nanoseconds to measure a candidate, and for one column of it.
PER_CANDIDATE, PER_MEASURED = 50.0, 3.0


@dataclass(frozen=True, eq=False)
class Queries:
    """Some points of a cloud, (m, n), with the squared distance of the k-th nearest to each."""

    points: FloatArray
    radii: FloatArray

    @classmethod
    def of(cls, cloud: FloatArray, k: int) -> Queries:
        """Take points at even spacing."""
        points = cloud[:: max(1, len(cloud) // N_COUNTED)][:N_COUNTED]
        return cls(points, BruteForce().index(cloud, k).query(points, k)[1][:, -1])


def by_pairs(cloud: FloatArray) -> float:
    """Return the nanoseconds of one query by brute force."""
    return float(len(cloud) * (PER_PAIR + PER_COLUMN * cloud.shape[1]))


def by_visits(cloud: FloatArray, points: FloatArray, radii: FloatArray) -> float:
    """Return the nanoseconds of one query by a k-d tree.

    A tree must look into every leaf whose box is nearer than the k-th neighbour. The cloud's own
    order gives the leaves: it is that of a tree.
    """
    starts = starts_of(len(cloud), levels_to(len(cloud), LEAF))[:-1]
    low, high = np.minimum.reduceat(cloud, starts), np.maximum.reduceat(cloud, starts)
    visited = 0
    for point, radius in zip(points, radii, strict=True):
        gap = np.maximum(np.maximum(low - point, point - high), 0.0)
        visited += int((np.einsum("ij,ij->i", gap, gap) < radius).sum())
    return PER_VISIT * visited / len(points) * len(cloud) / len(starts)


def by_candidates(
    small: FloatArray, points: FloatArray, radii: FloatArray, first: int, n_columns: int
) -> float:
    """Return the nanoseconds of one query that measures candidates in all columns.

    Candidates come in the order of a lower bound, the distance in `small`, (N, r); their number is
    doubled until the bound exceeds the k-th distance.
    """
    measured = 0
    for point, radius in zip(points, radii, strict=True):
        gap = small - point
        needed = int((np.einsum("ij,ij->i", gap, gap) < radius).sum())
        wanted = first
        while wanted <= needed:
            measured += wanted
            wanted *= 2
        measured += wanted
    return measured / len(points) * (PER_CANDIDATE + PER_MEASURED * n_columns)
