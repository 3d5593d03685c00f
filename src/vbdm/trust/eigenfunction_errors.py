r"""How sure each eigenfunction is: how much of the other modes the sample mixes into it.

**Sampling.** On a sample the pencil is not quite diagonal in the true eigenfunctions: between two
of them, u and v, it has the entry
:math:`T = ½ Σ_{il} K_{il} [(u_i-u_l)(v_i-v_l) - θ_j (g_i u_i v_i + g_l u_l v_l)]`. To first order
mode j then contains the amount :math:`c_{jk} = -T_{jk} / (B_k (θ_k - θ_j))` of mode k, with
:math:`B_k = Σ D g u_k^2`. Each point has an influence on T, as it has on an eigenvalue
(`vbdm.trust.error_bars`), and the covariance of the amounts is

.. math:: C^j_{kl} = \frac{Σ_i I_i^{jk} I_i^{jl}}{B_k B_l (θ_k - θ_j)(θ_l - θ_j)}.

**Tail.** Unresolved points have the mass that the limiter gives them. If all of it changed by w
times itself, mode j would contain :math:`h_k = w θ_j H_{jk} / (B_k (θ_k - θ_j))` of mode k,
:math:`H_{jk} = Σ D g u_j u_k` over the unresolved points. So :math:`h_k h_l` is added.

**The rest.** Faster modes that were not computed mix in as well. Modes at the same distance on the
slower side stand in for them: their amounts count √2 times. This is a guess, but without it the
last modes of a list would seem better than they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.checks import check_count
from ..base.threads import one_blas_thread, slices
from ..spectrum.spectrum import Spectrum
from .error_bars import pair_influences, refuse_unsymmetric

#: w: the change of the mass of unresolved points, relative to it. It was chosen on Gaussian clouds,
#: exp(-|x|^1.5) and a double well, 1000 to 10,000 points, so that errors were right on average.
TAIL_WEIGHT = 2.5
#: A mode is isolated if the gaps to its neighbours are at least this many standard errors wide.
ISOLATED = 4.0
#: Modes whose amounts in another one are computed at a time: each takes three arrays as long as the
#: points. Products with K hardly take longer for many columns than for one.
PARTNERS_AT_ONCE = 20
#: The distance of two functions of mean square 1 that have nothing in common.
UNRELATED = float(np.sqrt(2))


def mixing(spectrum: Spectrum) -> FloatArray:
    """Return C, (n, n, n) (kept as `spectrum.mixing`).

    ``C[j, k, l]`` is the mean product of the amounts of modes k and l in mode j. The amount of a
    mode in itself is 0, and so are those in a mode whose eigenvalue is 0: it is known exactly.
    Takes about as long as the solve, and three arrays as large as the eigenfunctions.
    """
    refuse_unsymmetric(spectrum)
    theta, u = spectrum.solve.pencil_eigenvalues, spectrum.vectors
    mass = spectrum.operator.degrees * spectrum.local_times
    held = spectrum.operator.order.to_inside(spectrum.unresolved)
    result = np.zeros((len(theta),) * 3)
    with one_blas_thread():
        in_tail = u[held].T @ (mass[held, None] * u[held])
        size, products = mass @ u**2, np.asarray(spectrum.operator.weights @ u)
        for j in np.flatnonzero(spectrum.eigenvalues != 0).tolist():
            scale = first_order(theta, j) / size
            amounts = influences_on_mode(spectrum, j, products) * scale
            tail = TAIL_WEIGHT * theta[j] * in_tail[j] * scale
            result[j] = amounts.T @ amounts + np.outer(tail, tail)
    return result


def first_order(theta: FloatArray, j: int) -> FloatArray:
    """Return 1/(θ_k - θ_j), (n,): √2 times that for modes that also stand in for missing ones.

    Where θ_k = θ_j, with k = j or by chance, it is 0.
    """
    gap, number = theta - theta[j], np.arange(len(theta))
    factor = np.where(2 * j - number >= len(theta), np.sqrt(2), 1.0)
    return np.asarray(np.divide(factor, gap, out=np.zeros_like(gap), where=gap != 0))


def influences_on_mode(spectrum: Spectrum, j: int, products: FloatArray) -> FloatArray:
    """Return the influence of each point on T(u_j, u_k) for all k, (M, n); `products` are K u."""
    u, theta = spectrum.vectors, spectrum.solve.pencil_eigenvalues[[j]]
    own, result = (u[:, [j]], products[:, [j]]), np.empty(u.shape)
    for columns in slices(u.shape[1], size=PARTNERS_AT_ONCE):
        other = u[:, columns], products[:, columns]
        result[:, columns] = pair_influences(spectrum, own, other, theta)
    return result


def function_errors(spectrum: Spectrum) -> FloatArray:
    """Return the error of each eigenfunction, (n,); NaN where it is not isolated."""
    alone = [group_function_error(spectrum, [j]) for j in range(len(spectrum.eigenvalues))]
    return frozen(np.where(isolated(spectrum), alone, np.nan))


def isolated(spectrum: Spectrum) -> BoolArray:
    """Tell which eigenvalues are far from their neighbours, or known to be 0, (n,).

    The eigenvalue after the last one is known if the solver happened to find it; the last mode is
    taken for isolated if not.
    """
    rates, theta = np.abs(spectrum.eigenvalues), spectrum.solve.pencil_eigenvalues
    error = np.sqrt(np.maximum(np.diag(spectrum.covariance), 0.0))
    beyond = spectrum.solve.set_aside[spectrum.solve.set_aside > theta[-1]]
    after = rates[-1] * (beyond.min() / theta[-1] if beyond.size and theta[-1] > 0 else np.inf)
    gap = np.diff(np.append(rates, after))
    # Of two neighbours the less certain one counts. A gap that is not a number is not wide.
    wide = gap >= ISOLATED * np.maximum(error, np.append(error[1:], error[-1]))
    return np.asarray((rates == 0) | (wide & np.append(True, wide[:-1])))


def group_function_error(spectrum: Spectrum, members: ArrayLike) -> float:
    """Return the error of the span of some eigenfunctions: mixing with all others, by L².

    It is the root mean square, over points and members, of what the members contain of the other
    modes, as far as it is not in the span itself.
    """
    group = np.unique(np.asarray(members, dtype=np.intp))
    others = np.setdiff1d(np.arange(len(spectrum.eigenvalues)), group)
    functions = spectrum.eigenfunctions
    with one_blas_thread():
        gram = functions.T @ functions / len(functions)
    # Eigenfunctions are orthogonal with the mass as weight, not over the points, unless c1 = 1.
    across = gram[np.ix_(group, others)]
    outside = gram[np.ix_(others, others)]
    outside = outside - across.T @ np.linalg.solve(gram[np.ix_(group, group)], across)
    square = [np.sum(spectrum.mixing[j][np.ix_(others, others)] * outside) for j in group]
    return min(float(np.sqrt(max(np.mean(square), 0.0))), UNRELATED)


def pointwise_errors(spectrum: Spectrum, j: int) -> FloatArray:
    """Return the standard deviation of eigenfunction j at each point, (N,), in the caller's order.

    Its root mean square is the error of the mode, unless that was cut at √2. NaN everywhere if the
    mode is not isolated.
    """
    functions = spectrum.eigenfunctions
    number = check_count(j, "j", low=0, high=functions.shape[1] - 1)
    if not isolated(spectrum)[number]:
        return frozen(np.full(len(functions), np.nan))
    with one_blas_thread():
        overlap = functions[:, number] @ functions / len(functions)
        variance = np.empty(len(functions))
        for rows in slices(len(functions), size=8192):
            # The mean square stays 1, so that nothing of the mode itself can be added.
            own = functions[rows, number, None]
            added = functions[rows] - own * overlap
            variance[rows] = np.einsum("ij,ij->i", added @ spectrum.mixing[number], added)
    return frozen(np.sqrt(np.maximum(variance, 0.0)))
