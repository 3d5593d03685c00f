"""The check of the scales of columns: a few, by their units, may hide all others.

Distances add up columns, whatever their units. A column in grams beside one in metres is the whole
distance, and the estimate is one of that column alone, without any sign of trouble. But columns of
one space may differ in scale, too: principal components do by construction, a long thin shape does,
and noise around a manifold is smaller than the manifold. So columns count as hidden only if

* all together they vary less than the kernel is wide, so that no neighbourhood can tell their
  values apart (with enough points, a kernel resolves even a thin column);
* they are half of the columns or more, and the others have nearly all of the squared distances;
* they are neither principal components nor noise: principal components are uncorrelated, or at
  least in falling order; noise is uncorrelated, and alike in all its columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, to_host
from ..operator.operator import Operator

#: Share of the squared distances from which on the other columns do not count.
NEARLY_ALL = 0.99
#: Rows and columns that are looked at, at most.
MOST_ROWS, MOST_COLUMNS = 5000, 300
#: Correlation of two columns up to which they count as uncorrelated: that of columns which were
#: made so, and, in units of 1/√N, that of independent columns, the largest among many pairs.
MADE_SO, BY_CHANCE = 1e-3, 5.0
#: Ratio of the largest to the smallest deviation up to which columns of noise are alike.
ALIKE = 1.5
#: Fewest columns whose falling order is no accident, and the correlation of their ranks with it.
IN_ORDER, FALLING = 5, 0.95


@dataclass(frozen=True, eq=False)
class Scales:
    """Which columns count, by their scale.

    Attributes
    ----------
    n_columns : int
        Number of columns.
    wide : (m,) array of int
        Numbers of the columns that are wider than the kernel.
    share : float
        Their share of all squared distances.
    hide_others : bool
        Whether they hide all other columns.
    """

    n_columns: int
    wide: NDArray[np.intp]
    share: float
    hide_others: bool


def scales_of(operator: Operator) -> Scales | None:
    """Compare the columns with the kernel's width; None if distances do not add up columns."""
    graph = operator.graph
    points = graph.point_set.coordinates
    if points is None or points.shape[1] < 2 or graph.metric != "euclidean":
        return None
    if graph.period is not None and np.any(graph.period):
        return None
    rows = to_host(points[:: -(-len(points) // MOST_ROWS)])
    widths = operator.order.to_caller(operator.kernel.widths)
    narrow = narrow_columns(rows, float(np.median(widths)))
    variance = rows.var(axis=0)
    share = float(variance[~narrow].sum() / variance.sum())
    hidden = share >= NEARLY_ALL and narrow.sum() >= len(narrow) / 2 and not is_noise(rows, narrow)
    return Scales(len(narrow), np.flatnonzero(~narrow), share, hidden)


def narrow_columns(rows: FloatArray, width: float) -> BoolArray:
    """Mark the columns that, all together, vary less than the kernel is wide: the narrowest."""
    variance = rows.var(axis=0)
    order = np.argsort(variance, kind="stable")
    narrow = np.zeros(len(variance), dtype=np.bool_)
    narrow[order] = np.cumsum(variance[order]) < width**2
    return narrow


def is_noise(rows: FloatArray, narrow: BoolArray) -> bool:
    """Tell whether narrow columns are noise, or the last principal components."""
    deviations = rows.std(axis=0)
    varying = np.flatnonzero(deviations > 0)
    largest = largest_correlation(rows[:, varying[:MOST_COLUMNS]])
    if largest < MADE_SO or in_falling_order(deviations):
        return True
    small = deviations[narrow & (deviations > 0)]
    # One column of noise cannot be told from a coordinate.
    alike = len(small) > 1 and small.max() < ALIKE * small.min()
    return not small.size or bool(alike and largest < BY_CHANCE / np.sqrt(len(rows)))


def largest_correlation(columns: FloatArray) -> float:
    """Return the largest correlation, by its size, between two of the columns."""
    centred = columns - columns.mean(axis=0)
    scaled = centred / np.linalg.norm(centred, axis=0)
    found = np.abs(scaled.T @ scaled)
    np.fill_diagonal(found, 0.0)
    return float(found.max())


def in_falling_order(deviations: FloatArray) -> bool:
    """Tell whether columns vary less and less, as principal components do, those of a part, too."""
    n = len(deviations)
    if n < IN_ORDER:
        return False
    ranks = np.argsort(np.argsort(-deviations, kind="stable"))
    return bool(np.corrcoef(ranks, np.arange(n))[0, 1] > FALLING)
