"""The scikit-learn estimator of forecasts: a record behind `fit`, what comes next in `predict`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cached_property
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .base.arrays import FloatArray, frozen
from .base.checks import is_auto, is_whole
from .base.sklearn_types import BaseEstimator, fit_context
from .errors import InputError, OutsideWarning, SkillWarning, VbdmWarning, warn_user
from .estimate import estimate_operator
from .forecast.filtering import Filtered, Likelihood, as_likelihood, observations_of, run_filter
from .forecast.forecast import Forecast, apply_observable, check_leads, doubtful_leads
from .forecast.holdout import mean_known
from .forecast.learn import Asked, Decided, learn
from .forecast.reading import Given, match_axis, on_axis, read, refuse_empty, refuse_other_names
from .forecast.record import Record
from .forecast.skill import Skill, skill_held_out, skill_on
from .forecast.times import Cycle, Steps, TimeAxis, observed_steps
from .operator.operator import Operator
from .progress import showing

AUTO = StrOptions({"auto"})
COUNT = Interval(Integral, 1, None, closed="left")
#: Different states from which on an estimate that fails does so for other reasons.
FEWEST_STATES = 10


class Forecaster(BaseEstimator):
    """Forecasts from a time series alone: what comes next, with a calibrated spread.

    Two predictors stand behind it. *Modes* moves a density in a basis of smooth functions by one
    matrix, which is at home where there is noise: the diffusion forecast of Berry, Giannakis and
    Harlim (2015). *Neighbours* asks what came after similar states, which is at home in chaos.
    Parts of the series, each held out in turn, choose between them, choose delays and the number
    of modes, and set the spread so that intervals hold what comes.

    Parameters
    ----------
    predictor : {"auto", "modes", "neighbours"}
        Who predicts.
    delays : int or "auto"
        Number of rows that make a state: the newest and those before it. One is enough if a row
        says all about the system.
    delay_step : int
        Number of rows from one of them to the next.
    n_modes : int or "auto"
        Number of functions in the basis. Of up to 60 most are eigenfunctions; more are kernels
        around landmarks, at a cost of O(N n²).
    direct : bool
        Whether modes learn a matrix for each lead, from rows so far apart, instead of applying that
        of one step again and again. If the two disagree, states do not say all: use more delays.
    season : int, "auto" or None
        Number of rows in a cycle whose mean is taken off before, and put back in forecasts. By
        default a year, if rows have dates a month or less apart, else none.
    horizon : int or "auto"
        Largest lead at which forecasts are tried on what is held out.
    verbose : bool
        Whether to show a progress bar.

    Attributes
    ----------
    predictor_ : str
        Who predicts, "modes" or "neighbours".
    delays_ : int
        Number of rows that make a state.
    n_modes_ : int or None
        Number of modes; None for neighbours.
    season_ : float
        Number of rows in a cycle; 0 without one.
    scores_ : dict
        Scores of the predictors on what was held out, over that of climatology: below 1 is better.
    delay_scores_ : dict
        Scores by number of delays, where these were chosen.
    skill_ : Skill
        Scores on what was held out, beside climatology, persistence and a linear model.
    operator_ : Operator
        The operator of the states.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> series = vbdm.datasets.lorenz63(1000, random_state=0).points
    >>> model = vbdm.Forecaster(delays=1).fit(series[:900])
    >>> model.predictor_
    'neighbours'
    >>> forecast = model.predict(series[900:910], leads=[1, 5])
    >>> forecast.mean.shape, forecast.interval(0.9).shape
    ((10, 2, 3), (2, 10, 2, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "predictor": [StrOptions({"auto", "modes", "neighbours"})],
        "delays": [COUNT, AUTO],
        "delay_step": [COUNT],
        "n_modes": [Interval(Integral, 2, None, closed="left"), AUTO],
        "direct": ["boolean"],
        "season": [Interval(Integral, 2, None, closed="left"), AUTO, None],
        "horizon": [COUNT, AUTO],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        predictor: str = "auto",
        *,
        delays: int | str = "auto",
        delay_step: int = 1,
        n_modes: int | str = "auto",
        direct: bool = False,
        season: int | str | None = "auto",
        horizon: int | str = "auto",
        verbose: bool = False,
    ) -> None:
        self.predictor = predictor
        self.delays = delays
        self.delay_step = delay_step
        self.n_modes = n_modes
        self.direct = direct
        self.season = season
        self.horizon = horizon
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        series: Any,
        y: None = None,
        *,
        lengths: Sequence[int] | None = None,
        times: ArrayLike | None = None,
    ) -> Self:
        """Learn from a series, or from several.

        Parameters
        ----------
        series : (N,) or (N, n) array, frame of pandas, array of xarray, or list of these
            Rows in time; NaN where a value is missing. Arrays in a list are series of their own,
            and nothing is learned across their joints.
        y : ignored
            Present because scikit-learn passes it.
        lengths : sequence of int, optional
            Numbers of rows of several series that follow each other in one array.
        times : (N,) array, optional
            Times of the rows, numbers or dates, a constant step apart; rows may be missing. Frames
            with dates for an index and arrays of xarray have their own.
        """
        given, axis, steps = on_axis(read(series, lengths, times))
        refuse_empty(given.values)
        cycle = Cycle.asked(self.season, given.values, axis, steps)
        values = given.values - cycle.at(steps)
        with showing(self.verbose):
            asked = {
                field.name: given_or_none(getattr(self, field.name)) for field in fields(Asked)
            }
            decided = learn(values, given.lengths, Asked(**asked), estimate)
        self.axis_, self.cycle_, self.names_ = axis, cycle, given.names
        # The last state may belong to an earlier row, or to an earlier series.
        row = decided.learned.record.rows[-1]
        self.last_step_ = int(steps[row]) + len(steps) - 1 - int(row)
        self.n_features_in_ = given.values.shape[1]
        return self._remember(decided)

    def predict(
        self,
        start: Any = None,
        leads: Any = None,
        *,
        lengths: Sequence[int] | None = None,
        times: ArrayLike | None = None,
        observable: Callable[[FloatArray], ArrayLike] | None = None,
    ) -> Forecast:
        """Forecast from each row of a series that has enough rows before it.

        Parameters
        ----------
        start : series as in `fit`, optional
            Rows to start from. With delays, a row needs those before it in the series; rows that
            lack some, or a value, are no starts. By default the end of the training series: what
            comes next. If its last rows lack values, that is an earlier row, with a warning.
        leads : int or list of int, optional
            Steps ahead, one or several, given back in ascending order; by default 1 to 12, or up to
            the horizon. Longer ones than the horizon were not tried, and are `doubtful`.
        lengths, times
            As in `fit`. Times are needed where a cycle of the seasons is put back.
        observable : callable, optional
            Takes rows, (N, n), without the cycle of the seasons, and returns (N,) or (N, k)
            numbers: forecast is this function of a row in place of its columns.
        """
        check_is_fitted(self, "learned_")
        wanted = check_leads(leads, self.horizon_)
        record = self.learned_.record
        if start is None:
            # The last state of the training series.
            rows, states, axis = record.rows[-1:], record.states[-1:], self.axis_
            places, steps = rows, self.last_step_ - (record.n_rows - 1 - rows)
            early = record.n_rows - 1 - int(rows[0])
            if early:
                warn_user(
                    f"The last {early:,} row(s) of the training series make no complete state: "
                    "values are missing, or a series is too short. Forecasts start before them, at "
                    f"{axis.times(steps)[0]}, and leads are counted from there (`init`).",
                    SkillWarning,
                )
        else:
            given, whole, axis = self._given(start, lengths, times)
            values = given.values - self.cycle_.at(whole)
            places, states = record.states_in(values, given.lengths)
            steps = whole[places]
            if not len(places):
                raise InputError(
                    f"No row of the series can be a start; received {len(given.values):,} row(s). "
                    f"A state takes the complete row and those before it, "
                    f"{record.delays.reach + 1} row(s) in all. Pass more rows."
                )
            rows = places if given.rows is None else given.rows[places]
        observables, names = apply_observable(observable, record, self.names_)
        doubtful = doubtful_leads(self.learned_, wanted, quiet=observable is not None)
        found = Forecast(
            leads=frozen(np.asarray(wanted, dtype=np.intp)), rows=frozen(rows), steps=frozen(steps),
            places=frozen(places), names=names, doubtful=frozen(doubtful),
            learned=self.learned_, states=frozen(states), axis=axis, cycle=self.cycle_,
            values=observables,
        )  # fmt: skip
        if found.outside.any():
            warn_user(
                f"{int(found.outside.sum())} of {len(found)} starts are unlike all states of the "
                "training series. Their forecasts are those of the nearest states: do not trust "
                "them. They are marked in `outside`.",
                OutsideWarning,
            )
        return found

    def skill(
        self,
        series: Any,
        leads: Any = None,
        *,
        lengths: Sequence[int] | None = None,
        times: ArrayLike | None = None,
    ) -> Skill:
        """Compare forecasts from each row of a new series with what came, and with references.

        Parameters are those of `predict`. References are climatology, persistence and a linear
        model on the states, all learned from the training series.
        """
        check_is_fitted(self, "learned_")
        wanted = check_leads(leads, self.horizon_)
        given, whole, _ = self._given(series, lengths, times)
        refuse_empty(given.values)
        values = given.values - self.cycle_.at(whole)
        return skill_on(self.learned_, values, given.lengths, wanted, self.names_)

    def score(
        self, series: Any, y: None = None, *, lengths: Sequence[int] | None = None,
        times: ArrayLike | None = None,
    ) -> float:  # fmt: skip
        """Return the skill in CRPS against climatology, in the mean over leads and columns.

        1 is perfect, 0 is climatology; leads are those that were tried on what was held out.
        """
        check_is_fitted(self, "learned_")
        leads = [int(lead) for lead in self.learned_.score.leads]
        found = self.skill(series, leads, lengths=lengths, times=times).crpss
        return float(mean_known(found))

    @cached_property
    def skill_(self) -> Skill:
        """Scores on what was held out of the training series, beside the references."""
        check_is_fitted(self, "learned_")
        return skill_held_out(self.decided_, self.names_)

    def filter(
        self,
        observations: Any,
        likelihood: Likelihood | float | ArrayLike,
        *,
        columns: Sequence[int | str] | None = None,
        times: ArrayLike | None = None,
    ) -> Filtered:
        """Follow a system by noisy or partial observations, one at each step.

        Parameters
        ----------
        observations : (T,) or (T, k) array, or list
            What was observed at consecutive steps; NaN, or None, where nothing was.
        likelihood : callable, float or (k,) array
            A function of an observation and of rows, (S, n), that returns the likelihood of each
            row, (S,); or the standard deviation of normal errors of the columns that are observed.
        columns : sequence of int or str, optional
            Which columns are observed, where `likelihood` is a number; by default all.
        times : (T,) array, optional
            Times of the observations, where a cycle of the seasons was taken off.

        Returns
        -------
        Filtered
            Moments of all columns, also of those that are not observed; the evidence of the
            observations; the effective number of states.
        """
        check_is_fitted(self, "learned_")
        seen, missing = observations_of(observations)
        steps = observed_steps(len(missing), times, self.axis_, self.cycle_)
        season = self.cycle_.at(steps)
        rule = as_likelihood(likelihood, columns, self.names_, seen)
        few = 2.0 * self.learned_.record.states.shape[1] + 1
        return run_filter(self.learned_.predictor, seen, missing, rule, season, few)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file; `vbdm.load(path)` gives it back."""
        from .io.saved.forecasts import save_forecaster

        check_is_fitted(self, "learned_")
        save_forecaster(self, path)

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Draw what comes next after the training series, as a fan chart."""
        return self.predict().plot(*args, **kwargs)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what a series may be."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = False
        return tags

    def _remember(self, decided: Decided) -> Self:
        """Set the fitted attributes."""
        self.__dict__.pop("skill_", None)
        self.decided_, self.learned_ = decided, decided.learned
        predictor = decided.learned.predictor
        self.predictor_, self.operator_ = predictor.name, predictor.operator
        self.delays_ = decided.learned.record.delays.count
        self.n_modes_ = getattr(predictor, "n_modes", None)
        self.season_ = self.cycle_.period
        self.horizon_ = int(decided.learned.score.leads[-1])
        self.scores_ = {name: own.score for name, own in decided.trials.items()}
        self.delay_scores_ = dict(decided.delay_scores)
        return self

    def _given(self, series: Any, lengths: Any, times: Any) -> tuple[Given, Steps, TimeAxis]:
        """Return a new series, the numbers of steps of its rows, and how these are counted."""
        given = read(series, lengths, times)
        if given.values.shape[1] != self.n_features_in_:
            raise InputError(
                "The series must have the columns of the training series; received "
                f"{given.values.shape[1]} columns. The model was fitted to {self.n_features_in_}: "
                f"{', '.join(self.names_)}."
            )
        refuse_other_names(given.names, self.names_, "the training series")
        return match_axis(given, self.axis_, self.cycle_)


def estimate(record: Record) -> Operator:
    """Return the generator of the states; doubts about its eigenvalues do not concern forecasts."""
    lengths = np.bincount(record.series_of[record.rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VbdmWarning)
        try:
            return estimate_operator(
                record.states, "generator", lengths=lengths[lengths > 0].tolist()
            ).on_host
        except InputError as error:
            number = len(np.unique(record.states, axis=0))
            if not 1 < number < FEWEST_STATES:
                raise
            raise InputError(
                f"The series has too few different states; received {number} different ones among "
                f"{len(record.rows):,}. Make states of more rows, as with delays=8, or add columns."
            ) from error


def given_or_none(value: Any) -> Any:
    """Return a parameter, a whole number as Python's; None for "auto"."""
    return None if is_auto(value) else int(value) if is_whole(value) else value
