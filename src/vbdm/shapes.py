r"""Shape functions h of the kernel, and their moments in any real dimension.

The kernel is :math:`K_ε(x,y) = h(|x-y|^2 / (ε ρ(x) ρ(y)))` (Eq. "vbkernel"). The theory asks of h
only that it decays exponentially, :math:`h(s) < a e^{-s/σ}`; the limit operator then does not
depend on h, because L is divided by :math:`m = m_2/m_0`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gammainc, gammaln

from .base.arrays import FloatArray, beside_array, is_elsewhere, to_host
from .base.checks import a_function, answer_of, as_floats
from .errors import InputError


@dataclass(frozen=True)
class Moments:
    """The moments m0 and m2 of a shape function in dimension d, and m = m2/m0."""

    m0: float
    m2: float

    @property
    def m(self) -> float:
        """Ratio m = m2/m0: the row-normalised kernel minus the identity, over ε m, gives L."""
        return self.m2 / self.m0


@runtime_checkable
class Shape(Protocol):
    """A shape function h, as the kernel needs it: values, and moments in any real dimension."""

    def __call__(self, s: FloatArray) -> FloatArray:
        """Evaluate h at scaled squared distances s >= 0."""

    def moments(self, dim: float, cutoff: float = np.inf) -> Moments:
        """Return m0 and m2 of h in dimension `dim`, with h set to 0 beyond s = `cutoff`."""


@dataclass(frozen=True)
class Gaussian:
    """h(s) = exp(-s/4), the paper's shape: m0 = (4π)^{d/2} and m = 1."""

    def __call__(self, s: FloatArray) -> FloatArray:
        """Evaluate exp(-s/4)."""
        exponent = s * -0.25
        return np.exp(exponent, out=exponent)

    def moments(self, dim: float, cutoff: float = np.inf) -> Moments:
        """Return the closed form: incomplete Gamma functions of the cutoff."""
        m0 = float((4 * np.pi) ** (dim / 2))
        return Moments(m0 * below(dim / 2, cutoff), m0 * below(dim / 2 + 1, cutoff))


@dataclass(frozen=True)
class Broad:
    """h(s) = (1 + s/4) exp(-s/4): flatter at the centre and wider than the Gaussian."""

    def __call__(self, s: FloatArray) -> FloatArray:
        """Evaluate (1 + s/4) exp(-s/4)."""
        quarter = s * 0.25
        return (1.0 + quarter) * np.exp(-quarter)

    def moments(self, dim: float, cutoff: float = np.inf) -> Moments:
        """Return the closed form: each power of s/4 adds a Gamma factor."""
        m0 = float((4 * np.pi) ** (dim / 2))
        zeroth, second, fourth = (below(dim / 2 + i, cutoff) for i in range(3))
        return Moments(m0 * (zeroth + dim / 2 * second), m0 * (second + (1 + dim / 2) * fourth))


@dataclass(frozen=True)
class Compact:
    """h(s) = (1 - s/16)^4 for s < 16, else 0: no entry beyond a distance of 4 √(ε ρ(x) ρ(y))."""

    def __call__(self, s: FloatArray) -> FloatArray:
        """Evaluate the truncated fourth power."""
        return np.clip(1.0 - s / 16.0, 0.0, None) ** 4

    def moments(self, dim: float, cutoff: float = np.inf) -> Moments:
        """Integrate the radial moments numerically over the support."""
        return radial_moments(self, dim, reach=min(cutoff, 16.0))


@dataclass(frozen=True)
class Custom:
    """A shape given as a plain function of s; its decay is checked when it is wrapped."""

    function: Callable[[NDArray[np.float64]], Any]

    def __post_init__(self) -> None:
        """Refuse functions that the theory does not cover."""
        check_decay(self.function)

    def __call__(self, s: FloatArray) -> FloatArray:
        """Evaluate the user's function."""
        return np.asarray(self.function(s), dtype=np.float64)

    def moments(self, dim: float, cutoff: float = np.inf) -> Moments:
        """Integrate the radial moments numerically, as far as h is not negligible."""
        return radial_moments(self, dim, reach=min(cutoff, 16.0 * falls_to(self.function, 1e-3)))


def values_of(shape: Shape, s: FloatArray) -> FloatArray:
    """Return h at scaled squared distances, where these live.

    A user's own shape, also one that is derived from ours, is called with NumPy arrays, wherever
    the distances are.
    """
    if not is_elsewhere(s) or type(shape) in (Gaussian, Broad, Compact):
        return shape(s)
    found: FloatArray = beside_array(np.asarray(shape(to_host(s)), dtype=np.float64), s)
    return found


SHAPES: dict[str, Shape] = {"gaussian": Gaussian(), "broad": Broad(), "compact": Compact()}


def as_shape(shape: object) -> Shape:
    """Turn a name, a shape object or a plain function into a `Shape`."""
    if isinstance(shape, str) and shape in SHAPES:
        return SHAPES[shape]
    if callable(shape) and hasattr(shape, "moments"):
        return shape
    if callable(shape):
        return Custom(shape)
    raise InputError(
        "`shape` must be a known name, a shape object or a function h(s); received "
        f"{shape!r}. Choose one of: {', '.join(map(repr, SHAPES))}, or pass lambda s: "
        "np.exp(-s/4)."
    )


def below(a: float, cutoff: float) -> float:
    """Return P(a, cutoff/4), the share of a Gaussian's moment that lies inside the cutoff."""
    return float(gammainc(a, cutoff / 4))


def radius_of(h: Callable[[Any], Any], share: float | None) -> float:
    """Return the s at which h has fallen to `share` of h(0), the cutoff; infinity for None."""
    if share is None:
        return np.inf
    top = np.array([0.0])
    peak = float(np.asarray(h(top))[0])
    far = falls_to(h, share)
    return float(brentq(lambda s: float(np.asarray(h(top + s))[0]) / peak - share, 0.0, 2 * far))


def radial_moments(h: Callable[[Any], Any], dim: float, reach: float) -> Moments:
    r"""Integrate m0 and m2 for real d.

    Notes
    -----
    Implements :math:`m_0 = \frac{2π^{d/2}}{Γ(d/2)} ∫ r^{d-1} h(r^2) dr` and
    :math:`m_2 = \frac{π^{d/2}}{d Γ(d/2)} ∫ r^{d+1} h(r^2) dr`, the radial forms of the integrals
    in Lemma "diffmaplemma". With u = r^d the first integrand stays bounded for d < 1 as well.
    """

    def radial(u: float) -> float:
        return float(h(np.array([u ** (2 / dim)]))[0])

    top = reach ** (dim / 2)
    pieces = top * np.linspace(0, 1, 9)[1:-1]
    area = float(np.exp(dim / 2 * np.log(np.pi) - gammaln(dim / 2)))
    options: dict[str, Any] = {"points": pieces, "limit": 400, "epsabs": 0, "epsrel": 1e-11}
    zeroth = quad(radial, 0, top, **options)[0] / dim
    second = quad(lambda u: u ** (2 / dim) * radial(u), 0, top, **options)[0] / dim
    return Moments(2 * area * zeroth, area * second / dim)


def falls_to(h: Callable[[Any], Any], share: float) -> float:
    """Return the first s = 2^i at which h is at most `share` of h(0), else infinity."""
    grid = 2.0 ** np.arange(-10, 31)
    values = np.asarray(h(np.concatenate([[0.0], grid])), dtype=np.float64)
    low = values[1:] <= share * values[0]
    return float(grid[np.argmax(low)]) if low.any() else np.inf


def check_decay(h: Callable[[Any], Any]) -> None:
    """Raise unless h is nonnegative, finite, and decays like exp(-s/σ) or faster.

    The decay is tested at 4 and 16 times the s where h has fallen to 1e-3 of h(0): an exponential
    has fallen to 1e-12 and 1e-48 there; power laws and stretched exponentials do not come near.
    """
    values = as_floats(answer_of(a_function(h, "shape"), "shape", np.linspace(0.0, 64.0, 257)))
    values = np.full(1, np.nan) if values is None or not values.size else values
    usable = values.shape == (257,) and np.isfinite(values).all() and (values >= 0).all()
    if usable and values[0] > 0:
        edge = falls_to(h, 1e-3)
        if np.isfinite(edge):
            far = np.asarray(h(edge * np.array([4.0, 16.0])), dtype=np.float64) / values[0]
            if far[0] <= 1e-9 and far[1] <= 1e-30:
                return
    raise InputError(
        "The shape function must be nonnegative, finite, and decay exponentially; received h(0), "
        f"h(4), h(64) = {values.flat[0]:.3g}, {values.flat[16 % values.size]:.3g}, "
        f"{values.flat[-1]:.3g}. With slower decay far points dominate and the limit operator is "
        "another one. Use, for example, lambda s: np.exp(-s/4), which works on whole arrays."
    )
