"""Sums over the rows of an operator's kernel, each point counted by copies and by weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, quotients, to_user
from ..base.kept import kept_with
from ..engines.engine import at_work
from .sample_theory import KernelWaves, kernel_waves
from .weighted import counted, sums_of

if TYPE_CHECKING:
    from .operator import Operator


@at_work("results")
def counts_of(operator: Operator) -> FloatArray | None:
    """Return how often each point inside counts, (M,): its copies times its weight; None: once."""
    return kept_with(
        operator, "counts", lambda: counted(operator.kernel, operator.inside.multiplicity)
    )


@at_work("results")
def row_sums_of(operator: Operator) -> FloatArray:
    """Return Σ_j K(x_i, x_j), (M,), each point counted by copies and by weight."""
    return kept_with(
        operator, "sums", lambda: sums_of(operator.kernel, operator.inside.multiplicity)
    )


@at_work("results")
def relative_variance_of(operator: Operator) -> FloatArray:
    """Return s² = Σ_j K² / (Σ_j K)², (M,): one over the number of points that a row averages."""

    def compute() -> FloatArray:
        if operator.inside.multiplicity is None:
            return operator.kernel.relative_variance
        counts, sums = cast(FloatArray, counts_of(operator)), row_sums_of(operator)
        squares = operator.kernel.weights.product(counts**2, power=2)
        return cast(FloatArray, quotients(squares, sums**2, sums > 0))

    return kept_with(operator, "relative_variance", compute)


def waves_of(operator: Operator) -> KernelWaves:
    """Return the kernel's transforms, from which the finite-sample correction is computed."""
    kernel = operator.kernel
    return kept_with(
        operator, "waves", lambda: kernel_waves(kernel.shape, operator.dim, kernel.cutoff)
    )


@at_work("results")
def pairs_of(operator: Operator) -> NDArray[np.intp]:
    """Return the number of other points that the kernel joins each point to, (N,)."""
    pairs = operator.graph.order.to_caller(operator.alpha_kernel.pairs_per_row())
    return np.asarray(to_user(pairs))


def quantiles(values: NDArray[Any]) -> tuple[float, float, float]:
    """Return the 5 % quantile, the median and the 95 % quantile."""
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    return float(low), float(middle), float(high)


def in_potential(operator: Operator) -> bool:
    """Tell whether a potential that was given weights the pairs."""
    return operator.inside.potential is not None and not operator.settings.weighting.is_used
