"""How good forecasts are: errors of means, and scores of distributions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from ..base.arrays import FloatArray

#: What is compared, in the order in which it is shown.
MEASURES = ("rmse", "acc", "crps", "coverage50", "coverage90", "ignorance")
#: Levels of the ends of both intervals.
ENDS = np.array([0.05, 0.25, 0.75, 0.95])


def gaussian_crps(mean: FloatArray, deviation: FloatArray, y: FloatArray) -> FloatArray:
    r"""Return the continuous ranked probability score of normal distributions.

    Notes
    -----
    :math:`σ [z(2Φ(z) - 1) + 2φ(z) - 1/\sqrt{π}]` with z = (y - μ)/σ (Gneiting et al. 2005).

    Examples
    --------
    >>> float(gaussian_crps(np.array(0.0), np.array(1.0), np.array(0.0)).round(4))
    0.2337
    """
    z = (y - mean) / deviation
    bell = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return np.asarray(deviation * (z * (2 * ndtr(z) - 1) + 2 * bell - 1 / np.sqrt(np.pi)))


class Told(NamedTuple):
    """Distributions in the numbers that measures need: one entry for each start."""

    mean: FloatArray
    crps: FloatArray
    ends: FloatArray
    density: FloatArray


def of_normal(mean: FloatArray, deviation: FloatArray, y: FloatArray) -> Told:
    """Return the same of normal distributions."""
    sigma = np.where(deviation > 0, deviation, 1e-12)
    ends = mean[:, None] + sigma[:, None] * ndtri(ENDS)
    z = (y - mean) / sigma
    with np.errstate(under="ignore"):
        density = np.exp(-0.5 * z * z) / (sigma * np.sqrt(2 * np.pi))
    crps = np.where(deviation > 0, gaussian_crps(mean, sigma, y), np.abs(y - mean))
    return Told(mean, crps, ends, density)
