"""Principal directions: distances do not change when a cloud is turned, but trees get faster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..base.arrays import FloatArray, IntArray
from ..base.threads import one_blas_thread, slices
from .exact import NeighborIndex, nearest_of

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
