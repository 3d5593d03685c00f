"""How the points were sampled: independent or not, at random or on a grid.

Error bars and the finite-sample corrections are those of independent random points. Steps of a
time series are not independent, and the points of a grid are not random; both can be seen in the
points themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, next_fast_len, rfft

from ..base.arrays import FloatArray
from ..graph.neighbor_graph import NeighborGraph, ReleasedLists

#: Number of points whose neighbours are looked at, and number of neighbours.
SAMPLE, NEAREST = 2000, 8
#: d times the mean of log(r_8/r_j) over j = 2 … 7, as expected for random points: the sums of
#: Levina and Bickel without j = 1.
EXPECTED = (7 - sum(1 / j for j in range(1, 8))) / 6


def autocorrelation_time(values: ArrayLike) -> float:
    r"""Return over how many rows a function is correlated with itself: 1 for independent rows.

    The mean over N rows is then as uncertain as that over N/τ independent ones.

    Parameters
    ----------
    values : (N,) array
        One number for each row, in the order of the rows; NaN counts as the mean.

    Notes
    -----
    Implements :math:`τ = 1 + 2 Σ_{k<K} r_k`, r_k the correlation at a distance of k rows and K the
    first distance at which it is not positive. Cost O(N log N), by Fourier transform.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal(5000)
    >>> bool(autocorrelation_time(noise) < 1.2), round(autocorrelation_time(np.repeat(noise, 20)))
    (True, 20)
    """
    numbers = np.asarray(values, dtype=np.float64)
    centred = np.nan_to_num(numbers - np.nanmean(numbers))
    n = len(centred)
    size = next_fast_len(2 * n, real=True)
    sums = irfft(np.abs(rfft(centred, size)) ** 2, size)[:n]
    if not sums[0] > 0:
        return 1.0
    correlations = sums / sums[0]
    cut = int(np.argmax(correlations <= 0)) or n
    return float(1 + 2 * correlations[1:cut].sum())


def regularity(graph: NeighborGraph) -> float | None:
    r"""Return how evenly neighbours are spaced: 1/2 for random points, 1 on a grid.

    Parameters
    ----------
    graph : NeighborGraph
        The points; at most 2,000 of them are looked at.

    Returns
    -------
    float or None
        The mean of :math:`(r_1/r_2)^d` over points, r_1 and r_2 being the distances of the two
        nearest neighbours. It is uniform between 0 and 1 for random points of any smooth density.
        None where there are too few neighbours to tell.

    Notes
    -----
    d is read from the same few neighbours: noise around a manifold has the dimension of the noise
    at this scale, whatever dimension the operator uses.

    Examples
    --------
    >>> even = regularity(vbdm.neighbors(np.linspace(0, 1, 1000)[:, None]))
    >>> random = regularity(vbdm.neighbors(np.random.default_rng(0).random((2000, 1))))
    >>> round(even, 2), round(random, 1)
    (1.0, 0.5)
    """
    sqdist = nearest_distances(graph)
    if sqdist is None or sqdist.shape[1] < NEAREST:
        return None
    known = sqdist[sqdist[:, 0] > 0]
    if len(known) < 20:
        return None
    logs = 0.5 * np.log(known)
    inverse = (logs[:, -1:] - logs[:, 1:-1]).mean() / EXPECTED
    if not inverse > 0:
        return 1.0
    return float(np.exp((logs[:, 0] - logs[:, 1]) / inverse).mean())


def nearest_distances(graph: NeighborGraph) -> FloatArray | None:
    """Return squared distances from some points to their nearest neighbours, without themselves."""
    n, k = graph.n_points, NEAREST + 1
    rows = np.linspace(0, n - 1, min(n, SAMPLE)).round().astype(np.intp)
    if isinstance(graph.lists, ReleasedLists):
        # The lists are gone, and to search around all points again would take long.
        neighbors, _ = graph.point_set.nearest(rows, min(k, n))
        return graph.point_set.measured(rows, neighbors[:, 1:])
    return graph.distances(rows, slice(1, k))
