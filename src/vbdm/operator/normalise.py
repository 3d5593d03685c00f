"""From the kernel to the operator, and operators made from others."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from ..base.checks import EPSILONS, a_number
from ..engines.engine import at_work
from ..errors import InputError
from ..graph.neighbor_graph import NeighborGraph
from ..kernel.dimension import Dimension
from ..kernel.kernel import Kernel
from ..kernel.pilot import Pilot
from ..kernel.tuning import Tuning
from ..kernel.within_reach import at_epsilon
from .operator import Inside, Operator
from .record import Settings
from .weighted import LARGEST_EXPONENT, half_weights, of_multiplicity


def normalise(
    kernel: Kernel,
    *,
    pilot: Pilot,
    dimension: Dimension,
    tuning: Tuning,
    settings: Settings,
    potential: FloatArray | None = None,
    multiplicity: FloatArray | None = None,
) -> Operator:
    r"""Turn the kernel into the operator.

    Notes
    -----
    Implements the six displays of Section 3: :math:`q_S = Σ_j K_{ij} / ρ_i^d` (the power is d),
    :math:`K_α = K_{ij} q_S(x_i)^{-α} q_S(x_j)^{-α}`, :math:`D = Σ_j K_α`, and the time step
    :math:`ε m ρ_i^2` by which :math:`D^{-1} K_α - I` is divided. For the other forms ρ² is a b.

    A factor a(x) a(y) on K adds :math:`2 ∇f·∇\log a` to the limit, so a potential multiplies K_α by
    :math:`e^{-U(x_i)/2} e^{-U(x_j)/2}`, which adds :math:`-∇U·∇f` (ours, not the paper's). Weights
    that are a function w of the place do the same with U = -c1 log w (`vbdm.operator.weights`).
    Of weights that jump, the function of the place is the local mean :math:`w̄ = Σ_j K_{ij} w_j /
    Σ_j K_{ij}`, and :math:`w / w̄` is how often a point counts beside its neighbours.
    """
    dim, alpha = settings.exponents.dim, settings.exponents.alpha
    squared = kernel.bandwidth.squared
    # A point without neighbours has no density to speak of; its row is empty whatever it is given.
    # The density is divided by its median, which keeps its powers in range; such a constant factor
    # cancels in D⁻¹K_α.
    sums = np.where(kernel.row_sums > 0, kernel.row_sums, 1.0)
    log_density = np.log(sums) - dim / 2 * np.log(squared)
    exponent = -alpha * (log_density - np.median(log_density))
    # K_α holds products of two factors exp(exponent).
    if np.abs(exponent).max() > LARGEST_EXPONENT:
        raise InputError(
            f"Powers of the density overflow; received alpha={alpha:.3g}, with a density that "
            f"spans a factor of {np.exp(np.ptp(log_density)):.3g}. α = 1 + β(d/2 + 1) - c1/2 is "
            "far from 0: `operator`, `alpha` or `beta` is. Ask for 'laplacian' (c1 = 0) or "
            "'generator' (c1 = 1)."
        )
    if potential is not None:
        exponent = exponent + half_weights(potential)
    if multiplicity is not None:
        exponent = exponent + of_multiplicity(kernel, multiplicity, settings.exponents.c1 or 0.0)
    factor = np.exp(exponent)
    counts = kernel.graph.order.counts
    if counts is not None:
        factor = factor * counts
    weights = kernel.weights.scaled(factor, factor)
    inside = Inside(
        degrees=weights.row_sums(), steps=kernel.epsilon * kernel.moments(dim).m * squared,
        pilot=pilot, potential=potential, multiplicity=multiplicity,
    )  # fmt: skip
    return Operator(
        kernel=kernel, alpha_kernel=weights, inside=inside, dimension=dimension, tuning=tuning,
        settings=settings,
    )  # fmt: skip


@at_work("the operator")
def with_kernel(operator: Operator, kernel: Kernel) -> Operator:
    """Return the operator that the same settings make from another kernel."""
    inside = operator.inside
    return normalise(
        kernel, pilot=inside.pilot, dimension=operator.dimension, tuning=operator.tuning,
        settings=operator.settings, potential=inside.potential, multiplicity=inside.multiplicity,
    )  # fmt: skip


@at_work("the operator")
def with_epsilon(
    operator: Operator, epsilon: float, graph: NeighborGraph | None = None
) -> Operator:
    """Return the operator at another ε, with the same bandwidth, on this or another graph."""
    epsilon = a_number(*EPSILONS)(epsilon, "epsilon")
    return with_kernel(operator, at_epsilon(operator.kernel, epsilon, graph))
