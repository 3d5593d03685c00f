r"""What equations return: values on the points, and how sure sums over them are.

A committor q knows the flux between its two sets, and rates. In a long trajectory the number of
transitions from A to B per unit of time is the flux, :math:`ν = ½ Σ K_{ij} (q_i - q_j)^2 / Σ M`,
the energy of q over the mass; while the process comes from A last it makes them at the rate
:math:`k_{AB} = ν / ⟨1 - q⟩`, and back at :math:`k_{BA} = ν / ⟨q⟩`, with means under the invariant
measure. Standard errors are those of `error_bars`: q makes the energy smallest, so its own change
does not count there, and what it does to ⟨q⟩ is told by the adjoint equation A z = M.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.checks import a_switch
from ..base.estimate import Estimate
from ..base.points import check_per_point
from ..errors import InputError, UnreachedWarning, warn_user
from ..operator.operator import Operator
from ..operator.sums import in_potential
from .error_bars import (
    deviation,
    energy,
    functional,
    local_times,
    summed_inside,
    under_measure,
    with_response,
)
from .sets import Naming
from .solver import Solution
from .system import System


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Solved:
    """The solution u of (κ - L) u = f on the points.

    Attributes
    ----------
    values : (N,) or (N, m) array
        u at the points; NaN where there is no solution.
    unreached : (N,) bool array
        Points without a solution: isolated ones, pieces of the data that touch no set, and all
        points of a piece with a set that is too small to be felt there (`SmallSetWarning`).
    iterations : int
        Steps of the solver.
    residual : float
        Its remaining error, relative to the solution, measured by energy.
    projected_out : float
        Share of the right-hand side that was left out because constants have no solution (root
        mean square); 0 unless nothing is held and κ = 0.
    """

    values: FloatArray
    unreached: BoolArray
    iterations: int
    residual: float
    projected_out: float = 0.0
    system: System = field(repr=False)
    source: FloatArray = field(repr=False)

    @classmethod
    def of(cls, system: System, found: Solution, source: FloatArray, **more: Any) -> Self:
        """Return what was found, in the caller's order; `source` is f inside, (M,) or (M, m)."""
        order = system.network.operator.graph.order
        values = order.to_caller(found.values if source.ndim > 1 else found.values[:, 0])
        return cls(
            values=frozen(values), unreached=frozen(order.to_caller(system.left_out)),
            iterations=found.iterations, residual=found.residual, system=system, source=source,
            **more,
        )  # fmt: skip

    @property
    def operator(self) -> Operator:
        """The operator L."""
        return self.system.network.operator

    def functional(self, weights: ArrayLike, sampled: bool = False) -> Estimate:
        """Return Σ w u over the points, with its standard error.

        Parameters
        ----------
        weights : (N,) array
            w, a weight for each point; 0 at points without a solution.
        sampled : bool
            Whether the points with a weight are a sample, as in ``functional(g / N)``, the mean of
            g u: the sum scatters with them, too. By default they count as given places: with the
            weight 1 at one point this is u there.

        Notes
        -----
        The error takes one more solve, of the adjoint equation; see `vbdm.equations.error_bars`.
        """
        self.refuse_several()
        w = check_per_point(weights, "weights", self.operator.n_points)
        if (w[self.unreached] != 0).any():
            raise InputError(
                "`weights` counts points without a solution; received "
                f"{int((w[self.unreached] != 0).sum())} of them. Set these weights to 0."
            )
        own = None
        if a_switch(sampled, "sampled"):
            own = summed_inside(self.operator.graph.order, w * np.nan_to_num(self.values))
        return functional(self.system, self.source, self.values, w, self.residual, own)

    def mean(self, over: Any = None, *, labels: Any = None, columns: Any = None) -> Estimate:
        """Return the mean of u over a set of points, with its standard error.

        All points count alike: this is the mean over the sample, also where c1 is not 1 and the
        invariant measure is another. Those of an operator with `weights` or a `potential` count as
        under its invariant measure.

        Parameters
        ----------
        over : set of points, optional
            As in `op.committor`; all points that have a solution, by default. Points without one
            are left out, with a warning.
        labels, columns : optional
            As in `op.committor`.
        """
        self.refuse_several()
        naming = Naming(self.operator, labels, columns)
        asked = np.ones_like(self.unreached) if over is None else naming.read(over, "over").mask
        mask = asked & ~self.unreached
        held = self.operator.graph.order.to_caller(self.system.held)
        if (asked & self.unreached).any() and not (mask & ~held).any():
            # All that is known there was given.
            return Estimate(np.nan, np.nan)
        if over is not None and (asked & self.unreached).any():
            warn_user(
                f"{int((asked & self.unreached).sum())} of the {int(asked.sum())} points in `over` "
                "have no solution (see `unreached`): the mean is that over the others.",
                UnreachedWarning,
            )
        weights, known = mask.astype(np.float64), np.nan_to_num(self.values)
        if self.is_biased:
            weights *= self.operator.equations.measure
        weights /= weights.sum()
        own = summed_inside(self.operator.graph.order, weights * (known - weights @ known))
        if self.is_biased:
            own = under_measure(self.operator, own)
        return functional(self.system, self.source, self.values, weights, self.residual, own)

    @property
    def is_biased(self) -> bool:
        """Whether the points are those of another density than the one that is meant."""
        return in_potential(self.operator) or self.operator.settings.weighting.is_used

    def plot(self, ax: Any = None, points: ArrayLike | None = None, names: Any = None) -> Any:
        """Draw the values on the points (see `vbdm.plot.solution`)."""
        from ..plot import solution

        return solution(self, ax=ax, points=points, names=names)

    def refuse_several(self) -> None:
        """Refuse a solution with several columns, whose sums are told one by one."""
        if self.values.ndim > 1:
            raise InputError(
                f"There are several solutions; received values of shape {self.values.shape}. "
                "Solve for one right-hand side at a time."
            )

    def __repr__(self) -> str:
        """Say what was solved."""
        n, lost = self.operator.n_points, int(self.unreached.sum())
        left = f", {lost} of them unreached" if lost else ""
        return (
            f"{type(self).__name__}({n} points{left}, {self.iterations} iterations, "
            f"residual {self.residual:.0e})"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Committor(Solved):
    """The probability to reach B before A from each point, and the flux from A to B.

    `values` are the committor q: L q = 0, q = 0 on A, q = 1 on B. Further attributes, each a pair
    (value, standard error), in the time of the diffusion coefficient 1:

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
        system, operator, adjoint = self.system, self.operator, self.adjoint
        if are_apart(system):
            return (Estimate(0.0, 0.0),) * 3
        network, q = system.network, operator.graph.order.to_inside(np.nan_to_num(self.values))
        mass = np.where(system.left_out, 0.0, network.mass)
        time = local_times(network) * ~system.left_out
        columns = np.stack([time, time * q, q, adjoint, q * adjoint, q * q], axis=1)
        of_time, of_time_q, of_q, of_z, of_both, of_square = (network.weights @ columns).T
        own_energy = energy(network, q, q, of_q, of_q, of_square)
        power = max(0.0, float(own_energy.sum() / 2 + energy_of_edges(system, q)))
        own_mass = mass + of_time
        own_q = mass * q + of_time_q - energy(network, q, adjoint, of_q, of_z, of_both)
        results = []
        lost = np.isin(network.pieces[system.left_out], network.pieces[system.held]).any()
        for whole, own in (
            (float(mass.sum()), own_mass),
            (float(mass @ (1 - q)), own_mass - own_q),
            (float(mass @ q), own_q),
        ):
            if lost or not whole > 0:
                results.append(Estimate(np.nan, np.nan))
                continue
            value = power / whole
            influence = with_response(operator, (own_energy - value * own) / whole)
            results.append(Estimate(value, deviation(operator, influence, self.values)))
        return results[0], results[1], results[2]


def are_apart(system: System) -> bool:
    """Tell whether no piece of the data has points of both sets."""
    first, second = (system.network.pieces[own.mask] for own in system.sets)
    return not np.isin(first, second).any()


def energy_of_edges(system: System, q: FloatArray) -> float:
    """Return what the soft edges of A and B add to the energy of a committor."""
    at_start, at_end = (edge.extra[system.free] for edge in system.edges)
    return float(at_start @ np.square(q[system.free]) + at_end @ np.square(1 - q[system.free]))


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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PassageTime(Solved):
    """The mean time until a set is reached, from each point: L T = -1, T = 0 on the set.

    `values` are T, in units of length² over the diffusion coefficient; `spectrum.clock` has that
    coefficient. `mean(over=…)` has standard errors.
    """

    @cached_property
    def second_moment(self) -> FloatArray:
        """Mean square of the time, (N,): L T2 = -2 T."""
        system, order = self.system, self.operator.graph.order
        known = order.to_inside(np.nan_to_num(self.values))
        found = system.with_values(2 * known[:, None], max(self.residual, 1e-9))
        return frozen(order.to_caller(found.values[:, 0]))

    @property
    def deviation(self) -> FloatArray:
        """Standard deviation of the time from start to start, (N,): how random it is.

        It is no error bar: even with L known exactly, two runs from one point take different times.
        """
        return np.asarray(np.sqrt(np.maximum(self.second_moment - self.values**2, 0.0)))
