"""Predictors that are tried on what is held out: how many modes, how sharp a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import one_blas_thread
from ..operator.operator import Operator
from ..progress import report
from .holdout import HoldOut, Judged, judge, judge_alone, mean_in_time, mean_known
from .modes import EIGENFUNCTIONS, LEAST_MASS, SQUARED, Basis, Modes, shift_matrix, whitening_matrix
from .neighbours import Neighbours
from .predictor import ByLead, Predictor
from .record import Record, Rows

#: Leads at which forecasts score less than this share of climatology tell predictors apart.
TELLING = 0.95
#: Something more complicated must score better by this share, and by more than one standard error.
WORTH = 0.01
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


@dataclass(frozen=True, eq=False)
class Trial:
    """A predictor that was tried on what is held out, and whether it is worth more than another."""

    predictor: Predictor
    #: What was held out.
    held: HoldOut
    #: Leads at which it was tried, and its scores there.
    leads: tuple[int, ...]
    judged: tuple[Judged, ...]

    @property
    def record(self) -> Record:
        """What it learned from."""
        return self.predictor.record

    @cached_property
    def score(self) -> float:
        """The mean over all leads of its score over that of climatology."""
        return float(mean_known(np.array([own.score for own in self.judged])))

    @property
    def telling(self) -> tuple[int, ...]:
        """Leads at which it clearly beats climatology; all, if these are too few."""
        both = zip(self.leads, self.judged, strict=True)
        found = tuple(lead for lead, own in both if own.score < TELLING)
        return found if len(found) > 1 else self.leads

    def by_start(self, leads: tuple[int, ...]) -> FloatArray:
        """Return the scores of the starts, (n,), in the mean over some leads."""
        both = zip(self.leads, self.judged, strict=True)
        own = np.array([judged.scores(judged.share) for lead, judged in both if lead in leads])
        return mean_known(own, axis=0)

    def worth_more(self, other: Trial, leads: tuple[int, ...] = ()) -> bool:
        """Tell whether this is clearly better than another, by the starts that both have."""
        used = leads or self.leads
        _, here, there = np.intersect1d(self.held.rows, other.held.rows, return_indices=True)
        theirs = other.by_start(used)[there]
        gain, error = mean_in_time(theirs - self.by_start(used)[here])
        return gain > max(error, WORTH * float(mean_known(theirs)))


class Unseen(NamedTuple):
    """What is known outside a block."""

    #: Numbers of the block's starts, and their coefficients, (n, m).
    starts: NDArray[np.intp]
    begun: FloatArray
    #: Means of the basis times whether columns are below their levels, (m, columns · levels).
    below: FloatArray
    #: Matrices that move coefficients, by lag, (m, m).
    matrices: dict[int, FloatArray]


def try_modes(
    operator: Operator,
    held: HoldOut,
    leads: tuple[int, ...],
    told: tuple[int, ...],
    n_modes: int | None,
    direct: bool,
    most: int = EIGENFUNCTIONS,
) -> Trial:
    """Try forecasts by `n_modes`, or by that number of modes that is good at all leads that tell.

    These are ascending.
    """
    record = held.record
    functions = Basis.of(operator, record.states, n_modes or min(most, len(record.rows) // 10))
    modes = Modes(record=record, functions=functions, direct=direct)
    if n_modes is None:
        numbers = usable(NUMBERS, modes)
        # Even quantiles of each column, (columns, levels).
        levels = np.nanquantile(record.values, (np.arange(LEVELS) + 0.5) / LEVELS, axis=0).T
        unseen = list(known_outside(modes, held, told if direct else (1,), levels))
        came = {lead: is_below(held.truths(lead), levels) for lead in told}
        errors = [np.sum([errors_of(own, came, m, direct) for own in unseen], 0) for m in numbers]
        scores = np.array([sums / np.maximum(known, 1) for sums, known in errors])
        # How much worse a number is than the best one of a lead, at the lead that suffers most.
        best = scores.min(axis=0)
        regret = (scores / np.where(best > 0, best, 1.0)).max(axis=1)
        n_modes = numbers[int(np.argmax(regret <= regret.min() + NO_WORSE))]
    modes = modes.truncated(min(n_modes, modes.n_modes))
    judged = []
    for lead, members in zip(leads, held.members(modes, leads), strict=True):
        judged.append(judge_alone(held, members, lead))
        report("hold-out", len(judged), len(leads))
    return Trial(modes, held, leads, tuple(judged))


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
    whole = {lag: sums_over_pairs(basis, *own) for lag, own in pairs.items()}
    for block in held.blocks:
        inside: BoolArray = block.left_out[record.rows]
        mix = whitening_matrix(basis[~inside])
        moves = {}
        for lag, (early, late) in pairs.items():
            touched = inside[early] | inside[late]
            left = whole[lag] - sums_over_pairs(basis, early[touched], late[touched])
            cross, gram = mix.T @ left @ mix
            moves[lag] = shift_matrix(cross, gram, int((~touched).sum()))
        outside = products(basis[~inside], below[~inside]) / max((~inside).sum(), 1)
        yield Unseen(block.starts, begun[block.starts] @ mix, mix.T @ outside, moves)


def sums_over_pairs(basis: FloatArray, early: Rows, late: Rows) -> FloatArray:
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


def try_neighbours(
    operator: Operator, held: HoldOut, leads: tuple[int, ...], powers: tuple[float, ...] = POWERS
) -> Trial:
    """Try forecasts by neighbours, with the sharpness that scores best at each lead."""
    nothing = ByLead(np.array([1.0]), np.array([0.0]))
    plain = Neighbours(record=held.record, operator=operator, sharpness=nothing, share=nothing)
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
    predictor = replace(plain, sharpness=ByLead(at, np.log(chosen)), share=share)
    return Trial(predictor, held, leads, tuple(scores))
