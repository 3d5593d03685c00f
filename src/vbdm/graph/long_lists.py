"""Whether the longest lists will be needed, so that one search does instead of several."""

from __future__ import annotations

import numpy as np

from ..base.memory import lists_fit
from ..search.brute import BruteIndex
from .point_set import PointSet

#: Dimension from which the longest lists are nearly always needed, and the points and neighbours
#: that tell it.
MANY_DIMENSIONS, LOOKED_AT, NEAR = 10.0, 256, 33


def needs_long_lists(cloud: PointSet, longest: int) -> bool:
    """Tell whether lists of the greatest length will be needed.

    Brute force takes hardly longer for long lists than for short ones. In many dimensions, read
    from a few points here, degrees vary so much that the kernel needs the longest.
    """
    X, n = cloud.coordinates, cloud.n_points
    if X is None or not isinstance(cloud.index, BruteIndex) or n < longest:
        return False
    if not lists_fit(n, longest, X.shape[1]):
        return False
    rows = np.linspace(0, n - 1, LOOKED_AT).round().astype(np.intp)
    _, sqdist = cloud.nearest(rows, NEAR)
    ratios = 0.5 * np.log(sqdist[:, -1:] / np.maximum(sqdist[:, 1:-1], np.finfo(float).tiny))
    return bool(ratios.mean() < 1 / MANY_DIMENSIONS)
