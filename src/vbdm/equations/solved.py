"""What a solve returns: values on the points, and how sure sums over them are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.checks import a_switch
from ..base.estimate import Estimate
from ..base.points import check_per_point
from ..errors import InputError, UnreachedWarning, warn_user
from ..operator.operator import Operator
from .conjugate_gradients import Solution
from .error_bars import functional, summed_inside, under_measure
from .sets import Naming
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
                f"{int((w[self.unreached] != 0).sum())} weights at unreached points. Set these "
                "weights to 0."
            )
        own = None
        if a_switch(sampled, "sampled"):
            own = summed_inside(self.operator.order, w * np.nan_to_num(self.values))
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
        held = self.operator.order.to_caller(self.system.held)
        if (asked & self.unreached).any() and not (mask & ~held).any():
            # All that is known there was given.
            return Estimate(np.nan, np.nan)
        if over is not None and (asked & self.unreached).any():
            warn_user(
                f"{int((asked & self.unreached).sum())} of the {int(asked.sum())} points in `over` "
                "have no solution (see `unreached`): the mean is that over the others.",
                UnreachedWarning,
            )
        weights, known = self.shares_of(mask), np.nan_to_num(self.values)
        own = summed_inside(self.operator.order, weights * (known - weights @ known))
        if self.is_biased:
            own = under_measure(self.operator, own)
        return functional(self.system, self.source, self.values, weights, self.residual, own)

    @property
    def is_biased(self) -> bool:
        """Whether the points are those of another density than the one that is meant."""
        return self.operator.in_potential or self.operator.is_weighted

    def shares_of(self, mask: BoolArray) -> FloatArray:
        """Return the weights of a mean over some points, (N,): equal, or those of a bias."""
        weights = mask * self.operator.measure if self.is_biased else mask.astype(np.float64)
        return np.asarray(weights / weights.sum())

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


def in_caller_order(system: System, found: Solution, several: bool) -> dict[str, Any]:
    """Return what `Solved` takes, from a solution in the order inside."""
    order = system.network.operator.order
    values = order.to_caller(found.values if several else found.values[:, 0])
    return {
        "values": frozen(values), "unreached": frozen(order.to_caller(system.left_out)),
        "iterations": found.iterations, "residual": found.residual, "system": system,
    }  # fmt: skip
