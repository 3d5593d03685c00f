r"""How much each point adds to the error of an eigenvalue: its influence.

In weak form the pencil's eigenvalue is a sum over pairs,
:math:`0 = T = ½ Σ_{ij} K_{ij} [(u_i-u_j)^2 - θ (g_i u_i^2 + g_j u_j^2)]` with the eigenvector held
fixed (its change matters to second order only). One more sample at :math:`x_i` adds its own pairs,
:math:`p_i = Σ_j K_{ij}[…]`, and also raises the estimated density around it, which lowers the
weights there: through :math:`q_S^{-α}` and through :math:`ρ = q^β`. To leading order

.. math:: I_i = p_i - a (S p)_i, \qquad a = α - β(d/2 + 1) = 1 - c_1/2,

where S spreads a value over the neighbours as the density estimate does. Where p is smooth on the
scale of the kernel this is :math:`(c_1/2) p_i`: at c1 = 0 the two nearly cancel, and
what remains is the noise of the kernel itself. The variance of θ is :math:`Σ I_i^2 / B^2`,
:math:`B = Σ D g u^2`, where rows are independent, less what single pairs add to it twice
(`pair_noise`); `trust.series` has that of time series.

The limiter's highest cut Q is a quantile of the local rates: one more point in the tail lowers it,
and with it the rates of all modes whose row balance ends there (`moves_of_cut`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..base.arrays import BoolArray, FloatArray, column_dots, is_elsewhere, quotients, to_host
from ..base.threads import by_columns, for_each, slices, slices_of
from ..operator.operator import Operator
from ..operator.sums import counts_of, row_sums_of
from ..rows.block_array import Tall, beside, mapped, overwrite, total
from ..rows.sparse_blocks import occurring
from ..spectrum.limiter import Limit, local_times
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import vectors_of

#: Modes whose influences are computed at a time: each takes several arrays as long as the points. A
#: device has fewer, and longer, steps.
MODES_AT_ONCE, MODES_ON_DEVICE = 5, 12
#: Rows whose pairs tell how noisy single pairs are, and how many of them are looked at at a time.
NOISE_ROWS, ROWS_AT_ONCE = 2000, 200


def influences(spectrum: Spectrum) -> Tall:
    """Return the influence of each point on each λ, (M, n); columns sum to 0."""
    result, rows = mapped(copied, vectors_of(spectrum)), PairRows.of(spectrum)
    size = MODES_ON_DEVICE if is_elsewhere(result) else MODES_AT_ONCE
    cut_at_highest = modes_cut_at_highest(spectrum)
    moves = None
    if cut_at_highest.any():
        moves = moves_of_cut(spectrum.operator, spectrum.limits.of_modes[0])
    for columns in slices(result.shape[1], size=size):
        u = result[:, columns]
        theta, m = spectrum.log.pencil_eigenvalues[columns], u.shape[1]
        time = mapped(times_of, u, rows.steps, spectrum.limits.of_modes[columns])
        held = mapped(held_together, u, u, theta, time)
        # One product with twice the columns takes little more than half the time of two.
        products = spectrum.operator.alpha_kernel @ mapped(side_by_side, u, held)
        both = u, products[:, :m]
        part = pair_influences(spectrum, both, both, (held, products[:, m:]), rows)
        if cut_at_highest[columns].any():
            pull = pull_of_cut(spectrum, u, columns) * cut_at_highest[columns]
            (part,), _ = overwrite(add_products, [part], beside(part, moves), pull)
        by = response(spectrum, u, columns) * spectrum.correction[columns]
        (result,), _ = overwrite(put_quotients, [result], part, by, columns)
    return cast(Tall, result)


def pair_noise(spectrum: Spectrum) -> FloatArray:
    r"""Return what single pairs add to the covariance of the λ, (n, n): the noise of each, once.

    Notes
    -----
    A pair is noise of its own in the sum T = Σ_{i<j} P_ij, beyond what its two points tell: the
    second part of Hoeffding's decomposition, with the variance :math:`Σ_{i<j} P_{ij}^2` where few
    of all pairs are within reach. It stands in the influences of both points, and so twice in
    :math:`Σ_i I_i^2`. Some 2,000 rows, evenly spaced in the tree, tell the sum.
    """
    op, theta = spectrum.operator, spectrum.log.pencil_eigenvalues
    M, n = vectors_of(spectrum).shape
    rows = np.linspace(0, M - 1, min(M, NOISE_ROWS)).round().astype(np.intp)
    result = np.zeros((n, n))
    for some in slices(len(rows), size=ROWS_AT_ONCE):
        links, reached = occurring(op.alpha_kernel.rows_at(rows[some]))
        own, u = (to_host(vectors_of(spectrum)[at]) for at in (rows[some], reached))
        own_held, held = (
            held_together(v, v, theta, spectrum.limits.times(to_host(op.inside.steps[at])))
            for v, at in ((own, rows[some]), (u, reached))
        )
        i, j = np.repeat(np.arange(len(own)), np.diff(links.indptr)), links.indices
        pairs = links.data[:, None] * (own_held[i] + held[j] - 2 * own[i] * u[j])
        pairs[rows[some][i] == reached[j]] = 0.0
        result += own_products(pairs)
    by = response(spectrum, vectors_of(spectrum), slice(n)) * spectrum.correction
    return M / len(rows) / 2 * result / np.outer(by, by)


def own_products(values: FloatArray) -> FloatArray:
    """Return the sums of products of two columns, (n, n)."""
    products: FloatArray = values.T @ values
    return products


def less_noise(covariance: FloatArray, noise: FloatArray) -> FloatArray:
    """Return a covariance without the noise that it has twice; at least half of it is left.

    What is NaN stays so: a mode whose eigenvalue is not known has no errors.

    >>> less_noise(np.diag([4.0, 1.0, 0.0]), np.diag([1.0, 3.0, 0.0])).round(3).tolist()
    [[3.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]]
    """
    left = np.full_like(covariance, np.nan)
    known = np.ix_(*2 * [np.isfinite(np.diag(covariance))])
    variances, axes = np.linalg.eigh(covariance[known])
    varying = variances > 1e-12 * variances.max(initial=0.0)
    axes = axes[:, varying] * np.sqrt(variances[varying])
    inverse = axes / variances[varying]
    shares, turn = np.linalg.eigh(inverse.T @ noise[known] @ inverse)
    axes = axes @ turn
    left[known] = (axes * (1 - np.clip(shares, 0.0, 0.5))) @ axes.T
    return left


def copied(values: FloatArray) -> FloatArray:
    """Return a copy with contiguous rows."""
    return values.copy(order="C")


def put_quotients(values: FloatArray, part: FloatArray, by: FloatArray, columns: slice) -> None:
    """Write columns over their numbers over some columns."""
    np.divide(part, by, out=values[:, columns])


def add_products(values: FloatArray, column: FloatArray, by: FloatArray) -> None:
    """Add a column, times the number of each, to all columns."""
    values += column[:, None] * by


@dataclass(frozen=True, eq=False)
class PairRows:
    """What influences need of each point, as arguments beside the eigenvectors."""

    degrees: Any
    steps: Any
    #: One over the sum of each row of the kernel.
    share: Any
    #: How often each point occurs; None: once.
    counts: Any

    @classmethod
    def of(cls, spectrum: Spectrum) -> PairRows:
        """Return them for a spectrum."""
        op, sums = spectrum.operator, row_sums_of(spectrum.operator)
        share = quotients(1.0, sums, sums > 0)
        rows = op.inside.degrees, op.inside.steps, share, counts_of(op)
        return cls(*(beside(vectors_of(spectrum), row, kept=True) for row in rows))


def side_by_side(*parts: FloatArray) -> FloatArray:
    """Return the columns of several arrays in one."""
    return np.hstack(parts)


#: Vectors u by columns, and K u.
WithProduct = tuple[Tall, Tall]


def times_of(u: FloatArray, steps: FloatArray, limits: Sequence[Limit]) -> FloatArray:
    """Return the local times g of modes u with these limits, (M, m) or (M, 1)."""
    return local_times(limits, steps)


def held_together(u: FloatArray, v: FloatArray, theta: FloatArray, time: FloatArray) -> FloatArray:
    """Return u v (1 - θ g), (M, m); a single column u, θ or g stands beside every column v."""
    held = np.empty(v.shape, like=v)

    def work(rows: slice) -> None:
        held[rows] = u[rows] * v[rows] * (1 - theta * time[rows])

    for_each(work, slices_of(v, 8192))
    return held


def pair_influences(
    spectrum: Spectrum,
    first: WithProduct,
    second: WithProduct,
    together: WithProduct,
    rows: PairRows,
) -> Tall:
    """Return the influence of each point on T(u, v), (M, m), for the columns u and v of two arrays.

    Implements I = p - a S p for p_i = Σ_j K_ij [(u_i - u_j)(v_i - v_j) - θ (g_i u_i v_i + g_j u_j
    v_j)]. A single column u stands beside every column v. `together` is what `held_together` gives,
    with its product; both its arrays are used up.
    """
    op, (held, own) = spectrum.operator, together
    (own, held), _ = overwrite(pair_sums, [own, held], *first, *second, rows.degrees, rows.share)
    spread = op.kernel.weights @ held
    (own,), _ = overwrite(respond, [own], spread, rows.counts, power_of_density(op))
    return cast(Tall, own)


def power_of_density(operator: Operator) -> float:
    """Return a = 1 - c1/2, the power of the estimated density by which links are divided."""
    exponents = operator.settings.exponents
    return float(exponents.alpha - (exponents.beta or 0.0) * (operator.dim / 2 + 1))


def pair_sums(
    own: FloatArray,
    held: FloatArray,
    u: FloatArray,
    of_u: FloatArray,
    v: FloatArray,
    of_v: FloatArray,
    degrees: FloatArray,
    share: FloatArray,
) -> None:
    """Turn K held into p, in place, and `held` into p over the sums of the kernel's rows."""

    def work(rows: slice) -> None:
        own[rows] += degrees[rows, None] * held[rows]
        own[rows] -= u[rows] * of_v[rows] + v[rows] * of_u[rows]
        held[rows] = own[rows] * share[rows, None]

    for_each(work, slices_of(v, 8192))


def respond(own: FloatArray, spread: FloatArray, counts: FloatArray | None, alpha: float) -> None:
    """Subtract from p what the density's response takes back, in place."""

    def work(rows: slice) -> None:
        often = 1.0 if counts is None else counts[rows, None]
        own[rows] -= alpha * often * spread[rows]

    for_each(work, slices_of(own, 8192))


def response(spectrum: Spectrum, u: Tall, columns: slice) -> FloatArray:
    """Return dT/dλ for some modes u, (m,): B, or its counterpart in the limiter's last step."""
    op, limits = spectrum.operator, spectrum.limits.of_modes[columns]
    degrees, steps = beside(u, op.inside.degrees), beside(u, op.inside.steps)
    if not limits:
        return np.asarray(total(squares_of, u, beside(u, op.inside.degrees * op.inside.steps)))
    # The row balance holds for the rates before the finite-sample correction.
    rates = -spectrum.eigenvalues[columns] * spectrum.correction[columns]
    theta = spectrum.log.pencil_eigenvalues[columns]
    cuts = [limit.balance_cut(own) for limit, own in zip(limits, theta, strict=True)]
    return np.asarray(total(limited_response, u, degrees, steps, np.array(cuts), rates))


def limited_response(
    u: FloatArray, degrees: FloatArray, steps: FloatArray, cuts: FloatArray, rates: FloatArray
) -> FloatArray:
    """Return Σ D u² e^(-λ/r)/r of each mode, (m,), local rates r raised to its cut."""

    def work(u: Any, degrees: Any, local: Any, cut: Any, rate: Any) -> list[Any]:
        slowest = np.maximum(local, cut)
        weight = np.square(u) * degrees / slowest
        return [column_dots(weight, np.exp(-rate / slowest))]

    sums: FloatArray = by_columns(work, u, (degrees, 1 / steps), (cuts, rates))[0]
    return sums


def modes_cut_at_highest(spectrum: Spectrum) -> BoolArray:
    """Tell whose row balance ends at the limiter's highest cut, (n,)."""
    theta = spectrum.log.pencil_eigenvalues
    if not spectrum.limits.of_modes:
        return np.zeros(len(theta), np.bool_)
    pairs = zip(spectrum.limits.of_modes, theta, strict=True)
    return np.array([limit.balance_cut(own) == limit.highest for limit, own in pairs])


def moves_of_cut(operator: Operator, limit: Limit) -> FloatArray:
    r"""Return by how much each point moves log Q, (M,), with the highest cut Q; the sum is 0.

    Notes
    -----
    Q is where the share P of the local rates r lies below. One more point below it lowers Q by
    d log Q = -s/(P M), with the slope s = d log Q / d log P of the quantiles around; but points
    there raise the density beside them, and :math:`r ∝ q^{-2β}` with it, which holds against it.
    """
    rates, sums = 1 / operator.inside.steps, row_sums_of(operator)
    below = rates < limit.highest
    share = float(below.mean())
    if not share:  # a lattice, whose points are all alike
        return 0.0 * rates
    low, high = (float(np.quantile(rates, part * share)) for part in (1 / 2, 3 / 2))
    near = (rates >= low) & (rates <= high)
    raised = operator.kernel.weights @ quotients(near, sums, sums > 0)
    if counts_of(operator) is not None:
        raised = raised * counts_of(operator)
    own = np.log(high / low) / np.log(3) * below / share
    own = own + 2 * (operator.settings.exponents.beta or 0.0) * raised / float(near.mean())
    moves: FloatArray = (own.mean() - own) / len(own)
    return moves


def pull_of_cut(spectrum: Spectrum, u: Tall, columns: slice) -> FloatArray:
    """Return dT/d log Q of some modes u, (m,), if the highest cut Q is that of their balance."""
    op, highest = spectrum.operator, spectrum.limits.of_modes[0].highest
    rates = -spectrum.eigenvalues[columns] * spectrum.correction[columns] / highest
    held = beside(u, op.inside.degrees * (1 / op.inside.steps < highest))
    return np.asarray(total(squares_of, u, held)) * rates * np.exp(-rates)


def squares_of(u: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Σ w u² of each column, (m,)."""
    sums: FloatArray = weights @ u**2
    return sums


def masses(spectrum: Spectrum) -> FloatArray:
    """Return B = Σ D g u² of each mode, (n,)."""
    u, op = vectors_of(spectrum), spectrum.operator
    rows = beside(u, op.inside.degrees), beside(u, op.inside.steps)
    return np.asarray(total(masses_of, u, *rows, spectrum.limits.of_modes))


def masses_of(
    u: FloatArray, degrees: FloatArray, steps: FloatArray, limits: Sequence[Limit]
) -> FloatArray:
    """Return Σ D g u² over some points, (n,)."""
    mass = degrees[:, None] * local_times(limits, steps)
    sums: FloatArray = column_dots(np.broadcast_to(mass, u.shape), u**2)
    return sums
