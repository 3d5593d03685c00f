r"""The drift L x, by modes.

A periodic column x with the period p is no function, but :math:`z = e^{2πix/p}` is one:
:math:`L x = (p/2π) \, \mathrm{Im}(\bar z \, L z)`, since L z = z (2πi/p L x - (2π/p)² |∇x|²).
"""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray, frozen
from ..base.checks import a_count
from ..spectrum.spectrum import Spectrum
from .gradient import coordinates_of


def drift(spectrum: Spectrum, n_modes: int | None = None) -> FloatArray:
    """Return L x on the points, from the first modes (see `Spectrum.drift`)."""
    n = len(spectrum.eigenvalues)
    count = n if n_modes is None else a_count(2, n)(n_modes, "n_modes")
    inside, periods, _ = coordinates_of(spectrum.operator)
    points = spectrum.operator.order.to_caller(inside)
    if periods is None:
        return frozen(applied(spectrum, points, count))
    turning = periods > 0
    angle = 2 * np.pi * points[:, turning] / periods[turning]
    functions = [points[:, ~turning], np.cos(angle), np.sin(angle)]
    straight, cosine, sine = np.split(
        applied(spectrum, np.hstack(functions), count),
        np.cumsum([part.shape[1] for part in functions[:2]]),
        axis=1,
    )
    found = np.empty(points.shape)
    found[:, ~turning] = straight
    speed = np.cos(angle) * sine - np.sin(angle) * cosine
    found[:, turning] = speed * periods[turning] / (2 * np.pi)
    return frozen(found)


def applied(spectrum: Spectrum, f: FloatArray, count: int) -> FloatArray:
    """Return L f by the first modes."""
    rates = np.where(np.arange(len(spectrum.eigenvalues)) < count, spectrum.eigenvalues, 0.0)
    # Modes without an eigenvalue have no coefficient either.
    return spectrum.evaluate(np.nan_to_num(rates)[:, np.newaxis] * spectrum.project(f))
