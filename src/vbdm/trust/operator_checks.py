"""What may be wrong with an operator, said in words when it is made."""

from __future__ import annotations

import warnings

import numpy as np

from ..base.checks import FloatArray
from ..base.errors import (
    DensityTailWarning,
    NoiseWarning,
    SaturatedNeighborsWarning,
    UnboundedErrorWarning,
    VbdmWarning,
)
from ..operator import theory
from ..operator.operator import Operator


def warn_of_doubts(operator: Operator, pilot: FloatArray) -> None:
    """Warn of everything doubtful; `pilot` is the first density estimate."""
    for category, message in (
        (SaturatedNeighborsWarning, saturated_lists(operator)),
        (UnboundedErrorWarning, unbounded_errors(operator, pilot)),
        (DensityTailWarning, laplacian_of_a_tail(operator, pilot)),
        (NoiseWarning, drifting_dimension(operator)),
    ):
        if message:
            say(message, category)


def say(message: str, category: type[VbdmWarning]) -> None:
    """Warn at the line that called `estimate_operator`."""
    warnings.warn(message, category, stacklevel=4)


def saturated_lists(operator: Operator) -> str:
    """Look for neighbour lists that end inside the kernel."""
    if operator.kernel.saturated <= 0.05:
        return ""
    return (
        f"At {operator.kernel.saturated:.0%} of the points the {operator.n_neighbors} nearest "
        "neighbours end before the kernel has decayed to 1e-3, so the operator is too small "
        "there. Raise `n_neighbors`, or lower `epsilon`."
    )


def unbounded_errors(operator: Operator, pilot: FloatArray) -> str:
    """Look for a bandwidth whose error grows where the density falls (derived exponent c2)."""
    span = float(pilot.max() / pilot.min())
    if operator.beta is None or span <= 1000:
        return ""
    if theory.bounded(operator.alpha, operator.beta, operator.dim):
        return ""
    return (
        f"The density spans a factor of {span:.0f}; with beta={operator.beta:g} in dimension "
        f"{operator.dim:.2g} the sampling error of L f grows without bound where the density "
        "is small. Use a negative beta, such as the default."
    )


def laplacian_of_a_tail(operator: Operator, pilot: FloatArray) -> str:
    """Look for a Laplacian on the whole space, where it has no discrete spectrum.

    A density that is bounded away from 0 has lowest quantiles close together; one that falls
    towards 0 has them far apart: a factor of 17 to 33 for Gaussians between 5 % and 0.2 %.
    """
    if operator.c1 is None or operator.c1 > 0.05 or len(pilot) < 200:
        return ""
    low, lowest = np.quantile(pilot, [0.05, 0.002])
    if low / lowest < 8:
        return ""
    return (
        "The density falls towards 0 at the edge of the data, so this looks like a sample of an "
        f"unbounded space (the sparsest points are {low / lowest:.0f} times sparser than the "
        "sparsest 5 %). There the Laplacian (c1 = 0) has no discrete spectrum: its eigenvalues "
        "here only reflect where the data ends. Ask for operator='generator' instead."
    )


def drifting_dimension(operator: Operator) -> str:
    """Look for a dimension that grows towards small scales: noise around the manifold."""
    readings = operator.dimension.by_scale
    if readings is None or operator.dimension.drift < 0.25 or readings[0] < readings[-1]:
        return ""
    return (
        f"The dimension depends on the scale: {readings[0]:.1f} from the nearest neighbours, "
        f"{readings[-1]:.1f} from more of them, {operator.tuning.dim:.1f} at the kernel's own "
        "scale. Noise around a manifold does this. If you know the dimension, give `dim`."
    )
