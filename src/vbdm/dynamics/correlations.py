r"""Correlations in time, power spectra, relaxation and linear response, by modes.

.. math:: C_{fg}(t) = ⟨e^{tL/2} δf, e^{tL/2} δg⟩ = Σ_{jk} a_j b_k e^{(λ_j + λ_k) t/2} ⟨φ_j, φ_k⟩,

with the coefficients a, b of the fluctuations δf, δg about their means (`dynamics.basis`). Modes
are nearly orthogonal, so that nearly only j = k counts; this form is symmetric in f and g, and
positive for f = g, exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..base.checks import as_floats, shown
from ..base.points import check_function, check_per_point
from ..errors import InputError
from ..spectrum.spectrum import Spectrum
from .basis import Basis
from .evolution import check_times, evolve, in_natural_time, speed_of, warn_of_missing


def pair_coefficients(
    spectrum: Spectrum, f: ArrayLike, g: ArrayLike | None, times: FloatArray
) -> tuple[Basis, FloatArray, tuple[int, ...]]:
    """Return the modes, a_j b_k ⟨φ_j, φ_k⟩ for each pair of functions, (m, k, k), and its shape.

    `times` in units of diffusivity 1 are those at which something is asked about the functions.
    """
    n = spectrum.operator.n_points
    first = check_function(f, n)
    second = first if g is None else check_function(g, n)
    if first.shape != second.shape:
        raise InputError(
            f"`f` and `g` must have the same shape; received shapes {first.shape} and "
            f"{second.shape}. Pass as many functions in `g` as in `f`, or leave `g` out."
        )
    basis = spectrum.basis
    balanced = basis.balanced
    gram = balanced.T @ basis.gram @ balanced
    own = []
    for values in (first,) if g is None else (first, second):
        inside = basis.inside(values)
        inside = inside - basis.mean(inside)
        c = basis.coefficients(inside)
        warn_of_missing(basis, inside, c, times)
        own.append(np.linalg.solve(balanced, c))
    products = np.einsum("jm,jk,km->mjk", own[0], gram, own[-1])
    return basis, products, first.shape[1:]


def mean_rates(basis: Basis) -> FloatArray:
    """Return (|λ_j| + |λ_k|)/2, (k, k)."""
    rates = np.abs(basis.rates * basis.varies)
    return np.asarray((rates[:, None] + rates) / 2)


def correlation(
    spectrum: Spectrum, f: ArrayLike, g: ArrayLike | None, times: Any, clock: Any
) -> FloatArray:
    """Return correlations in time (see `Spectrum.correlation`)."""
    natural = in_natural_time(times, clock)
    basis, products, shape = pair_coefficients(spectrum, f, g, natural)
    decay = np.exp(-np.multiply.outer(mean_rates(basis), natural.reshape(-1)))
    found = np.einsum("mjk,jkt->mt", products, decay)
    return np.asarray(found.reshape((*shape, *natural.shape)))


def power_spectrum(spectrum: Spectrum, f: ArrayLike, frequencies: Any, clock: Any) -> FloatArray:
    """Return power spectra (see `Spectrum.power_spectrum`)."""
    waves = check_frequencies(frequencies)
    speed = speed_of(clock)
    basis, products, shape = pair_coefficients(spectrum, f, None, np.array([]))
    moving = basis.varies[:, None] & basis.varies
    rates = np.where(moving, mean_rates(basis) * speed, 1.0)[:, :, None]
    lines = 2 * rates / ((2 * np.pi * waves.reshape(-1)) ** 2 + rates**2)
    found = np.einsum("mjk,jkt->mt", products * moving, lines)
    return np.asarray(found.reshape((*shape, *waves.shape)))


def check_frequencies(frequencies: Any) -> FloatArray:
    """Return frequencies as an array of no or one dimension."""
    waves = as_floats(frequencies)
    if waves is None or waves.ndim > 1 or not (np.abs(waves) < 1e100).all():
        raise InputError(
            "`frequencies` must be a number, or a list of numbers; received "
            f"{shown(frequencies)}. Pass, for example, np.linspace(0, 2, 100)."
        )
    return waves


def relax(
    spectrum: Spectrum, density: ArrayLike, f: ArrayLike, times: Any, clock: Any
) -> FloatArray:
    """Return means of f that relax from a density (see `Spectrum.relax`)."""
    weights = check_per_point(density, "density", spectrum.operator.n_points)
    stray = spectrum.pieces.strays
    if (weights < 0).any() or not weights.sum() > 0 or (weights[stray] > 0).any():
        lost = int((weights[stray] > 0).sum())
        raise InputError(
            "`density` must hold weights of the points, none below 0, not all of them 0, and "
            f"none on pieces that were not solved; received weights from {weights.min():.3g} to "
            f"{weights.max():.3g}, {lost} of them on such pieces. Pass the share of each point, "
            "or a mask. A density relative to the invariant measure is `density * op.measure`."
        )
    # A sum of large weights may overflow.
    weights = weights / weights.max()
    weights = weights / weights.sum()
    later = evolve(spectrum, f, times, clock, "times")
    return np.asarray(np.tensordot(weights[~stray], later[~stray], axes=1))


def respond(
    spectrum: Spectrum, observable: ArrayLike, potential: ArrayLike, times: Any, clock: Any
) -> FloatArray:
    """Return the linear response to a potential (see `Spectrum.respond`)."""
    at = check_times(times, "times")
    # Parts that the modes leave out have answered by then: they are missing from both terms.
    basis, products, shape = pair_coefficients(spectrum, observable, potential, np.array([]))
    moving = basis.varies[:, None] & basis.varies
    natural = in_natural_time(at, clock)
    settled = np.expm1(-np.multiply.outer(mean_rates(basis), natural.reshape(-1)))
    found = np.einsum("mjk,jkt->mt", products * moving, settled)
    return np.asarray(found.reshape((*shape, *natural.shape)))
