r"""The finite-sample correction: eigenvalues of a random cloud are off by a known factor.

A kernel that averages n random points sees a density whose relative variance is
:math:`s_i^2 = Σ_j K_{ij}^2 / (Σ_j K_{ij})^2`, about :math:`2^{-d/2}/n`. Energy, mass and the
eigenvectors respond to these fluctuations, and eigenvalues feel them to second order, whatever the
sample. The factor follows from d, c1, β, the kernel's shape and the pilot
(`vbdm.operator.sample_theory`); each mode has the n of the places where its energy is. The
correction vanishes as n and k0 grow, and is switched off with ``finite_sample=False``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import FloatArray, beside_array, ones_for
from ..base.threads import for_each, slices_of
from ..operator.operator import Operator
from ..operator.sample_theory import shift
from ..rows.block_array import Tall, beside, changed, mapped, of_width

#: The expansion in 1/n says nothing once its first term exceeds this share.
LARGEST_SHIFT = 1 / 3
#: Numbers s² at which the shares of points are computed.
N_SHARES = 64


def share_at(operator: Operator, average: FloatArray) -> FloatArray:
    """Return the expected ratio λ̂/λ of each mode, (n,).

    `average`, (n,), is the mean of s² over the points, weighted by the energy of the mode.
    """
    if operator.c1 is None or not operator.settings.method.finite_sample:
        return np.ones(len(average))
    k0, end = operator.pilot.n_density_neighbors, operator.pilot.effective_cutoff(operator.dim)
    kernel, share = operator.kernel_waves, np.ones(len(average))
    for j in np.flatnonzero(average > 0):
        n = kernel.spread / average[j]
        found = shift(kernel, operator.dim, operator.c1, operator.beta or 0.0, n, k0, end) / n
        share[j] += np.clip(found, -LARGEST_SHIFT, LARGEST_SHIFT)
    return share


def share_of_points(operator: Operator) -> FloatArray:
    """Return the expected ratio λ̂/λ that each point's own s² makes, (M,); 1 without neighbours.

    The ratio is a smooth function of s²: it is computed for some and interpolated.
    """
    spread = operator.relative_variance
    known = spread[np.isfinite(spread) & (spread > 0)]
    if not known.size:
        ones: FloatArray = ones_for(spread)
        return ones
    some = np.geomspace(float(known.min()), float(known.max()), N_SHARES)
    table = beside_array((some, share_at(operator, some)), spread)
    shares: FloatArray = np.interp(np.nan_to_num(spread), *table)
    return shares


@dataclass(frozen=True, eq=False)
class EnergySums:
    """Sums over the points of the energies e of some modes, each (m,).

    Attributes
    ----------
    total, squares : arrays
        Σ e, and Σ e²/c with the number c of copies of a point: the square over all rows.
    spread, degrees : arrays
        Σ s² e, with the relative variance s², and Σ n e, with the number n of points in a kernel.
    """

    total: FloatArray
    squares: FloatArray
    spread: FloatArray
    degrees: FloatArray

    def share(self, operator: Operator) -> FloatArray:
        """Return the expected λ̂/λ of each mode, from s² averaged over the mode's energy."""
        mean = np.divide(
            self.spread, self.total, out=np.zeros_like(self.total), where=self.total > 0
        )
        return share_at(operator, mean)

    @property
    def extent(self) -> FloatArray:
        """Extent of each mode, in kernels' worth of points; infinite for the constant.

        It is the effective number of points that hold the mode's energy, (Σ e_i)²/Σ e_i², divided
        by the number of points in a kernel there.
        """
        infinite, one = np.full(len(self.total), np.inf), np.ones(len(self.total))
        holds = (self.squares > 0) & (self.degrees > 0)
        # Energies have the unit of an eigenvalue: their third power may be too small for a number.
        points = np.divide(self.total**2, self.squares, out=infinite, where=holds)
        return np.asarray(points * np.divide(self.total, self.degrees, out=one, where=holds))


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
    degrees = beside(vectors, operator.degrees)
    (both,), _ = changed(write_energy, [both], vectors, degrees)
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
