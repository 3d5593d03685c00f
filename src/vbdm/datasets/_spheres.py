"""Spheres of any dimension, the half sphere, and their spherical harmonics as polynomials.

The eigenfunctions of the Laplacian on S^d for ``-l(l+d-1)`` are the homogeneous polynomials of
degree l in d+1 variables that are harmonic, restricted to the sphere. Here they are found by
linear algebra: a polynomial is a vector of coefficients, and the harmonic ones are the null
space of the matrix of the Laplacian.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, count

import numpy as np
from scipy.linalg import cholesky, null_space, solve_triangular
from scipy.special import gamma, gammaln

from ..base.arrays import FloatArray
from ._sample import (
    Indices,
    RandomState,
    Sample,
    Truth,
    check_at_least,
    check_n_samples,
    check_scales,
    generator,
    refuse_if_too_large,
)
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


def sphere_truth(n: int, c1: float, dim: int, *, even_in_last: bool = False) -> Truth:
    """Truth of the Laplacian on the unit sphere S^dim, the parameters being points on it.

    Parameters
    ----------
    n : int
        Number of eigenpairs.
    c1 : float
        Recorded in the truth; it has no influence.
    dim : int
        Dimension of the sphere.
    even_in_last : bool
        Keep only the functions even in the last coordinate: those of the upper half sphere
        with a reflecting rim.

    Examples
    --------
    >>> sphere_truth(5, 0.0, 2).eigenvalues
    array([ 0., -2., -2., -2., -6.])
    """
    levels: list[tuple[Indices, FloatArray]] = []
    values: list[float] = []
    for degree in count():
        exponents = _monomials(degree, dim + 1, even_in_last)
        coefficients = _harmonic_basis(exponents)
        levels.append((exponents, coefficients))
        values += [0.0 - degree * (degree + dim - 1)] * coefficients.shape[1]
        if len(values) >= n:
            break

    def eigenfunctions(x: FloatArray) -> FloatArray:
        found = [_evaluate(x, exponents) @ coefficients for exponents, coefficients in levels]
        return np.hstack(found)[:, :n]

    return Truth(c1, np.array(values[:n]), eigenfunctions)


def _monomials(degree: int, variables: int, even_in_last: bool) -> Indices:
    """Exponents of all monomials of one degree, one in each row."""
    chosen = combinations_with_replacement(range(variables), degree)
    rows = [np.bincount(np.array(c, dtype=np.intp), minlength=variables) for c in chosen]
    exponents = np.array(rows)
    return exponents[exponents[:, -1] % 2 == 0] if even_in_last else exponents


def _harmonic_basis(exponents: Indices) -> FloatArray:
    """Coefficients of harmonic polynomials, orthonormal in the uniform measure on the sphere."""
    harmonic = np.asarray(null_space(_laplacian_matrix(exponents)), dtype=np.float64)
    gram = harmonic.T @ _sphere_moments(exponents) @ harmonic
    return np.asarray(
        solve_triangular(cholesky(gram, lower=True), harmonic.T, lower=True).T, dtype=np.float64
    )


def _laplacian_matrix(exponents: Indices) -> FloatArray:
    """Matrix that takes the coefficients of a polynomial to those of its Laplacian."""
    entries: list[tuple[int, int, float]] = []
    rows: dict[tuple[int, ...], int] = {}
    for column, exponent in enumerate(exponents):
        for i, power in enumerate(exponent):
            if power >= 2:
                lowered = exponent.copy()
                lowered[i] -= 2
                row = rows.setdefault(tuple(lowered), len(rows))
                entries.append((row, column, float(power * (power - 1))))
    matrix = np.zeros((max(len(rows), 1), len(exponents)))
    for row, column, factor in entries:
        matrix[row, column] = factor
    return matrix


def _sphere_moments(exponents: Indices) -> FloatArray:
    """Mean over the sphere of the product of any two monomials.

    The mean of ``Π x_i^(a_i)`` is 0 if any ``a_i`` is odd, otherwise
    ``Γ(D/2)/Γ(D/2 + Σa_i/2) Π Γ((a_i+1)/2)/Γ(1/2)`` with D the number of variables.
    """
    powers = exponents[:, np.newaxis, :] + exponents[np.newaxis, :, :]
    variables = exponents.shape[1]
    log_moment = (gammaln((powers + 1) / 2) - gammaln(0.5)).sum(axis=2)
    log_moment += gammaln(variables / 2) - gammaln((variables + powers.sum(axis=2)) / 2)
    return np.where((powers % 2 == 0).all(axis=2), np.exp(log_moment), 0.0)


def _evaluate(x: FloatArray, exponents: Indices) -> FloatArray:
    """Values of the monomials, one in each column."""
    values = np.ones((len(x), len(exponents)))
    for i in range(exponents.shape[1]):
        values *= x[:, [i]] ** exponents[:, i]
    return values
