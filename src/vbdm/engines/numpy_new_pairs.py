"""Pairs within reach of new points with NumPy: each new point goes down the tree, all at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, IntArray
from ..base.threads import slices
from .numpy_pairs import MEASURED, descended
from .tree import Reach


def pairs_to(
    reach: Reach, points: FloatArray, rho: FloatArray
) -> tuple[NDArray[np.intp], IntArray, FloatArray]:
    """Return the pairs of new points, (m, n) with widths (m,), with the points within their reach.

    Returns
    -------
    counts : (m,) int array
        Number of pairs of each new point.
    neighbors : int array
        The points of the tree, row by row, ascending in each row.
    scaled : array
        |x-y|²/(ρ(x) ρ(y)).
    """
    new, leaf = descended(reach, points, points, rho, np.arange(len(points)))
    width = int(np.diff(reach.tree.starts).max())
    counts = np.zeros(len(points), dtype=np.intp)
    neighbors, scaled = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
    for part in slices(len(new), size=max(1, MEASURED // width)):
        own = new[part]
        j, total, product = to_leaves(reach, points[own], rho[own], leaf[part], width)
        hits = total < reach.cut * product
        counts += np.bincount(own, hits.sum(axis=1), len(counts)).astype(np.intp)
        neighbors.append(j[hits].astype(np.int32))
        scaled.append(total[hits] / product[hits])
    return counts, np.concatenate(neighbors), np.concatenate(scaled)


def to_leaves(
    reach: Reach, points: FloatArray, rho: FloatArray, leaf: NDArray[np.intp], width: int
) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Return the points of one leaf for each new point, and |x-y|² and ρ(x) ρ(y); (m, width)."""
    tree, starts = reach.tree, reach.tree.starts
    j = starts[leaf, None] + np.arange(width)
    inside = j < starts[leaf + 1, None]
    # Leaves differ by one point: the place after a shorter one gets ρ = 0, which reaches nothing.
    np.minimum(j, tree.n_points - 1, out=j)
    total = np.zeros(j.shape)
    for x, column, length in zip(points.T, tree.columns, tree.period, strict=True):
        gap = column[j] - x[:, None]
        if length > 0:
            gap -= length * np.rint(gap / length)
        total += np.square(gap, out=gap)
    return j, total, rho[:, None] * np.where(inside, reach.rho[j], 0.0)
