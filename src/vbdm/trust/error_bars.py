r"""How sure each eigenvalue is: its sampling error and its bias in ε.

**Sampling error.** In weak form the pencil's eigenvalue is a sum over pairs,
:math:`0 = T = ½ Σ_{ij} K_{ij} [(u_i-u_j)^2 - θ (g_i u_i^2 + g_j u_j^2)]` with the eigenvector held
fixed (its change matters to second order only). One more sample at :math:`x_i` adds its own pairs,
:math:`p_i = Σ_j K_{ij}[…]`, and also raises the estimated density around it, which lowers the
weights there: through :math:`q_S^{-α}` and through :math:`ρ = q^β`. To leading order

.. math:: I_i = p_i - a (S p)_i, \qquad a = α - β(d/2 + 1) = 1 - c_1/2,

where S spreads a value over the neighbours as the density estimate does. Where p is smooth on the
scale of the kernel this is :math:`(c_1/2) p_i`: at c1 = 0 the two nearly cancel, and
what remains is the noise of the kernel itself. The variance of θ is :math:`Σ I_i^2 / B^2`,
:math:`B = Σ D g u^2`, where rows are independent; `trust.series` has that of time series.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from ..base.accepts import some_of
from ..base.arrays import FloatArray
from ..base.errors import bad_input
from ..base.threads import for_each, in_order, one_blas_thread, slices
from ..kernel.again import halved
from ..operator.operator import Operator
from ..spectrum.finite_sample import share_at
from ..spectrum.spectrum import Groups, Spectrum
from .series import Sampling, sampling


@dataclass(frozen=True)
class Group:
    """One eigenvalue, or several that cannot be told apart.

    Attributes
    ----------
    members : tuple of int
        Consecutive numbers of the eigenvalues.
    mean : float
        The mean of the eigenvalues; NaN if one of them is.
    standard_error : float
        The sampling error of the mean; NaN for the unsymmetric forms of the kernel.
    total_error : float
        The total error of the mean (`vbdm.trust.intervals`); NaN for these forms, too.
    lower, upper : float
        Ends of the 95 % interval of the mean; NaN for these forms, too.
    error_parts : mapping from str to float
        What the total error consists of, by name: sampling, tail, epsilon, noise, boundary, each a
        standard deviation; empty for these forms.
    """

    members: tuple[int, ...]
    mean: float
    standard_error: float
    total_error: float = np.nan
    lower: float = np.nan
    upper: float = np.nan
    error_parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_several(self) -> bool:
        """Whether there is more than one eigenvalue in it."""
        return len(self.members) > 1


def groups_of(spectrum: Spectrum) -> tuple[Group, ...]:
    """Return the eigenvalues by groups, each with its mean and the mean's errors and interval.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points)
    >>> groups = groups_of(op.spectrum(9))
    >>> [group.members for group in groups]
    [(0,), (1, 2, 3), (4, 5, 6, 7, 8)]
    >>> [group.lower < truth < group.upper for group, truth in zip(groups[1:], [-2, -6])]
    [True, True]
    """
    values = np.real(spectrum.eigenvalues)
    if not spectrum.operator.is_symmetric:
        return tuple(Group((i,), float(value), np.nan) for i, value in enumerate(values))
    from .error_sources import parts_of_group
    from .intervals import group_total_error

    errors = spectrum.standard_errors
    return tuple(
        Group(
            tuple(members.tolist()), float(values[members].mean()), float(errors[members[0]]),
            group_total_error(spectrum, members), *spectrum.group_interval(members),
            parts_of_group(spectrum, members),
        )
        for members in spectrum.groups
    )  # fmt: skip


def refuse_unsymmetric(spectrum: Spectrum) -> None:
    """Raise for the forms whose error bars the theory here does not cover."""
    if not spectrum.operator.is_symmetric:
        raise bad_input(
            "There are no error bars for this form.",
            received=f"form={spectrum.operator.form!r}",
            because="They are derived for K = Kᵀ.",
            hint="Use form='symmetric'.",
        )


#: Modes whose influences are computed at a time: each takes several arrays as long as the points.
MODES_AT_ONCE = 5


def influences(spectrum: Spectrum) -> FloatArray:
    """Return the influence of each point on each λ, (M, n) in the order inside.

    Columns sum to 0.
    """
    result = spectrum.vectors.copy()
    for columns in slices(result.shape[1], size=MODES_AT_ONCE):
        result[:, columns] = some_influences(spectrum, columns, result[:, columns])
    return result


def some_influences(spectrum: Spectrum, columns: slice, u: FloatArray) -> FloatArray:
    """Return the influences on some λ, (M, m), from their eigenvectors u."""
    theta, m = spectrum.solve.pencil_eigenvalues[columns], u.shape[1]
    time = spectrum.local_times(spectrum.operator.steps, columns)
    held = held_together(u, u, theta, time)
    # One product with twice the columns takes little more than half the time of two.
    products = np.asarray(spectrum.operator.weights @ np.hstack([u, held]))
    both = u, products[:, :m]
    result = pair_influences(spectrum, both, both, (held, products[:, m:]))
    result /= response(spectrum, u, columns) * spectrum.correction[columns]
    return result


#: Vectors u by columns, and K u.
WithProduct = tuple[FloatArray, FloatArray]


def held_together(u: FloatArray, v: FloatArray, theta: FloatArray, time: FloatArray) -> FloatArray:
    """Return u v (1 - θ g), (M, m); a single column u, θ or g stands beside every column v."""
    held = np.empty(v.shape)

    def work(rows: slice) -> None:
        held[rows] = u[rows] * v[rows] * (1 - theta * time[rows])

    for_each(work, slices(len(v), size=8192))
    return held


def pair_influences(
    spectrum: Spectrum, first: WithProduct, second: WithProduct, together: WithProduct
) -> FloatArray:
    """Return the influence of each point on T(u, v), (M, m), for the columns u and v of two arrays.

    Implements I = p - a S p for p_i = Σ_j K_ij [(u_i - u_j)(v_i - v_j) - θ (g_i u_i v_i + g_j u_j
    v_j)]. A single column u stands beside every column v. `together` is what `held_together` gives,
    with its product; both its arrays are used up.
    """
    (u, of_u), (v, of_v), (held, own) = first, second, together
    op = spectrum.operator
    alpha = op.alpha - (op.beta or 0.0) * (op.dim / 2 + 1)
    sums, counts = op.kernel.row_sums, op.order.counts
    share = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)

    def pairs(rows: slice) -> None:
        own[rows] += op.degrees[rows, None] * held[rows]
        own[rows] -= u[rows] * of_v[rows] + v[rows] * of_u[rows]
        held[rows] = own[rows] * share[rows, None]

    def respond(rows: slice) -> None:
        often = 1.0 if counts is None else counts[rows, None]
        own[rows] -= alpha * often * spread[rows]

    blocks = list(slices(len(v), size=8192))
    for_each(pairs, blocks)
    spread = op.kernel.weights @ held
    for_each(respond, blocks)
    return own


def response(spectrum: Spectrum, u: FloatArray, columns: slice) -> FloatArray:
    """Return dT/dλ for some modes u, (m,): B, or its counterpart in the limiter's last step."""
    op, limits = spectrum.operator, spectrum.limits[columns]
    local = 1 / op.steps
    if not limits:
        return np.asarray((op.degrees * op.steps) @ u**2)
    # The row balance holds for the rates before the finite-sample correction.
    rates = -spectrum.eigenvalues[columns] * spectrum.correction[columns]
    theta = spectrum.solve.pencil_eigenvalues[columns]

    def work(j: int) -> float:
        slowest = np.maximum(local, limits[j].balance_cut(theta[j]))
        weight = np.square(u[:, j]) * op.degrees / slowest
        return float(np.dot(weight, np.exp(-rates[j] / slowest)))

    return np.array(list(in_order(work, range(u.shape[1]))))


def sampling_of(spectrum: Spectrum) -> Sampling:
    """Return how the eigenvalues scatter with the sample (kept as `spectrum.sampling`)."""
    refuse_unsymmetric(spectrum)
    return sampling(spectrum, influences(spectrum))


def sampling_errors(spectrum: Spectrum) -> FloatArray:
    """Return the standard error of each eigenvalue, (n,): that of the mean of its group."""
    errors = np.zeros(len(spectrum.eigenvalues))
    for group in spectrum.groups:
        errors[group] = group_error(spectrum, group)
    errors[spectrum.eigenvalues == 0] = 0.0
    return errors


def group_error(spectrum: Spectrum, group: ArrayLike) -> float:
    """Return the standard error of the mean of some eigenvalues, a known degenerate group."""
    members = some_of(len(spectrum.eigenvalues))(group, "members")
    mean = spectrum.covariance[np.ix_(members, members)].mean()
    # On a perfect grid nothing varies, and rounding may make the variance negative.
    return float(np.sqrt(max(mean, 0.0)))


def group_by_size(spectrum: Spectrum) -> Groups:
    """Put eigenvalues into groups: neighbours closer than their sampling errors belong together.

    Sorted members of a degenerate group repel each other, so only their mean has an error that
    makes sense.
    """
    single = np.sqrt(np.diag(spectrum.covariance))
    values = spectrum.eigenvalues
    gap = -np.diff(values)
    together = gap < 2 * np.maximum(single[1:], single[:-1])
    together &= values[:-1] != 0
    return tuple(np.split(np.arange(len(values)), np.flatnonzero(~together) + 1))


def epsilon_bias(spectrum: Spectrum) -> FloatArray:
    r"""Estimate λ(ε) - λ(0), (n,), from Ritz values of the same eigenfunctions at ε/2.

    Notes
    -----
    The bias is first order in ε, so λ(ε) - λ(0) ≈ 2 (λ(ε) - λ(ε/2)), both corrected for the
    finite sample. No new search, no new solve and, for a Gaussian, not even a new evaluation: the
    kernel at ε/2 is the square of that at ε. The modes are held fixed.
    """
    operator = spectrum.operator
    at_half = operator.with_kernel(halved(operator.kernel))
    with one_blas_thread():
        half = ritz_values(spectrum, at_half)
        full = ritz_values(spectrum, spectrum.operator)
    change = 2 * (half - full)
    for group in spectrum.groups:
        change[group] = change[group].mean()
    return np.where(spectrum.eigenvalues == 0, 0.0, change)


def ritz_values(spectrum: Spectrum, operator: Operator) -> FloatArray:
    """Return the rates of an operator on the span of the eigenfunctions, corrected, (n,).

    Modes with different limits have different masses, and spans of their own. In many dimensions,
    where most points are limited, masses are those without: limited ones do not follow ε.
    """
    u, limits = spectrum.vectors, np.array([limit.reference for limit in spectrum.limits])
    product = operator.weights @ np.hstack([u, operator.kernel.relative_variance[:, None]])
    result = np.empty(u.shape[1])
    for reference in np.unique(limits) if limits.size else [None]:
        members = np.flatnonzero(limits == reference) if limits.size else np.arange(u.shape[1])
        time = operator.steps
        if limits.size:
            time = spectrum.limits[members[0]].without_many.time(1 / operator.steps)
        result[members] = rates_on_span(
            operator, u[:, members], product[:, members], product[:, -1:], time[:, None]
        )
    return result


def rates_on_span(
    operator: Operator, u: FloatArray, of_vectors: FloatArray, of_spread: FloatArray,
    time: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return the Ritz values, corrected, on the span of u, (M, m); K u and K s² are given."""
    degrees, spread = operator.degrees[:, None], operator.kernel.relative_variance[:, None]
    stiffness = u.T @ (degrees * u - of_vectors)
    rates, mix = eigh(stiffness, u.T @ (degrees * time * u))
    # The mean of s², the relative variance, over the energy of each mode w comes from
    # ½ Σ s_i² K_ij (w_i - w_j)². This needs K s², but no further product with the modes.
    w, of_w = u @ mix, of_vectors @ mix
    weighted = 0.5 * (spread * degrees + of_spread) * w - spread * of_w
    energy = np.einsum("ij,ij->j", w, degrees * w - of_w)
    average = np.divide(
        np.einsum("ij,ij->j", w, weighted), energy, out=np.zeros_like(energy), where=energy > 0
    )
    return np.asarray(np.maximum(rates / share_at(operator, average), 0.0))
