"""The spread of forecasts, set so that intervals hold what comes as often as they say."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from .ensemble import Ensemble
from .judged import mean_in_time

#: The central interval whose coverage is set right.
LEVEL = 0.9
#: Factors beyond these mean that something else is wrong.
SMALLEST, LARGEST = 0.2, 5.0


def spread_factor(members: Ensemble, y: FloatArray) -> float:
    """Return the factor by which the distance from the mean must grow, as far as it is no chance.

    Each start has the factor at which its 90 % interval would just hold what came; the quantile of
    these at 90 % is the one wanted (as in conformal prediction). What may be chance is taken off:
    the logarithm of the factor is multiplied by 1 - 1/z², z the number of standard errors between
    the coverage without it and 90 %.
    """
    tails = members.quantile(np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    away = y - members.mean
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(
            away < 0, away / (tails[:, 0] - members.mean), away / (tails[:, 1] - members.mean)
        )
    needed = ratio[np.isfinite(y) & ~members.empty]
    # A member may be the only one, and what came be equal to it, or not.
    needed = np.where(np.isnan(needed), 0.0, needed)
    # The mean of a few very large members may lie beyond the interval: no factor would do.
    needed = np.where(needed < 0, np.inf, needed)
    n = len(needed)
    if n < 20:
        return 1.0
    coverage, error = mean_in_time((needed <= 1).astype(np.float64))
    z = (coverage - LEVEL) / max(error, np.sqrt(LEVEL * (1 - LEVEL) / n))
    if abs(z) <= 1:
        return 1.0
    wanted = np.quantile(np.minimum(needed, LARGEST), min(LEVEL * (1 + 1 / n), 1.0))
    factor = np.exp(np.log(np.clip(wanted, SMALLEST, LARGEST)) * (1 - 1 / z**2))
    return float(factor)
