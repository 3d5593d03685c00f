"""How far eigenvalues move with ε: read off the kernel at ε/2; and second opinions about ε."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ..base.arrays import FloatArray, column_dots, frozen
from ..base.checks import a_count, an
from ..base.threads import one_blas_thread
from ..errors import TuningWarning, VbdmWarning, warn_user
from ..kernel.within_reach import at_half_epsilon
from ..operator.normalise import with_kernel
from ..operator.operator import Operator, refuse_unsymmetric
from ..operator.sums import relative_variance_of
from ..rows.block_array import beside, mapped, total
from ..spectrum.modes import share_at
from ..spectrum.solve import compute_spectrum
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import vectors_of
from .epsilon_scan import FACTORS, spectra_over
from .influences import side_by_side


def epsilon_bias(spectrum: Spectrum, groups: Sequence[NDArray[np.intp]]) -> FloatArray:
    r"""Estimate λ(ε) - λ(0), (n,), from Ritz values of the same eigenfunctions at ε/2.

    Notes
    -----
    The bias is first order in ε, so λ(ε) - λ(0) ≈ 2 (λ(ε) - λ(ε/2)), both corrected for the
    finite sample; of `groups` it is the mean. No new search, no new solve and, for a Gaussian,
    not even a new evaluation: the kernel at ε/2 is the square of that at ε. The modes are held
    fixed.
    """
    operator = spectrum.operator
    at_half = with_kernel(operator, at_half_epsilon(operator.kernel))
    with one_blas_thread():
        half = ritz_values(spectrum, at_half)
        full = ritz_values(spectrum, spectrum.operator)
    change = 2 * (half - full)
    for group in groups:
        change[group] = change[group].mean()
    return np.where(spectrum.eigenvalues == 0, 0.0, change)


def ritz_values(spectrum: Spectrum, operator: Operator) -> FloatArray:
    """Return the rates of an operator on the span of the eigenfunctions, corrected, (n,).

    Modes with different limits have different masses, and spans of their own. In many dimensions,
    where most points are limited, masses are those without: limited ones do not follow ε.
    """
    u, of_modes = vectors_of(spectrum), spectrum.limits.of_modes
    limits = np.array([limit.reference for limit in of_modes])
    spread = beside(u, relative_variance_of(operator)[:, None])
    degrees = beside(u, operator.inside.degrees[:, None])
    product = operator.alpha_kernel @ mapped(side_by_side, u, spread)
    result = np.empty(u.shape[1])
    for reference in np.unique(limits) if limits.size else [None]:
        members = np.flatnonzero(limits == reference) if limits.size else np.arange(u.shape[1])
        time = operator.inside.steps
        if limits.size:
            time = of_modes[members[0]].without_many.time(1 / time)
        own, of_own = u[:, members], product[:, members]
        stiffness, mass = total(forms_on_span, own, of_own, degrees, beside(u, time[:, None]))
        rates, mix = eigh(stiffness, mass)
        energy, weighted = total(
            energies_on_span, own, of_own, product[:, -1:], mix, degrees, spread
        )
        average = np.divide(weighted, energy, out=np.zeros_like(energy), where=energy > 0)
        result[members] = np.maximum(rates / share_at(operator, average), 0.0)
    return result


def forms_on_span(
    u: FloatArray, of_vectors: FloatArray, degrees: FloatArray, time: FloatArray
) -> FloatArray:
    """Return u'(D - K)u and u'D g u, (2, m, m)."""
    return np.stack([u.T @ (degrees * u - of_vectors), u.T @ (degrees * time * u)])


def energies_on_span(
    u: FloatArray,
    of_vectors: FloatArray,
    of_spread: FloatArray,
    mix: FloatArray,
    degrees: FloatArray,
    spread: FloatArray,
) -> FloatArray:
    """Return the energies of the modes w = u mix, and those weighted by s², (2, m).

    The mean of s², the relative variance, over the energy of each mode w comes from
    ½ Σ s_i² K_ij (w_i - w_j)². This needs K s², but no further product with the modes.
    """
    w, of_w = u @ mix, of_vectors @ mix
    weighted = 0.5 * (spread * degrees + of_spread) * w - spread * of_w
    return np.stack([column_dots(w, degrees * w - of_w), column_dots(w, weighted)])


#: Factor between the ε of two rules above which they disagree, and a warning follows.
FACTOR = 4.0


@dataclass(frozen=True, eq=False)
class Opinions:
    """Eigenvalues against ε, and what two rules read off them.

    Attributes
    ----------
    epsilon : float
        The ε in use.
    epsilons : (m,) array
        The values of ε: octaves from 1/8 to 8 times the one in use, as far as there are neighbours.
    eigenvalues, standard_errors : (m, n) arrays
        The nonzero eigenvalues at each ε, and their sampling errors.
    stationary : float
        The ε at which the eigenvalues move least: the mean ``|d log λ / d log ε|`` is smallest.
    balanced : float
        The ε at which (λ(ε) - λ(2ε))² + standard error² is smallest, relative to λ².
    """

    epsilon: float
    epsilons: FloatArray
    eigenvalues: FloatArray
    standard_errors: FloatArray
    stationary: float
    balanced: float

    @property
    def disagree(self) -> bool:
        """Whether a rule lies more than a factor of four from the ε in use."""
        apart = np.abs(np.log([self.stationary, self.balanced]) - np.log(self.epsilon))
        return bool((apart > np.log(FACTOR) + 1e-9).any())


def second_opinion(operator: Operator, n: int = 6) -> Opinions:
    """Solve at several ε around the one in use, and compare three ways to choose ε.

    Parameters
    ----------
    operator : Operator
        As estimated; neighbours are searched again where a larger ε needs more of them. All points
        are solved on, however many there are.
    n : int
        Number of eigenvalues to follow, the 0 included.

    Notes
    -----
    Up to seven estimates: some ten times the cost of the first. A `TuningWarning` in plain words
    follows if the rules disagree by more than a factor of four.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points)
    >>> vbdm.second_opinion(op, n=4).disagree
    False
    """
    an(Operator, "Pass what vbdm.estimate_operator(X) returns.")(operator, "operator")
    refuse_unsymmetric(operator, "Second opinions")
    n = a_count(2, operator.n_points)(n, "n")
    operator = operator.on_host
    others = [factor * operator.epsilon for factor in FACTORS if factor != 1]
    with warnings.catch_warnings():
        # Warnings are silenced: what is doubtful at the ends is the very thing to be shown.
        warnings.simplefilter("ignore", VbdmWarning)
        here = compute_spectrum(operator, n, components="largest")
        rows = {operator.epsilon: nonzero(here, n)}
        for epsilon, other, found in spectra_over(operator, others, n, components="largest"):
            if other is None:
                break  # it would take too many neighbours, and so would all larger ones
            rows[epsilon] = nonzero(found, n)
    epsilons = np.array(sorted(rows))
    rates, errors = np.array([rows[epsilon] for epsilon in epsilons]).swapaxes(0, 1)
    opinions = judge(operator.epsilon, epsilons, rates, errors)
    if opinions.disagree:
        warn_user(
            f"Three ways to choose ε disagree: the rule in use gives {opinions.epsilon:.3g}, the "
            f"eigenvalues are steadiest at {opinions.stationary:.3g}, and bias and sampling error "
            f"balance at {opinions.balanced:.3g}. Look for a plateau over ε, and trust only what "
            "does not move; more data widens the plateau.",
            TuningWarning,
        )
    return opinions


def nonzero(found: Spectrum | None, n: int) -> FloatArray:
    """Return rates and errors of the modes after the constant, (2, n - 1); NaN for missing modes.

    A shattered cloud has fewer than n modes; where the solver failed there are none at all.
    """
    table = np.full((2, n - 1), np.nan)
    if found is not None:
        table[:, : len(found.eigenvalues) - 1] = -found.eigenvalues[1:], found.standard_errors[1:]
    return table


def judge(epsilon: float, epsilons: FloatArray, rates: FloatArray, errors: FloatArray) -> Opinions:
    """Apply both rules to the rates at all ε, (m, n)."""
    log_rates = np.log(np.where(rates > 0, rates, np.nan))
    slope = mean_known(np.abs(np.gradient(log_rates, np.log(2), axis=0)))
    step = np.diff(rates, axis=0)
    cost = mean_known((step**2 + errors[:-1] ** 2) / rates[:-1] ** 2)
    rules = [float(epsilons[np.argmin(worth)]) for worth in (slope, cost)]
    return Opinions(epsilon, frozen(epsilons), frozen(-rates), frozen(errors), *rules)


def mean_known(table: FloatArray) -> FloatArray:
    """Return the mean of the known numbers in each row; infinite if there are none."""
    count, infinite = np.isfinite(table).sum(axis=1), np.full(len(table), np.inf)
    return np.asarray(np.divide(np.nansum(table, axis=1), count, out=infinite, where=count > 0))
