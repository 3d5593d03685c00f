r"""Intervals that hold the true eigenvalue: every source of error that can be seen, in one width.

The sampling error alone is not enough. Sparse tails are held to their neighbours, the kernel has
a width, noise has a dimension of its own, data may end at an edge: none of this scatters with the
sample, and each moves the eigenvalue. The total error of :math:`λ_j` is

.. math:: σ_j^2 = V_{jj} + (w_U U_j λ_j)^2 + (w_b b_j)^2 + (ν λ_j)^2 + e_j^2,

with the eigenvalue's own sampling variance :math:`V_{jj}` (not that of its group's mean), the
share :math:`U_j` of the slowest modes up to j that lies on unresolved points, the change
:math:`b_j` of λ with ε, ν where the dimension depends on the scale, and :math:`e_j` from an edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ..base.arrays import FloatArray, frozen
from ..base.checks import check_share, some_of
from ..spectrum.spectrum import Spectrum
from .boundary import boundary_shifts

#: Weight of the share on unresolved points.
TAIL_WEIGHT = 2 / 3
#: A dimension that changes by more than this share with the scale is a sign of noise, which then
#: moves eigenvalues by about this much of their size. Clean data drifts by at most .025.
NOISE_DRIFT, NOISE_ERROR = 0.15, 0.02


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorParts:
    """What the total error of each eigenvalue consists of: standard deviations, all (n,) and >= 0.

    Attributes
    ----------
    sampling : array
        From the randomness of the sample: each eigenvalue's own, not that of its group's mean.
    tail : array
        From points too sparse to resolve the mode, or a slower one.
    epsilon : array
        From the width of the kernel.
    noise : array
        From noise around the manifold, if the dimension shows any.
    boundary : array
        From an edge of the data, if one was found.
    """

    sampling: FloatArray
    tail: FloatArray
    epsilon: FloatArray
    noise: FloatArray
    boundary: FloatArray

    @property
    def systematic(self) -> FloatArray:
        """All parts but the sampling error, together, (n,)."""
        return np.sqrt(self.tail**2 + self.epsilon**2 + self.noise**2 + self.boundary**2)

    @property
    def total(self) -> FloatArray:
        """All parts together, (n,)."""
        return np.hypot(self.sampling, self.systematic)


def error_parts(spectrum: Spectrum) -> ErrorParts:
    """Return what the error of each eigenvalue consists of (kept as `spectrum.error_parts`)."""
    rates = np.abs(spectrum.eigenvalues)
    variance = np.maximum(np.diag(spectrum.covariance), 0.0)
    # A mode that is faster than a bad one is not better: it is orthogonal to something wrong.
    held = np.maximum.accumulate(np.where(rates > 0, spectrum.unresolved_share, 0.0))
    noisy = abs(spectrum.operator.dimension.drift) > NOISE_DRIFT
    return ErrorParts(
        sampling=frozen(np.where(rates > 0, np.sqrt(variance), 0.0)),
        tail=frozen(TAIL_WEIGHT * held * rates),
        epsilon=frozen(epsilon_weight(spectrum.operator.dim) * np.abs(spectrum.bias)),
        noise=frozen(noisy * NOISE_ERROR * rates),
        boundary=frozen(np.abs(boundary_shifts(spectrum))),
    )


def epsilon_weight(dim: float) -> float:
    """Return the weight of the change with ε: (d + 1)/4, at least 1/2 and at most 1.

    It is read off the kernel at ε/2, which holds 2^{d/2} times fewer points: the higher the
    dimension, the less sure it is.
    """
    return float(np.clip((dim + 1) / 4, 0.5, 1.0))


def intervals(spectrum: Spectrum, level: float) -> FloatArray:
    """Return the lower and upper end of each eigenvalue's interval, (n, 2)."""
    half = width_of(level) * spectrum.total_errors
    ends = np.stack([spectrum.eigenvalues - half, spectrum.eigenvalues + half], axis=1)
    return frozen(np.minimum(ends, 0.0))


def group_total_error(spectrum: Spectrum, members: ArrayLike) -> float:
    """Return the total error of the mean of some eigenvalues.

    Sampling errors of the members partly cancel; what is systematic moves all of them alike.
    """
    group = some_of(len(spectrum.eigenvalues))(members, "members")
    if not spectrum.eigenvalues[group].any():
        return 0.0  # the zeros of the pieces are known exactly
    systematic = spectrum.error_parts.systematic[group].mean()
    return float(np.hypot(spectrum.group_error(group), systematic))


def group_interval(spectrum: Spectrum, members: ArrayLike, level: float) -> tuple[float, float]:
    """Return the lower and upper end of the interval of the mean of some eigenvalues."""
    mean = float(
        spectrum.eigenvalues[some_of(len(spectrum.eigenvalues))(members, "members")].mean()
    )
    half = width_of(level) * group_total_error(spectrum, members)
    return min(mean - half, 0.0), min(mean + half, 0.0)


def width_of(level: float) -> float:
    """Return how many standard errors wide, to each side, an interval of this level is.

    Examples
    --------
    >>> round(width_of(0.95), 2)
    1.96
    """
    share = check_share(level, "level")
    return float(ndtri((1 + share) / 2))
