r"""From a spectrum to metastable states: how many, memberships, populations, rates.

With memberships χ = Φ B in the span of the n slowest modes, the process between states has rates

.. math:: Q = ⟨χ, χ⟩^{-1} ⟨χ, L χ⟩ = B^{-1} Λ B,

the generator seen through χ: its rows sum to 0, and its eigenvalues are those of the n modes.

Memberships are those of PCCA+. Where a process stays long in some regions and moves seldom between
them, its n slowest modes are nearly constant on each region: the points, in coordinates of these
modes, lie near the corners of a simplex. The barycentric coordinates of that simplex,
:math:`χ = V A`, are shares of membership in the regions. They sum to 1, and are positive if no
point lies outside.

The corners are first taken from the points (the inner simplex of Weber and Galliat 2002). Then A is
moved, always so that no point lies outside, until the states overlap as little as they can: the
trace of :math:`\mathrm{diag}(π)^{-1} ⟨χ, χ⟩`, which is n if they do not overlap at all, is made
as large as it gets (Deuflhard and Weber 2005; Röblitz and Weber 2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ..base.arrays import FloatArray, frozen
from ..base.checks import is_auto, is_whole, shown
from ..base.estimate import Estimate
from ..base.threads import rows_that_fit, slices
from ..base.wording import counted
from ..equations.error_bars import summed_inside
from ..errors import InputError
from ..spectrum.spectrum import Spectrum
from ..trust.series import in_series, variance_by_lags
from .evolution import speed_of

if TYPE_CHECKING:
    from .clock import Clock
    from .dynamics import Basis, Dynamics

#: Directions in which the outermost points are kept for the search; others never touch a side.
DIRECTIONS = 2000
#: The most evaluations of the search, for each number that is free.
EVALUATIONS = 400
#: Least ratio between the rates of the first mode inside states and of the last one between them.
#: On an interval without any barrier the second mode is 4 times as fast as the first.
LEAST_GAP = 5.0


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class States:
    """Metastable states, the most populated first.

    Attributes
    ----------
    memberships : (N, n) array
        Share with which each point belongs to each state: not negative, with sum 1. NaN at points
        of pieces that were not solved.
    labels : (N,) int array
        The state to which each point belongs most; -1 where there is none.
    populations : tuple of Estimate
        Share of each state in the invariant measure, with its standard error; NaN errors unless the
        operator is the generator of the sampling density (c1 = 1).
    rates : (n, n) array
        Rates from state to state: entry (i, j) is the rate at which what is in i goes to j. Rows
        sum to 0. Per unit of time if a clock was given, else with diffusivity 1.
    rate_errors : (n, n) array
        Standard errors of these rates from those of the eigenvalues, of two states also from those
        of the populations. Of more than two states, memberships are taken as known: over samples
        of three wells rates scattered up to 1.5 times as much.
    timescales : (n - 1,) array
        Times in which differences between the states level out; infinite between pieces.
    timescale_errors : (n - 1,) array
        Their standard errors.
    crispness : float
        How little the states overlap: 1 if each point belongs to one state alone.
    gap : float
        How much faster the first mode inside states decays than the last one between them; below 5
        the states are no clear ones. NaN if no such mode is known.
    unit : str
        Unit of time of the clock; empty without one.
    """

    memberships: FloatArray
    labels: NDArray[np.intp]
    populations: tuple[Estimate, ...]
    rates: FloatArray
    rate_errors: FloatArray
    timescales: FloatArray
    timescale_errors: FloatArray
    crispness: float
    gap: float
    unit: str = ""

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.populations)

    def plot(self, ax: Any = None) -> Any:
        """Draw populations and rates between the states (see `vbdm.plot.states`)."""
        from ..plot import states

        return states(self, ax=ax)

    def __repr__(self) -> str:
        """Give populations, the slowest time, and how clear the states are."""
        shares = ", ".join(f"{one.value:.3g}" for one in self.populations[:6])
        more = ", …" if len(self) > 6 else ""
        unit = f" {self.unit}" if self.unit else ""
        return (
            f"States({len(self)} states with populations {shares}{more}, slowest time "
            f"{self.timescales[0]:.3g}{unit}, gap {self.gap:.3g}, crispness {self.crispness:.2f})"
        )


def states(self: Dynamics, n: int | str = "auto", *, clock: Clock | None = None) -> States:
    """Return metastable states: regions that the process leaves seldom.

    Parameters
    ----------
    n : int or "auto"
        Number of states, 2 or more. By default as many as there are modes before the largest gap
        between their rates; where the points fall into pieces, one state for each piece.
    clock : Clock, optional
        From `clock`: rates and times are then in its unit of time.

    Returns
    -------
    States
        ``.memberships``, (N, n), shares that sum to 1; ``.labels``; ``.populations`` with errors;
        ``.rates``, (n, n), from state to state; ``.timescales``; ``.crispness`` and ``.gap``.

    Raises
    ------
    InputError
        If there is no gap: the process then has no metastable states, or more modes are needed.

    Notes
    -----
    Implements PCCA+ on the eigenfunctions (`vbdm.dynamics.states`) and rates
    :math:`Q = B^{-1} Λ B` for memberships Φ B. The cost is O(N n²).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> points = rng.normal(size=(1000, 2)) + np.where(rng.random((1000, 1)) < 0.7, 0, [[4.5, 0]])
    >>> states = vbdm.estimate_operator(points, "generator").spectrum(5).states()
    >>> len(states), [round(one.value, 1) for one in states.populations]
    (2, [0.7, 0.3])
    >>> bool(np.allclose(states.memberships.sum(axis=1), 1))
    True
    """
    spectrum, basis, speed = self.spectrum, self.basis, speed_of(clock)
    count = number_of_states(n, basis)
    matrix = simplex(basis, count)
    members = basis.values(np.pad(matrix, [(0, len(basis.numbers) - count), (0, 0)]))
    # Points that resolve no mode may lie outside of the simplex.
    members = np.maximum(members, 0.0)
    members = members / members.sum(axis=1, keepdims=True)
    populations = shares_of(spectrum) @ np.nan_to_num(members)
    order = np.argsort(-populations, kind="stable")
    matrix, members, populations = matrix[:, order], members[:, order], populations[order]
    eigenvalues = basis.rates[:count] * basis.varies[:count] * speed
    errors = population_errors(spectrum, members, populations)
    overlap = np.diag(matrix.T @ basis.gram[:count, :count] @ matrix) / populations
    known = np.isfinite(members[:, 0])
    with np.errstate(divide="ignore"):
        times = 1 / np.abs(eigenvalues[1:])
    numbers = basis.numbers[1:count]
    if clock is None:
        # What does not decay has no error.
        decaying = np.where(np.isfinite(times), times, 0.0)
        time_errors = np.asarray(decaying**2 * spectrum.errors.standard[numbers])
    else:
        time_errors = clock.timescale_errors[numbers]
    return States(
        memberships=frozen(members),
        labels=frozen(np.where(known, np.nan_to_num(members).argmax(axis=1), -1)),
        populations=tuple(map(Estimate, populations.tolist(), errors.tolist())),
        rates=frozen(np.linalg.solve(matrix, eigenvalues[:, None] * matrix)),
        rate_errors=frozen(rate_errors(basis, matrix, eigenvalues, errors, clock)),
        timescales=frozen(times), timescale_errors=frozen(time_errors),
        crispness=float(overlap.mean()),
        gap=float(gaps(basis)[count - 1]) if count < len(basis.rates) else np.nan,
        unit="" if clock is None else clock.unit,
    )  # fmt: skip


def shares_of(spectrum: Spectrum) -> FloatArray:
    """Return the invariant measure of the pieces that were solved, (N,), with sum 1."""
    weights = np.where(spectrum.pieces.strays, 0.0, spectrum.operator.equations.measure)
    return np.asarray(weights / weights.sum())


def simplex(basis: Basis, count: int) -> FloatArray:
    """Return the matrix B, (n, n), of memberships Φ B in the span of the first n modes."""
    spectrum = basis.spectrum
    turn = orthonormal(basis, count)
    modes = np.asarray(basis.functions[:, :count]) @ turn
    rows = spectrum.operator.graph.order.caller_rows
    inside = ~spectrum.pieces.strays[rows]
    # Points that resolve no mode would push the sides of the simplex outwards.
    sound = inside & ~spectrum.unresolved[rows]
    return turn @ memberships_of(modes[sound if sound.sum() > count else inside])


def orthonormal(basis: Basis, count: int) -> FloatArray:
    """Return the matrix T, (n, n), of orthonormal functions Φ T in the first n modes, 1 first."""
    gram = basis.gram[:count, :count]
    ones = basis.constant[:count]
    root = np.linalg.cholesky(gram).T
    others = np.eye(count)[:, np.argsort(-np.abs(ones))[1:]]
    turn = np.linalg.solve(root, np.linalg.qr(root @ np.column_stack([ones, others]))[0])
    return np.asarray(turn * np.sign(turn[:, 0] @ gram @ ones))


def population_errors(
    spectrum: Spectrum, members: FloatArray, populations: FloatArray
) -> FloatArray:
    """Return the standard errors of the populations, (n,); NaN unless c1 is 1.

    A population is a mean over the rows of pieces that were solved, each with its weight: a row
    adds μ_t (χ_t - p) / Σ μ to its error. For other operators the measure itself responds to the
    sample. Copies of a point that are no steps in time are one independent point.
    """
    c1 = spectrum.operator.settings.exponents.c1
    if c1 is None or not np.isclose(c1, 1):
        return np.full(len(populations), np.nan)
    rows = shares_of(spectrum)[:, None] * np.nan_to_num(members - populations)
    if not in_series(spectrum):
        points = summed_inside(spectrum.operator.graph.order, rows)
        return np.asarray(np.sqrt(np.square(points).sum(axis=0)))
    lengths = spectrum.settings.series.lengths or (len(rows),)
    return np.sqrt([variance_by_lags(column, lengths) for column in rows.T])


def rate_errors(
    basis: Basis, matrix: FloatArray, eigenvalues: FloatArray, shares: FloatArray, clock: Any
) -> FloatArray:
    """Return the standard errors of the rates, (n, n), from those of the eigenvalues.

    Of two states, with rates |λ| p from one to the other, also from those of the populations.
    """
    count, numbers = len(matrix), basis.numbers[: len(matrix)]
    covariance = basis.spectrum.errors.covariance[np.ix_(numbers, numbers)]
    if clock is not None:
        # The clock knows how far errors of D and of the eigenvalues drop out of the rates.
        error = np.sqrt(np.diag(covariance))
        scale = np.divide(clock.rate_errors[numbers], error, out=0 * error, where=error > 0)
        covariance = scale[:, None] * covariance * scale
    parts = np.einsum("ik,kj->ijk", np.linalg.inv(matrix), matrix)
    variance = np.einsum("ijk,kl,ijl->ij", parts, covariance, parts)
    if count == 2:
        variance += (eigenvalues[1] * np.nan_to_num(shares[0])) ** 2
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def gaps(basis: Basis) -> FloatArray:
    """Return the ratios of the rates of each mode to that before it, (k - 1,); infinite after 0."""
    rates = np.abs(basis.rates * basis.varies)
    before = rates[:-1]
    return np.divide(rates[1:], before, out=np.where(rates[1:] > 0, np.inf, 1.0), where=before > 0)


def number_of_states(n: Any, basis: Basis) -> int:
    """Return the number of states: as asked for, or where the largest gap between rates is."""
    pieces, known = int((~basis.varies).sum()), len(basis.rates)
    if is_auto(n):
        # With pieces, nothing goes from one to the other: the gap behind these modes is infinite.
        return pieces if pieces > 1 else by_gap(basis)
    if not is_whole(n) or n < 2 or n > known:
        raise InputError(
            f"`n` must be 'auto' or a number of states from 2 to {known}; received {shown(n)}. "
            f"There is a state for each mode, and {counted(known, 'mode')} are known. Ask for "
            "more modes, `op.spectrum(n)`, or for fewer states."
        )
    if n < pieces:
        raise InputError(
            f"There are at least {pieces} states, one for each piece of the data; received n={n}. "
            f"Pass n={pieces}, or solve the largest alone: `op.spectrum(components='largest')`."
        )
    return int(n)


def by_gap(basis: Basis) -> int:
    """Return the number of modes before the largest gap."""
    ratios = gaps(basis)
    if len(ratios) > 1 and ratios[1:].max() >= LEAST_GAP:
        return int(ratios[1:].argmax()) + 2
    rates = ", ".join(f"{rate:.3g}" for rate in np.abs(basis.rates[:6]))
    largest = f"a largest ratio of {ratios[1:].max():.2g}" if len(ratios) > 1 else "two modes"
    raise InputError(
        f"There are no metastable states to be seen; received rates {rates}, with {largest} from "
        f"one to the next. States leave a gap, a factor of {LEAST_GAP:g} or more. Ask for more "
        "modes, `op.spectrum(n)`, or pass the number of states, n=3, if you know it."
    )


def memberships_of(modes: FloatArray) -> FloatArray:
    """Return the matrix A, (n, n), with memberships V A, from the modes V at points, (m, n).

    The first column of V is 1, and the columns are orthonormal in the invariant measure.
    """
    outer = modes[outermost(modes)]
    start = np.linalg.inv(outer[corners(outer)])
    n = modes.shape[1]
    best = np.asarray(start[1:, 1:], dtype=np.float64)
    if n > 2:

        def overlap(free: Any) -> float:
            found = feasible(free.reshape(n - 1, n - 1), outer)
            # The k-th state's share of the trace is Σ_i A_ik² / A_0k.
            return -float((found**2 / found[0]).sum())

        search = minimize(
            overlap, best.ravel(), method="Nelder-Mead",
            options={"maxfev": EVALUATIONS * best.size, "xatol": 1e-5, "fatol": 1e-7},
        )  # fmt: skip
        moved = np.asarray(search.x, dtype=np.float64)
        if overlap(moved) < overlap(best.ravel()):
            best = moved.reshape(best.shape)
    return feasible(best, modes)


def feasible(free: FloatArray, modes: FloatArray) -> FloatArray:
    """Return A with rows that keep the sum at 1, and no membership below 0, from its free part."""
    n = modes.shape[1]
    result = np.empty((n, n))
    result[1:, 1:] = free
    result[1:, 0] = -free.sum(axis=1)
    result[0] = -(modes[:, 1:] @ result[1:]).min(axis=0)
    return np.asarray(result / result[0].sum())


def corners(modes: FloatArray) -> NDArray[np.intp]:
    """Return the rows of n points that span the largest simplex, chosen one after the other.

    Examples
    --------
    >>> corners(np.array([[1, 0.0], [1, 0.9], [1, -2.0], [1, 1.0]])).tolist()
    [2, 3]
    """
    n = modes.shape[1]
    found = np.empty(n, dtype=np.intp)
    found[0] = np.square(modes[:, 1:]).sum(axis=1).argmax()
    left = modes - modes[found[0]]
    for k in range(1, n):
        length = np.square(left).sum(axis=1)
        found[k] = length.argmax()
        direction = left[found[k]] / np.sqrt(length[found[k]])
        left = left - np.outer(left @ direction, direction)
    return found


def outermost(modes: FloatArray) -> NDArray[np.intp]:
    """Return the rows of the points that are the outermost in one of many directions.

    Examples
    --------
    >>> outermost(np.array([[1, 0.0], [1, 0.9], [1, -2.0], [1, 1.0]])).tolist()
    [2, 3]
    """
    rng, axes = np.random.default_rng(0), np.eye(modes.shape[1] - 1)
    directions = np.vstack([rng.standard_normal((DIRECTIONS, len(axes))), axes, -axes])
    farthest = np.full(len(directions), -np.inf)
    found = np.zeros(len(directions), dtype=np.intp)
    for rows in slices(len(modes), rows_that_fit(len(directions))):
        reach = directions @ modes[rows, 1:].T
        best = reach.argmax(axis=1)
        value = np.take_along_axis(reach, best[:, None], axis=1)[:, 0]
        further = value > farthest
        farthest[further] = value[further]
        found[further] = rows.start + best[further]
    return np.unique(found)
