"""More verbs of a spectrum, about errors: those of groups, of single points, and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..engines.at_work import at_work

if TYPE_CHECKING:
    from .spectrum import Spectrum


def group_error(self: Spectrum, members: ArrayLike) -> float:
    """Return the standard error of the mean of some eigenvalues, a group that you know.

    Parameters
    ----------
    members : array of int
        Their numbers, counted from 0.
    """
    from ..trust.error_bars import group_error

    return group_error(self, members)


def intervals(self: Spectrum, level: float = 0.95) -> FloatArray:
    """Return an interval for each true eigenvalue, (n, 2): its lower and its upper end.

    Parameters
    ----------
    level : float
        The share of cases in which the interval holds the truth.

    Examples
    --------
    >>> sample = vbdm.datasets.sphere(600, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points).spectrum(4)
    >>> lower, upper = spectrum.intervals().T     # the truth: 0, -2, -2, -2
    >>> bool((lower[1:] < -2).all() and (upper[1:] > -2).all())
    True
    """
    from ..trust.intervals import intervals

    return intervals(self, level)


def group_interval(self: Spectrum, members: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of the mean of some eigenvalues, a group that you know.

    Parameters
    ----------
    members : array of int
        Their numbers, counted from 0.
    level : float
        As in `intervals`.
    """
    from ..trust.intervals import group_interval

    return group_interval(self, members, level)


@at_work("error bars")
def group_function_error(self: Spectrum, members: ArrayLike) -> float:
    """Return the error of the span of some eigenfunctions: root mean square over the points.

    Parameters
    ----------
    members : array of int
        Their numbers, counted from 0: a group of near eigenvalues, such as one of `groups`.
    """
    from ..trust.eigenfunction_errors import group_function_error

    return group_function_error(self, members)


@at_work("error bars")
def pointwise_errors(self: Spectrum, j: int) -> FloatArray:
    """Return the standard deviation of eigenfunction j at each point, (N,).

    It is NaN where `eigenfunction_errors` is. Errors of neighbouring points go together.
    """
    from ..trust.eigenfunction_errors import pointwise_errors

    return pointwise_errors(self, j)
