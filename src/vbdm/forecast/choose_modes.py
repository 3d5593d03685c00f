"""How many modes, by what is held out.

Tried are only probabilities to stay below a few levels, which are products of small matrices; whole
distributions are judged afterwards, of the best number alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import one_blas_thread
from .bases import EIGENFUNCTIONS
from .holdout import HoldOut
from .modes import Modes, bounded, whitening

#: Numbers of modes that are tried.
NUMBERS = (3, 4, 6, 8, 12, 16, 24, 32, 48, EIGENFUNCTIONS)
#: The least number is taken that is no worse than the best by this share.
NO_WORSE = 0.002
#: Number of levels of each column, at quantiles of the record.
LEVELS = 20
#: The least mass of a density that is divided by.
LEAST_MASS = 0.1


class Unseen(NamedTuple):
    """What is known outside a block.

    `starts` are the numbers of the block's starts, `begun` their coefficients, (n, m); `below` the
    means of the basis times whether columns are below their levels, (m, columns · levels);
    `matrices` move coefficients, by lag, (m, m).
    """

    starts: NDArray[np.intp]
    begun: FloatArray
    below: FloatArray
    matrices: dict[int, FloatArray]


def choose_modes(
    modes: Modes, held: HoldOut, leads: Sequence[int], numbers: Sequence[int]
) -> Modes:
    """Return the predictor with the number of modes that is good at all leads.

    Parameters
    ----------
    modes : Modes
        With the largest basis.
    held : HoldOut
        What is held out.
    leads : sequence of int
        Ascending leads at which forecasts are tried.
    numbers : sequence of int
        Numbers of modes that are tried.
    """
    numbers = [m for m in numbers if m <= modes.n_modes] or [modes.n_modes]
    if len(numbers) == 1:
        return modes.truncated(numbers[0])
    levels = levels_of(modes.record.values)
    unseen = list(known_outside(modes, held, leads if modes.direct else (1,), levels))
    came = {lead: is_below(held.truths(lead), levels) for lead in leads}
    scores = np.array([mean_errors(unseen, came, m, modes.direct) for m in numbers])
    # How much worse a number is than the best one of a lead, at the lead that suffers most.
    best = scores.min(axis=0)
    regret = (scores / np.where(best > 0, best, 1.0)).max(axis=1)
    return modes.truncated(numbers[int(np.argmax(regret <= regret.min() + NO_WORSE))])


def levels_of(values: FloatArray) -> FloatArray:
    """Return the levels of each column, (columns, levels), at even quantiles."""
    share = (np.arange(LEVELS) + 0.5) / LEVELS
    return np.nanquantile(values, share, axis=0).T


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
    begun = modes.begin(held.points)
    pairs = {lag: record.pairs(lag) for lag in lags}
    whole = {lag: products(basis[late], basis[early]) for lag, (early, late) in pairs.items()}
    for block in held.blocks:
        inside: BoolArray = block.left_out[record.rows]
        matrices = {}
        for lag, (early, late) in pairs.items():
            touched = inside[early] | inside[late]
            part = products(basis[late[touched]], basis[early[touched]])
            matrices[lag] = (whole[lag] - part) / max((~touched).sum(), 1)
        mix = whitening(basis[~inside])
        outside = products(basis[~inside], below[~inside]) / max((~inside).sum(), 1)
        moves = {lag: bounded(mix.T @ own @ mix) for lag, own in matrices.items()}
        yield Unseen(block.starts, begun[block.starts] @ mix, mix.T @ outside, moves)


def products(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the products of all columns of two tables."""
    with one_blas_thread():
        return np.asarray(first.T @ second)


def mean_errors(
    unseen: Sequence[Unseen], came: dict[int, FloatArray], m: int, direct: bool
) -> FloatArray:
    """Return the mean squared error of probabilities at each lead, by the first m modes."""
    sums, numbers = np.sum([errors_of(own, came, m, direct) for own in unseen], axis=0)
    return np.asarray(sums / np.maximum(numbers, 1))


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
