r"""Committors, the flux between two sets, and rates.

The committor q(x) is the probability that the process, started at x, reaches B before A: L q = 0,
q = 0 on A, q = 1 on B. Flux and rates follow from it (`rates`). Times are those of the diffusion
coefficient 1; `spectrum.clock` finds the true one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.checks import shown
from ..base.estimate import Estimate
from ..errors import InputError, SolverError, UnreachedWarning, warn_user
from ..operator.operator import Operator
from .conjugate_gradients import TOLERANCE, Solution
from .problem import system_of
from .rates import are_apart, flux_and_rates
from .region import as_array, refuse_overlap
from .sets import Naming
from .solve import read_tolerance
from .solved import Solved, in_caller_order
from .system import System


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Committor(Solved):
    """The probability to reach B before A from each point, and the flux from A to B.

    `values` are the committor q. Further attributes, each a pair (value, standard error):

    * `flux`: transitions from A to B per unit of time, in equilibrium;
    * `rate`: k_AB, transitions per unit of time that was spent coming from A last;
    * `rate_back`: k_BA, the same from B to A.
    """

    adjoint: FloatArray = field(repr=False)

    @property
    def flux(self) -> Estimate:
        """Transitions from A to B per unit of time, ν, with its standard error."""
        return self.rates[0]

    @property
    def rate(self) -> Estimate:
        """The rate k_AB from A to B, with its standard error."""
        return self.rates[1]

    @property
    def rate_back(self) -> Estimate:
        """The rate k_BA from B to A, with its standard error."""
        return self.rates[2]

    @cached_property
    def rates(self) -> tuple[Estimate, Estimate, Estimate]:
        """Flux, rate and rate back."""
        return flux_and_rates(self.system, self.operator, self.values, self.adjoint)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HittingProbabilities(Solved):
    """The probabilities to reach each of some sets first; `values` is (N, m), rows sum to 1.

    Attributes
    ----------
    names : tuple of str
        Names of the sets, in the order of the columns.
    """

    names: tuple[str, ...]

    @property
    def entropy(self) -> FloatArray:
        """How undecided each point is, (N,): -Σ p log p over log m, from 0 to 1."""
        p = np.clip(self.values, 1e-300, 1.0)
        return np.asarray(-(self.values * np.log(p)).sum(axis=1) / np.log(len(self.names)))


def committor(
    operator: Operator,
    A: Any,
    B: Any,
    *,
    labels: Any = None,
    columns: Any = None,
    tol: float = TOLERANCE,
) -> Committor:
    """Return the committor from A to B; see `Operator.committor`."""
    naming = Naming(operator, labels, columns)
    sets = [naming.read(A, "A"), naming.read(B, "B")]
    refuse_overlap(sets, ["A", "B"])
    # The second column is the adjoint equation, whose right-hand side is the mass.
    system = system_of(operator, sets, [np.array([0.0, 0.0]), np.array([1.0, 0.0])])
    warn_if_apart(system)
    mass = np.where(system.free, 1.0, 0.0)
    found = system.with_values(np.stack([0 * mass, mass], axis=1), read_tolerance(tol))
    values = within_bounds(found.values[:, :1], tol)
    first = Solution(values, found.iterations, found.residual)
    return Committor(
        **in_caller_order(system, first, several=False), source=np.zeros(len(mass)),
        adjoint=np.nan_to_num(found.values[:, 1]),
    )  # fmt: skip


def hitting_probabilities(
    operator: Operator,
    sets: Any,
    *,
    labels: Any = None,
    columns: Any = None,
    tol: float = TOLERANCE,
) -> HittingProbabilities:
    """Return which of some sets is reached first; see `Operator.hitting_probabilities`."""
    naming = Naming(operator, labels, columns)
    named = dict(sets) if isinstance(sets, Mapping) else with_names(sets, labels is not None)
    if len(named) < 2:
        raise InputError(
            f"There must be two sets or more; received {len(named)}. Pass a list of sets, or a "
            "dictionary of them by their names."
        )
    found = [naming.read(own, str(name)) for name, own in named.items()]
    refuse_overlap(found, [str(name) for name in named])
    system = system_of(operator, found, list(np.eye(len(found))))
    nothing = np.zeros((len(system.free), len(found)))
    solution = system.with_values(nothing, read_tolerance(tol))
    solution = Solution(within_bounds(solution.values, tol), solution.iterations, solution.residual)
    return HittingProbabilities(
        **in_caller_order(system, solution, several=True), source=nothing,
        names=tuple(str(name) for name in named),
    )  # fmt: skip


def with_names(sets: Any, are_labels: bool) -> dict[str, Any]:
    """Return a list of sets with names: labels and conditions are their own, others numbers."""
    if isinstance(sets, str | bytes) or not np.iterable(sets):
        raise InputError(
            "`sets` is a list of sets, or a dictionary of sets by their names; received "
            f"{shown(sets)}. Pass, for example, {{'left': X[:, 0] < -1, 'right': X[:, 0] > 1}}."
        )
    named: dict[str, Any] = {}
    for j, own in enumerate(sets):
        word = isinstance(own, str) or (are_labels and np.ndim(as_array(own)) == 0)
        name = str(own) if word else f"set {j}"
        if name in named:
            raise InputError(
                f"The set {name!r} is there twice; received {name!r} as numbers "
                f"{list(named).index(name)} and {j}. Leave out one of them."
            )
        named[name] = own
    return named


def within_bounds(values: FloatArray, tol: float) -> FloatArray:
    """Return probabilities; what lies outside 0 and 1 by no more than the solver's error is cut.

    The exact solution of the system lies within: more than that is an error of the solver.
    """
    known = values[~np.isnan(values)]
    excess = max(-float(known.min(initial=0.0)), float(known.max(initial=1.0)) - 1)
    if excess > max(1e-3, 1e3 * tol):
        raise SolverError(f"The solver left probabilities that are off by {excess:.1e}.")
    return np.clip(values, 0.0, 1.0)


def warn_if_apart(system: System) -> None:
    """Say so if no piece of the data has points of both sets."""
    if are_apart(system):
        warn_user(
            "A and B lie in different pieces of the data: no link leads from one to the other, and "
            "the flux is 0. See `spectrum.components`.",
            UnreachedWarning,
        )
