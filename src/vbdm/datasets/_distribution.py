"""A density on an interval: its mass, distribution function and quantiles."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from ..base.arrays import FloatArray
from ..errors import InputError
from ._sample import Function

NODES = 4097
NEWTON_STEPS = 4


@dataclass(frozen=True, eq=False)
class Distribution:
    """A positive function on [low, high], normalised to a density; made by `tabulated`.

    Attributes
    ----------
    shape : callable
        The function before it is normalised.
    nodes : array
        A fine grid from low to high.
    mass : float
        The integral of ``shape``. If ``shape`` is the speed of a curve, this is its length and
        ``mass * cdf`` the arc length.
    """

    shape: Function
    nodes: FloatArray
    mass: float
    _integral: PPoly = field(repr=False)

    def pdf(self, x: FloatArray) -> FloatArray:
        """Density, with integral 1."""
        height = np.asarray(self.shape(x), dtype=np.float64) / self.mass
        # A user's function may return a single number.
        return np.broadcast_to(height, np.shape(x))

    def cdf(self, x: FloatArray) -> FloatArray:
        """Share of the mass below ``x``, for x in [low, high]."""
        return np.asarray(self._integral(x) / self.mass, dtype=np.float64)

    def quantile(self, share: FloatArray) -> FloatArray:
        """Points where ``cdf`` reaches ``share``, by Newton's method inside one grid cell."""
        table = np.maximum.accumulate(self.cdf(self.nodes))
        cell = np.clip(np.searchsorted(table, share) - 1, 0, self.nodes.size - 2)
        left, right = self.nodes[cell], self.nodes[cell + 1]
        x = (left + right) / 2
        for _ in range(NEWTON_STEPS):
            x = np.clip(x - (self.cdf(x) - share) / self.pdf(x), left, right)
        return x


def heights_of(shape: Function, nodes: FloatArray) -> FloatArray:
    """Return the values of a user's function, which must be one number for each of the nodes."""
    try:
        values = np.asarray(shape(nodes), dtype=np.float64)
        return np.broadcast_to(values, nodes.shape)
    except (TypeError, ValueError) as error:
        raise InputError(
            "`density` must be a function that takes an array and gives a number for each entry; "
            f"received a function that fails ({error}). Write it with NumPy, such as "
            "density=lambda angle: 2 + np.sin(angle)."
        ) from None


def tabulated(shape: Function, low: float, high: float) -> Distribution:
    """Integrate a positive function on a fine grid.

    Examples
    --------
    >>> ramp = tabulated(lambda x: 1 + x, 0.0, 1.0)
    >>> round(ramp.mass, 6)
    1.5
    """
    nodes = np.linspace(low, high, NODES)
    heights = heights_of(shape, nodes)
    if not (np.isfinite(heights).all() and (heights > 0).all()):
        raise InputError(
            f"`density` must be positive and finite on [{low:g}, {high:g}]; received values from "
            f"{heights.min():g} to {heights.max():g}. Add a small constant to it."
        )
    integral = CubicSpline(nodes, heights).antiderivative()
    return Distribution(shape, nodes, float(integral(high)), integral)
