"""Guess how many neighbours will be needed, so that one search serves both density and kernel.

The guess saves time and changes little else. If it is too high, the neighbours beyond those needed
are not used; if it is too low by more than the slack in k, the cloud is searched again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gamma

from ..base.shapes import Shape
from ..graph.point_set import PointSet

#: Up to this many points two searches cost less than a guess.
FEW_POINTS = 300
#: Most points of which all are looked at; number of points sampled from larger clouds.
ALL_ROWS, SAMPLE = 4000, 1000
#: Numbers of neighbours: searched for, the point itself included; used for distance ratios, the
#: point itself not counted; and k0 of the density, counted again.
LISTED, RATIOS, DENSITY = 64, 32, 16
#: Largest guess for targets up to 17: beyond it, a wrong guess costs more than a second search.
MOST = 400


def guess_neighbors(
    cloud: PointSet,
    beta: Callable[[float], float],
    target: float,
    shape: Shape,
    cutoff: float,
) -> int:
    """Return a k that probably holds the kernel when sparse points have `target` neighbours.

    Parameters
    ----------
    cloud : PointSet
        Points with an index.
    beta : callable
        Returns the exponent β of ρ = q^β, given the dimension.
    target : float
        n*, the 1 % quantile of the degrees.
    shape, cutoff
        h, and the s beyond which it is cut.

    Notes
    -----
    A kernel of degree n has n·V/m0 points within its cutoff, with V the volume of that ball and m0
    the integral of the kernel. Degrees vary like q^{1+βd}, with q estimated on a sample from the
    lists of the sampled points alone, and by chance. The last factor was fitted on fifteen data
    sets, and holds within 7 % where no thin tail widens ε.
    """
    points, index = cloud.coordinates, cloud.index
    if points is None or index is None:
        return LISTED
    # The sample is spaced evenly by distance from the centre, so it does not depend on the order of
    # the points, nor on shifts and turns of the cloud.
    ranked = np.argsort(np.square(points - points.mean(axis=0)).sum(axis=1), kind="stable")
    count = len(points) if len(points) <= ALL_ROWS else SAMPLE
    rows = ranked[np.linspace(0, len(points) - 1, count).round().astype(np.intp)]
    sqdist = index.query(points[rows], LISTED)[1][:, 1:]
    sqdist = np.maximum(sqdist, np.finfo(np.float64).tiny)
    log_ratio = 0.5 * (np.log(sqdist[:, RATIOS - 1]) - np.log(sqdist[:, : RATIOS - 1]).mean(axis=1))
    dim = 1 / np.clip(log_ratio.mean(), 0.01, 10)
    width = sqdist[:, : DENSITY - 1].mean(axis=1, keepdims=True)
    log_density = np.log(np.exp(-sqdist / (2 * width)).sum(axis=1)) - dim / 2 * np.log(width[:, 0])
    exponent = 1 + beta(dim) * dim
    lowest, highest = np.quantile(exponent * log_density, [0.01, 0.99])
    ball = np.pi ** (dim / 2) / gamma(dim / 2 + 1) * cutoff ** (dim / 2)
    peak = float(shape(np.zeros(1))[0])
    reach = target * ball * peak / shape.moments(dim, cutoff).m0
    k = np.exp(highest - lowest) * reach * max(1.66 - 1.2 * exponent, 0.9)
    return int(np.clip(k, LISTED, MOST * max(target / 17, 1)))
