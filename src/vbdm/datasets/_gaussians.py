"""Normal densities in a Euclidean space: one, or several side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfinv

from ..base.arrays import FloatArray
from ..base.checks import as_floats, check_choice
from ..errors import InputError
from ._sample import (
    LARGEST,
    RandomState,
    Sample,
    Truth,
    check_at_least,
    check_n_samples,
    check_scale,
    generator,
    refuse_if_too_large,
)
from ._spectra import hermite, positive_c1_only, product, pulled_back

WELL_SEPARATED = 8


def ou(
    n_samples: int,
    *,
    dim: int = 1,
    covariance: ArrayLike | None = None,
    sampling: str = "random",
    random_state: RandomState = None,
) -> Sample:
    """Sample a normal density N(0, C), the equilibrium of an Ornstein-Uhlenbeck process.

    The operator is ``L = Δ - c1 C⁻¹x·∇``. With ``σ_i²`` the eigenvalues of ``C``, its spectrum
    is ``-c1 Σ n_i/σ_i²`` with products of Hermite polynomials in the principal axes.

    Parameters
    ----------
    n_samples : int
        Number of points.
    dim : int
        Dimension.
    covariance : (dim,) or (dim, dim) array, optional
        Variances or covariance matrix; the identity if not given.
    sampling : {"random", "grid"}
        "grid", in dimension one, puts point i at the quantile i/(N+1).
    random_state : int, Generator or None
        Seed.

    Examples
    --------
    >>> ou(50, dim=2, covariance=[1.0, 0.5], random_state=0).truth(4).eigenvalues
    array([ 0., -1., -2., -2.])
    """
    check_at_least(dim, "dim")
    check_n_samples(n_samples, dim)
    check_choice(sampling, "sampling", ("random", "grid"))
    variances, axes = _principal_axes(covariance, dim)
    if sampling == "grid":
        if dim != 1:
            raise InputError(
                f"sampling='grid' needs dim=1; received dim={dim}. Use sampling='random'."
            )
        levels = np.arange(1, n_samples + 1) / (n_samples + 1)
        normal = np.sqrt(2) * erfinv(2 * levels - 1)[:, np.newaxis]
    else:
        normal = generator(random_state).standard_normal((n_samples, dim))
    points = normal * np.sqrt(variances) @ axes.T

    def build(n: int, c1: float) -> Truth:
        separate = product([hermite(n, c1, float(v)) for v in variances], n)
        return pulled_back(separate, lambda x: x @ axes)

    density = _standard_normal(normal) / np.sqrt(variances.prod())
    return Sample("ou", points, points, dim, "generator", density, positive_c1_only("ou", build))


def _principal_axes(covariance: ArrayLike | None, dim: int) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues of the covariance, (dim,), and its eigenvectors as columns."""
    given = np.ones(dim) if covariance is None else as_floats(covariance)
    if given is None or not np.isfinite(given).all() or np.abs(given).max(initial=0) > LARGEST:
        raise InputError(
            f"`covariance` must be an array of finite numbers, up to {LARGEST:g}; received "
            f"{covariance!r}. Pass {dim} variances, or a {dim}x{dim} matrix."
        )
    given = np.atleast_1d(given)
    matrix = np.diag(given) if given.ndim == 1 else given
    if matrix.shape != (dim, dim) or not np.allclose(matrix, matrix.T):
        raise InputError(
            f"`covariance` must be {dim} variances or a symmetric {dim}x{dim} matrix; received "
            f"shape {given.shape}. dim={dim}, and covariances are symmetric. Set `dim` to fit the "
            "covariance, or symmetrise it."
        )
    variances, axes = np.linalg.eigh(matrix)
    if variances.min() <= 0:
        raise InputError(
            "`covariance` must be positive definite; received a smallest eigenvalue of "
            f"{variances.min():g}. Drop the flat directions."
        )
    return variances, axes


def _standard_normal(x: FloatArray) -> FloatArray:
    squares = np.einsum("ij,ij->i", x, x)
    return np.asarray(np.exp(-squares / 2) / (2 * np.pi) ** (x.shape[1] / 2), dtype=np.float64)


def clusters(
    n_samples: int,
    *,
    centers: int = 2,
    separation: float = 10.0,
    dim: int = 2,
    random_state: RandomState = None,
) -> Sample:
    """Sample equal shares of standard normals in a row, ``separation`` apart.

    Far apart, each cluster is a world of its own: the generator has ``centers`` zero
    eigenvalues, then the Ornstein-Uhlenbeck spectrum, each value ``centers`` times, with
    eigenfunctions that live on one cluster. The truth is given when the centres are 8 standard
    deviations of ``q**c1`` apart or more. The last column of the parameters is the label.
    """
    check_at_least(centers, "centers")
    check_at_least(dim, "dim")
    check_n_samples(n_samples, dim)
    refuse_if_too_large(centers, dim)
    separation = check_scale(separation, "separation")
    labels = np.arange(n_samples) % centers
    middles = np.zeros((centers, dim))
    middles[:, 0] = separation * (np.arange(centers) - (centers - 1) / 2)
    noise = generator(random_state).standard_normal((n_samples, dim))
    points = middles[labels] + noise
    density = np.mean([_standard_normal(points - middle) for middle in middles], axis=0)

    def build(n: int, c1: float) -> Truth:
        if centers > 1 and separation * np.sqrt(c1) < WELL_SEPARATED:
            raise InputError(
                f"The truth of 'clusters' needs separation*sqrt(c1) >= {WELL_SEPARATED}; received "
                f"separation={separation:g} and c1={c1:g}. Move the centres apart."
            )
        return _separate_pieces(product([hermite(n, c1, 1.0)] * dim, n), middles, n)

    parameters = np.column_stack([points, labels])
    builder = positive_c1_only("clusters", build)
    return Sample("clusters", points, parameters, dim, "generator", density, builder)


def _separate_pieces(piece: Truth, middles: FloatArray, n: int) -> Truth:
    """Return the truth of several connected pieces: that of one, around each of the middles."""
    order, owner = np.divmod(np.arange(n), len(middles))

    def eigenfunctions(parameters: FloatArray) -> FloatArray:
        labels = parameters[:, -1]
        values = np.zeros((len(parameters), n))
        for label, middle in enumerate(middles):
            here, columns = labels == label, owner == label
            local = piece.eigenfunctions(parameters[here, :-1] - middle)
            # A function that is 0 on the other pieces is larger on its own, to have norm 1 in all.
            values[np.ix_(here, columns)] = np.sqrt(len(middles)) * local[:, order[columns]]
        # Outliers have no label, and so no value.
        values[np.isnan(labels)] = np.nan
        return values

    return Truth(piece.c1, piece.eigenvalues[order], eigenfunctions)
