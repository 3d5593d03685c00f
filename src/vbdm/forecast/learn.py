"""From series to what is learned of them: delays, predictor and spread, by a hold-out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import FloatArray
from ..errors import InputError
from ..operator.operator import Operator
from ..prepare.delays import Delays
from ..progress import report
from .choose import Trial, try_modes, try_neighbours
from .ensemble import Ensemble
from .holdout import HoldOut, mean_in_time
from .predictor import ByLead, Learned, grid
from .record import FEWEST, Record, complete

#: Numbers of rows in a state that are tried, and the most columns that a state may then have.
DELAYS, MOST_COLUMNS = (1, 2, 3, 5, 8, 12), 30
#: Rows, starts, leads and functions that are enough to choose the delays by.
SOME_ROWS, SOME_STARTS, SOME_LEADS, SOME_FUNCTIONS = 2000, 200, 6, 30
#: Powers of the kernel that are enough for that.
SOME_POWERS = (0.5, 2.0, 8.0)
#: The search for delays ends when so many numbers in a row are not worth it.
WAIT = 3
#: Fewest steps from one state to another.
FEWEST_PAIRS = 10
#: The horizon is this share of the rows, and at most LONGEST steps.
SHARE_OF_ROWS, LONGEST = 1 / 20, 128
#: The central interval whose coverage is set right.
LEVEL = 0.9
#: Factors beyond these mean that something else is wrong.
SMALLEST, LARGEST = 0.2, 5.0

#: Estimates the generator from the states of a record.
Estimator = Callable[[Record], Operator]


@dataclass(frozen=True)
class Asked:
    """Parameters of a `Forecaster`; None leaves a choice to the hold-out."""

    predictor: str | None = None
    delays: int | None = None
    delay_step: int = 1
    n_modes: int | None = None
    direct: bool = False
    horizon: int | None = None


@dataclass(frozen=True, eq=False)
class Decided:
    """What was learned, and the trials that decided."""

    learned: Learned
    #: The trial of the predictor that was taken.
    chosen: Trial
    #: Trials of all predictors, by their names.
    trials: dict[str, Trial]
    #: Mean scores by number of delays, where these were chosen; else empty.
    delay_scores: dict[int, float]


def learn(values: FloatArray, lengths: Sequence[int], asked: Asked, estimate: Estimator) -> Decided:
    """Learn a forecast from series, (N, n), one below the other."""
    wanted = asked.horizon or min(LONGEST, max(4, int(SHARE_OF_ROWS * sum(lengths))))
    leads = grid(max(1, min(wanted, max(lengths) // 2)))
    plain = Record.of(values, lengths, Delays(asked.delays or 1, asked.delay_step))
    if n_pairs(plain) < FEWEST_PAIRS:
        raise InputError(
            f"States do not follow each other; received {len(plain.rows):,} states, of which "
            f"{n_pairs(plain)} are followed by another one step later, and it takes "
            f"{FEWEST_PAIRS}. Give longer series; if every other row is missing, leave these out."
        )
    delays, scores = choose_delays(values, lengths, asked, estimate, leads)
    record = Record.of(values, lengths, delays)
    operator = estimate(record)
    held = HoldOut.of(record)
    trials: dict[str, Trial] = {}
    told = leads
    if asked.predictor != "modes":
        trials["neighbours"] = try_neighbours(operator, held, leads)
        told = trials["neighbours"].telling
    if asked.predictor != "neighbours":
        trials["modes"] = try_modes(operator, held, leads, told, asked.n_modes, asked.direct)
    best = trials.get("modes") or trials["neighbours"]
    if len(trials) == 2 and trials["neighbours"].worth_more(best, told):
        best = trials["neighbours"]
    return Decided(calibrate(best), best, trials, scores)


def n_pairs(record: Record) -> int:
    """Return how many states are followed by another one step later."""
    return len(record.pairs(1)[0])


def choose_delays(
    values: FloatArray,
    lengths: Sequence[int],
    asked: Asked,
    estimate: Estimator,
    leads: tuple[int, ...],
) -> tuple[Delays, dict[int, float]]:
    """Return the number of rows in a state that is worth it, and the scores of all that were tried.

    Tried are both predictors, on some rows and leads only.
    """
    if asked.delays is not None:
        return Delays(asked.delays, asked.delay_step), {}
    few = tuple(sorted({leads[i] for i in np.linspace(0, len(leads) - 1, SOME_LEADS).astype(int)}))
    part, parts = latest(values, lengths, SOME_ROWS)
    best = best_of_both(Record.of(part, parts, Delays(1)), estimate, asked, few)
    waited, scores = 0, {1: best.score}
    for number, count in enumerate(DELAYS[1:], start=1):
        record = Record.of(part, parts, Delays(count, asked.delay_step), at_least=0)
        too_few = len(record.rows) < FEWEST or n_pairs(record) < FEWEST_PAIRS
        if count * values.shape[1] > MOST_COLUMNS or waited == WAIT or too_few:
            break
        own = best_of_both(record, estimate, asked, few)
        scores[count] = own.score
        report("delays", number + 1, len(DELAYS))
        if own.worth_more(best):
            best, waited = own, 0
        else:
            waited += 1
    return best.record.delays, scores


def latest(
    values: FloatArray, lengths: Sequence[int], n_rows: int
) -> tuple[FloatArray, tuple[int, ...]]:
    """Return the last rows of some series, and the lengths that these then have.

    They end at the last row without a missing value: a column may have ended long before.

    Examples
    --------
    >>> latest(np.zeros((9, 1)), [4, 5], 7)[1]
    (2, 5)
    """
    end = int(np.flatnonzero(complete(values)).max(initial=0)) + 1
    stops = np.minimum(np.cumsum(lengths), end)
    kept, left = [], n_rows
    for length in reversed(np.diff(stops, prepend=0).tolist()):
        if left > 0 and length > 0:
            kept.append(min(length, left))
            left -= length
    return values[end - sum(kept) : end], tuple(reversed(kept))


def best_of_both(
    record: Record, estimate: Estimator, asked: Asked, leads: tuple[int, ...]
) -> Trial:
    """Return the better trial of both predictors, with few functions and starts."""
    operator, held = estimate(record), HoldOut.of(record, SOME_STARTS)
    trials = []
    if asked.predictor != "modes":
        trials.append(try_neighbours(operator, held, leads, SOME_POWERS))
    if asked.predictor != "neighbours":
        modes = asked.n_modes, asked.direct, SOME_FUNCTIONS
        trials.append(try_modes(operator, held, leads, leads, *modes))
    return min(trials, key=lambda one: one.score)


def calibrate(chosen: Trial) -> Learned:
    """Return the predictor with the spread that makes its intervals right."""
    held, predictor, leads = chosen.held, chosen.predictor, chosen.leads
    factors = []
    found = held.members(predictor, leads)
    for lead, members in zip(leads, found, strict=True):
        truths = held.truths(lead)
        factors.append([spread_factor(own, truths[:, j]) for j, own in enumerate(members)])
        report("spread", len(factors), len(leads))
    at = np.array(leads, dtype=np.float64)
    # Where nothing could be compared, nothing is known to be better than climatology.
    scores = ByLead(at, np.nan_to_num([own.score for own in chosen.judged], nan=1.0))
    return Learned(predictor=predictor, spread=ByLead(at, np.array(factors)), score=scores)


def spread_factor(members: Ensemble, y: FloatArray) -> float:
    """Return the factor by which the distance from the mean must grow, as far as it is no chance.

    Each start has the factor at which its 90 % interval would just hold what came; the quantile of
    these at 90 % is the one wanted (as in conformal prediction). What may be chance is taken off:
    the logarithm of the factor is multiplied by 1 - 1/z², z the number of standard errors between
    the coverage without it and 90 %.
    """
    tails = members.quantile(np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    away = y - members.mean
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(
            away < 0, away / (tails[:, 0] - members.mean), away / (tails[:, 1] - members.mean)
        )
    needed = ratio[np.isfinite(y) & ~members.empty]
    # A member may be the only one, and what came be equal to it, or not.
    needed = np.where(np.isnan(needed), 0.0, needed)
    # The mean of a few very large members may lie beyond the interval: no factor would do.
    needed = np.where(needed < 0, np.inf, needed)
    n = len(needed)
    if n < 20:
        return 1.0
    coverage, error = mean_in_time((needed <= 1).astype(np.float64))
    z = (coverage - LEVEL) / max(error, np.sqrt(LEVEL * (1 - LEVEL) / n))
    if abs(z) <= 1:
        return 1.0
    wanted = np.quantile(np.minimum(needed, LARGEST), min(LEVEL * (1 + 1 / n), 1.0))
    factor = np.exp(np.log(np.clip(wanted, SMALLEST, LARGEST)) * (1 - 1 / z**2))
    return float(factor)
