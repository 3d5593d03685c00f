r"""Correlations in time, power spectra, relaxation and linear response, by modes.

.. math:: C_{fg}(t) = ⟨e^{tL/2} δf, e^{tL/2} δg⟩ = Σ_{jk} a_j b_k e^{(λ_j + λ_k) t/2} ⟨φ_j, φ_k⟩,

with the coefficients a, b of the fluctuations δf, δg about their means (`Basis`). Modes
are nearly orthogonal, so that nearly only j = k counts; this form is symmetric in f and g, and
positive for f = g, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import BoolArray, FloatArray
from ..base.checks import a_kind
from ..base.points import check_function, check_per_point
from ..errors import InputError
from .evolution import evolve_at, in_natural_time, numbers_from, speed_of, warn_of_missing

if TYPE_CHECKING:
    from .clock import Clock
    from .dynamics import Dynamics


some_frequencies = a_kind(
    numbers_from(-1e100), "a number, or a list of numbers",
    "Pass, for example, np.linspace(0, 2, 100).",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pairs:
    """What the modes make of pairs of functions that were asked about."""

    #: a_j b_k ⟨φ_j, φ_k⟩ for each pair of functions, (m, k, k).
    products: FloatArray
    #: (|λ_j| + |λ_k|)/2, (k, k).
    rates: FloatArray
    #: Whether both modes are no indicators of pieces, (k, k).
    moving: BoolArray
    #: Shape of what was asked for each time.
    shape: tuple[int, ...]

    @classmethod
    def of(cls, asked: Dynamics, f: ArrayLike, g: ArrayLike | None, times: Any = ()) -> Pairs:
        """Return the pairs; `times`, with a diffusivity of 1, are those that are asked about."""
        n, basis = asked.spectrum.operator.n_points, asked.basis
        first = check_function(f, n)
        second = first if g is None else check_function(g, n)
        if first.shape != second.shape:
            raise InputError(
                f"`f` and `g` must have the same shape; received shapes {first.shape} and "
                f"{second.shape}. Pass as many functions in `g` as in `f`."
            )
        balanced = basis.balanced
        own = []
        for values in (first,) if g is None else (first, second):
            inside = basis.inside(values)
            inside = inside - basis.mean(inside)
            c = basis.coefficients(inside)
            warn_of_missing(basis, inside, c, np.asarray(times))
            own.append(np.linalg.solve(balanced, c))
        gram = balanced.T @ basis.gram @ balanced
        products = np.einsum("jm,jk,km->mjk", own[0], gram, own[-1])
        rates = np.abs(basis.rates * basis.varies)
        moving = basis.varies[:, None] & basis.varies
        return cls(products, (rates[:, None] + rates) / 2, moving, first.shape[1:])

    def sums(self, products: FloatArray, factors: FloatArray, at: FloatArray) -> FloatArray:
        """Return sums over modes of products times factors, (k, k, t), of times or frequencies."""
        found = np.einsum("mjk,jkt->mt", products, factors)
        return np.asarray(found.reshape((*self.shape, *at.shape)))


def correlation(
    self: Dynamics,
    f: ArrayLike,
    g: ArrayLike | None = None,
    *,
    times: ArrayLike,
    clock: Clock | None = None,
) -> FloatArray:
    """Return how a function is correlated in time with itself, or with another.

    It is the mean of δf at a time and δg after t, δ being the difference from the mean: at t = 0
    the covariance, and in the end 0.

    Parameters
    ----------
    f, g : (N,) or (N, m) arrays
        Values of functions on the points, column by column; `g` is `f` by default.
    times : float or (k,) array
        Times, 0 or more.
    clock : Clock, optional
        As in `evolve`.

    Returns
    -------
    array
        A number for one function and one time; (k,), (m,) or (m, k). In a process of several pieces
        it ends at the covariance of the means over pieces.

    Warns
    -----
    ShortTimeWarning
        As in `evolve`.

    Examples
    --------
    >>> sample = vbdm.datasets.ou(1500, dim=1, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(6)
    >>> start, later = spectrum.dynamics.correlation(sample.points[:, 0], times=[0, 1.0])
    >>> round(later / start, 1)                                               # e^-1 = 0.37
    np.float64(0.4)
    """
    natural = in_natural_time(times, clock)
    pairs = Pairs.of(self, f, g, natural)
    decay = np.exp(-np.multiply.outer(pairs.rates, natural.reshape(-1)))
    return pairs.sums(pairs.products, decay, natural)


def power_spectrum(
    self: Dynamics, f: ArrayLike, frequencies: ArrayLike, *, clock: Clock | None = None
) -> FloatArray:
    r"""Return the power spectrum of a function along the process: the transform of `correlation`.

    Parameters
    ----------
    f : (N,) or (N, m) array
        Values of one or several functions on the points.
    frequencies : float or (k,) array
        Frequencies ν, in cycles per unit of time.
    clock : Clock, optional
        As in `evolve`.

    Returns
    -------
    array
        Of shapes as in `correlation`. The integral over all frequencies, negative ones too, is the
        variance of f as far as the modes hold it. What differs between pieces, and never changes,
        is left out.

    Notes
    -----
    Implements :math:`S(ν) = Σ_j 2 a_j^2 κ_j/((2πν)^2 + κ_j^2)`, :math:`κ_j = D |λ_j|`, for modes
    that are orthogonal.
    """
    waves, speed = some_frequencies(frequencies, "frequencies"), speed_of(clock)
    pairs = Pairs.of(self, f, None)
    rates = np.where(pairs.moving, pairs.rates * speed, 1.0)[:, :, None]
    lines = 2 * rates / ((2 * np.pi * waves.reshape(-1)) ** 2 + rates**2)
    return pairs.sums(pairs.products * pairs.moving, lines, waves)


def relax(
    self: Dynamics,
    density: ArrayLike,
    f: ArrayLike,
    times: ArrayLike,
    *,
    clock: Clock | None = None,
) -> FloatArray:
    """Return the mean of a function as the process relaxes from a density.

    Parameters
    ----------
    density : (N,) array
        The share of each point in the beginning, up to a factor; a mask starts from all of its
        points alike. Multiply a density that is relative to the invariant measure by
        `op.equations.measure`.
    f : (N,) or (N, m) array
        Values of one or several functions on the points.
    times : float or (k,) array
        Times, 0 or more.
    clock : Clock, optional
        As in `evolve`.

    Returns
    -------
    array
        A number for one function and one time; (k,), (m,) or (m, k).

    Warns
    -----
    ShortTimeWarning
        As in `evolve`.

    Examples
    --------
    >>> sample = vbdm.datasets.ou(1500, dim=1, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(6)
    >>> x = sample.points[:, 0]
    >>> start = np.abs(x - 1) < 0.1
    >>> spectrum.dynamics.relax(start, x, [0.5, 1.0, 5.0]).round(1)                    # e^-t
    array([0.6, 0.4, 0. ])
    """
    weights = check_per_point(density, "density", self.spectrum.operator.n_points)
    stray = self.spectrum.pieces.strays
    if (weights < 0).any() or not weights.sum() > 0 or (weights[stray] > 0).any():
        lost = int((weights[stray] > 0).sum())
        raise InputError(
            "`density` must hold weights of the points, none below 0, not all of them 0, and "
            f"none on pieces that were not solved; received weights from {weights.min():.3g} to "
            f"{weights.max():.3g}, {lost} of them on such pieces. Pass a mask, or shares."
        )
    # A sum of large weights may overflow.
    weights = weights / weights.max()
    weights = weights / weights.sum()
    later = evolve_at(self, f, in_natural_time(times, clock))
    return np.asarray(np.tensordot(weights[~stray], later[~stray], axes=1))


def respond(
    self: Dynamics,
    observable: ArrayLike,
    potential: ArrayLike,
    times: ArrayLike,
    *,
    clock: Clock | None = None,
) -> FloatArray:
    r"""Return how a mean answers to a small extra potential that is switched on at time 0.

    The process moves down a potential (in units of kT) and is in equilibrium. Then ε V is added,
    and the mean of A begins to change. For small ε it changes by ε times what is returned.

    Parameters
    ----------
    observable, potential : (N,) or (N, m) arrays
        Values of A and of V on the points, column by column.
    times : float or (k,) array
        Times since it was switched on, 0 or more.
    clock : Clock, optional
        As in `evolve`.

    Returns
    -------
    array
        δ⟨A⟩/ε: a number for one function and one time; (k,), (m,) or (m, k).

    Notes
    -----
    Implements :math:`δ⟨A⟩(t) = -ε Σ_j a_j v_j (1 - e^{D λ_j t})`, which tends to minus the
    covariance of A and V. It is the response of the gradient system whose generator L is: ask for
    operator "generator" if the points are samples of the process.

    Examples
    --------
    A force in the direction of x, V = -x, moves the mean of x by 1 - e^-t:

    >>> sample = vbdm.datasets.ou(1500, dim=1, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(6)
    >>> x = sample.points[:, 0]
    >>> spectrum.dynamics.respond(x, -x, [1.0, 9.0]).round(1)
    array([0.6, 0.9])
    """
    natural = in_natural_time(times, clock)
    # Parts that the modes leave out have answered by then: they are missing from both terms.
    pairs = Pairs.of(self, observable, potential)
    settled = np.expm1(-np.multiply.outer(pairs.rates, natural.reshape(-1)))
    return pairs.sums(pairs.products * pairs.moving, settled, natural)
