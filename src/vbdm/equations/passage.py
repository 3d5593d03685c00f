"""Times: until a set is reached, or left, in the mean and beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..base.arrays import FloatArray, frozen
from ..errors import InputError
from ..operator.operator import Operator
from .conjugate_gradients import TOLERANCE
from .problem import system_of
from .region import Region, described
from .sets import Naming
from .solve import read_tolerance
from .solved import Solved, in_caller_order


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PassageTime(Solved):
    """The mean time until a set is reached, from each point: L T = -1, T = 0 on the set.

    `values` are T, in units of length² over the diffusion coefficient; `spectrum.clock` has that
    coefficient. `mean(over=…)` has standard errors.
    """

    @cached_property
    def second_moment(self) -> FloatArray:
        """Mean square of the time, (N,): L T2 = -2 T."""
        system, order = self.system, self.operator.order
        known = order.to_inside(np.nan_to_num(self.values))
        found = system.with_values(2 * known[:, None], max(self.residual, 1e-9))
        return frozen(order.to_caller(found.values[:, 0]))

    @property
    def deviation(self) -> FloatArray:
        """Standard deviation of the time from start to start, (N,): how random it is.

        It is no error bar: even with L known exactly, two runs from one point take different times.
        """
        return np.asarray(np.sqrt(np.maximum(self.second_moment - self.values**2, 0.0)))


def mean_first_passage(
    operator: Operator, B: Any, *, labels: Any = None, columns: Any = None, tol: float = TOLERANCE
) -> PassageTime:
    """Return the mean time to reach a set; see `Operator.mean_first_passage`."""
    return time_to(operator, Naming(operator, labels, columns).read(B, "B"), tol)


def exit_time(
    operator: Operator,
    inside: Any,
    *,
    labels: Any = None,
    columns: Any = None,
    tol: float = TOLERANCE,
) -> PassageTime:
    """Return the mean time to leave a set; see `Operator.exit_time`."""
    naming = Naming(operator, labels, columns)
    outside = naming.read(inside, "inside").complement
    if not outside.mask.any():
        raise InputError(
            f"All points lie in `inside`; received {described(inside)}. Leave some of the data "
            "outside."
        )
    return time_to(operator, outside, tol)


def time_to(operator: Operator, target: Region, tol: float) -> PassageTime:
    """Solve -L T = 1 with T = 0 on the target."""
    system = system_of(operator, [target], [np.zeros(1)])
    one = np.ones((len(system.free), 1))
    found = system.with_values(one, read_tolerance(tol))
    return PassageTime(**in_caller_order(system, found, several=False), source=one[:, 0])
