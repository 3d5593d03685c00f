r"""The limiter: keep points that cannot resolve a mode from carrying one (ours, not the paper's).

At point i the matrix L can represent no decay faster than its diagonal, the local rate
:math:`r_i = 1/(ε m ρ_i^2)`. At far outliers ρ is huge and :math:`r_i` falls below the eigenvalues
that are looked for; modes then sit on those points alone and spoil the spectrum. Two remedies:

* One step of the kernel is :math:`P ≈ e^{ε m ρ^2 L}`, so a mode that decays at rate λ loses
  :math:`1 - e^{-λ/r_i}` at the point, not :math:`λ/r_i`. Using the exponential takes out part of
  the O(ε) bias everywhere.
* Where :math:`r_i` is below a cut of a few λ, it is raised to the cut: the point follows its
  neighbours, and is reported as unresolved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import FloatArray
from ..base.threads import in_order, one_blas_thread
from ..settings.method import Limiter

#: Newton's method ends with a relative step of this size: the error is then about its square.
SETTLED = 1e-9


@dataclass(frozen=True)
class Limit:
    """The limiter in force: the pencil (D - K) u = θ D g u, with the local time g (see `time`).

    Attributes
    ----------
    reference : float
        λ_ref, the rate at which the exponential row balance is exact.
    cut : float
        The smallest local rate in use; lower ones are raised to it.
    highest : float
        The highest cut that is allowed: `Limiter.cap` bounds the share of limited points.
    kappa : float
        A point resolves a mode of rate λ if its local rate is above kappa·λ: the cut of the mode's
        own row balance (see `balance_cut`).
    """

    reference: float
    cut: float
    highest: float
    kappa: float

    def time(self, rates: FloatArray) -> FloatArray:
        """Return the local time g = (1 - exp(-λ_ref/max(r, cut)))/λ_ref, from the local rates r."""
        return np.asarray(-np.expm1(-self.reference / np.maximum(rates, self.cut)) / self.reference)

    def balance_cut(self, theta: float) -> float:
        """Return the smallest local rate in the row balance of a mode: min(κ θ, highest)."""
        return min(self.kappa * theta, self.highest)


def first_limit(rates: FloatArray, limiter: Limiter) -> Limit:
    """Return the limit to start with: its cut is the highest one."""
    highest = float(np.quantile(rates, limiter.cap))
    return Limit(highest / limiter.kappa, highest, highest, limiter.kappa)


def next_limit(largest: float, highest: float, limiter: Limiter) -> Limit:
    """Return the limit for modes up to the rate `largest`; if that is 0, the one to start with."""
    if largest <= 0:
        largest = highest / limiter.kappa
    cut = min(limiter.kappa * largest, highest)
    return Limit(largest, cut, highest, limiter.kappa)


def exponential_rates(
    vectors: FloatArray,
    theta: FloatArray,
    degrees: FloatArray,
    mass: FloatArray,
    rates: FloatArray,
    limit: Limit,
) -> FloatArray:
    r"""Return λ_j from the energies, by Newton's method on the exponential row balance.

    Parameters
    ----------
    vectors : (M, n) array
        Eigenvectors u of the pencil, by columns.
    theta : (n,) array
        Its eigenvalues θ_j; each sets the cut of its pair.
    degrees, mass : (M,) arrays
        D, and the mass of the pencil: the energies are u'(D - K)u = θ u'Mu.
    rates : (M,) array
        Local rates r_i.
    limit : Limit
        The limit in force; its κ and its highest cut are used.

    Returns
    -------
    (n,) array
        Decay rates λ_j; NaN where no root exists: the mode would lose more than it has in one step.

    Notes
    -----
    Solves :math:`Σ_i D_i u_i^2 (1 - e^{-λ/\max(r_i, cut_j)}) = u^T (D - K) u` with
    cut_j = min(κ θ_j, highest). The left side rises in λ from 0 to Σ D u² and is concave, so
    Newton's steps from below never overshoot.
    """

    def solve(j: int) -> float:
        if theta[j] <= 0:
            return 0.0
        square = np.square(vectors[:, j])
        energy, weight = theta[j] * np.dot(mass, square), degrees * square
        if energy >= weight.sum():
            return np.nan
        slowest = np.maximum(rates, limit.balance_cut(theta[j]))
        return newton(energy, weight, 1 / slowest)

    with one_blas_thread():
        return np.array(list(in_order(solve, range(len(theta)))))


def newton(energy: float, weight: FloatArray, times: FloatArray) -> float:
    """Return the λ at which Σ weight (1 - exp(-λ times)) equals the energy."""
    value = energy / np.dot(weight, times)
    for _ in range(50):
        # 1 - e^(-λ/r) must not be a difference: where r is large, it would be rounding alone.
        lost = -np.expm1(-value * times)
        step = (energy - np.dot(weight, lost)) / np.dot(weight, (1 - lost) * times)
        value += step
        if abs(step) <= SETTLED * value:
            break
    return float(value)
