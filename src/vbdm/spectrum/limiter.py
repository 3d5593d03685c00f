r"""The limiter: keep points that cannot resolve a mode from carrying one (ours, not the paper's).

At point i the matrix L can represent no decay faster than its diagonal, the local rate
:math:`r_i = 1/(ε m ρ_i^2)`. At far outliers ρ is huge and :math:`r_i` falls below the eigenvalues
that are looked for; modes then sit on those points alone and spoil the spectrum. Two remedies:

* One step of the kernel is :math:`P ≈ e^{ε m ρ^2 L}`, so a mode that decays at rate λ loses
  :math:`1 - e^{-λ/r_i}` at the point, not :math:`λ/r_i`. Using the exponential takes out part of
  the O(ε) bias everywhere.
* Where :math:`r_i` is below a cut of a few λ, it is raised to the cut: the point follows its
  neighbours, and is reported as unresolved.

The cut leaves all but a few points alone, `Limiter.cap` of them, because a manifold that is sampled
well has few such points. In many dimensions no sample is that good. Most points are far from all
others, their local rates are below the rates of most modes, and behind each point that the limiter
lets go the next one carries a mode of its own. So beyond six dimensions the share of points that
may be limited rises with the dimension, and from nine on all may be (`many_dimensions`).
Eigenfunctions are then those of a walk with equal steps everywhere. Rates are still read off with
the local rates as they are, but for the share `Limiter.cap` of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, column_dots, column_sums
from ..base.threads import by_columns, in_order, one_blas_thread
from ..kernel.dimension import many_dimensions
from ..operator.method import Limiter
from ..rows.block_array import Tall, beside, total

#: Newton's method ends with a relative step of this size: the error is then about its square.
SETTLED = 1e-9
#: Relative difference of rates that rounding may make.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Limit:
    """The limiter in force: the pencil (D - K) u = θ D g u, with the local time g (see `time`)."""

    #: λ_ref, the rate at which the exponential row balance is exact.
    reference: float
    #: The smallest local rate in use; lower ones are raised to it.
    cut: float
    #: The highest local rate to which others are raised in the row balance of a mode: below it lies
    #: the share `Limiter.cap` of the points. In few dimensions the cut is no higher, either.
    highest: float
    #: A point resolves a mode of rate λ if its local rate is above kappa·λ: the cut of the mode's
    #: own row balance (see `balance_cut`).
    kappa: float

    def time(self, rates: FloatArray) -> FloatArray:
        """Return the local time g = (1 - exp(-λ_ref/max(r, cut)))/λ_ref, from the local rates r."""
        lost: FloatArray = -np.expm1(-self.reference / np.maximum(rates, self.cut))
        return lost / self.reference

    def holds(self, rates: FloatArray) -> BoolArray:
        """Tell which points, of these local rates, are limited: those well below the cut.

        The cut may be the rate of a point, and of others at equal places of a lattice: rounding
        must not tell these apart.
        """
        held: BoolArray = rates < (1 - ROUNDING) * self.cut
        return held

    @property
    def without_many(self) -> Limit:
        """The limit as in few dimensions, where its cut is at most `highest`."""
        if self.cut <= self.highest:
            return self
        return replace(self, reference=self.highest / self.kappa, cut=self.highest)

    def balance_cut(self, theta: float) -> float:
        """Return the smallest local rate in the row balance of a mode: min(κ θ, highest)."""
        return min(self.kappa * theta, self.highest)


@dataclass(frozen=True)
class Limits:
    """The limits of a spectrum."""

    #: λ_ref and cut that all modes share; None: there was no limiter.
    shared: Limit | None = None
    #: The limit in force for each mode: slow modes have their own in a clean tail. Empty without
    #: limiter.
    of_modes: tuple[Limit, ...] = ()

    @property
    def own(self) -> list[int]:
        """Numbers of the modes with limits of their own."""
        return [j for j, limit in enumerate(self.of_modes) if limit != self.shared]

    def times(self, steps: FloatArray) -> FloatArray:
        """Return g of all modes, (m, n) or (m, 1), from ε m ρ² at some points, (m,)."""
        return local_times(self.of_modes, steps)


def local_times(limits: Sequence[Limit], steps: FloatArray) -> FloatArray:
    """Return the local times g of modes with these limits, (m, n); ε m ρ² alone, (m, 1), if none.

    `steps`, (m,), are ε m ρ² at some points.
    """
    if not limits:
        return steps[:, None]
    times = {limit: limit.time(1 / steps) for limit in dict.fromkeys(limits)}
    return np.stack([times[limit] for limit in limits], axis=1)


def may_be_limited(limiter: Limiter, dim: float) -> float:
    """Return the largest share of the points that may be limited in so many dimensions.

    >>> [round(may_be_limited(Limiter(), dim), 2) for dim in (2, 6, 7.5, 9, 50)]
    [0.02, 0.02, 0.51, 1.0, 1.0]
    """
    return limiter.cap + (1 - limiter.cap) * many_dimensions(dim)


def first_limit(rates: FloatArray, limiter: Limiter, dim: float) -> Limit:
    """Return the limit to start with: its cut is the highest one."""
    cut = highest = float(np.quantile(rates, limiter.cap))
    if may_be_limited(limiter, dim) > limiter.cap:
        cut = float(np.quantile(rates, may_be_limited(limiter, dim)))
    return Limit(cut / limiter.kappa, cut, highest, limiter.kappa)


def next_limit(largest: float, first: Limit, limiter: Limiter) -> Limit:
    """Return the limit for modes up to the rate `largest`; if that is 0, the one to start with."""
    if largest <= 0:
        return first
    cut = min(limiter.kappa * largest, first.cut)
    return Limit(largest, cut, first.highest, limiter.kappa)


def exponential_rates(
    vectors: Tall,
    theta: FloatArray,
    degrees: FloatArray,
    mass: FloatArray,
    rates: FloatArray,
    limit: Limit,
) -> FloatArray:
    r"""Return λ_j from the energies, by Newton's method on the exponential row balance.

    `mass` is that of the pencil, and `rates` are the local rates r_i. NaN where no root exists: the
    mode would lose more than it has in one step.

    Notes
    -----
    Solves :math:`Σ_i D_i u_i^2 (1 - e^{-λ/\max(r_i, cut_j)}) = u^T (D - K) u` with
    cut_j = min(κ θ_j, highest). The left side rises in λ from 0 to Σ D u² and is concave, so
    Newton's steps from below never overshoot.
    """
    cuts = np.array([limit.balance_cut(value) for value in theta])
    with one_blas_thread():
        if not isinstance(vectors, np.ndarray):
            return rates_together(vectors, theta, degrees, mass, rates, cuts)

        def solve(j: int) -> float:
            if theta[j] <= 0:
                return 0.0
            square = np.square(vectors[:, j])
            energy, weight = theta[j] * np.dot(mass, square), degrees * square
            if energy >= weight.sum():
                return np.nan
            times = 1 / np.maximum(rates, cuts[j])
            start = energy / np.dot(weight, times)
            return float(newton(energy, start, partial(balance, weight, times)))

        return np.array(list(in_order(solve, range(len(theta)))))


def rates_together(
    vectors: Tall,
    theta: FloatArray,
    degrees: FloatArray,
    mass: FloatArray,
    rates: FloatArray,
    cuts: FloatArray,
) -> FloatArray:
    """Return the rates of all modes at once: a step of Newton's method is one sum over the rows."""
    figures = beside(vectors, degrees, kept=True), beside(vectors, rates, kept=True)
    sums = total(balance_starts, vectors, *figures, beside(vectors, mass), cuts)
    energy, most, slopes = theta * sums[0], sums[1], sums[2]
    result = np.where(theta > 0, np.nan, 0.0)
    solved = np.flatnonzero((theta > 0) & (energy < most))
    if solved.size:
        energy, cuts = energy[solved], cuts[solved]

        def step(value: FloatArray) -> FloatArray:
            found = total(balance_sums, vectors, *figures, cuts, solved, value)
            return np.asarray(found)

        result[solved] = newton(energy, energy / slopes[solved], step)
    return result


def balance_starts(
    vectors: FloatArray,
    degrees: FloatArray,
    rates: FloatArray,
    mass: FloatArray,
    cuts: FloatArray,
) -> FloatArray:
    """Return u'Mu, Σ D u² and Σ D u²/max(r, cut) of each mode, summed over the rows, (3, n)."""

    def work(u: Any, degrees: Any, rates: Any, mass: Any, cut: Any) -> list[Any]:
        square = np.square(u)
        weight, times = degrees * square, 1 / np.maximum(rates, cut)
        return [column_dots(mass, square), column_sums(weight), column_dots(weight, times)]

    sums: FloatArray = by_columns(work, vectors, (degrees, rates, mass), (cuts,))
    return sums


def balance_sums(
    vectors: FloatArray,
    degrees: FloatArray,
    rates: FloatArray,
    cuts: FloatArray,
    columns: NDArray[np.intp],
    values: FloatArray,
) -> FloatArray:
    """Return `balance` of some columns, each at its own value and cut, (2, m)."""

    def work(u: Any, degrees: Any, rates: Any, cut: Any, value: Any) -> tuple[Any, Any]:
        return balance(degrees * np.square(u), 1 / np.maximum(rates, cut), value)

    sums: FloatArray = by_columns(work, vectors[:, columns], (degrees, rates), (cuts, values))
    return sums


def balance(weight: FloatArray, times: FloatArray, value: Any) -> tuple[Any, Any]:
    """Return Σ weight (1 - exp(-λ times)) at λ = value, and its slope; of columns, or of one."""
    # 1 - e^(-λ/r) must not be a difference: where r is large, it would be rounding alone.
    lost = -np.expm1(-value * times)
    return column_dots(weight, lost), column_dots(weight, (1 - lost) * times)


def newton(energy: Any, value: Any, balance: Callable[[Any], Any]) -> Any:
    """Return the λ, one or several, at which the balance equals the energy, from a first guess."""
    for _ in range(50):
        lost, slope = balance(value)
        step = (energy - lost) / slope
        value = value + step
        if np.all(np.abs(step) <= SETTLED * value):
            break
    return value
