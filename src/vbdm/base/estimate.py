"""A number with its standard error."""

from __future__ import annotations

from math import floor, hypot, isfinite, log10
from typing import NamedTuple

from .checks import an


class Estimate(NamedTuple):
    """A number that was estimated from a sample, and its standard error.

    The error is the standard deviation over samples like this one.

    Examples
    --------
    >>> found = Estimate(5.1623, 0.0812)
    >>> value, error = found
    >>> print(found)
    5.162 ± 0.081
    """

    value: float
    error: float

    def times(self, other: Estimate) -> Estimate:
        """Return the product of two estimates with independent errors: a rate by a clock's D.

        Examples
        --------
        >>> print(Estimate(0.2, 0.02).times(Estimate(0.5, 0.05)))
        0.100 ± 0.014
        """
        (one, own), (two, its) = self, as_estimate(other)
        return Estimate(one * two, hypot(own * two, one * its))

    def over(self, other: Estimate) -> Estimate:
        """Return the quotient of two estimates with independent errors: a time by a clock's D.

        Examples
        --------
        >>> print(Estimate(10.0, 1.0).over(Estimate(0.5, 0.05)))
        20.0 ± 2.8
        """
        (one, own), (two, its) = self, as_estimate(other)
        return Estimate(one / two, hypot(own, one / two * its) / abs(two))

    def __str__(self) -> str:
        """Return both with two digits of the error."""
        if not (isfinite(self.error) and self.error > 0):
            return f"{self.value:.6g} ± {self.error:.2g}"
        digits = 1 - floor(log10(self.error))
        if digits > 6 or digits < 0:
            return f"{self.value:.4g} ± {self.error:.2g}"
        return f"{self.value:.{digits}f} ± {self.error:.{digits}f}"


def as_estimate(other: Estimate) -> Estimate:
    """Return an estimate; anything else is refused."""
    an(Estimate, "Pass, for example, the diffusivity of a clock.")(other, "other")
    return other
