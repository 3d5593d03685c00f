r"""How functions evolve, by modes: e^{tL} f, and the drift L x.

.. math:: e^{tL} f = \bar f + Σ_{λ_j < 0} e^{λ_j t} c_j φ_j,

with the coefficients c of f by least squares (`Basis`), the mean :math:`\bar f` of f on
each piece, and modes :math:`φ_j` of mean 0 there. So the mean of f under the invariant measure
never changes. What the modes leave out of f decays at least as fast as the last mode: after
:math:`t ≫ 1/|λ_n|` nothing of it is left, and before it is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray, frozen
from ..base.checks import a_count, a_kind, an, as_floats, check_choice, or_none
from ..base.points import check_finite, check_function
from ..calculus.calculus import coordinates_of
from ..equations.system import system_of
from ..errors import InputError, ShortTimeWarning, warn_user
from ..operator.operator import Operator
from .clock import Clock

if TYPE_CHECKING:
    from .dynamics import Basis, Dynamics

#: Share of a function, by its standard deviation, that may be missing without a word.
MISSING = 0.05
#: Number of steps from one time to the next, where functions evolve in small steps.
STEPS = 16


def project(self: Dynamics, f: ArrayLike) -> FloatArray:
    """Return the coefficients c of a function in the modes, f ≈ Σ c_j φ_j.

    Parameters
    ----------
    f : (N,) or (N, m) array
        Values of one or several functions on the points.

    Returns
    -------
    (n,) or (n, m) array
        The coefficients that leave the smallest mean square of f - Σ c_j φ_j under the invariant
        measure `op.equations.measure`. The mean of f, on each connected piece, is kept exactly.
        Modes whose eigenvalue is NaN are left out, with coefficient 0, and so are points of
        pieces that were not solved. One pass over the eigenfunctions, O(N n (n + m)).

    Examples
    --------
    >>> sample = vbdm.datasets.sphere(800, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points).spectrum(9)
    >>> height = sample.points[:, 2]
    >>> back = spectrum.dynamics.evaluate(spectrum.dynamics.project(height))
    >>> bool(np.abs(back - height).max() < 0.1)
    True
    """
    values, basis = check_function(f, self.spectrum.operator.n_points), self.basis
    found = basis.all_modes(basis.coefficients(basis.inside(values)))
    return found.reshape(-1, *values.shape[1:])


def evaluate(self: Dynamics, c: ArrayLike) -> FloatArray:
    """Return the function Σ c_j φ_j on the points.

    Parameters
    ----------
    c : (n,) or (n, m) array
        A coefficient for each mode, for one or several functions, as from `project`. Modes whose
        eigenvalue is NaN are left out whatever theirs is.

    Returns
    -------
    (N,) or (N, m) array
        NaN at points of pieces that were not solved.
    """
    coefficients, basis, n = as_floats(c), self.basis, len(self.spectrum.eigenvalues)
    if coefficients is None or coefficients.shape not in ((n,), (n, *coefficients.shape[1:2])):
        seen = type(c).__name__ if coefficients is None else f"shape {coefficients.shape}"
        raise InputError(
            f"Coefficients have shape ({n},) or ({n}, m); received {seen}. Pass what "
            "`spectrum.dynamics.project(f)` returned."
        )
    check_finite(coefficients, "coefficients")
    found = basis.values(coefficients[basis.numbers].reshape(len(basis.numbers), -1))
    return found.reshape(-1, *coefficients.shape[1:])


def evolve(
    self: Dynamics,
    f: ArrayLike,
    t: ArrayLike,
    *,
    clock: Clock | None = None,
    by: str = "modes",
) -> FloatArray:
    """Return e^{tL} f: what is expected of f after the time t, by the point where one starts.

    It solves u' = L u from u = f: heat that spreads, or the mean of f over many walks.

    Parameters
    ----------
    f : (N,) or (N, m) array
        Values of one or several functions on the points.
    t : float or (k,) array
        One or several times, 0 or more.
    clock : Clock, optional
        From `clock`: times are then in its unit. By default they are in units in which the
        diffusivity is 1.
    by : {"modes", "steps"}
        By modes all times cost one pass over the eigenfunctions. In small steps, with 16 equations
        solved from each time to the next, short times and functions with edges are right, too, and
        no value leaves the range of f; fast parts of f decay a few per cent too slowly.

    Returns
    -------
    array
        (N,) or (N, m) for a number t; (N, k) or (N, m, k) for k times. NaN at points of pieces that
        were not solved; in steps, only at points that no other is joined to. The mean of
        f under `op.equations.measure`, over the other points, stays the same up to rounding.

    Warns
    -----
    ShortTimeWarning
        If a part of f that the modes leave out may still be there at the first of the times: modes
        say little about times below the last of their own, -1/λ_n.

    Examples
    --------
    On the sphere, the height decays as e^{-2t}.

    >>> sample = vbdm.datasets.sphere(800, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points).spectrum(9)
    >>> height = sample.points[:, 2]
    >>> later = spectrum.evolve(height, [0.5, 1.0])
    >>> later.shape
    (800, 2)
    >>> (height @ later / (height @ height)).round(1)     # the truth: 0.37, 0.14
    array([0.4, 0.1])
    """
    return evolve_at(self, f, in_natural_time(t, clock, "t"), by)


def evolve_at(self: Dynamics, f: ArrayLike, times: FloatArray, by: str = "modes") -> FloatArray:
    """Return e^{tL} f at times in units in which the diffusivity is 1."""
    values, basis = check_function(f, self.spectrum.operator.n_points), self.basis
    if check_choice(by, "by", ("modes", "steps")) == "steps":
        found = evolve_in_steps(self.spectrum.operator, values, times.reshape(-1))
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


def evolve_in_steps(operator: Operator, f: FloatArray, times: FloatArray) -> FloatArray:
    r"""Return e^{tL} f at several times, (N, …, k), in small steps; f is (N,) or (N, m).

    .. math:: e^{tL} f ≈ \left(1 - \tfrac{t}{m} L\right)^{-m} f,

    m screened equations one after the other. The scheme is of first order in 1/m: a part of f that
    decays at the rate λ comes out too large by the share :math:`(λt)^2/(2m)`. But it needs no
    modes, it keeps the mean, and no value leaves the range of f. NaN at points that no other is
    joined to.
    """
    order, network = operator.graph.order, operator.equations.network
    system = system_of(network, (), (), screen=1.0)
    found = np.repeat(f[..., None], len(times), axis=-1)
    now, values = 0.0, order.to_inside(f.reshape(len(f), -1))
    for number in np.argsort(times, kind="stable"):
        if times[number] > now:
            rate = STEPS / (times[number] - now)
            # Times at equal distances, but for rounding, share one system.
            if not np.isclose(rate, system.screen, rtol=1e-9):
                system = replace(system, screen=rate)
            for _ in range(STEPS):
                values = system.with_values(system.screen * values).values
            now = times[number]
        if now > 0:
            found[..., number] = order.to_caller(values).reshape(f.shape)
    found[order.to_caller(system.left_out)] = np.nan
    return found


def drift(self: Dynamics, n_modes: int | None = None) -> FloatArray:
    r"""Return the drift L x: where, and how fast, the process is carried from each point.

    Never take `op @ x` for it. L x is a mean of differences over the kernel, divided by its small
    step, and the differences cancel almost: what is left is noise of 300 to 500 % at 10,000 points,
    more with more points. Modes are smooth, and those that the data resolve hold all of the drift
    that the data can tell:

    .. math:: L x ≈ Σ_j λ_j c_j φ_j, \qquad x ≈ Σ_j c_j φ_j.

    A periodic column x with the period p is no function, but :math:`z = e^{2πix/p}` is one:
    :math:`L x = (p/2π) \, \mathrm{Im}(\bar z \, L z)`, since L z = z (2πi/p L x - (2π/p)² \|∇x\|²).

    Parameters
    ----------
    n_modes : int or None
        How many modes to use, the constant included; by default all of the spectrum. Each more
        adds detail and noise: on 10,000 points of a Gaussian in the plane the error is 7 to 13 %
        with 12 modes, and 20 % with 30.

    Returns
    -------
    (N, n) array
        In units of a diffusivity of 1: a `clock` knows D, and D times this is in your unit of
        time. On a flat space it is ∇log π, with the invariant density π; on a curved one also the
        mean curvature, which keeps the process there. In periodic columns it is the speed of the
        angle. NaN at points of pieces that were not solved.

    Examples
    --------
    >>> sample = vbdm.datasets.ou(4000, dim=2, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(12)
    >>> drift = spectrum.dynamics.drift()                    # the truth is -x
    >>> inner = np.linalg.norm(sample.points, axis=1) < 2
    >>> error = (drift + sample.points)[inner]
    >>> bool(np.sqrt((error**2).mean()) < 0.3)
    True
    """
    spectrum = self.spectrum
    n = len(spectrum.eigenvalues)
    count = n if n_modes is None else a_count(2, n)(n_modes, "n_modes")
    inside, periods, _ = coordinates_of(spectrum.operator)
    points = spectrum.operator.graph.order.to_caller(inside)
    if periods is None:
        return frozen(by_modes(self, points, count))
    turning = periods > 0
    angle = 2 * np.pi * points[:, turning] / periods[turning]
    functions = [points[:, ~turning], np.cos(angle), np.sin(angle)]
    straight, cosine, sine = np.split(
        by_modes(self, np.hstack(functions), count),
        np.cumsum([part.shape[1] for part in functions[:2]]),
        axis=1,
    )
    found = np.empty(points.shape)
    found[:, ~turning] = straight
    speed = np.cos(angle) * sine - np.sin(angle) * cosine
    found[:, turning] = speed * periods[turning] / (2 * np.pi)
    return frozen(found)


def by_modes(self: Dynamics, f: FloatArray, count: int) -> FloatArray:
    """Return L f by the first modes."""
    eigenvalues = self.spectrum.eigenvalues
    rates = np.where(np.arange(len(eigenvalues)) < count, eigenvalues, 0.0)
    # Modes without an eigenvalue have no coefficient either.
    return self.evaluate(np.nan_to_num(rates)[:, np.newaxis] * self.project(f))


def numbers_from(low: float) -> Callable[[Any], FloatArray | None]:
    """Return a function that reads a number, or a list of them, none below `low`."""

    def read(values: Any) -> FloatArray | None:
        array = as_floats(values)
        if array is None or array.ndim > 1 or not ((array >= low) & (array < 1e100)).all():
            return None
        return array

    return read


times_from_0 = a_kind(
    numbers_from(0.0), "a time, or a list of times, that are 0 or more",
    "Diffusion cannot be run backwards. Pass, for example, 0.5 or [0.1, 0.2, 0.5].",
)  # fmt: skip
no_clock_or_one = or_none(an(Clock, "Pass spectrum.clock(step=0.2), or leave it out."))


def speed_of(clock: Any) -> float:
    """Return the diffusivity of a clock, or 1 without one."""
    known = no_clock_or_one(clock, "clock")
    return 1.0 if known is None else float(known.diffusivity.value)


def in_natural_time(t: Any, clock: Any, name: str = "times") -> FloatArray:
    """Return times in units in which the diffusivity is 1, from those of a clock."""
    return np.asarray(times_from_0(t, name) * speed_of(clock))


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
            f"{last:.3g} or faster. Ask for more modes, `op.spectrum(n)`, for later times, or "
            "evolve it with by='steps'.",
            ShortTimeWarning,
        )
