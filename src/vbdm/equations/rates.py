r"""The flux between two sets and the rates, from a committor q and its adjoint.

In a long trajectory the number of transitions from A to B per unit of time is the flux,
:math:`ν = ½ Σ K_{ij} (q_i - q_j)^2 / Σ M`, the energy of q over the mass; while the process comes
from A last it makes them at the rate :math:`k_{AB} = ν / ⟨1 - q⟩`, and back at
:math:`k_{BA} = ν / ⟨q⟩`, with means under the invariant measure. Standard errors are those of
`error_bars`: q makes the energy smallest, so its own change does not count there, and what it does
to ⟨q⟩ is told by the adjoint equation A z = M.
"""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from ..base.estimate import Estimate
from ..operator.operator import Operator
from .error_bars import deviation, energy, local_times, responded
from .system import System


def are_apart(system: System) -> bool:
    """Tell whether no piece of the data has points of both sets."""
    first, second = (system.network.pieces[own.mask] for own in system.sets)
    return not np.isin(first, second).any()


def flux_and_rates(
    system: System, operator: Operator, values: FloatArray, adjoint: FloatArray
) -> tuple[Estimate, Estimate, Estimate]:
    """Return the flux and both rates of a committor, (N,), from its adjoint, (M,) inside."""
    if are_apart(system):
        return (Estimate(0.0, 0.0),) * 3
    network, q = system.network, operator.order.to_inside(np.nan_to_num(values))
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
        influence = responded(operator, (own_energy - value * own) / whole)
        results.append(Estimate(value, deviation(operator, influence, values)))
    return results[0], results[1], results[2]


def energy_of_edges(system: System, q: FloatArray) -> float:
    """Return what the soft edges of A and B add to the energy of a committor."""
    at_start, at_end = (edge.extra[system.free] for edge in system.edges)
    return float(at_start @ np.square(q[system.free]) + at_end @ np.square(1 - q[system.free]))
