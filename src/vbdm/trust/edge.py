r"""Where data ends, although points are dense up to there, and how far that moves eigenvalues.

A point inside has neighbours on all sides; at an edge those on one side are missing. A density that
falls towards 0 looks alike from its outermost points, but there the neighbours crowd at the far
side, while at an edge they begin at once. Both are read from the nearest 64 neighbours of some
points, many more than a kernel holds. Let y be their places in the tangent space, as seen from the
point and in units of the distance to the farthest, and :math:`v = -y·\bar y/|\bar y|` their places
on the way out. If the data ends at v = s and the density is constant up to there, v is distributed
as one coordinate of a ball that is cut off at s:

.. math:: f(v) ∝ (1 - v^2)^{(d-1)/2}, \quad -1 < v < s, \qquad
          -\mathrm{E} v = \frac{c_d (1 - s^2)^{(d+1)/2}}{(d+1) F(s)},

F being the distribution of v in the whole ball and :math:`c_d` its density at 0. Nothing beyond
s = 1/4 is the sign that data ends, the mean of v tells an edge from a tail.

**How far an edge moves eigenvalues.** Near an edge part of the kernel hangs over: at z kernel
widths from it only the share :math:`m(z) = (1 + \mathrm{erf}\,z)/2` is inside, and the density is
found too low by this factor. The pilot density, with a kernel r times narrower, is by m(rz).
The measure :math:`D g ∝ q_S^{1-2α} ρ^{d+2}`, which should be :math:`q^{c_1-1}`, is then wrong by

.. math:: w(z) = m(z)^{1-2α} m(rz)^{β(d+2)},

for r = 1 by :math:`m^{c_1-1}`: twice too heavy at the edge for a Laplacian, right for a generator.
An eigenfunction that is smooth on the scale of the kernel has no slope across a reflecting edge,
and both its energy there, :math:`|∇u|^2`, and its square are weighed by w. So

.. math:: -δλ = h I \frac{\int_{edge} (|∇u|^2 - |λ| u^2)}{\int u^2}, \qquad
          I = \int_0^∞ (w(z) - 1)\, dz,

for a kernel of width h = √(4ε) ρ: the first order in h. With r = 1, I is 0.41 for c1 = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, erf, gammaln

from ..base.arrays import (
    BoolArray,
    FloatArray,
    beside_array,
    filled,
    frozen,
    is_elsewhere,
    to_host,
)
from ..base.kept import kept_with
from ..base.threads import one_blas_thread
from ..graph.point_set import Distance, PointSet
from ..kernel.pilot import PILOT_EPSILON
from ..operator.operator import Operator
from ..rows.sparse_blocks import occurring
from ..search.exact import to_nearest_image
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import vectors_of
from .influences import masses

#: A dimension that changes by more than this share with the scale is a sign of noise.
NOISE_DRIFT = 0.15
#: Most points that are looked at, neighbours of each, and fewest points that can be judged.
SAMPLE, NEIGHBORS, FEWEST = 4000, 64, 640
#: The data ends near a point if it has no neighbour beyond this share of the largest distance.
STRIP = 0.25
#: The way out is known to a few degrees only, except on a line: once an edge was found, points
#: count as near if no more neighbours than this seem to lie beyond the strip.
STRAYING = 2
#: Most that the neighbours may spread out of the tangent space, against the least spread in it, and
#: the share of points that must pass for a judgement.
FLAT, JUDGED = 0.35, 0.3
#: Limits of the mean of v against that at an edge, and how many points for each dimension must lie
#: between them. Corners, or a density that falls towards the edge, raise it; in tails it is 1.4
#: or more.
LEAN, FEWEST_SURE = (0.7, 1.25), 6
#: More columns than this are projected to so many random ones: a linear map keeps edges.
COLUMNS = 24


@dataclass(frozen=True, eq=False, kw_only=True)
class Edge:
    """What was seen of an edge on a sample of the points; without an edge, arrays are empty."""

    #: Points of the sample that are near the edge, in the order inside, (m,).
    rows: NDArray[np.intp]
    #: How far from each of them the data ends, (m,).
    distances: FloatArray
    #: The largest distance from the edge at which points are called near, around each of them.
    strips: FloatArray
    #: Unit vectors that point out of the data, (m, n).
    normals: FloatArray
    #: Number of points of the sample whose surroundings are flat enough to tell.
    n_judged: int
    #: Number of these that see an edge, and neither a tail nor a bend; 6 d are demanded.
    n_sure: int

    @property
    def found(self) -> bool:
        """Whether the data has an edge at which its density is not 0."""
        return len(self.rows) > 0

    def share_within(self, widths: FloatArray) -> float:
        """Estimate the share of all points that are not farther from the edge than `widths`, (m,).

        Points are taken to be spread evenly across the strip and its surroundings.
        """
        return float(min((widths / self.strips).sum() / self.n_judged, 1.0))


def edge_of(operator: Operator) -> Edge | None:
    """Return what is seen of an edge of the data; the operator keeps it (see `find_edge`)."""
    return kept_with(operator, "edge", lambda: find_edge(operator))


def find_edge(operator: Operator) -> Edge | None:
    """Look for an edge of the data, on at most 4,000 points, so that the cost does not grow with N.

    None where it cannot be told: fewer than 640 points, distances that are not Euclidean, a
    dimension that depends on the scale, or surroundings of 64 points that are mostly not flat.

    >>> square = np.random.default_rng(0).random((1000, 2))
    >>> sphere = vbdm.datasets.sphere(1000, random_state=0).points
    >>> [edge_of(vbdm.estimate_operator(points)).found for points in (square, sphere)]
    [True, False]
    """
    points, dim = operator.graph.point_set, max(round(operator.dim), 1)
    X, distance = points.coordinates, points.distance
    if X is None or distance.metric != "euclidean" or len(X) < FEWEST or X.shape[1] < dim:
        return None
    if operator.dimension.drift > NOISE_DRIFT:
        return None
    rows = np.linspace(0, len(X) - 1, min(len(X), SAMPLE)).round().astype(np.intp)
    sample = X[rows]
    neighbors, around = surroundings(sample, points)
    places = displacements(narrowed(sample, distance), neighbors, distance) / around[:, None, None]
    y, in_plane = tangential(places, dim)
    outward = -y.mean(axis=1)
    # On a grid the mean may be 0: then any direction is as good.
    outward[:, 0] = np.where(outward.any(axis=1), outward[:, 0], 1.0)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    sorted_v = np.sort(np.einsum("ikc,ic->ik", y, outward), axis=1)
    straying = STRAYING if dim > 1 else 0
    ends = sorted_v[:, [-1, -1 - straying // 2, -1 - straying]]
    # From here on it is a few numbers per point of the sample.
    ends, mean, flat, radii = to_host([ends, sorted_v.mean(axis=1), in_plane, around])
    if flat.mean() < JUDGED:
        return None
    last, middle, first = np.maximum(ends, 0.0).T
    lean = -mean / mean_inward(np.minimum(last, STRIP), dim)
    sure = flat & (last < STRIP) & (lean > LEAN[0]) & (lean < LEAN[1])
    found = sure.sum() >= FEWEST_SURE * dim
    near = np.flatnonzero(flat & (first < STRIP) & found)
    inward = to_host(displacements(sample, neighbors[near], distance, near).mean(axis=1))
    return Edge(
        rows=frozen(rows[near]), distances=frozen(radii[near] * middle[near]),
        strips=frozen(STRIP * radii[near]),
        normals=frozen(-inward / np.linalg.norm(inward, axis=1, keepdims=True)),
        n_judged=int(flat.sum()), n_sure=int(sure.sum()),
    )  # fmt: skip


def surroundings(sample: FloatArray, points: PointSet) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the neighbours of each point of a sample, (m, k), and the distance to the last."""
    # On a device its own engine searches; for so few points others need not be compiled.
    engine = points.engine if is_elsewhere(sample) else None
    narrow, m = narrowed(sample, points.distance), len(sample)
    pool = PointSet.of(narrow, NEIGHBORS + 1, distance=points.distance, engine=engine)
    found, sqdist = pool.nearest(np.arange(m), NEIGHBORS + 1)
    numbers = pool.order.caller_rows
    neighbors = np.empty((m, NEIGHBORS), np.intp, like=sample)
    radii = np.empty(m, like=sample)
    neighbors[numbers], radii[numbers] = numbers[found[:, 1:]], np.sqrt(sqdist[:, -1])
    return neighbors, radii


def narrowed(points: FloatArray, distance: Distance) -> FloatArray:
    """Return the points with a few random columns in place of many; periodic ones stay."""
    n = points.shape[1]
    if n <= COLUMNS or not distance.is_euclidean:
        return points
    some = np.random.default_rng(0).standard_normal((n, COLUMNS))
    projected: FloatArray = points @ beside_array(some, points)
    return projected


def displacements(
    points: FloatArray,
    neighbors: NDArray[np.intp],
    distance: Distance,
    rows: NDArray[np.intp] | slice = slice(None),
) -> FloatArray:
    """Return where the neighbours of all points, or of some rows, are as seen from them."""
    gaps = points[neighbors] - points[rows][:, None]
    if distance.period is not None:
        for column in np.flatnonzero(distance.period):
            to_nearest_image(gaps[..., column], distance.period[column])
    return gaps


def tangential(places: FloatArray, dim: int) -> tuple[FloatArray, BoolArray]:
    """Return the parts of the places, (m, k, n), in the tangent spaces, and which rows are flat.

    The tangent space is spanned by the d directions with the largest mean squares.
    """
    if places.shape[2] == dim:
        return places, filled(len(places), True, places, np.bool_)
    with one_blas_thread():
        squares, ways = np.linalg.eigh(np.matmul(places.transpose(0, 2, 1), places))
    # A bend of the manifold would look like an edge if its direction were taken for a tangent.
    return places @ ways[:, :, -dim:], squares[:, -dim - 1] < FLAT * squares[:, -dim]


def mean_inward(ends: FloatArray, dim: int) -> FloatArray:
    r"""Return -E v in a ball of radius 1 that is cut off at v = s, for each s >= 0 of `ends`.

    Notes
    -----
    Implements :math:`c_d (1-s^2)^{(d+1)/2} / ((d+1) F(s))`, with
    :math:`c_d = Γ(d/2+1) / (\sqrt{π} Γ((d+1)/2))`. The half of a disk has 4/(3π):

    >>> round(float(mean_inward(np.zeros(1), 2)[0]), 4), round(4 / (3 * np.pi), 4)
    (0.4244, 0.4244)
    """
    half = (dim + 1) / 2
    height = np.exp(gammaln(dim / 2 + 1) - gammaln(half)) / np.sqrt(np.pi)
    below = 0.5 * (1 + betainc(0.5, half, ends**2))
    return np.asarray(height * (1 - ends**2) ** half / ((dim + 1) * below))


#: Kernel widths, and steps, up to which the integrals over z are taken. The pilot may be twice as
#: wide, and 1 - m(4) is 1e-8.
FARTHEST, STEPS = 8.0, 800


def boundary_shifts(spectrum: Spectrum) -> FloatArray:
    r"""Estimate how far an edge of the data moved each eigenvalue, (n,): found minus true λ.

    The integral over the edge is a sum over those points of the sample of `vbdm.trust.edge` that
    lie in a strip of width τ along it. With the weight w inside the strip divided out, it is

    .. math:: -δλ_j = \frac{N}{n} Σ_i \frac{I}{J(τ_i/h_i)} (e_{ij} - θ_j D_i g_i u_{ij}^2)
              \Big/ Σ_i D_i g_i u_{ij}^2, \qquad J(x) = \int_0^x w(z)\, dz,

    :math:`e_i = ½ Σ_j K_{ij}(u_i-u_j)^2`, for a sample of n out of N points. Cost O(N n) for the
    sum of squares, and products of K with some rows.
    """
    operator, n = spectrum.operator, len(spectrum.eigenvalues)
    edge = edge_of(operator)
    if edge is None or not edge.found:
        return np.zeros(n)
    rows, tall = edge.rows, (operator.kernel.bandwidth.squared, operator.inside.pilot.rho0)
    squared, rho0 = to_host([values[rows] for values in tall])
    widths = np.sqrt(4 * operator.epsilon * squared)
    ratio = np.median(widths / (np.sqrt(4 * PILOT_EPSILON) * rho0))
    weights = overhang(edge.strips / widths, *mass_exponents(operator), float(ratio))
    degrees = to_host(operator.inside.degrees[rows, None])
    mass = degrees * spectrum.limits.times(to_host(operator.inside.steps[rows]))
    u: Any = vectors_of(spectrum)
    at = to_host(u[rows])
    if is_elsewhere(u):
        product = to_host(operator.alpha_kernel.product_at(rows, np.hstack([u, u**2])))
    else:
        links, reached = occurring(operator.alpha_kernel.rows_at(rows))
        near = u[reached]
        product = links @ np.hstack([near, near**2])
    energy = 0.5 * (degrees * at**2 - 2 * at * product[:, :n] + product[:, n:])
    theta = spectrum.log.pencil_eigenvalues
    changes = weights @ (energy - theta * mass * at**2)
    total = masses(spectrum) * edge.n_judged / operator.graph.order.n_points
    # The rates are -λ.
    return np.asarray(-changes / total)


def mass_exponents(operator: Operator) -> tuple[float, float]:
    """Return 1 - 2α and β(d+2): the powers of the kernel's and the pilot's density in D g.

    The second is 0 where the bandwidth is given.
    """
    exponents = operator.settings.exponents
    return 1 - 2 * exponents.alpha, (exponents.beta or 0.0) * (operator.dim + 2)


def overhang(depths: FloatArray, of_kernel: float, of_pilot: float, ratio: float) -> FloatArray:
    """Return I/J(x) for strips of the depths x, in kernel widths (see the module).

    `of_kernel` and `of_pilot` are the exponents in w, and `ratio` is r.
    """
    step = FARTHEST / STEPS
    z = np.linspace(step / 2, FARTHEST - step / 2, STEPS)
    weight = np.power(inside(z), of_kernel) * np.power(inside(ratio * z), of_pilot)
    excess = np.concatenate([[0.0], np.cumsum(weight - 1) * step])
    partial = np.interp(depths, np.arange(STEPS + 1) * step, excess)
    return np.asarray(excess[-1] / (depths + partial))


def inside(z: FloatArray) -> FloatArray:
    """Return m(z), the share of a Gaussian kernel inside the data at z widths from the edge."""
    return np.asarray(0.5 * (1 + erf(z)))
