"""How far eigenvalues move with ε, read off the kernel at ε/2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ..base.arrays import FloatArray, column_dots
from ..base.threads import one_blas_thread
from ..kernel.within_reach import halved
from ..operator.operator import Operator
from ..rows.block_array import Tall, beside, mapped, total
from ..spectrum.finite_sample import share_at
from ..spectrum.spectrum import Spectrum
from .influences import side_by_side


def epsilon_bias(spectrum: Spectrum, groups: Sequence[NDArray[np.intp]]) -> FloatArray:
    r"""Estimate λ(ε) - λ(0), (n,), from Ritz values of the same eigenfunctions at ε/2.

    Notes
    -----
    The bias is first order in ε, so λ(ε) - λ(0) ≈ 2 (λ(ε) - λ(ε/2)), both corrected for the
    finite sample; of `groups` it is the mean. No new search, no new solve and, for a Gaussian,
    not even a new evaluation: the kernel at ε/2 is the square of that at ε. The modes are held
    fixed.
    """
    operator = spectrum.operator
    at_half = operator.with_kernel(halved(operator.kernel))
    with one_blas_thread():
        half = ritz_values(spectrum, at_half)
        full = ritz_values(spectrum, spectrum.operator)
    change = 2 * (half - full)
    for group in groups:
        change[group] = change[group].mean()
    return np.where(spectrum.eigenvalues == 0, 0.0, change)


def ritz_values(spectrum: Spectrum, operator: Operator) -> FloatArray:
    """Return the rates of an operator on the span of the eigenfunctions, corrected, (n,).

    Modes with different limits have different masses, and spans of their own. In many dimensions,
    where most points are limited, masses are those without: limited ones do not follow ε.
    """
    u, limits = spectrum.vectors, np.array([limit.reference for limit in spectrum.limits])
    spread = beside(u, operator.relative_variance[:, None])
    product = operator.alpha_kernel @ mapped(side_by_side, u, spread)
    result = np.empty(u.shape[1])
    for reference in np.unique(limits) if limits.size else [None]:
        members = np.flatnonzero(limits == reference) if limits.size else np.arange(u.shape[1])
        time = operator.steps
        if limits.size:
            time = spectrum.limits[members[0]].without_many.time(1 / operator.steps)
        result[members] = rates_on_span(
            operator, u[:, members], product[:, members], product[:, -1:], time[:, None]
        )
    return result


def rates_on_span(
    operator: Operator, u: Tall, of_vectors: Tall, of_spread: Tall, time: FloatArray
) -> FloatArray:
    """Return the Ritz values, corrected, on the span of u, (M, m); K u and K s² are given."""
    degrees = beside(u, operator.degrees[:, None])
    stiffness, mass = total(forms_on_span, u, of_vectors, degrees, beside(u, time))
    rates, mix = eigh(stiffness, mass)
    spread = beside(u, operator.relative_variance[:, None])
    energy, weighted = total(energies_on_span, u, of_vectors, of_spread, mix, degrees, spread)
    average = np.divide(weighted, energy, out=np.zeros_like(energy), where=energy > 0)
    return np.asarray(np.maximum(rates / share_at(operator, average), 0.0))


def forms_on_span(
    u: FloatArray, of_vectors: FloatArray, degrees: FloatArray, time: FloatArray
) -> FloatArray:
    """Return u'(D - K)u and u'D g u, (2, m, m)."""
    return np.stack([u.T @ (degrees * u - of_vectors), u.T @ (degrees * time * u)])


def energies_on_span(
    u: FloatArray,
    of_vectors: FloatArray,
    of_spread: FloatArray,
    mix: FloatArray,
    degrees: FloatArray,
    spread: FloatArray,
) -> FloatArray:
    """Return the energies of the modes w = u mix, and those weighted by s², (2, m).

    The mean of s², the relative variance, over the energy of each mode w comes from
    ½ Σ s_i² K_ij (w_i - w_j)². This needs K s², but no further product with the modes.
    """
    w, of_w = u @ mix, of_vectors @ mix
    weighted = 0.5 * (spread * degrees + of_spread) * w - spread * of_w
    return np.stack([column_dots(w, degrees * w - of_w), column_dots(w, weighted)])
