r"""How sure each eigenfunction is: how much of the other modes the sample mixes into it.

**Sampling.** On a sample the pencil is not quite diagonal in the true eigenfunctions: between two
of them, u and v, it has the entry
:math:`T = ½ Σ_{il} K_{il} [(u_i-u_l)(v_i-v_l) - θ_j (g_i u_i v_i + g_l u_l v_l)]`. To first order
mode j then contains the amount :math:`c_{jk} = -T_{jk} / (B_k (θ_k - θ_j))` of mode k, with
:math:`B_k = Σ D g u_k^2`. Each point has an influence on T, as it has on an eigenvalue
(`vbdm.trust.influences`), and the covariance of the amounts is

.. math:: C^j_{kl} = \frac{Σ_i I_i^{jk} I_i^{jl}}{B_k B_l (θ_k - θ_j)(θ_l - θ_j)}.

**Tail.** Unresolved points have the mass that the limiter gives them. If that of each changed by
the mean mass m of a point, mode j would contain :math:`h_k = θ_j m H_{jk} / (B_k (θ_k - θ_j))` of
mode k, :math:`H_{jk} = Σ u_j u_k` over the unresolved points. So :math:`h_k h_l` is added. With m
and no other factor, errors were right on average on clouds with tails: Gaussian ones in one to
three dimensions and exp(-|x|^1.5), 1000 and 4000 points.

**The rest.** Faster modes that were not computed mix in as well. Modes at the same distance on the
slower side stand in for them: their amounts count √2 times. This is a guess, but without it the
last modes of a list would seem better than they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import (
    BoolArray,
    FloatArray,
    beside_array,
    frozen,
    is_elsewhere,
    marked_squares,
    to_host,
)
from ..base.checks import a_count
from ..base.threads import one_blas_thread, slices_of
from ..rows.block_array import BlockArray, beside, mapped, total
from ..spectrum.limiter import local_times
from ..spectrum.modes import THIN, local_energy
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import function_of, sum_over_points, vectors_of
from .influences import PairRows, held_together, masses, pair_influences, times_of

if TYPE_CHECKING:
    from .error_bars import ErrorBars

#: A mode is isolated if the gaps to its neighbours are at least this many of their own standard
#: errors wide.
ISOLATED = 4.0
#: Modes at most this many places before or after a mode are mixed into it: further ones add
#: little, and the cost stays in proportion to the number of modes.
REACH = 20
#: Two θ are the same if they differ by less than this share of the largest.
SAME = 1e-12
#: The distance of two functions of mean square 1 that have nothing in common.
UNRELATED = float(np.sqrt(2))


def mixing(spectrum: Spectrum) -> tuple[FloatArray, ...]:
    """Return C of each mode (see `ErrorBars.mixing`).

    The entry [k, l] of C is the mean product of the amounts of two modes in this one, counted from
    the first of its `partners`. The amount of a mode in itself is 0, and so are those in a mode
    whose eigenvalue is 0: it is known exactly. Takes two products of K with up to 41 columns per
    mode, for ten modes about the time of the solve.
    """
    theta = spectrum.log.pencil_eigenvalues
    u: Any = vectors_of(spectrum)
    operator = spectrum.operator
    with one_blas_thread():
        size, products, rows = masses(spectrum), operator.alpha_kernel @ u, PairRows.of(spectrum)
        result = []
        for j in range(len(theta)):
            others, own = partners(spectrum, j), spectrum.limits.of_modes[j : j + 1]
            scale = first_order(theta, j)[others] / size[others]
            first, second = (u[:, [j]], products[:, [j]]), (u[:, others], products[:, others])
            time = mapped(times_of, first[0], rows.steps, own)
            both = mapped(held_together, first[0], second[0], theta[[j]], time)
            together = both, operator.alpha_kernel @ both
            influence = pair_influences(spectrum, first, second, together, rows)
            sums = total(squares_of, influence, scale)
            held = beside(u, held_inside(spectrum, j))
            times = local_times(own, operator.inside.steps)[:, 0]
            mass = float(np.mean(operator.inside.degrees * times))
            tail = theta[j] * mass * total(products_on, held, first[0], second[0]) * scale
            known = spectrum.eigenvalues[j] == 0
            result.append(frozen((not known) * (sums + np.outer(tail, tail))))
    return tuple(result)


def squares_of(influence: FloatArray, scale: FloatArray) -> FloatArray:
    """Return the sums of products of two amounts, (m, m), from the influences on them."""
    amounts = influence * scale
    products: FloatArray = amounts.T @ amounts
    return products


def products_on(held: BoolArray, own: FloatArray, others: FloatArray) -> FloatArray:
    """Return the sums over held points of the products of one mode with others, (m,)."""
    products: FloatArray = own[held, 0] @ others[held]
    return products


def partners(spectrum: Spectrum, j: int) -> slice:
    """Return the modes that are mixed into mode j; it is among them."""
    return slice(max(j - REACH, 0), min(j + REACH + 1, len(spectrum.eigenvalues)))


def first_order(theta: FloatArray, j: int) -> FloatArray:
    """Return 1/(θ_k - θ_j), (n,): √2 times that for modes that also stand in for missing ones.

    Where θ_k = θ_j up to rounding, with k = j or by chance, it is 0.
    """
    gap, number = theta - theta[j], np.arange(len(theta))
    factor = np.where(2 * j - number >= len(theta), np.sqrt(2), 1.0)
    apart = np.abs(gap) > SAME * theta.max()
    return np.asarray(np.divide(factor, gap, out=np.zeros_like(gap), where=apart))


def isolated(errors: ErrorBars) -> BoolArray:
    """Tell which eigenvalues are far from their neighbours, or known to be 0, (n,).

    The eigenvalue after the last one is known if the solver happened to find it; the last mode is
    taken for isolated if not.
    """
    spectrum, covariance = errors.spectrum, errors.covariance
    rates, theta = np.abs(spectrum.eigenvalues), spectrum.log.pencil_eigenvalues
    beyond = spectrum.log.set_aside[spectrum.log.set_aside > theta[-1]]
    after = rates[-1] * (beyond.min() / theta[-1] if beyond.size and theta[-1] > 0 else np.inf)
    gap = np.diff(np.append(rates, after))
    # Two equal eigenvalues repel each other: the gap between them scatters like the difference of
    # their errors, and seldom exceeds three times that. Of the next one only its place is known.
    own, together = np.diag(covariance), np.diag(covariance, 1)
    variance = np.append(own[:-1] + own[1:] - 2 * together, 2 * own[-1])
    wide = gap >= ISOLATED * np.sqrt(np.maximum(variance, 0.0))  # not where the gap is not a number
    return np.asarray((rates == 0) | (wide & np.append(True, wide[:-1])))


def error_of_span(errors: ErrorBars, group: NDArray[np.intp]) -> float:
    """Return the error of the span of some modes: root mean square over points and members.

    It is what the members contain of modes outside the span.
    """
    squares, products = [], errors.overlaps
    # Eigenfunctions are orthogonal with the mass as weight, not over the points, unless c1 = 1.
    own = products[np.ix_(group, group)]
    for j in group.tolist():
        near = partners(errors.spectrum, j)
        overlap = products[group, near]
        outside = products[near, near] - overlap.T @ np.linalg.solve(own, overlap)
        # Members are in the span, but rounding would leave some of their large amounts.
        others = ~np.isin(np.arange(near.start, near.stop), group)
        squares.append(float(others @ (errors.mixing[j] * outside) @ others))
    return float(np.sqrt(np.clip(np.mean(squares), 0.0, UNRELATED**2)))


def pointwise(errors: ErrorBars, j: int) -> FloatArray:
    """Return the standard deviation of eigenfunction j at each point, (N,), in the caller's order.

    Its root mean square is the error of the mode, unless that was cut at √2. NaN everywhere if the
    mode is not isolated.
    """
    spectrum = errors.spectrum
    number = a_count(0, len(spectrum.eigenvalues) - 1)(j, "j")
    operator, near = spectrum.operator, partners(spectrum, number)
    if not isolated(errors)[number]:
        return frozen(np.full(operator.n_points, np.nan))
    # The mean square stays 1, so that nothing of the mode itself can be added.
    overlap, mix = errors.overlaps[number, near], errors.mixing[number]
    with one_blas_thread():
        variance = mapped(variance_at, vectors_of(spectrum), number, near, overlap, mix)
    if isinstance(variance, BlockArray):
        variance = np.asarray(variance)
    deviation = np.sqrt(np.maximum(variance, 0.0))
    return frozen(to_host(operator.graph.order.to_caller(deviation)))


def variance_at(
    vectors: FloatArray, number: int, near: slice, overlap: FloatArray, mix: FloatArray
) -> FloatArray:
    """Return the variance of a mode at some points, (m,), from the modes near it."""
    variance = np.empty(len(vectors), like=vectors)
    for rows in slices_of(vectors, 8192):
        added = vectors[rows, near] - vectors[rows, number, None] * overlap
        variance[rows] = np.einsum("ij,ij->i", added @ mix, added)
    return variance


def unresolved_share(spectrum: Spectrum) -> FloatArray:
    """Return the share of each mode on its unresolved points (see `ErrorBars.unresolved_share`)."""
    share = sum_over_points(spectrum, squares_on, spectrum.unresolved)
    limits, own = spectrum.limits, spectrum.limits.own
    if is_elsewhere(vectors_of(spectrum)):
        # On a device, modes are looked at where they are, all that share a limit together.
        counts = spectrum.operator.graph.order.counts
        for limit in {limits.of_modes[j] for j in own}:
            members = [j for j in own if limits.of_modes[j] == limit]
            held = held_inside(spectrum, members[0])
            share[members] = total(squares_on, vectors_of(spectrum)[:, members], counts, held)
        own = []
    for j in own:
        share[j] = squares_on(function_of(spectrum, j), None, held_for(spectrum, j))
    return np.asarray(share / spectrum.operator.n_points)


def held_inside(spectrum: Spectrum, j: int) -> BoolArray:
    """Return the points that mode j does not resolve, (M,) in the order inside, where they live."""
    operator = spectrum.operator
    rows = operator.graph.order.caller_rows
    if j not in spectrum.limits.own:
        held: BoolArray = beside_array(spectrum.unresolved, rows)[rows]
        return held
    strays: BoolArray = beside_array(spectrum.pieces.strays, rows)[rows]
    return spectrum.limits.of_modes[j].holds(1 / operator.inside.steps) | strays


def held_for(spectrum: Spectrum, j: int) -> BoolArray:
    """Return the points that mode j does not resolve, (N,): those its limit holds, and strays.

    `spectrum.unresolved`, unless the mode has a limit of its own.
    """
    if j not in spectrum.limits.own:
        return spectrum.unresolved
    return np.asarray(to_host(spectrum.operator.graph.order.to_caller(held_inside(spectrum, j))))


def weak_links(spectrum: Spectrum) -> BoolArray:
    """Mark points that hold half of the energy of a mode of small extent, (N,)."""
    operator = spectrum.operator
    marked = np.zeros(operator.graph.order.n_points, dtype=np.bool_, like=operator.inside.degrees)
    for j in np.flatnonzero(spectrum.extent < THIN):
        energy = local_energy(operator, vectors_of(spectrum)[:, j][:, None])[0][:, 0]
        order = np.argsort(-energy, kind="stable")
        half = 0.5 * float(energy.sum())
        count = int(np.searchsorted(np.cumsum(energy[order]), half)) + 1
        marked[order[:count]] = True
    found: BoolArray = to_host(operator.graph.order.to_caller(marked))
    return found


def squares_on(values: FloatArray, counts: FloatArray | None, marked: BoolArray) -> FloatArray:
    """Return the sums of squares over marked rows, (n,), each row counted as often as it occurs."""
    sums: FloatArray = marked_squares(values, marked, counts)
    return sums


def products_of(values: FloatArray, counts: FloatArray | None) -> FloatArray:
    """Return the sums over the rows of the products of two columns, (n, n)."""
    weighted = values if counts is None else counts[:, None] * values
    products: FloatArray = values.T @ weighted
    return products
