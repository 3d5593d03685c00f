"""The invariant measure on the points, with the mass of points that resolve no mode limited."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from ..operator.operator import Operator
from .limiter import first_limit


def limited_mass(operator: Operator) -> FloatArray:
    """Return M = D g, (M,) in the order inside, the local times g limited as the limiter does.

    Σ M f / Σ M tends to the mean of f under the invariant measure q^c1. Without limit, far
    outliers would weigh as much as the kernels that reach to their neighbours are wide.
    """
    limiter, steps = operator.settings.method.limiter, operator.steps
    if limiter is not None:
        cut = first_limit(1 / steps[operator.degrees > 0], limiter, operator.dim).highest
        steps = np.minimum(steps, 1 / cut)
    return np.asarray(operator.degrees * steps)


def invariant_measure(operator: Operator) -> FloatArray:
    """Return the weights of the points under the invariant measure, (N,), with sum 1.

    Copies of a point share its weight.
    """
    mass, order = limited_mass(operator), operator.order
    if order.counts is not None:
        mass = mass / order.counts
    weights = order.to_caller(mass)
    return np.asarray(weights / weights.sum())
