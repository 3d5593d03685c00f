r"""e^{tL} f in small steps: for times that are too short for modes, or functions with edges.

.. math:: e^{tL} f ≈ \left(1 - \tfrac{t}{m} L\right)^{-m} f,

m screened equations one after the other. The scheme is of first order in 1/m: a part of f that
decays at the rate λ comes out too large by the share :math:`(λt)^2/(2m)`. But it needs no modes, it
keeps the mean, and no value leaves the range of f.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.arrays import FloatArray
from ..equations.problem import system_of
from ..operator.operator import Operator

#: Number of steps from one time to the next.
STEPS = 16


def evolved_by_steps(operator: Operator, f: FloatArray, times: FloatArray) -> FloatArray:
    """Return e^{tL} f at several times, (N, …, k), from f, (N,) or (N, m).

    NaN at points that no other is joined to.
    """
    order, system = operator.order, system_of(operator, (), (), screen=1.0)
    found = np.repeat(f[..., None], len(times), axis=-1)
    now, values = 0.0, order.to_inside(f.reshape(len(f), -1))
    for number in np.argsort(times, kind="stable"):
        if times[number] > now:
            rate = STEPS / (times[number] - now)
            # Times at equal distances, but for rounding, share one system.
            if not np.isclose(rate, system.screen, rtol=1e-9):
                system = replace(system, screen=rate)
            for _ in range(STEPS):
                values = system.with_values(system.screen * values).values
            now = times[number]
        if now > 0:
            found[..., number] = order.to_caller(values).reshape(f.shape)
    found[order.to_caller(system.left_out)] = np.nan
    return found
