"""Principal directions: distances do not change when a cloud is turned, but trees get faster.

If only few directions matter, they are searched, and the result is proven in all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..base.arrays import FloatArray, IntArray
from ..base.threads import one_blas_thread, slices
from ..errors import InputError
from .brute import BruteForce, BruteIndex
from .exact import KDTree, NeighborIndex, NeighborSearch, nearest_of

#: Share of the largest variance up to which a direction is empty: as the covariance squares the
#: singular values, rounding leaves about this much.
EMPTY = 1e-12
#: Number of points in the sample that gives the directions. It is also the largest number of
#: columns for which all points are used where the sample does not suffice.
SAMPLE = 2000


@dataclass(frozen=True, eq=False)
class Axes:
    """An orthonormal basis (n, r), the widest direction first, and the variance along each."""

    basis: FloatArray
    variances: FloatArray
    #: Whether all points lie in the span of the basis, so that turning changes no distance.
    is_isometry: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether no direction was dropped."""
        return bool(self.basis.shape[0] == self.basis.shape[1])

    @property
    def n_leading(self) -> int:
        """Number of directions, never below 2, that are at least a tenth as wide as the widest."""
        return max(2, int((self.variances > 0.01 * self.variances.max(initial=0.0)).sum()))


def principal_axes(cloud: FloatArray) -> Axes:
    """Return the directions in which the cloud extends; dropping the others is an isometry.

    They come from a sample, since any turn would do; then all points are checked to lie in their
    span. If one does not, the directions come from all points, unless there are thousands of
    columns: then dropping is no isometry, and only the leading directions are of use.
    """
    sample = cloud[:: max(1, len(cloud) // SAMPLE)]
    axes = axes_of(sample)
    if axes.is_complete or len(sample) == len(cloud) or holds_all(cloud, sample, axes):
        return axes
    return axes_of(cloud) if cloud.shape[1] <= SAMPLE else replace(axes, is_isometry=False)


def axes_of(cloud: FloatArray) -> Axes:
    """Return the principal directions of these points."""
    centred = cloud - cloud.mean(axis=0)
    wide = cloud.shape[1] > len(cloud)
    # The smaller of the two products: with fewer points than columns, N×N instead of n×n.
    with one_blas_thread():
        variances, axes = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    wanted = variances > EMPTY * max(variances[-1], np.finfo(float).tiny)
    variances, axes = variances[wanted], axes[:, wanted]
    if wide:
        axes = (centred.T @ axes) / np.sqrt(variances)
    return Axes(np.ascontiguousarray(axes[:, ::-1]), variances[::-1] / len(cloud))


def holds_all(cloud: FloatArray, sample: FloatArray, axes: Axes) -> bool:
    """Tell whether all points lie in the span of the directions that were found on a sample."""
    centre = sample.mean(axis=0)
    limit = EMPTY * axes.variances.max(initial=0.0)
    return all(
        (along_and_rest(cloud[rows], centre, axes.basis)[:, -1] ** 2 <= limit).all()
        for rows in slices(len(cloud), size=1024)
    )


def along_and_rest(points: FloatArray, centre: FloatArray, basis: FloatArray) -> FloatArray:
    """Return the coordinates along the axes, and as last column the length of what is left."""
    result = np.empty((len(points), basis.shape[1] + 1))
    for rows in slices(len(points), size=1024):
        gap = points[rows] - centre
        along = gap @ basis
        gap -= along @ basis.T
        result[rows, :-1] = along
        result[rows, -1] = np.sqrt(np.einsum("ij,ij->i", gap, gap))
    return result


@dataclass(frozen=True, eq=False)
class RotatedIndex:
    """An index of the rotated cloud; distances are measured in the original columns."""

    inner: NeighborIndex
    cloud: FloatArray
    rotation: FloatArray
    rows_per_call: int
    parallel: bool
    is_exact: bool = True

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        candidates, _ = self.inner.query(points @ self.rotation, k)
        # The distances are measured again, because the rotation rounds.
        return nearest_of(points, self.cloud, candidates, k, share=not self.parallel)


#: Most leading directions to search along: with more nothing is gained.
MOST_DIRECTIONS = 32


@dataclass(frozen=True)
class Projected:
    """An exact engine for data near few directions, with thin noise in all the others.

    Notes
    -----
    With z the coordinates in the leading directions and s the length of what is left over,
    ``|x - y|² >= |z_x - z_y|² + (s_x - s_y)²``. So the inner engine gives candidates in the order
    of a lower bound, and they are measured in all columns; once the k-th distance is below the
    bound of the last candidate, no neighbour was missed. Rows that would take too many candidates
    go to brute force.
    """

    #: The engine that searches the leading directions.
    inner: NeighborSearch = field(default_factory=KDTree)

    def __post_init__(self) -> None:
        """Refuse what is no search."""
        if isinstance(self.inner, (str, type, Sequence)) or not hasattr(self.inner, "index"):
            raise InputError(
                f"`inner` must be a search such as vbdm.search.KDTree(); received {self.inner!r}."
            )

    def index(self, cloud: FloatArray, k: int) -> ProjectedIndex:
        """Find the directions, and index them."""
        return self.index_along(cloud, k, principal_axes(cloud))

    def index_along(self, cloud: FloatArray, k: int, axes: Axes) -> ProjectedIndex:
        """Index the cloud along the leading ones of these directions."""
        basis = axes.basis[:, : min(axes.n_leading, MOST_DIRECTIONS)]
        centre = cloud.mean(axis=0)
        inner = self.inner.index(along_and_rest(cloud, centre, basis), first_candidates(k))
        return ProjectedIndex(inner, cloud, centre, basis, inner.rows_per_call, inner.parallel)


def first_candidates(k: int) -> int:
    """Return the number of candidates to measure at first."""
    return k + k // 4 + 8


@dataclass(frozen=True, eq=False)
class ProjectedIndex:
    """An index along the leading directions, and what is needed to measure in all columns."""

    inner: NeighborIndex
    cloud: FloatArray
    centre: FloatArray
    basis: FloatArray
    rows_per_call: int
    parallel: bool
    is_exact: bool = True

    @cached_property
    def brute(self) -> BruteIndex:
        """Index by brute force, for rows whose neighbours cannot be proven with few candidates."""
        return BruteForce().index(self.cloud, 1)

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        n = len(self.cloud)
        small = along_and_rest(points, self.centre, self.basis)
        indices, sqdist = np.empty((len(points), k), dtype=np.int32), np.empty((len(points), k))
        rows, wanted = np.arange(len(points)), min(n, first_candidates(k))
        while len(rows):
            if wanted > max(n // 8, 8 * k):
                indices[rows], sqdist[rows] = self.brute.query(points[rows], k)
                break
            candidates, bound = self.inner.query(small[rows], wanted)
            share = not self.parallel
            found, exact = nearest_of(points[rows], self.cloud, candidates, k, share=share)
            indices[rows], sqdist[rows] = found, exact
            # Both sides are rounded, so a k-th distance that equals the bound proves nothing.
            is_proven = exact[:, -1] < (1 - 1e-9) * bound[:, -1]
            rows = rows[~is_proven] if wanted < n else rows[:0]
            wanted = min(n, 2 * wanted)
        return indices, sqdist
