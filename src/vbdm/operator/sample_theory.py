r"""By how much a random sample shifts eigenvalues: the term of order 1/n, derived.

n is the number of points in a kernel. The sample of a uniform density has a fluctuation ξ, white
noise in space. Everything that the operator is made of responds to it, and to second order in ξ all
eigenvalues of smooth modes shift by the same factor, :math:`\hat λ/λ - 1 = C/n`. C is an integral
over the wave number k of ξ. With a = d/2 and κ = √ε k, the wave number in kernels, the responses
are

* :math:`p(κ)`, the transform of the kernel: :math:`e^{-κ^2}` for a Gaussian;
* :math:`b = β B`, that of log ρ, with B that of the pilot density (`pilot_response`);
* :math:`A = -α [p + b (G_1 - a)]`, that of the weight :math:`q_S^{-α}`.

A kernel that is wider by the factor :math:`e^{σ/2}` has larger integrals: of a transform f of
something that scales like :math:`e^{cσ}` the derivative in σ is :math:`D_c f = c f + κ f'/2`. With
t, the transform of :math:`τ h`, τ = |x-y|²/4ε, and μ = t(0), let :math:`G_i = D_a^i p` and
:math:`E_i = D_{a+1}^i t`. Then

.. math::

    C &= \frac{2}{Γ(a)} ∫_0^∞ κ^{d-1} [E - M - L] dκ \\
    μ E &= 2 E_1 b + 2 E_0 A + ((a+1)^2 μ + E_2) b^2 + 2 ((a+1) μ + E_1) A b + (μ + E_0) A^2 \\
    M &= 2 (G_1 + p) b + 2 p A + (a^2 + G_2) b^2 + 2 (a + G_1)(A b + b^2) + (1 + p)(A^2 + 2 A b)
         + 2 b^2 \\
    μ L &= 2 κ^2 [(1 + A) Q + b Q_1]^2 / (1 - p), \quad Q = -p'/2κ, \; Q_1 = -G_1'/2κ

E and M are the means of energy and mass, given that two points are there: they raise the density
between them, and their weights fluctuate together. L is what the eigenfunction gains by adapting to
the noise: a medium that fluctuates conducts less than its mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gamma, jv

from ..base.arrays import FloatArray
from ..base.threads import in_order, slices
from ..shapes import Gaussian, Shape, radius_of

#: Beyond the first, in kernels, the kernel's transform is 0; up to the second, in units of the
#: radius of the k0 nearest, the pilot responds, which may be narrower.
KERNEL_WAVES, PILOT_WAVES = 9.0, 60.0
#: Nodes of the integrals over each of these two ranges, and over distances.
FINE, RADII = 160, 72
#: Waves whose Bessel functions a thread computes at a time.
ROWS_AT_ONCE = 20
#: A pilot whose kernel is cut beyond the first is complete. Its transform is 0 beyond the wave
#: number RESOLVED, in units of the radius of the k0 nearest; ρ0 itself responds to shorter waves.
COMPLETE, RESOLVED, SHORTEST = 80.0, 30.0, 300.0


@dataclass(frozen=True, eq=False)
class KernelWaves:
    """The kernel's side of the theory, at the nodes κ.

    Attributes
    ----------
    waves, weights : (m,) arrays
        Nodes κ, and their weights, κ^{d-1} 2/Γ(d/2) included.
    transforms : (5, m) array
        P0 … P4: the transform p of the kernel, and each next one is -P'/2κ of the last.
    mean : float
        μ, the mean of τ.
    spread : float
        n s², the relative variance of a row sum, times n.
    """

    waves: FloatArray
    weights: FloatArray
    transforms: FloatArray
    mean: float
    spread: float


def shift(
    kernel: KernelWaves,
    dim: float,
    c1: float,
    beta: float,
    n: float,
    k0: int = 16,
    end: float = np.inf,
) -> float:
    """Return C, which over n is the relative shift of all small eigenvalues.

    Parameters
    ----------
    kernel : KernelWaves
        From `kernel_waves`.
    dim, c1, beta : float
        d, the operator's c1, and the exponent of ρ = q^β.
    n : float
        Number of points in a kernel: q (4πε ρ²)^{d/2}.
    k0 : int
        Number of points, the point itself included, that measure the pilot's width.
    end : float
        The scaled squared distance at which the pilot's kernel ends.
    """
    a, alpha, mu = dim / 2, 1 + beta * (dim / 2 + 1) - c1 / 2, kernel.mean
    waves, weights, transforms, b = kernel.waves, kernel.weights, kernel.transforms, np.zeros(FINE)
    if beta:
        # The k0 nearest lie within this radius, in units of √ε ρ.
        radius = 2 * ((k0 - 1) * gamma(a + 1) / n) ** (1 / dim)
        far, more = radial_nodes(KERNEL_WAVES, max(2 * KERNEL_WAVES, PILOT_WAVES / radius), dim)
        waves, weights = np.concatenate([waves, far]), np.concatenate([weights, more])
        transforms = np.pad(transforms, ((0, 0), (0, FINE)))
        b = beta * np.interp(waves * radius, *pilot_table(dim, end))
    p, Q, R, S, W = transforms
    k2 = waves**2
    G1 = a * p - k2 * Q
    Q1 = (a + 1) * Q - k2 * R
    G2 = a * G1 - k2 * Q1
    E0 = a * Q - k2 * R
    E1 = (a + 1) * (a * Q - 2 * k2 * R) + k2**2 * S
    E2 = (a + 1) * (E1 + 2 * k2**2 * S - (a + 2) * k2 * R) + 2 * k2**2 * S - k2**3 * W
    A = -alpha * (p + b * (G1 - a))
    energy = (
        2 * E1 * b + 2 * E0 * A + ((a + 1) ** 2 * mu + E2) * b**2
        + 2 * ((a + 1) * mu + E1) * A * b + (mu + E0) * A**2
    ) / mu  # fmt: skip
    mass = (
        2 * (G1 + p) * b + 2 * p * A + (a**2 + G2) * b**2 + 2 * (a + G1) * (A * b + b**2)
        + (1 + p) * (A**2 + 2 * A * b) + 2 * b**2
    )  # fmt: skip
    loss = 2 * k2 / mu * ((1 + A) * Q + b * Q1) ** 2 / (1 - p)
    return float(weights @ (energy - mass - loss))


def kernel_waves(h: Shape, dim: float, cutoff: float) -> KernelWaves:
    """Return the transforms of a kernel of shape h, cut at s = `cutoff`, in dimension `dim`."""
    waves, weights = radial_nodes(0.0, KERNEL_WAVES, dim)
    if isinstance(h, Gaussian) and not np.isfinite(cutoff):
        transforms, mean = np.tile(np.exp(-(waves**2)), (5, 1)), dim / 2
    else:
        reach = min(cutoff, radius_of(h, 1e-9))
        transforms = ladder(h, dim, reach, waves)
        mean = dim / 2 * float(ladder(h, dim, reach, np.zeros(1))[1, 0])
    return KernelWaves(waves, weights, transforms, mean, float(weights @ transforms[0] ** 2))


def radial_nodes(low: float, high: float, dim: float) -> tuple[FloatArray, FloatArray]:
    """Return nodes κ between two ends, and weights with κ^{d-1} 2/Γ(d/2) included."""
    waves, weights = nodes(low, high, FINE)
    return waves, weights * waves ** (dim - 1) * 2 / gamma(dim / 2)


def ladder(h: Shape, dim: float, reach: float, waves: FloatArray) -> FloatArray:
    r"""Return P0 … P4 at κ, (5, m), for a kernel cut at s = `reach`.

    Implements :math:`P_i = \prod_{l<i} \frac{1}{2(d+2l)} ⟨x^{2i} Λ_{d+2i}(κx)⟩`, the mean over the
    kernel, which follows from :math:`Λ_d' = -(z/d) Λ_{d+2}`.
    """
    x, weights = nodes(0.0, np.sqrt(reach), RADII)
    share = weights * x ** (dim - 1) * h(x**2)
    share /= share.sum()
    z = waves[:, None] * x
    means = sphere_means(z, (dim + 8, dim + 6))
    for D in (dim + 4, dim + 2, dim):
        # Downwards, the recurrence of Bessel functions is stable.
        means.append(means[-1] - z**2 / (D * (D + 2)) * means[-2])
    rows, factor = [], 1.0
    for i, mean in enumerate(reversed(means)):
        rows.append(factor * (mean @ (share * x ** (2 * i))))
        factor /= 2 * (dim + 2 * i)
    return np.array(rows)


@lru_cache(maxsize=16)
def pilot_table(dim: float, cutoff: float) -> tuple[FloatArray, FloatArray]:
    r"""Return B, the response of log q0 to a wave of the density, at wave numbers z; both (m,).

    The pilot sums a Gaussian of width ρ0 over the points around. ρ0 shrinks where points are dense,
    as the mean of squared distances to the k0 nearest does: :math:`-Λ_{d+4}(z)/d`, with z = kR and
    R the radius of these. Like the kernel, the sums respond with p, and with :math:`G_1 + a` to ρ0:
    :math:`B = p + Λ_{d+4}(z) (a - G_1)/d`.
    """
    near = np.linspace(0, RESOLVED, 301)
    # In units of the pilot's kernel: √ε ρ0, with ε = 1/2 and ρ0² = R² d/(d+2).
    waves = near * np.sqrt(0.5 * dim / (dim + 2))
    if cutoff > COMPLETE:
        p = Q = np.exp(-(waves**2))
    else:
        p, Q = ladder(Gaussian(), dim, cutoff, waves)[:2]
    first = dim / 2 * p - waves**2 * Q
    z = np.concatenate([near, np.linspace(RESOLVED, SHORTEST, 1801)[1:]])
    response = sphere_mean(z, dim + 4) / 2
    response[:301] += p - sphere_mean(near, dim + 4) / dim * first
    return z, response


def sphere_mean(z: FloatArray, dim: float) -> FloatArray:
    r"""Return the mean of cos(k·x) over the sphere |x| = r in dimension d, with z = k r.

    Implements :math:`Λ_d(z) = Γ(d/2) (2/z)^{d/2-1} J_{d/2-1}(z)`.
    """
    order, far = dim / 2 - 1, np.maximum(z, 1e-3)
    values = gamma(order + 1) * (2 / far) ** order * jv(order, far)
    return np.asarray(np.where(z < 1e-3, 1 - z**2 / (2 * dim), values))


def sphere_means(z: FloatArray, dims: Sequence[float]) -> list[FloatArray]:
    """Return `sphere_mean` of a table, (m, n), in several dimensions, on all cores.

    Bessel functions of any order are slow: a microsecond each.
    """
    blocks = list(slices(len(z), size=ROWS_AT_ONCE))
    tasks = [(dim, rows) for dim in dims for rows in blocks]
    parts = list(in_order(lambda task: sphere_mean(z[task[1]], task[0]), tasks))
    n = len(blocks)
    return [np.concatenate(parts[i * n : (i + 1) * n]) for i in range(len(dims))]


@lru_cache(maxsize=4)
def unit_nodes(count: int) -> tuple[FloatArray, FloatArray]:
    """Return the nodes and weights of Gauss and Legendre between 0 and 1."""
    x, weights = np.polynomial.legendre.leggauss(count)
    return (x + 1) / 2, weights / 2


def nodes(low: float, high: float, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the nodes and weights of Gauss and Legendre between two ends."""
    x, weights = unit_nodes(count)
    return low + (high - low) * x, (high - low) * weights
