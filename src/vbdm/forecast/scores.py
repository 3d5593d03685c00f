"""How good forecasts are: errors of means, and scores of distributions."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from ..base.arrays import FloatArray

#: What is compared, in the order in which it is shown.
MEASURES = ("rmse", "acc", "crps", "coverage50", "coverage90", "ignorance")


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
