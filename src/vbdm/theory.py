r"""Exponents of the theory: which α gives which operator, and which errors stay bounded.

With :math:`ρ = q^β` the operator tends to :math:`Δf + c_1 ∇f·∇q/q`, and the sampling error of
:math:`L f` at a point grows like :math:`q^{-c_2}` (Corollary "corollary").

Examples
--------
>>> from vbdm import theory
>>> theory.alpha_for(c1=1, beta=-0.5, dim=1)     # the generator on the line
-0.25
>>> theory.c1(alpha=-0.25, beta=-0.5, dim=1)
1.0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base.checks import a_number, a_switch, accepts, check_choice
from .base.parameters import FORMS
from .operator.record import Exponents

#: The exponents and dimensions that are taken: powers beyond them overflow.
EXPONENT, DIMENSION = a_number(-1e9, 1e9), a_number(1e-3, 1000)


def _drift(beta: float, dim: float, form: str) -> float:
    """Return the part of c1 that the bandwidth causes: (d+2) β, or 0 for the left kernel.

    For the two-sided kernel β is the exponent of ρ2, the bandwidth at the summed point: ρ1 has no
    influence on the limit (Remark in the appendix on the symmetric formulation).
    """
    check_choice(form, "form", FORMS)
    return 0.0 if form == "left" else (dim + 2) * beta


@accepts(alpha=EXPONENT, beta=EXPONENT, dim=DIMENSION)
def c1(alpha: float, beta: float, dim: float, form: str = "symmetric") -> float:
    """Return the coefficient c1 = 2 - 2α + (d + 2) β of ∇f·∇q/q (Corollary "corollary")."""
    return 2 - 2 * alpha + _drift(beta, dim, form)


@accepts(c1=EXPONENT, beta=EXPONENT, dim=DIMENSION)
def alpha_for(c1: float, beta: float, dim: float, form: str = "symmetric") -> float:
    """Return the α that gives c1: α = 1 + β(d/2 + 1) - c1/2; for the left kernel 1 - c1/2."""
    return 1 + _drift(beta, dim, form) / 2 - c1 / 2


@accepts(alpha=EXPONENT, beta=EXPONENT, dim=DIMENSION, derived=a_switch)
def c2(alpha: float, beta: float, dim: float, derived: bool = True) -> float:
    r"""Return the exponent c2: the sampling error of L f grows like q^{-c2} as q → 0.

    Parameters
    ----------
    alpha, beta, dim : float
        Exponents of the method, and the dimension.
    derived : bool
        True: 1/2 + β(d/2 + 1), which is what one measures. False: as printed in the paper,
        1/2 - 2α + 2dα + dβ/2 + β.

    Notes
    -----
    In the last appendix of the paper the variance of Y_j goes from :math:`q^{3-4α}` to
    :math:`q^{3-4dα}` in one line without a reason. Carrying :math:`q^{3-4α}` through gives the
    first formula, which is free of α. The two agree at d = 1. At β = -1/2 the first one is -d/4
    for every α; at β = -1/d it is -1/d, while the printed one is d - 3 + 1/d for the Laplacian,
    positive above d = 2.6.

    An experiment decides (`paper/c2_exponent.py`): over d = 1, 2, 3, four β and four α the exponent
    of the deviation of L f follows the first formula within 0.06; the printed one fails wherever
    d > 1 and α is not 0. Estimating q_S instead of knowing it changes a factor, not the exponent.
    """
    bandwidth_part = beta * (dim / 2 + 1)
    if derived:
        return 0.5 + bandwidth_part
    return 0.5 - 2 * alpha + 2 * dim * alpha + bandwidth_part


@accepts(alpha=EXPONENT, dim=DIMENSION)
def density_response(alpha: float, dim: float) -> float:
    r"""Return the factor on the deviation of L f that comes from estimating the density q_S.

    A point that is added near x pulls the mean of f towards itself, but it also raises q_S around
    itself, which takes weight from its neighbours, to the power α. To leading order, with a
    Gaussian kernel, the influence of a point at distance u changes from :math:`u e^{-u²/4}` to
    :math:`u (e^{-u²/4} - a e^{-u²/8})`, :math:`a = α 2^{-(1+d/2)}`: a factor, and not a power of q.
    It agrees within 4 % with the cases measured in `paper/c2_exponent.py`.

    Examples
    --------
    >>> round(density_response(alpha=1, dim=1), 2), density_response(alpha=0, dim=3)
    (0.51, 1.0)
    """
    power = 1 + dim / 2
    a = alpha * 2**-power
    return float(np.sqrt(1 - 2 * a * (4 / 3) ** power + a**2 * 2**power))


@dataclass(frozen=True)
class Bounded:
    """Which of the two sampling errors of the Corollary stay bounded as q → 0."""

    normaliser: bool  #: the error of q_S, of order q^{(1 - dβ)/2}: bounded if 1 - dβ >= 0
    gradient: bool  #: the error of the sums, of order q^{-c2}: bounded if c2 <= 0

    def __bool__(self) -> bool:
        """Tell whether both are bounded."""
        return self.normaliser and self.gradient


@accepts(alpha=EXPONENT, beta=EXPONENT, dim=DIMENSION, derived=a_switch)
def bounded(alpha: float, beta: float, dim: float, derived: bool = True) -> Bounded:
    """Tell which error terms stay bounded where the density tends to 0.

    Examples
    --------
    >>> bool(bounded(alpha=0.5, beta=0, dim=1))        # the fixed bandwidth kernel
    False
    >>> bool(bounded(alpha=-0.25, beta=-0.5, dim=1))
    True
    """
    return Bounded(1 - dim * beta >= 0, c2(alpha, beta, dim, derived=derived) <= 0)


def exponents_for(
    wanted: float | None, alpha: float | None, beta: float | None, dim: float, form: str
) -> Exponents:
    """Return α and c1 from the one of them that is known, β and d.

    Where ρ is not a power of q (β is None), α follows from c1 as if ρ were constant: c1 then steers
    the density's own share of the drift. The bandwidth adds its share, and the c1 of both together
    is unknown.
    """
    if alpha is None:
        alpha = alpha_for(wanted or 0.0, beta or 0.0, dim, form)
    known = None if beta is None else c1(alpha, beta, dim, form)
    return Exponents(alpha, beta, known, dim)
