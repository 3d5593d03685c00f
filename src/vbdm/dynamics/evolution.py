r"""How functions evolve: e^{tL} f, by modes.

.. math:: e^{tL} f = \bar f + Σ_{λ_j < 0} e^{λ_j t} c_j φ_j,

with the coefficients c of f by least squares (`dynamics.basis`), the mean :math:`\bar f` of f on
each piece, and modes :math:`φ_j` of mean 0 there. So the mean of f under the invariant measure
never changes. What the modes leave out of f decays at least as fast as the last mode: after
:math:`t ≫ 1/|λ_n|` nothing of it is left, and before it is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..base.checks import as_floats, check_choice, shown
from ..base.points import check_function
from ..errors import InputError, ShortTimeWarning, warn_user
from ..spectrum.spectrum import Spectrum
from .basis import Basis, check_coefficients
from .clock import Clock
from .steps import evolved_by_steps

#: Share of a function, by its standard deviation, that may be missing without a word.
MISSING = 0.05


def project(spectrum: Spectrum, f: ArrayLike) -> FloatArray:
    """Return the coefficients of f in the modes (see `Spectrum.project`)."""
    values = check_function(f, spectrum.operator.n_points)
    basis = spectrum.basis
    found = basis.all_modes(basis.coefficients(basis.inside(values)))
    return found.reshape(-1, *values.shape[1:])


def evaluate(spectrum: Spectrum, c: ArrayLike) -> FloatArray:
    """Return the function with these coefficients on the points (see `Spectrum.evaluate`)."""
    coefficients = check_coefficients(c, len(spectrum.eigenvalues))
    basis = spectrum.basis
    found = basis.values(coefficients[basis.numbers].reshape(len(basis.numbers), -1))
    return found.reshape(-1, *coefficients.shape[1:])


def evolve(
    spectrum: Spectrum,
    f: ArrayLike,
    t: ArrayLike,
    clock: Any = None,
    name: str = "t",
    by: str = "modes",
) -> FloatArray:
    """Return e^{tL} f on the points (see `Spectrum.evolve`)."""
    values = check_function(f, spectrum.operator.n_points)
    times = in_natural_time(t, clock, name)
    basis = spectrum.basis
    if check_choice(by, "by", ("modes", "steps")) == "steps":
        found = evolved_by_steps(spectrum.operator, values, times.reshape(-1))
        return found.reshape((*values.shape, *times.shape))
    inside = basis.inside(values)
    c = basis.coefficients(inside)
    warn_of_missing(basis, inside, c, times)
    # In terms of modes of mean 0 the coefficients of the others are means over pieces.
    own = np.linalg.solve(basis.balanced, c)
    later = np.exp(np.multiply.outer(basis.rates * basis.varies, times.reshape(-1)))
    moved = np.einsum("ij,jm,jt->imt", basis.balanced, own, later)
    found = basis.values(moved.reshape(len(moved), -1))
    return found.reshape(len(found), *values.shape[1:], *times.shape)


def check_times(t: Any, name: str = "t") -> FloatArray:
    """Return times as an array of no or one dimension; they are finite and not negative."""
    times = as_floats(t)
    if times is None or times.ndim > 1 or not ((times >= 0) & (times < 1e100)).all():
        raise InputError(
            f"`{name}` must be a time, or a list of times, that are 0 or more; received "
            f"{shown(t)}. Diffusion cannot be run backwards: small errors would grow without "
            f"bound. Pass, for example, {name}=0.5 or {name}=[0.1, 0.2, 0.5]."
        )
    return times


def speed_of(clock: Any) -> float:
    """Return the diffusivity of a clock, or 1 without one."""
    if clock is None:
        return 1.0
    if isinstance(clock, Clock):
        return clock.diffusivity.value
    raise InputError(
        f"`clock` must be a clock; received an object of the class {type(clock).__name__}. Pass "
        "clock=spectrum.clock(step=0.2), or leave it out."
    )


def in_natural_time(t: Any, clock: Any, name: str = "times") -> FloatArray:
    """Return times in units in which the diffusivity is 1, from those of a clock."""
    return np.asarray(check_times(t, name) * speed_of(clock))


def warn_of_missing(basis: Basis, values: FloatArray, c: FloatArray, times: FloatArray) -> None:
    """Warn if at the earliest time more than `MISSING` of a function may be outside the modes.

    `values` are in the order inside, (M, m), and `c` their coefficients.
    """
    if not times.size:
        return
    variance = basis.mean(values**2) - basis.mean(values) ** 2
    outside = basis.mean(values**2) - np.einsum("im,ij,jm->m", c, basis.gram, c)
    # Rounding makes a function that is constant, or lies in the span, differ a little from it.
    varies = variance > 1e-20 * basis.mean(values**2)
    share = np.sqrt(np.maximum(outside[varies], 0) / variance[varies]).max(initial=0.0)
    last = float(np.abs(basis.rates).max())
    missing = share * np.exp(-last * times.min())
    if missing > MISSING:
        warn_user(
            f"At t = {times.min():.3g} up to {missing:.0%} of the function is missing: the "
            f"{len(basis.numbers)} modes leave out {share:.0%} of it, which decays at a rate of "
            f"{last:.3g} or faster. Ask for more modes, `op.spectrum(n)` with a larger n, for "
            f"times above {np.log(share / MISSING) / last:.2g}, or evolve it with by='steps'."
            if last else
            f"The modes leave out {share:.0%} of the function. Ask for more, `op.spectrum(n)`.",
            ShortTimeWarning,
        )  # fmt: skip
