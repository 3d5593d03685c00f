r"""The modes that a solve found, and what their energies tell: correction, extent, residual.

**The finite-sample correction.** Eigenvalues of a random cloud are off by a known factor.
A kernel that averages n random points sees a density whose relative variance is
:math:`s_i^2 = Σ_j K_{ij}^2 / (Σ_j K_{ij})^2`, about :math:`2^{-d/2}/n`. Energy, mass and the
eigenvectors respond to these fluctuations, and eigenvalues feel them to second order, whatever the
sample. The factor follows from d, c1, β, the kernel's shape and the pilot
(`vbdm.operator.sample_theory`); each mode has the n of the places where its energy is. The
correction vanishes as n and k0 grow; ``vbdm.Resolved(finite_sample=False)`` switches it off.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import (
    BoolArray,
    FloatArray,
    beside_array,
    column_sums,
    contiguous,
    ones_for,
    quotients,
)
from ..base.threads import for_each, in_order, one_blas_thread, slices, slices_of
from ..operator.operator import Operator
from ..operator.sample_theory import shift
from ..operator.sums import relative_variance_of, waves_of
from ..rows.block_array import BlockArray, Tall, beside, mapped, of_width, overwrite, total
from ..solvers.pencil import EigenPairs, Pencil
from .limiter import Limit

#: The expansion in 1/n says nothing once its first term exceeds this share.
LARGEST_SHIFT = 1 / 3
#: Numbers s² at which the shares of points are computed.
N_SHARES = 64


def share_at(operator: Operator, average: FloatArray) -> FloatArray:
    """Return the expected ratio λ̂/λ of each mode, (n,).

    `average`, (n,), is the mean of s² over the points, weighted by the energy of the mode.
    """
    exponents, pilot = operator.settings.exponents, operator.inside.pilot
    if exponents.c1 is None or not operator.settings.method.finite_sample:
        return np.ones(len(average))
    k0, end = pilot.n_density_neighbors, pilot.effective_cutoff(operator.dim)
    kernel, share = waves_of(operator), np.ones(len(average))
    for j in np.flatnonzero(average > 0):
        n = kernel.spread / average[j]
        found = shift(kernel, operator.dim, exponents.c1, exponents.beta or 0.0, n, k0, end) / n
        share[j] += np.clip(found, -LARGEST_SHIFT, LARGEST_SHIFT)
    return share


def share_of_points(operator: Operator) -> FloatArray:
    """Return the expected ratio λ̂/λ that each point's own s² makes, (M,); 1 without neighbours.

    The ratio is a smooth function of s²: it is computed for some and interpolated.
    """
    spread = relative_variance_of(operator)
    known = spread[np.isfinite(spread) & (spread > 0)]
    if not known.size:
        ones: FloatArray = ones_for(spread)
        return ones
    some = np.geomspace(float(known.min()), float(known.max()), N_SHARES)
    table = beside_array((some, share_at(operator, some)), spread)
    shares: FloatArray = np.interp(np.nan_to_num(spread), *table)
    return shares


def local_energy(operator: Operator, vectors: Tall) -> tuple[Tall, Tall]:
    """Return the energies e_i = ½ Σ_j K_ij (u_i - u_j)² of all modes, and K u; both are (M, n).

    Rows stand in the order inside.
    """
    m, both = vectors.shape[1], energy_and_product(operator, vectors)
    return both[:, :m], both[:, m:]


def energy_and_product(operator: Operator, vectors: Tall) -> Tall:
    """Return the energies of all modes and K u in one array, (M, 2n)."""
    # K u² and K u come from one product, so that K is read from memory once.
    wide = of_width(mapped(squares_and_vectors, vectors), 2 * vectors.shape[1])
    both: Tall = operator.alpha_kernel @ wide
    degrees = beside(vectors, operator.inside.degrees)
    (both,), _ = overwrite(write_energy, [both], vectors, degrees)
    return both


def squares_and_vectors(vectors: FloatArray) -> FloatArray:
    """Return u² and u side by side."""
    m = vectors.shape[1]
    both = np.empty((len(vectors), 2 * m), like=vectors)

    def work(rows: slice) -> None:
        np.square(vectors[rows], out=both[rows, :m])
        both[rows, m:] = vectors[rows]

    for_each(work, slices_of(vectors, 8192))
    return both


def write_energy(product: FloatArray, vectors: FloatArray, degrees: FloatArray) -> None:
    """Write the energies over K u², which is followed by K u."""
    m = vectors.shape[1]
    energy, of_vectors = product[:, :m], product[:, m:]

    def work(rows: slice) -> None:
        u, e = vectors[rows], energy[rows]
        e += degrees[rows, None] * u**2
        e *= 0.5
        e -= u * of_vectors[rows]
        np.maximum(e, 0.0, out=e)

    for_each(work, slices_of(vectors, 8192))


#: Extent, in kernels' worth of points, below which a mode hangs on a weak link.
THIN = 6.0
#: Modes whose energies are computed at a time: each takes several arrays as long as the points.
#: In blocks and on a device all are: the arrays need not be in memory.
MODES_AT_ONCE = 7


@dataclass(frozen=True, eq=False, kw_only=True)
class Modes:
    """Some modes, slowest first, on the M points in the order inside."""

    #: Decay rates λ >= 0, (n,); NaN where a mode is faster than one step of the kernel.
    rates: FloatArray
    #: Eigenvalues θ of the pencil (of each mode's own, if it has one); without limiter, the rates
    #: before the correction.
    theta: FloatArray
    #: Eigenvectors u of the pencil, by columns, and its mass, a diagonal.
    vectors: Tall
    mass: FloatArray
    #: The limit that all modes share, or had before they got their own; None: there is none. And
    #: the one in force for each mode; empty without limiter.
    limit: Limit | None
    limits: tuple[Limit, ...]
    #: What the last solve returned, and how it went.
    pairs: EigenPairs
    #: The finite-sample correction: the factor λ̂/λ by which the rates were divided.
    share: FloatArray = field(default_factory=lambda: np.ones(0))
    #: The number of kernels' worth of points that hold the energy of each mode.
    extent: FloatArray = field(default_factory=lambda: np.ones(0))
    #: Norms of the residuals, as in `Pencil.residuals`.
    residuals: FloatArray = field(default_factory=lambda: np.ones(0))
    #: Rates of modes that sat on unresolved points and are not in the list, (m,).
    left_out: FloatArray = field(default_factory=lambda: np.ones(0))
    #: θ of all modes that were found but are not in the list: left out, or too fast for it.
    set_aside: FloatArray = field(default_factory=lambda: np.ones(0))
    #: θ under the limit that all modes share; empty if none got a limit of its own.
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
    """Return the correction, the extent and the residual of some modes, each (m,).

    The correction is for s² averaged over the mode's energy. The constant's extent is infinite.
    """
    u: Any = modes.vectors
    if not isinstance(u, BlockArray):
        u = contiguous(u[:, columns])
    both = energy_and_product(operator, u)
    mass = modes.mass
    inverse = quotients(1.0, mass, mass > 0)
    # The energy of a point is that of all its copies, and each of these holds its part.
    counts = operator.graph.order.counts
    figures = (
        pencil.degrees, mass, inverse, relative_variance_of(operator), operator.kernel.row_sums,
        ones_for(mass) if counts is None else counts,
    )  # fmt: skip
    with one_blas_thread():
        *sums, gaps, sizes = total(
            energy_sums, u, both, modes.theta[columns], *(beside(u, each) for each in figures)
        )
    whole, squares, spread, degrees = sums
    mean = np.divide(spread, whole, out=np.zeros_like(whole), where=whole > 0)
    # The effective number of points that hold the energy, (Σ e)²/Σ e², by that in a kernel there.
    # Energies have the unit of an eigenvalue: their third power may be too small for a number.
    infinite, one = np.full(len(whole), np.inf), np.ones(len(whole))
    holds = (squares > 0) & (degrees > 0)
    points = np.divide(whole**2, squares, out=infinite, where=holds)
    extent = points * np.divide(whole, degrees, out=one, where=holds)
    return share_at(operator, mean), extent, np.sqrt(gaps / sizes)


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

    `both` are the energies e of the modes u, and K u. The sums are Σ e; Σ e²/c with the number c of
    copies of a point, the square over all rows; Σ s² e; Σ n e with the number n of points in a
    kernel; the square of the residual, and u'Mu.
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
