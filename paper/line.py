"""The paper's method on a line with many points, solved in two ways that only a line allows.

Between sorted points the kernel is a band matrix, which LAPACK factorises. And a fixed Gaussian is
the product of two narrower ones, so that all pairs, at any ε, cost some thirty numbers per point.
Both solve the very eigenproblem of ``vbdm.estimate_operator(points, method="paper")``: a test
compares them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.sparse import csr_array

from vbdm import VbdmWarning, estimate_operator, neighbors, progress, rules
from vbdm.errors import SolverError

from .base import FloatArray, Settings
from .borrowed import ROUNDING, Search
from .sweep import Sweep, mean_squared_error, unit

#: Shift that is added to all rates -λ before the matrix is factorised, so that it is invertible;
#: well below the rates that are sought.
SHIFT = 0.05
#: Largest residual of the eigenvectors of the inverse.
TOLERANCE = 1e-8
#: Kernel value below which pairs are left out of a band; they hold 0.04 % of the second moment.
LEAST = 1e-4
#: Widest band that is formed, in points to one side; 20,000 points take 200 MB and seconds there.
WIDEST = 1300

Pairs = tuple[FloatArray, FloatArray]


def line_sweep(
    x: FloatArray,
    settings: Settings,
    epsilons: Sequence[float] | FloatArray,
    truth: FloatArray,
    mode: int,
    *,
    where: NDArray[np.bool_] | None = None,
    name: str = "",
) -> Sweep:
    """Run the paper's method at every ε on sorted points of a line; see `paper.sweep`.

    Where the variable kernel reaches further than `WIDEST` points, nothing is computed: the error
    is NaN and `saturated` is 1. The fixed kernel has no such limit.
    """
    values, exact = np.asarray(epsilons, dtype=np.float64), unit(truth)
    rho = None if settings.beta == 0 else pilot_power(x, settings.beta)
    errors, rates = np.full(len(values), np.nan), np.full((len(values), mode + 2), np.nan)
    saturated, best, failed = np.zeros(len(values)), np.full(len(x), np.nan), 0
    for i, epsilon in enumerate(values):
        try:
            found = one_spectrum(x, rho, settings.alpha, epsilon, mode + 2)
        except SolverError:
            failed += 1
        else:
            if found is None:
                saturated[i] = 1.0
            else:
                rates[i] = found[0]
                function = found[1][:, mode]
                function = function * (1.0 if function @ exact[:, 0] > 0 else -1.0)
                errors[i] = mean_squared_error(function[:, None], exact, None, where)
                if errors[i] == np.nanmin(errors):
                    best = function
        if name:
            progress.report(name, i + 1, len(values))
    return Sweep(values, errors, rates, saturated, best, failed)


def one_spectrum(
    x: FloatArray, rho: FloatArray | None, alpha: float, epsilon: float, n: int
) -> Pairs | None:
    """Return n eigenpairs of the fixed kernel (ρ = None) or of a band; None if that is too wide."""
    links = kernel_at(x, np.ones(len(x)) if rho is None else rho, epsilon, 1)
    if np.count_nonzero(links < ROUNDING) >= n - 1:
        return pieces_alone(links < ROUNDING, n)
    if rho is None:
        return fixed_spectrum(x, alpha, epsilon, n)
    return band_spectrum(x, rho, alpha, epsilon, n)


def pieces_alone(gaps: NDArray[np.bool_], n: int) -> Pairs:
    """Return the first n eigenpairs if there are n pieces: zeros, and indicators of the largest."""
    labels = np.concatenate([[0], np.cumsum(gaps)])
    largest = np.argsort(-np.bincount(labels), kind="stable")[:n]
    return np.zeros(n), scaled((labels[:, None] == largest).astype(np.float64))


def pilot_power(x: FloatArray, beta: float) -> FloatArray:
    """Return ρ = q0^β by the paper's rule, from the 256 nearest neighbours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VbdmWarning)
        graph = neighbors(x[:, None], min(256, len(x)))
        found = estimate_operator(
            graph, dim=1, epsilon=1e-5, bandwidth=rules.PowerOfDensity(beta), method="paper"
        )
    return np.asarray(found.bandwidth)


def fixed_spectrum(x: FloatArray, alpha: float, epsilon: float, n: int) -> Pairs:
    r"""Return the first n eigenpairs of the fixed kernel, all pairs, at any ε.

    Notes
    -----
    :math:`e^{-(x-y)^2/4ε} ∝ ∫ e^{-(x-z)^2/2ε} e^{-(y-z)^2/2ε} dz`, and the sum over a grid of
    spacing near 0.8 √(ε/2) gives this integral to 13 digits. So K = F Fᵀ with some 27 numbers in
    each row of F, and the eigenvalues of D⁻¹K are those of the small band matrix Fᵀ D⁻¹ F.

    Examples
    --------
    >>> values, _ = fixed_spectrum(np.linspace(-1, 1, 500), 1.0, 1e-4, 3)
    >>> values[1:].round(1).tolist()                      # an interval: -2.5, -9.9
    [-2.4, -9.7]
    """
    F = narrow_factors(x, epsilon)
    weight = (F @ (F.T @ np.ones(len(x)))) ** -alpha
    degrees = weight * (F @ (F.T @ weight))
    half = csr_array(F.multiply((weight / np.sqrt(degrees))[:, None]))
    small = (half.T @ half).todia()
    size, reach = small.shape[0], int(max(small.offsets))
    band = np.zeros((reach + 1, size))
    for offset in range(reach + 1):
        band[offset, : size - offset] = -small.diagonal(-offset)
    band[0] += 1 + SHIFT * epsilon
    # The constant function in the coordinates of the small matrix Fᵀ D⁻¹ F, with eigenvalue 1.
    constant = half.T @ np.sqrt(degrees)
    theta, vectors = nearest(band, constant, n)
    functions = (half @ vectors) / np.sqrt(degrees)[:, None]
    return -np.maximum(theta / epsilon - SHIFT, 0.0), scaled(functions)


def narrow_factors(x: FloatArray, epsilon: float, digits: float = 13.0) -> Any:
    """Return the sparse (N, m) matrix F with F Fᵀ = exp(-(x-y)²/4ε), to that many digits."""
    spread = np.sqrt(epsilon / 2)
    # Two errors, with σ = √(ε/2): the sum in place of the integral errs by 2 exp(-2π² σ²/step²),
    # and factors that are 0 beyond `reach` err by exp(-reach²/4σ²).
    step = np.pi * np.sqrt(2 / (digits * np.log(10) + 1)) * spread
    reach = 2 * np.sqrt(digits * np.log(10)) * spread
    count = int(reach / step) + 1
    low = x.min()
    first = np.floor((x - low) / step).astype(np.intp)
    columns = first[:, None] + np.arange(2 * count + 1)
    z = low + step * (columns - count)
    height = np.sqrt(step / (np.sqrt(2 * np.pi) * spread))
    values = height * np.exp(-((x[:, None] - z) ** 2) / (2 * epsilon))
    pointer = np.arange(len(x) + 1) * columns.shape[1]
    return csr_array((values.ravel(), columns.ravel(), pointer))


def band_spectrum(
    x: FloatArray, rho: FloatArray, alpha: float, epsilon: float, n: int
) -> Pairs | None:
    """Return the first n eigenpairs for any bandwidth ρ; None if the band is wider than `WIDEST`.

    Notes
    -----
    The band holds all pairs whose kernel exceeds `LEAST`. The cost is O(N w²), where w is the
    largest number of points that a kernel reaches to one side.
    """
    width = reach_of(x, rho, epsilon)
    if width > WIDEST:
        return None
    kernel = np.zeros((width + 1, len(x)))
    for offset in range(width + 1):
        kernel[offset, : len(x) - offset] = kernel_at(x, rho, epsilon, offset)
    weight = (row_sums(kernel) / rho) ** -alpha
    scale_band(kernel, weight)
    degrees = row_sums(kernel)
    root = np.sqrt(degrees * epsilon) * rho
    scale_band(kernel, 1 / root)
    np.negative(kernel, out=kernel)
    kernel[0] += 1 / (epsilon * rho**2) + SHIFT
    theta, vectors = nearest(kernel, root, n)
    return -np.maximum(theta - SHIFT, 0.0), scaled(vectors / root[:, None])


def kernel_at(x: FloatArray, rho: FloatArray, epsilon: float, offset: int) -> FloatArray:
    """Return the kernel between each point and the one `offset` places further, (N - offset,)."""
    end = len(x) - offset
    return np.asarray(
        np.exp(-((x[offset:] - x[:end]) ** 2) / (4 * epsilon * rho[offset:] * rho[:end]))
    )


def reach_of(x: FloatArray, rho: FloatArray, epsilon: float) -> int:
    """Return the largest number of places over which the kernel exceeds `LEAST`."""
    offset = 1
    while offset < len(x) and kernel_at(x, rho, epsilon, offset).max() > LEAST:
        offset = min(len(x), int(1.1 * offset) + 1)
    return min(offset, len(x) - 1)


def row_sums(band: FloatArray) -> FloatArray:
    """Return the row sums of a symmetric matrix given by its lower band."""
    sums: FloatArray = band[0].copy()
    for offset, values in enumerate(band[1:], start=1):
        end = band.shape[1] - offset
        sums[:end] += values[:end]
        sums[offset:] += values[:end]
    return sums


def scale_band(band: FloatArray, factor: FloatArray) -> None:
    """Multiply rows and columns of a symmetric band by a factor, in place."""
    for offset, values in enumerate(band):
        end = band.shape[1] - offset
        values[:end] *= factor[:end] * factor[offset:]


def nearest(band: FloatArray, constant: FloatArray, n: int) -> Pairs:
    """Return the n smallest eigenpairs of a positive definite band, given the first eigenvector."""
    known = (constant / np.linalg.norm(constant))[:, None]
    factors = cholesky_banded(band, lower=True, overwrite_ab=True, check_finite=False)

    def solve(right: FloatArray) -> FloatArray:
        return np.asarray(cho_solve_banded((factors, True), right, check_finite=False))

    largest, vectors, _ = Search("Band", solve, known, TOLERANCE, 300).all_copies(n - 1)
    first = 1 / float(known[:, 0] @ solve(known[:, 0]))
    return np.concatenate([[first], 1 / largest]), np.hstack([known, vectors])


def scaled(functions: FloatArray) -> FloatArray:
    """Return the functions scaled to mean square 1, column by column."""
    return np.asarray(functions / np.sqrt(np.mean(functions**2, axis=0)))
