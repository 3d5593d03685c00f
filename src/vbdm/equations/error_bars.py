r"""How a number made from a solution scatters with the sample: influences, by one adjoint solve.

For J = Σ w u and A u = M f, solve A z = w. One more sample at :math:`x_i` adds its own pairs, and J
changes by

.. math:: p_i = Σ_j K_{ij} \left[g_i f_i z_i + g_j f_j z_j - (u_i - u_j)(z_i - z_j)\right],

to leading order. It also raises the estimated density around it, which lowers the links there; the
influence is :math:`I = p - (1 - c_1/2) S p`, as for eigenvalues (`vbdm.trust.influences`). The
variance of J is :math:`Σ I_i^2` where rows are independent, and that of a time series where they
are steps in time (`vbdm.trust.series`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.estimate import Estimate
from ..graph.order import Order
from ..operator.operator import Operator
from ..operator.sums import counts_of, row_sums_of
from ..trust.influences import power_of_density
from ..trust.series import autocorrelation_time, by_chance, variance_by_lags
from .network import Network
from .system import System


def functional(
    system: System,
    source: FloatArray,
    values: FloatArray,
    weights: FloatArray,
    tol: float,
    own: FloatArray | None = None,
) -> Estimate:
    """Return Σ w u and its standard error.

    `source`, (M,), is f in the order inside; `values` and `weights`, (N,), are u and w. `own`,
    (M,), is what each point adds as a part of the sample that the sum is taken over, copies summed
    up, and `tol` the accuracy of the adjoint solve.
    """
    network, operator = system.network, system.network.operator
    order, known = operator.graph.order, np.nan_to_num(values)
    u = order.to_inside(known)
    z = system.solve(summed_inside(order, weights)[:, None], max(tol, 1e-9)).values[:, 0]
    # Both are 0 or known at held points.
    left = source - system.screen * u
    push = local_times(network) * left * z
    of_push, *rest = (network.weights @ np.stack([push, u, z, u * z], axis=1)).T
    pairs = network.mass * left * z + of_push - energy(network, u, z, *rest)
    influence = with_response(operator, pairs)
    if own is not None:
        influence = influence + own
    return Estimate(float(weights @ known), deviation(operator, influence, values))


def summed_inside(order: Order, values: FloatArray) -> FloatArray:
    """Return values (N, …) in the order inside, (M, …), those of copies summed up."""
    inside = order.to_inside(values)
    return inside if order.counts is None else np.asarray((inside.T * order.counts).T)


def energy(network: Network, u: Any, z: Any, of_u: Any, of_z: Any, of_both: Any) -> FloatArray:
    """Return Σ_j K_ij (u_i - u_j)(z_i - z_j), (M,), from u, z, K u, K z and K (u z)."""
    found = network.degrees * u * z - u * of_z - z * of_u + of_both
    return np.where(network.operator.inside.degrees > 0, found, 0.0)


def local_times(network: Network) -> FloatArray:
    """Return g = M/D, (M,), the time of a step with the limit of the mass; 0 if isolated."""
    degrees = network.operator.inside.degrees
    return np.divide(network.mass, degrees, out=np.zeros_like(degrees), where=degrees > 0)


def with_response(operator: Operator, own: FloatArray) -> FloatArray:
    """Return I = p - (1 - c1/2) S p: what the density's response leaves of own pairs, (M,)."""
    return np.asarray(own - power_of_density(operator) * smooth(operator, own))


def under_measure(operator: Operator, own: FloatArray) -> FloatArray:
    """Return p + (c1 - 1) S p, (M,): parts p of a mean under the invariant measure.

    Points have the share q^(c1 - 1) in it, besides given weights, and q responds to each of them.
    With a potential (c1 = 0) the two nearly cancel, and bars came out twice as large as the spread.
    """
    return np.asarray(own + (1 - 2 * power_of_density(operator)) * smooth(operator, own))


def smooth(operator: Operator, own: FloatArray) -> FloatArray:
    """Return S p, (M,): p shared out over the neighbours, by how far each raises the density."""
    sums, counts = row_sums_of(operator), counts_of(operator)
    share = np.divide(own, sums, out=np.zeros_like(own), where=sums > 0)
    answer = operator.kernel.weights @ share
    return np.asarray(answer if counts is None else counts * answer)


def deviation(operator: Operator, influence: FloatArray, values: FloatArray) -> float:
    """Return the standard deviation of a number from the influences of all points, (M,).

    `values`, (N,), are those of the solution: if rows look alike in them, they are steps in time.
    """
    influence = influence - influence.sum() / len(influence)
    series, order = operator.settings.series, operator.graph.order
    lengths = series.lengths or (order.n_rows,)
    in_time = series.known
    if in_time is None:
        in_time = autocorrelation_time(values, lengths) > by_chance(order.n_rows)
    if not in_time:
        return float(np.sqrt(np.square(influence).sum()))
    shared = influence if order.counts is None else influence / order.counts
    return float(np.sqrt(variance_by_lags(order.to_caller(shared), lengths)))
