"""The paper's automatic choice of ε, and how wide a range of ε does well, for Section 5."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from vbdm import NeighborGraph, Paper, VbdmWarning, estimate_operator, rules
from vbdm.kernel.tuning import Tuning

from .base import FloatArray, Settings


def automatic(graph: NeighborGraph, settings: Settings, dim: float) -> Tuning:
    """Return the choice of ε where S(ε) is steepest, with the slopes that it was made from."""
    with warnings.catch_warnings():
        # Saturated lists and isolated points are the subject here, so they need no warning.
        warnings.simplefilter("ignore", VbdmWarning)
        return estimate_operator(
            graph,
            dim=dim,
            bandwidth=rules.PowerOfDensity(settings.beta),
            method=Paper(alpha=settings.alpha),
        ).tuning


def decades_below(epsilons: Any, errors: Any, level: float) -> float:
    """Return the number of decades of ε in which the error is below a level.

    The grid of ε is regular on a logarithmic scale; a failed solve counts as above the level.

    >>> decades_below([0.01, 0.1, 1.0, 10.0], [0.5, 0.01, 0.02, 0.5], 0.1)
    2.0
    """
    span = np.ptp(np.log10(epsilons))
    count = np.sum(np.asarray(errors) < level)
    return float(min(span, span / (len(epsilons) - 1) * count))


def with_automatic(epsilons: FloatArray, choice: Tuning) -> FloatArray:
    """Return the ε of a sweep with the automatic one added at the end."""
    return np.append(epsilons, choice.epsilon)


def power_of_two(epsilon: Any) -> str:
    """Return ε as text, as a power of two, in which the paper prints the automatic choice."""
    return f"2^{round(float(np.log2(float(np.asarray(epsilon)))))}"
