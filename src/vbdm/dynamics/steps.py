r"""e^{tL} f in small steps: for times that are too short for modes, or functions with edges.

.. math:: e^{tL} f ≈ \left(1 - \tfrac{t}{m} L\right)^{-m} f,

m screened equations one after the other. The scheme is of first order in 1/m: a part of f that
decays at the rate λ comes out too large by the share :math:`(λt)^2/(2m)`. But it needs no modes, it
keeps the mean, and no value leaves the range of f.
"""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from ..operator.operator import Operator

#: Number of steps from one time to the next.
STEPS = 16


def evolved_by_steps(operator: Operator, f: FloatArray, times: FloatArray) -> FloatArray:
    """Return e^{tL} f at several times, (N, …, k), from f, (N,) or (N, m).

    NaN at points that no other is joined to.
    """
    found = np.empty((*f.shape, len(times)))
    now, values, lost = 0.0, f, np.zeros(len(f), dtype=np.bool_)
    for number in np.argsort(times, kind="stable"):
        if times[number] > now:
            rate = STEPS / (times[number] - now)
            for _ in range(STEPS):
                solved = operator.solve(rate * values, screen=rate)
                lost = solved.unreached
                values = np.nan_to_num(solved.values)
            now = times[number]
        found[..., number] = values
    found[lost] = np.nan
    return found
