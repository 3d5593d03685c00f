"""The modes that a solve found, and what their energies tell: correction, extent, residual."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, column_sums, contiguous, ones_for, quotients
from ..base.threads import in_order, one_blas_thread, slices, slices_of
from ..operator.operator import Operator
from ..rows.block_array import BlockArray, Tall, beside, total
from ..solvers.pencil import EigenPairs, Pencil
from .finite_sample import EnergySums, energy_and_product
from .limiter import Limit

#: Extent, in kernels' worth of points, below which a mode hangs on a weak link.
THIN = 6.0
#: Modes whose energies are computed at a time: each takes several arrays as long as the points.
#: In blocks and on a device all are: the arrays need not be in memory.
MODES_AT_ONCE = 7


@dataclass(frozen=True, eq=False, kw_only=True)
class Modes:
    """Some modes, slowest first, on the M points in the order inside.

    Attributes
    ----------
    rates : (n,) array
        Decay rates λ >= 0; NaN where a mode is faster than one step of the kernel.
    theta : (n,) array
        Eigenvalues θ of the pencil (of each mode's own, if it has one); without limiter, the rates
        before the correction.
    vectors : (M, n) array
        Eigenvectors u of the pencil, by columns.
    mass : (M,) array
        The mass of the pencil, a diagonal.
    limit : Limit or None
        The limit that all modes share, or had before they got their own; None: there is none.
    limits : tuple of Limit
        The limit in force for each mode; empty without limiter.
    pairs : EigenPairs
        What the last solve returned, and how it went.
    share : (n,) array
        The finite-sample correction: the factor λ̂/λ by which the rates were divided.
    extent : (n,) array
        Extent of each mode: the number of kernels' worth of points that hold its energy.
    residuals : (n,) array
        Norms of the residuals, as in `Pencil.residuals`.
    left_out : (m,) array
        Rates of modes that sat on unresolved points and are not in the list.
    set_aside : (m,) array
        θ of all modes that were found but are not in the list: left out, or too fast for it.
    shared_theta : (n,) array
        θ under the limit that all modes share; empty if none got a limit of its own.
    """

    rates: FloatArray
    theta: FloatArray
    vectors: Tall
    mass: FloatArray
    limit: Limit | None
    limits: tuple[Limit, ...]
    pairs: EigenPairs
    share: FloatArray = field(default_factory=lambda: np.ones(0))
    extent: FloatArray = field(default_factory=lambda: np.ones(0))
    residuals: FloatArray = field(default_factory=lambda: np.ones(0))
    left_out: FloatArray = field(default_factory=lambda: np.ones(0))
    set_aside: FloatArray = field(default_factory=lambda: np.ones(0))
    shared_theta: FloatArray = field(default_factory=lambda: np.ones(0))

    @property
    def shared_limit(self) -> Limit:
        """The limit that all modes share, where there is a limiter."""
        if self.limit is None:
            raise TypeError("there is no limiter")
        return self.limit


def part_of(modes: Modes, places: NDArray[np.intp]) -> Modes:
    """Return some of the modes, in the order of the places given."""

    def some(figures: FloatArray) -> FloatArray:
        return figures[places] if figures.size else figures

    return replace(
        modes, rates=some(modes.rates), theta=some(modes.theta), vectors=modes.vectors[:, places],
        share=some(modes.share), extent=some(modes.extent), residuals=some(modes.residuals),
        limits=tuple(modes.limits[place] for place in places) if modes.limits else (),
        shared_theta=some(modes.shared_theta),
    )  # fmt: skip


def without(modes: Modes, lost: BoolArray, n: int) -> Modes:
    """Return the first n modes that are not lost; `left_out` and `set_aside` record the others."""
    kept = np.flatnonzero(~lost)[:n]
    last = kept[-1]
    return replace(
        part_of(modes, kept),
        left_out=modes.rates[: last + 1][lost[: last + 1]],
        set_aside=np.delete(modes.theta, kept),
    )


def corrected(operator: Operator, pencil: Pencil, modes: Modes) -> Modes:
    """Divide the rates by the finite-sample correction, and sort the modes by rate again."""
    at_once = MODES_AT_ONCE if isinstance(modes.vectors, np.ndarray) else len(modes.theta)
    figures = [
        energy_figures(operator, pencil, modes, columns)
        for columns in slices(len(modes.theta), size=at_once)
    ]
    share, extent, residuals = (np.concatenate(part) for part in zip(*figures, strict=True))
    rates = modes.rates / share
    found = replace(modes, rates=rates, share=share, extent=extent, residuals=residuals)
    return part_of(found, np.argsort(rates, kind="stable"))


def energy_figures(
    operator: Operator, pencil: Pencil, modes: Modes, columns: slice
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the correction, the extent and the residual of some modes, each (m,)."""
    u: Any = modes.vectors
    if not isinstance(u, BlockArray):
        u = contiguous(u[:, columns])
    both = energy_and_product(operator, u)
    mass = modes.mass
    inverse = quotients(1.0, mass, mass > 0)
    # The energy of a point is that of all its copies, and each of these holds its part.
    counts = operator.order.counts
    figures = (
        pencil.degrees, mass, inverse, operator.relative_variance, operator.kernel.row_sums,
        ones_for(mass) if counts is None else counts,
    )  # fmt: skip
    with one_blas_thread():
        *sums, gaps, sizes = total(
            energy_sums, u, both, modes.theta[columns], *(beside(u, each) for each in figures)
        )
    found = EnergySums(*sums)
    return found.share(operator), found.extent, np.sqrt(gaps / sizes)


def energy_sums(
    u: FloatArray,
    both: FloatArray,
    theta: FloatArray,
    degrees: FloatArray,
    mass: FloatArray,
    inverse: FloatArray,
    spread: FloatArray,
    sums: FloatArray,
    copies: FloatArray,
) -> FloatArray:
    """Return what `energy_figures` needs, summed over the rows, (6, m).

    `both` are the energies e of the modes u, and K u. The sums are those of `EnergySums`, the
    square of the residual, and u'Mu.
    """
    m, positive = u.shape[1], theta > 0
    energy, products = both[:, :m], both[:, m:]

    def work(rows: slice) -> FloatArray:
        e = energy[rows] * positive
        gap = degrees[rows, None] * u[rows] - products[rows]
        gap -= mass[rows, None] * u[rows] * theta
        return np.stack([
            column_sums(e), (1 / copies[rows]) @ np.square(e), spread[rows] @ e, sums[rows] @ e,
            inverse[rows] @ np.square(gap), mass[rows] @ np.square(u[rows]),
        ])  # fmt: skip

    return functools.reduce(np.add, in_order(work, slices_of(u, 8192)))
