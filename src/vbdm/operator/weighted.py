"""Factors that a potential, or weights of the points, put on pairs; and sums that count weights."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray, quotients
from ..errors import InputError
from ..kernel.kernel import Kernel
from .weights import LARGEST_RANGE

#: Beyond exp(±300) the product of two factors may overflow or underflow.
LARGEST_EXPONENT = 300.0


def counted(kernel: Kernel, multiplicity: FloatArray | None) -> FloatArray | None:
    """Return how often each point inside counts, (M,), by copies and by weight; None: once."""
    copies = kernel.graph.order.counts
    if multiplicity is None or copies is None:
        return copies if multiplicity is None else multiplicity
    return copies * multiplicity


def sums_of(kernel: Kernel, multiplicity: FloatArray | None) -> FloatArray:
    """Return Σ_j K(x_i, x_j), (M,), each point counted by copies and by weight."""
    if multiplicity is None:
        return kernel.row_sums
    sums: FloatArray = kernel.weights @ counted(kernel, multiplicity)
    return sums


def of_multiplicity(kernel: Kernel, multiplicity: FloatArray, c1: float) -> FloatArray:
    """Return log w - (1 - c1/2) log w̄, (M,), with the mean w̄ of w over each kernel."""
    sums, plain = sums_of(kernel, multiplicity), kernel.row_sums
    # A point without neighbours has its own weight for a mean; its row is empty.
    mean = np.where(sums > 0, quotients(sums, plain, sums > 0), multiplicity)
    result = np.log(multiplicity) - (1 - c1 / 2) * np.log(mean)
    result -= np.median(result)
    if np.abs(result).max() > LARGEST_EXPONENT:
        raise InputError(
            f"`weights` span too wide a range; received values from {multiplicity.min():.3g} to "
            f"{multiplicity.max():.3g} times their mean, which jump from point to point. Points "
            "of such small weights say nothing about the process: leave them out."
        )
    return result


def half_weights(potential: FloatArray) -> FloatArray:
    """Return -U/2, (M,), the logarithm of the factor that a potential puts on its point's pairs.

    The median of U is subtracted: a constant added to U cancels in D⁻¹K_α.
    """
    if np.ptp(potential) > LARGEST_RANGE:
        raise InputError(
            f"`potential` spans too wide a range; received values from {potential.min():.3g} to "
            f"{potential.max():.3g}. The points are weighted by exp(-U), which would overflow or "
            "underflow. Check its units: U is in units of kT. Points far above the lowest U say "
            "nothing about the process: leave them out."
        )
    return -(potential - np.median(potential)) / 2
