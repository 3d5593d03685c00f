"""Spherical harmonics in any dimension, as polynomials.

The eigenfunctions of the Laplacian on S^d for ``-l(l+d-1)`` are the homogeneous polynomials of
degree l in d+1 variables that are harmonic, restricted to the sphere. Here they are found by
linear algebra: a polynomial is a vector of coefficients, and the harmonic ones are the null
space of the matrix of the Laplacian.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, count

import numpy as np
from scipy.linalg import cholesky, null_space, solve_triangular
from scipy.special import gammaln

from ..base.arrays import FloatArray
from ._sample import Indices, Truth


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
