"""Spheres of any dimension, and the half sphere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gamma

from ..base.arrays import FloatArray
from ._checks import check_at_least, check_n_samples, check_scales, generator, refuse_if_too_large
from ._harmonics import sphere_truth
from ._sample import RandomState, Sample, Truth
from ._spectra import laplacian_only

FRAME_SEED = 10


def sphere(
    n_samples: int,
    *,
    dim: int = 2,
    axes: Sequence[float] | None = None,
    ambient: int | None = None,
    random_state: RandomState = None,
) -> Sample:
    """Sample the unit sphere S^dim, uniformly or with more points along some axes.

    The spectrum of the Laplacian is ``-l(l+dim-1)`` with harmonic polynomials of degree l. The
    parameters are the points on the sphere in R^(dim+1).

    Parameters
    ----------
    n_samples : int
        Number of points.
    dim : int
        Dimension of the sphere.
    axes : sequence of dim+1 floats, optional
        Standard deviations of a normal density that is projected to the sphere from its
        centre (angular central Gaussian). Uniform if not given.
    ambient : int, optional
        Dimension of the space to put the sphere into, by a fixed isometry; dim+1 by default.
    random_state : int, Generator or None
        Seed of the points; the isometry does not depend on it.

    Examples
    --------
    >>> sphere(100, axes=(1.0, 0.5, 0.3), random_state=0).truth(5).eigenvalues
    array([ 0., -2., -2., -2., -6.])
    """
    check_at_least(dim, "dim")
    check_n_samples(n_samples, dim + 1)
    deviations = np.ones(dim + 1) if axes is None else check_scales(axes, "axes", dim + 1)
    normal = generator(random_state).standard_normal((n_samples, dim + 1))
    x = normal * deviations
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    points = x if ambient is None else x @ _frame(ambient, dim + 1).T

    def build(n: int, c1: float) -> Truth:
        return sphere_truth(n, c1, dim)

    builder = build if axes is None else laplacian_only("sphere", build)
    density = _angular_gaussian(x, deviations)
    return Sample("sphere", points, x, dim, "laplacian", density, builder)


def hemisphere(n_samples: int, *, random_state: RandomState = None) -> Sample:
    """Sample the upper half of S² uniformly; a curved manifold with a boundary.

    With a reflecting rim the spectrum is ``-l(l+1)``, l+1 times: the spherical harmonics that
    are even in the height.
    """
    full = sphere(n_samples, dim=2, random_state=random_state).parameters
    points = np.column_stack([full[:, :2], np.abs(full[:, 2])])
    density = np.full(n_samples, 1 / (2 * np.pi))

    def build(n: int, c1: float) -> Truth:
        return sphere_truth(n, c1, 2, even_in_last=True)

    return Sample("hemisphere", points, points, 2, "laplacian", density, build)


def _frame(ambient: int, size: int) -> FloatArray:
    """Return ``size`` orthonormal columns in R^ambient, the same in every call."""
    check_at_least(ambient, "ambient", least=size)
    refuse_if_too_large(int(ambient), size)
    columns = np.random.default_rng(FRAME_SEED).standard_normal((ambient, size))
    return np.asarray(np.linalg.qr(columns)[0], dtype=np.float64)


def _angular_gaussian(x: FloatArray, deviations: FloatArray) -> FloatArray:
    """Density of a projected normal: ``1/(area Πσ_i |x/σ|^D)`` in R^D."""
    size = deviations.size
    area = 2 * np.pi ** (size / 2) / gamma(size / 2)
    stretch = np.linalg.norm(x / deviations, axis=1)
    return np.asarray(1 / (area * deviations.prod() * stretch**size), dtype=np.float64)
