"""Second opinions about ε: how the eigenvalues move with it, and where two other rules put it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ..base.arrays import FloatArray, frozen
from ..base.checks import a_count
from ..errors import InputError, TuningWarning, VbdmWarning, warn_user
from ..operator.operator import Operator
from ..spectrum.solve import compute_spectrum
from ..spectrum.spectrum import Spectrum
from .epsilon_scan import FACTORS, spectra_over

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
    if not isinstance(operator, Operator) or not operator.is_symmetric:
        raise InputError(
            "A second opinion needs a symmetric operator; received "
            f"{getattr(operator, 'form', type(operator).__name__)}. Pass what "
            "vbdm.estimate_operator(X) returns."
        )
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
        warn_user(describe(opinions), TuningWarning)
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
    return Opinions(
        epsilon,
        frozen(epsilons),
        frozen(-rates),
        frozen(errors),
        float(epsilons[np.argmin(slope)]),
        float(epsilons[np.argmin(cost)]),
    )


def mean_known(table: FloatArray) -> FloatArray:
    """Return the mean of the known numbers in each row; infinite if there are none."""
    count = np.isfinite(table).sum(axis=1)
    total = np.nansum(table, axis=1)
    mean = np.divide(total, count, out=np.full(len(table), np.inf), where=count > 0)
    return np.asarray(mean)


def describe(opinions: Opinions) -> str:
    """Say in plain words that the rules disagree."""
    return (
        f"Three ways to choose ε disagree: the rule in use gives {opinions.epsilon:.3g}, the "
        f"eigenvalues are steadiest at {opinions.stationary:.3g}, and bias and sampling error "
        f"balance at {opinions.balanced:.3g}. Plot eigenvalues against ε, look for a plateau, and "
        "trust only what does not move; more data widens the plateau."
    )
