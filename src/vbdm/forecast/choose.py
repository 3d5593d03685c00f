"""The number of modes, and the sharpness of the kernel at each lead, by what is held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import one_blas_thread
from ..operator.operator import Operator
from ..progress import report
from .holdout import HoldOut, Judged, judge
from .modes import EIGENFUNCTIONS, LEAST_MASS, SQUARED, Modes, moving, whitening
from .neighbours import Neighbours
from .predictor import ByLead
from .record import Record, Rows

#: Numbers of modes that are tried.
NUMBERS = (3, 4, 6, 8, 12, 16, 24, 32, 48, EIGENFUNCTIONS)
#: The least number is taken that is no worse than the best by this share.
NO_WORSE = 0.002
#: Number of levels of each column, at quantiles of the record.
LEVELS = 20
#: Powers of the kernel that are tried. Below 1/2 its cut is felt; at 16 few neighbours are left.
POWERS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
#: The least power is taken whose score is no worse than the best by this share.
SHARPER = 0.001


class Unseen(NamedTuple):
    """What is known outside a block."""

    #: Numbers of the block's starts, and their coefficients, (n, m).
    starts: NDArray[np.intp]
    begun: FloatArray
    #: Means of the basis times whether columns are below their levels, (m, columns · levels).
    below: FloatArray
    #: Matrices that move coefficients, by lag, (m, m).
    matrices: dict[int, FloatArray]


def choose_modes(
    modes: Modes, held: HoldOut, leads: Sequence[int], numbers: Sequence[int]
) -> Modes:
    """Return the predictor with that of some numbers of modes that is good at all leads.

    `modes` has the largest basis; leads ascend.
    """
    if len(numbers) == 1:
        return modes.truncated(min(numbers[0], modes.n_modes))
    numbers = usable(numbers, modes)
    # Even quantiles of each column, (columns, levels).
    levels = np.nanquantile(modes.record.values, (np.arange(LEVELS) + 0.5) / LEVELS, axis=0).T
    unseen = list(known_outside(modes, held, leads if modes.direct else (1,), levels))
    came = {lead: is_below(held.truths(lead), levels) for lead in leads}
    errors = [
        np.sum([errors_of(own, came, m, modes.direct) for own in unseen], axis=0) for m in numbers
    ]
    scores = np.array([sums / np.maximum(known, 1) for sums, known in errors])
    # How much worse a number is than the best one of a lead, at the lead that suffers most.
    best = scores.min(axis=0)
    regret = (scores / np.where(best > 0, best, 1.0)).max(axis=1)
    return modes.truncated(numbers[int(np.argmax(regret <= regret.min() + NO_WORSE))])


def usable(numbers: Sequence[int], modes: Modes) -> list[int]:
    """Return numbers of functions that can be told apart: no coordinate comes before another.

    First come 1 and all coordinates, or their squares as well, then further functions.
    """
    p = modes.record.states.shape[1]
    whole = {1 + p, 1 + 2 * p} if p <= SQUARED else {1 + p}
    found = sorted({m for m in numbers if m > max(whole)} | whole)
    return [m for m in found if m <= modes.n_modes] or [modes.n_modes]


def is_below(values: FloatArray, levels: FloatArray) -> FloatArray:
    """Return whether values, (n, columns), are below levels, (n, columns · levels), or NaN."""
    found = (values[:, :, None] <= levels).astype(np.float64)
    found[np.isnan(values)] = np.nan
    return found.reshape(len(values), -1)


def known_outside(
    modes: Modes, held: HoldOut, lags: Sequence[int], levels: FloatArray
) -> Iterator[Unseen]:
    """Yield what is known outside each block; sums over its own pairs are taken off the whole."""
    record, basis = modes.record, modes.basis
    below = is_below(record.values[record.rows], levels)
    begun = modes.begin(held.points).values
    pairs = {lag: record.pairs(lag) for lag in lags}
    whole = {lag: both_sums(basis, *own) for lag, own in pairs.items()}
    for block in held.blocks:
        inside: BoolArray = block.left_out[record.rows]
        mix = whitening(basis[~inside])
        moves = {}
        for lag, (early, late) in pairs.items():
            touched = inside[early] | inside[late]
            left = whole[lag] - both_sums(basis, early[touched], late[touched])
            cross, gram = mix.T @ left @ mix
            moves[lag] = moving(cross, gram, int((~touched).sum()))
        outside = products(basis[~inside], below[~inside]) / max((~inside).sum(), 1)
        yield Unseen(block.starts, begun[block.starts] @ mix, mix.T @ outside, moves)


def both_sums(basis: FloatArray, early: Rows, late: Rows) -> FloatArray:
    """Return the sums over pairs of states of Q(late) Q(early)ᵀ and of Q(early) Q(early)ᵀ."""
    first = basis[early]
    return np.array([products(basis[late], first), products(first, first)])


def products(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the products of all columns of two tables."""
    with one_blas_thread():
        return np.asarray(first.T @ second)


def errors_of(own: Unseen, came: dict[int, FloatArray], m: int, direct: bool) -> FloatArray:
    """Return sums of squared errors of probabilities, and their numbers, by lead, (2, leads)."""
    step, power, at = own.matrices.get(1), np.eye(m), 0
    found = []
    for lead, truth in came.items():
        if direct or step is None:
            power = own.matrices[lead][:m, :m]
        else:
            power, at = np.linalg.matrix_power(step[:m, :m], lead - at) @ power, lead
        moved = own.begun[:, :m] @ power.T
        # The first function is 1, so its coefficient is the whole mass.
        mass = np.where(np.abs(moved[:, :1]) > LEAST_MASS, moved[:, :1], LEAST_MASS)
        probability = np.clip(moved @ own.below[:m] / mass, 0.0, 1.0)
        wrong = (probability - truth[own.starts]) ** 2
        found.append((np.nansum(wrong), np.isfinite(wrong).sum()))
    return np.array(found).T


def choose_neighbours(
    record: Record,
    operator: Operator,
    held: HoldOut,
    leads: tuple[int, ...],
    powers: tuple[float, ...] = POWERS,
) -> tuple[Neighbours, list[Judged]]:
    """Return the predictor with the sharpness that scores best at each lead, and its scores."""
    nothing = ByLead(np.array([1.0]), np.array([0.0]))
    plain = Neighbours(record=record, operator=operator, sharpness=nothing, share=nothing)
    begun = plain.begin(held.points)
    unseen = [(plain.without(own.left_out), begun[own.starts]) for own in held.blocks]
    chosen, scores = [], []
    for number, lead in enumerate(leads):
        tried = []
        for power in powers:
            parts = [own.sharpened(start, lead, power) for own, start in unseen]
            # Starts are in order, so are blocks.
            tried.append(judge(held, csr_array(vstack(parts, format="csr")), lead))
        own = np.array([one.score for one in tried])
        best = int(np.argmax(own <= own.min() * (1 + SHARPER)))
        chosen.append(powers[best])
        scores.append(tried[best])
        report("hold-out", number + 1, len(leads))
    at = np.array(leads, dtype=np.float64)
    share = ByLead(at, np.array([own.share for own in scores]))
    # The power is interpolated by its logarithm.
    return replace(plain, sharpness=ByLead(at, np.log(chosen)), share=share), scores
