"""Wells on the line, at their own temperature or at a higher one, and heavier tails.

Points drawn at a higher temperature cross barriers that points of exp(-U) hardly ever do, as in
a biased simulation; the sample then has the weights that bring it back.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ..base.arrays import FloatArray
from ..base.checks import a_number, accepts, as_floats, shown
from ..errors import InputError
from ._line import Distribution, sturm_liouville, tabulated
from ._sample import Function, RandomState, Sample, Truth, check_n_samples, check_scale, generator
from ._spectra import positive_c1_only

#: Minus the logarithm of the weight π**c1 where the line is cut off.
CUT = 66.0
#: The line is never cut nearer to 0 than this.
WELL_CUT, PRINZ_CUT = 2.6, 1.5
#: Barriers, and shares of the inverse temperature, whose wells a table of the density resolves.
BARRIER, SHARE = a_number(0.01, 20.0), a_number(0.01, 1.0)


@accepts(barrier=BARRIER, beta_sampling=SHARE)
def double_well(
    n_samples: int,
    *,
    barrier: float = 2.0,
    beta_sampling: float = 1.0,
    random_state: RandomState = None,
) -> Sample:
    """Sample ``π ∝ exp(-b(x²-1)²)`` on the line: two wells at ±1 with a barrier of b kT.

    The second eigenvalue of the generator is the rate of crossing. The truth is a finite-volume
    solution on [-2.6, 2.6], or where the barrier is low on a longer interval, beyond which the
    density is below 1e-28 of its maximum.

    Parameters
    ----------
    n_samples : int
        Number of points.
    barrier : float
        Height b of the barrier in kT, from 0.01 to 20.
    beta_sampling : float
        Points are drawn from ``π**beta_sampling``; below 1 ``sample.weights`` bring them back.

    Examples
    --------
    >>> biased = double_well(1000, barrier=8.0, beta_sampling=0.25, random_state=0)
    >>> float(biased.truth(3).eigenvalues[1].round(5))
    -0.00457
    """

    def energy(x: FloatArray) -> FloatArray:
        return barrier * (x**2 - 1) ** 2

    return _well("double_well", energy, WELL_CUT, n_samples, beta_sampling, random_state)


def prinz_potential(x: FloatArray) -> FloatArray:
    """Return the potential of Prinz et al. (2011) in kT: four wells on the line, from -1 to 1.

    ``U = 4(x⁸ + 0.8 exp(-80x²) + 0.2 exp(-80(x-0.5)²) + 0.5 exp(-40(x+0.5)²))``.
    """
    values = as_floats(x)
    if values is None:
        raise InputError(
            f"`x` must be an array of numbers; received {shown(x)}. Pass, for example, "
            "np.linspace(-1, 1, 100)."
        )
    # Far away the potential is infinite.
    with np.errstate(over="ignore"):
        bumps = 0.8 * np.exp(-80 * values**2) + 0.2 * np.exp(-80 * (values - 0.5) ** 2)
        return 4 * (values**8 + bumps + 0.5 * np.exp(-40 * (values + 0.5) ** 2))


@accepts(beta_sampling=SHARE)
def prinz(
    n_samples: int, *, beta_sampling: float = 1.0, random_state: RandomState = None
) -> Sample:
    """Sample ``π ∝ exp(-U)`` on the line with the four wells of Prinz et al. (2011).

    See `prinz_potential`. Three slow modes cross the three barriers; the truth is a finite-volume
    solution. Points are drawn from ``π**beta_sampling``; below 1 ``sample.weights`` bring them
    back.

    Examples
    --------
    >>> prinz(100, random_state=0).truth(5).eigenvalues.round(2)
    array([  0.  ,  -1.2 ,  -7.89, -15.36, -82.08])
    """
    return _well("prinz", prinz_potential, PRINZ_CUT, n_samples, beta_sampling, random_state)


def _well(
    name: str,
    energy: Function,
    least_cut: float,
    n_samples: int,
    beta_sampling: float,
    random_state: RandomState,
) -> Sample:
    check_n_samples(n_samples, 1)

    def cut_for(share: float) -> float:
        """Return where the density to the power of this share has all but vanished."""
        cut = least_cut
        while share * float(energy(np.array(cut))) < CUT:
            cut *= 1.05
        return cut

    drawn = _tabulated(energy, beta_sampling, cut_for(beta_sampling))
    x = drawn.quantile(generator(random_state).random(n_samples))
    density, weights = drawn.pdf(x), None
    if beta_sampling != 1:
        weights = _tabulated(energy, 1.0, cut_for(1.0)).pdf(x) / density

    def build(n: int, c1: float) -> Truth:
        # A small c1 flattens the weight π**c1, so the interval has to grow.
        cut = cut_for(c1)
        return sturm_liouville(lambda x: -energy(x), -cut, cut, n, c1)

    points = x[:, np.newaxis]
    truth = positive_c1_only(name, build)
    return Sample(name, points, points, 1, "generator", density, truth, weights)


def _tabulated(energy: Function, share: float, cut: float) -> Distribution:
    return tabulated(lambda x: np.exp(-share * energy(x)), -cut, cut)


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
