r"""Bayes' rule on the states of a record: what is known after each observation.

The density of the state is a weight of each state of the record. A step ahead it is moved by the
predictor; an observation y multiplies it by the likelihood ℓ(y | x_s) of the states (Berry and
Harlim 2016). No model of the system is needed but its record, and a likelihood that says how
observations come about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.checks import answer_of, as_floats, shown
from ..errors import FilterWarning, InputError, warn_user
from ..progress import report
from .ensemble import Ensemble, probabilities
from .predictor import Predictor, normalize_rows
from .record import column_of

#: Weights below this share of the mean one are not kept.
NEGLIGIBLE = 1e-6
#: Share of a density that may be negative without a word.
MOST_CLIPPED = 0.02
#: Logarithm of the least share of the largest likelihood that evidence counts.
LOG_TINY = float(np.log(np.finfo(np.float64).tiny))
#: Standard deviations between this and its inverse have squares that are numbers.
SMALLEST = 1e-100
#: Observation, and the rows of all states, (S, n); returns the likelihood of each, (S,).
Likelihood = Callable[[Any, FloatArray], FloatArray]
#: The same; returns logarithms, which are numbers where likelihoods are too small to be any.
LogLikelihood = Callable[[Any, FloatArray], FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class Filtered:
    """What is known of the state after each observation.

    Attributes
    ----------
    mean, variance : (T, n) arrays
        Moments of the columns, given all observations so far.
    evidence : (T,) array
        Logarithm of the likelihood of each observation, given those before it; 0 where none was
        made. The sum is the log-likelihood of all, by which settings can be compared.
    effective : (T,) array
        Effective number of states, 1/Σ w².
    restarted : (T,) bool array
        Where no state that was expected explains the observation: the filter began anew there,
        from the observation and the record alone.
    clipped : (T,) array
        Share of the density that was negative, and left out, before each observation.
    observed : (T,) bool array
        Where there was an observation.
    """

    mean: FloatArray
    variance: FloatArray
    evidence: FloatArray
    effective: FloatArray
    restarted: BoolArray
    clipped: FloatArray
    observed: BoolArray
    weights: Any = field(repr=False)
    values: FloatArray = field(repr=False)
    season: FloatArray = field(repr=False)

    @property
    def log_likelihood(self) -> float:
        """Logarithm of the likelihood of all observations."""
        return float(self.evidence.sum())

    def quantile(self, p: Any) -> FloatArray:
        """Return quantiles of the columns, (T, n) for one p, (P, T, n) for several."""
        levels = probabilities(p)
        own = np.atleast_1d(levels)
        found = [Ensemble.of(self.weights, column).quantile(own) for column in self.values.T]
        table = np.stack(found, axis=-1).transpose(1, 0, 2) + self.season
        return table if levels.ndim else table[0]

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Draw what is known of a column after each observation, with its 90 % interval."""
        from ..plot import filtered

        return filtered(self, *args, **kwargs)


def run_filter(
    predictor: Predictor,
    observations: Sequence[Any],
    missing: Any,
    log_likelihood: LogLikelihood,
    season: FloatArray,
    fewest_effective: float,
) -> Filtered:
    """Follow observations, one at each step, where none is `missing`, (T,); see the module.

    `season`, (T, n), is the cycle that rows of the record are without. Below `fewest_effective`
    states the filter begins anew.
    """
    record = predictor.record
    values = record.values[record.rows]
    n = len(values)
    weights = np.full(n, 1 / n)
    kept, steps = [], []
    for t, seen in enumerate(observations):
        lost = 0.0
        if t:
            weights, lost = predictor.stepped(weights)
        told, again = 0.0, False
        if not missing[t]:
            likely = log_likelihood(seen, values + season[t])
            weights, told, again = apply_bayes(weights, likely, fewest_effective)
        steps.append((told, 1 / (weights**2).sum(), again, lost))
        kept.append(csr_array(np.where(weights > NEGLIGIBLE / n, weights, 0.0)[None]))
        report("filter", t + 1, len(observations))
    evidence, effective, restarted, clipped = (np.array(part) for part in zip(*steps, strict=True))
    if restarted.any():
        warn_user(
            f"At {int(restarted.sum())} of {len(restarted)} steps hardly any state of the record "
            "explains the observation: the filter began anew there (`restarted`). Larger errors of "
            "the observations, or a longer record, may help.",
            FilterWarning,
        )
    if clipped.mean() > MOST_CLIPPED:
        warn_user(
            f"On average {clipped.mean():.0%} of the density was negative, and left out "
            "(`clipped`). Another number of modes, or predictor='neighbours', may help.",
            FilterWarning,
        )
    rows = normalize_rows(csr_array(vstack(kept, format="csr")))
    # Squares of values far from 0 would leave nothing of a small variance.
    centre = values.mean(axis=0)
    mean = rows @ (values - centre)
    variance = np.maximum(rows @ (values - centre) ** 2 - mean**2, 0.0)
    mean = mean + centre
    return Filtered(
        mean=frozen(mean + season), variance=frozen(variance), evidence=frozen(evidence),
        effective=frozen(effective), restarted=frozen(restarted), clipped=frozen(clipped),
        observed=frozen(~np.asarray(missing)), weights=rows, values=values, season=season,
    )  # fmt: skip


def apply_bayes(
    weights: FloatArray, log_likely: FloatArray, fewest_effective: float
) -> tuple[FloatArray, float, bool]:
    """Return the weights after an observation, its evidence, and whether the filter began anew."""
    n = len(weights)
    top = float(log_likely.max())
    if np.isneginf(top):
        # No state explains the observation: all that is known is the record.
        return np.full(n, 1 / n), LOG_TINY, True
    with np.errstate(under="ignore"):
        likely = np.exp(log_likely - top)
        joint = weights * likely
        total = float(joint.sum())
        told = (np.log(total) if total > 0 else -np.inf, LOG_TINY)
        again = not total > 0 or 1 / float(((joint / total) ** 2).sum()) < fewest_effective
        if again:
            # Half of what was expected is given up for the record as a whole.
            joint = (weights + 1 / n) / 2 * likely
            total = float(joint.sum())
        return joint / total, float(max(told)) + top, again


def observations_of(observations: Any) -> tuple[list[Any], BoolArray]:
    """Return observations as a list, and which of them are missing: None, or NaN throughout."""
    if hasattr(observations, "to_numpy"):
        observations = observations.to_numpy()
    if isinstance(observations, np.ma.MaskedArray):
        observations = np.ma.filled(observations.astype(np.float64), np.nan)
    one_only = isinstance(observations, np.ndarray) and observations.ndim == 0
    is_list = isinstance(observations, (list, tuple, np.ndarray)) and not one_only
    if not is_list or not len(observations):
        raise InputError(
            "`observations` must be a list, one entry for each step; received "
            f"{shown(observations)}."
        )
    seen = [None if one is None else as_floats(one) for one in observations]
    wrong = [t for t, one in enumerate(observations) if one is not None and seen[t] is None]
    if wrong:
        raise InputError(
            "An observation must be a number, or several, or None; received "
            f"{shown(observations[wrong[0]])} at step {wrong[0]}."
        )
    missing = [one is None or bool(np.isnan(one).all()) for one in seen]
    # A function that was given as likelihood gets observations as they were.
    return list(observations), np.array(missing, dtype=np.bool_)


def as_likelihood(
    likelihood: Any, columns: Sequence[int | str] | None, names: tuple[str, ...], seen: list[Any]
) -> LogLikelihood:
    """Return log ℓ(y, rows), of a function or, of numbers, by normal errors so large."""
    if callable(likelihood):
        return partial(log_of_answer, likelihood)
    deviation = as_floats(likelihood)
    if (
        deviation is None
        or deviation.ndim > 1
        or not ((deviation > SMALLEST) & (deviation < 1 / SMALLEST)).all()
    ):
        raise InputError(
            "`likelihood` must be a function, or positive standard deviations; received "
            f"{shown(likelihood)}. Pass, for example, 0.5."
        )
    chosen = numbers_of(columns, names)
    shapes = {np.shape(one) for one in seen if one is not None}
    fitting = {(len(chosen),)} | ({()} if len(chosen) == 1 else set())
    if not shapes <= fitting or deviation.size not in (1, len(chosen)):
        widths = sorted({int(np.prod(shape)) for shape in shapes})
        raise InputError(
            f"Observations do not fit the columns; received {' or '.join(map(str, widths))} "
            f"number(s) in an observation, {deviation.size} deviation(s), and {len(chosen)} "
            "column(s). Say which are observed: columns=[0]."
        )
    return lambda y, rows: normal(np.atleast_1d(y), rows[:, chosen], deviation)


def numbers_of(columns: Sequence[int | str] | None, names: tuple[str, ...]) -> list[int]:
    """Return the numbers of columns that are given by number or name; all by default."""
    if columns is None:
        return list(range(len(names)))
    several = isinstance(columns, (list, tuple, range)) or np.ndim(columns) == 1
    found = [column_of(one, names) for one in (list(columns) if several else [columns])]
    if not found:
        raise InputError("`columns` names no column; received none. Leave it out for all.")
    return found


def normal(y: FloatArray, rows: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return log-likelihoods of rows, (S, k), under normal errors; missing numbers do not count.

    Examples
    --------
    >>> normal(np.array([100.0]), np.array([[0.0], [99.0]]), np.array(1.0)).round(3).tolist()
    [-5000.919, -1.419]
    """
    seen = np.asarray(y, dtype=np.float64)
    known = np.isfinite(seen)
    sigma = np.broadcast_to(deviation, seen.shape)[known]
    with np.errstate(under="ignore", over="ignore"):
        z = (rows[:, known] - seen[known]) / sigma
        return np.asarray(-0.5 * (z**2).sum(axis=1) - np.log(sigma * np.sqrt(2 * np.pi)).sum())


def log_of_answer(likelihood: Likelihood, y: Any, rows: FloatArray) -> FloatArray:
    """Return the logarithms of the likelihoods that a user's function gives; that of 0 is -inf."""
    found = answer_of(likelihood, "likelihood", y, rows)
    values = as_floats(found)
    usable = values is not None and values.shape == (len(rows),) and bool((values >= 0).all())
    if values is None or not usable or np.isinf(values).any():
        raise InputError(
            f"`likelihood` must return a number, 0 or more, for each of {len(rows):,} rows; "
            f"received {shown(found)}."
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
