"""Densities on the line with heavier tails than the Gaussian."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ..errors import InputError
from ._checks import check_n_samples, check_scale, generator
from ._sample import RandomState, Sample, Truth
from ._spectra import positive_c1_only
from ._sturm_liouville import sturm_liouville

# Minus the logarithm of the weight q**c1 where the line is cut off.
STRETCHED_CUT = 150.0
LEAST_POWER = 1.2


def stretched(n_samples: int, *, power: float = 1.5, random_state: RandomState = None) -> Sample:
    """Sample ``q ∝ exp(-|x|**power)`` on the line, tails between exponential and Gaussian.

    The truth is a finite-volume solution and needs ``power >= 1.2``: at 1 and below the spectrum
    is not discrete.
    """
    check_n_samples(n_samples, 1)
    power = check_scale(power, "power")
    rng = generator(random_state)
    # |x|**power has a gamma density, so no table is needed.
    with np.errstate(over="ignore"):
        size = rng.gamma(1 / power, size=n_samples) ** (1 / power)
    x = np.where(rng.random(n_samples) < 0.5, -size, size)
    density = power / 2 * np.exp(-(size**power) - gammaln(1 / power))

    def build(n: int, c1: float) -> Truth:
        if power < LEAST_POWER:
            raise InputError(
                f"The truth of 'stretched' needs power >= {LEAST_POWER}; received "
                f"power={power:g}. The spectrum is discrete for power > 1 only, and hard to "
                "compute near 1. Use a power with lighter tails, such as 1.5."
            )
        cut = (STRETCHED_CUT / c1) ** (1 / power)
        return sturm_liouville(lambda x: -(np.abs(x) ** power), -cut, cut, n, c1)

    points = x[:, np.newaxis]
    guarded = positive_c1_only("stretched", build)
    return Sample("stretched", points, points, 1, "generator", density, guarded)


def student(n_samples: int, *, degrees: float = 5, random_state: RandomState = None) -> Sample:
    """Sample Student's t on the line, with power-law tails; no truth.

    The drift ``q'/q`` dies out in the tails, so the generator has no spectral gap: nothing
    separates 0 from the rest of the spectrum, and there are no eigenvalues to compare with.
    """
    check_n_samples(n_samples, 1)
    degrees = check_scale(degrees, "degrees")
    x = generator(random_state).standard_t(degrees, n_samples)
    log_height = gammaln((degrees + 1) / 2) - gammaln(degrees / 2)
    tails = (1 + x**2 / degrees) ** (-(degrees + 1) / 2)
    density = np.exp(log_height) / np.sqrt(degrees * np.pi) * tails

    def build(n: int, c1: float) -> Truth:
        raise InputError(
            f"The data set 'student' has no truth, for any c1; received c1={c1:g}. Use "
            "'stretched' or 'ou', which have a truth."
        )

    points = x[:, np.newaxis]
    return Sample("student", points, points, 1, "generator", density, build)
