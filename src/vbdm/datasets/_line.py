"""On an interval or a circle: a density with its quantiles, and eigenpairs without a closed form.

On a line ``L u = u'' + c1 u' q'/q`` is the same as ``(w u')' = λ w u`` with ``w = q**c1``. Finite
volumes keep this form: the change of ``u`` in a cell is the difference of the fluxes ``w u'``
through its two faces, so the constant stays an exact eigenfunction and the matrix symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import CubicSpline, PPoly
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import diags_array
from scipy.sparse.linalg import eigsh

from ..base.arrays import FloatArray
from ..errors import InputError
from ._sample import Function, Truth

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


# Below this share of the largest weight, rounding in the eigenvector outgrows the eigenfunction.
TRUSTED_WEIGHT = 1e-18


def sturm_liouville(
    log_density: Function,
    low: float,
    high: float,
    n: int,
    c1: float,
    *,
    periodic: bool = False,
    cells: int = 4000,
) -> Truth:
    """Solve ``(w u')' = λ w u``, ``w = q**c1``, with reflecting ends or on a circle.

    Parameters
    ----------
    log_density : callable
        The logarithm of ``q``, up to a constant. A logarithm, because ``q`` itself may
        underflow in the tails.
    low, high : float
        The interval. Where the line is cut off, the weight should be negligible.
    n : int
        Number of eigenpairs.
    c1 : float
        Factor of the drift: 0 for the Laplacian, 1 for the generator.
    periodic : bool
        Whether ``low`` and ``high`` are the same point.
    cells : int
        Number of equal cells; the error falls as its square.

    Returns
    -------
    Truth
        Eigenfunctions are interpolated by cubic splines between the cell centres.

    Examples
    --------
    >>> gaussian = sturm_liouville(lambda x: -x**2 / 2, -9.0, 9.0, 3, 1.0)
    >>> np.round(gaussian.eigenvalues, 4)
    array([ 0., -1., -2.])
    """
    faces = np.linspace(low, high, cells + 1)
    centres = (faces[1:] + faces[:-1]) / 2
    width = (high - low) / cells
    log_weight = c1 * log_density(centres)
    diagonal, beside, corner = _symmetric_matrix(log_weight, c1 * log_density(faces), periodic)
    if periodic:
        values, vectors = _largest_cyclic(diagonal, beside, corner, n)
    else:
        ask = (cells - n, cells - 1)
        values, vectors = eigh_tridiagonal(diagonal, beside, select="i", select_range=ask)
    downwards = np.argsort(-values)
    values, vectors = values[downwards] / width**2, vectors[:, downwards]

    weight = np.exp(log_weight - log_weight.max())
    trusted = weight > TRUSTED_WEIGHT
    functions = vectors[trusted] / np.sqrt(weight[trusted] / weight.sum())[:, np.newaxis]
    functions *= np.where(functions[-1] < 0, -1.0, 1.0)
    # The first pair is known: rounding should not show in it.
    values[0], functions[:, 0] = 0.0, 1.0
    period = high - low if periodic else None
    return Truth(c1, values, _interpolated(centres[trusted], functions, period))


def _symmetric_matrix(
    log_weight: FloatArray, log_at_faces: FloatArray, periodic: bool
) -> tuple[FloatArray, FloatArray, float]:
    """Diagonal, off-diagonal and corner entry for ``sqrt(w) u``, in units of 1/width²."""
    from_left = np.exp(log_at_faces[:-1] - log_weight)
    from_right = np.exp(log_at_faces[1:] - log_weight)
    if not periodic:
        from_left[0] = from_right[-1] = 0.0
    # Only differences of logarithms in adjacent cells are exponentiated: nothing can underflow.
    beside = np.exp(log_at_faces[1:-1] - (log_weight[1:] + log_weight[:-1]) / 2)
    corner = float(np.exp(log_at_faces[0] - (log_weight[0] + log_weight[-1]) / 2))
    return -(from_left + from_right), beside, corner


def _largest_cyclic(
    diagonal: FloatArray, beside: FloatArray, corner: float, n: int
) -> tuple[FloatArray, FloatArray]:
    """Largest eigenpairs of a tridiagonal matrix with corners."""
    size = diagonal.size
    last = np.array([corner])
    matrix = diags_array(
        [diagonal, beside, beside, last, last], offsets=[0, 1, -1, size - 1, 1 - size]
    ).tocsc()
    # The spectrum lies at or below 0. A shift just above it, far smaller than the first
    # eigenvalues (about (2π/size)²), keeps the shifted matrix invertible.
    shift = 0.1 * (2 * np.pi / size) ** 2
    start = np.random.default_rng(0).standard_normal(size)
    values, vectors = eigsh(matrix, k=n, sigma=shift, v0=start, ncv=min(size, 4 * n + 20))
    return values, vectors


def _interpolated(centres: FloatArray, functions: FloatArray, period: float | None) -> Function:
    if period is not None:
        closed = np.append(centres, centres[0] + period)
        cyclic = CubicSpline(closed, np.vstack([functions, functions[:1]]), bc_type="periodic")
        return lambda x: np.asarray(cyclic(x[:, 0]), dtype=np.float64)
    spline = CubicSpline(centres, functions)
    # Eigenfunctions are flat at a reflecting end, so the last trusted value may be kept.
    return lambda x: np.asarray(spline(np.clip(x[:, 0], centres[0], centres[-1])), dtype=np.float64)
