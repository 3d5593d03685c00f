"""The result of a prediction: a distribution for each start, lead and column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.checks import a_count, a_number, accepts, answer_of, as_floats, numbers, shown
from ..errors import InputError, SkillWarning, warn_user
from ..progress import report
from .ensemble import Ensemble, probabilities
from .predictor import Begun, Learned
from .record import Record, column_of
from .skill import NO_GAIN, STEPS, data_set
from .times import Cycle, Steps, TimeAxis

#: Starts whose members are in memory together.
STARTS_AT_ONCE = 200
#: Starts up to which all that the predictor knows of them is kept from question to question.
STARTS_KEPT = 2000
#: Leads that a warning names one by one.
NAMED = 6
#: Largest lead.
LONGEST_LEAD = 10**6
#: Quantiles that tables have: the ends of intervals of 90 and 50 %, and the median.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False, kw_only=True)
class Forecast:
    """What comes next: for each start, lead and column a distribution.

    Distributions are made of values that the record had, with weights; nothing outside of what has
    been seen is foreseen, but for the spread that the hold-out asked for. Shapes are (starts,
    leads, columns). A slice, such as ``forecast[-1:]``, is the forecast from some of the starts.

    Attributes
    ----------
    leads : (L,) array of int
        Steps ahead.
    rows : (S,) array of int
        Rows of the series that was passed from which forecasts start; with delays, a row needs
        those before it. Without a series, the row of the training record, in which times that are
        missing are rows as well.
    places : (S,) array of int
        The same rows, counted with those whose times are missing.
    init : (S,) array
        Times of the starts: dates or numbers, if the series had some, else numbers of rows.
    names : tuple of str
        Names of the columns.
    outside : (S,) bool array
        Starts unlike all states of the record: the nearest ones stand in for those alike.
    doubtful : (L,) bool array
        Leads at which forecasts were no better than climatology on what was held out, and leads
        beyond the horizon, which were not tried on it.
    """

    leads: NDArray[np.intp]
    rows: NDArray[np.intp]
    steps: Steps = field(repr=False)
    places: NDArray[np.intp] = field(repr=False)
    names: tuple[str, ...]
    doubtful: BoolArray = field(repr=False)
    learned: Learned = field(repr=False)
    states: FloatArray = field(repr=False)
    axis: TimeAxis = field(repr=False)
    cycle: Cycle = field(repr=False)
    values: FloatArray | None = field(default=None, repr=False)
    _kept: dict[int, Begun] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: slice) -> Forecast:
        """Return the forecast from some of the starts."""
        return replace(
            self, rows=self.rows[which], steps=self.steps[which], places=self.places[which],
            states=self.states[which],
        )  # fmt: skip

    @property
    def init(self) -> NDArray[Any]:
        """Times of the starts."""
        return self.axis.times(self.steps)

    @property
    def valid_times(self) -> NDArray[Any]:
        """Times that forecasts are for, (starts, leads)."""
        ahead = self.steps[:, None] + self.leads
        return self.axis.times(ahead.ravel()).reshape(ahead.shape)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of starts, leads and columns."""
        return len(self.rows), len(self.leads), len(self.names)

    @cached_property
    def season(self) -> FloatArray:
        """The cycle of the seasons at the times that forecasts are for; 0 for other observables."""
        if self.values is not None:
            return np.zeros(self.shape)
        return self.cycle.at(self.steps[:, None] + self.leads)

    @cached_property
    def outside(self) -> BoolArray:
        """Starts unlike all states of the record."""
        return frozen(np.concatenate([begun.outside for _, begun in self.parts()]))

    def parts(self) -> Iterator[tuple[slice, Begun]]:
        """Yield parts of the starts, and what the predictor knows of them; of few, this is kept."""
        for first in range(0, len(self), STARTS_AT_ONCE):
            part = slice(first, min(first + STARTS_AT_ONCE, len(self)))
            begun = self._kept.get(first) or self.learned.predictor.begin(self.states[part])
            if len(self) <= STARTS_KEPT:
                self._kept[first] = begun
            yield part, begun

    def members(self) -> Iterator[tuple[slice, int, list[Ensemble]]]:
        """Yield, for parts of the starts and each lead, the distributions of all columns."""
        for part, begun in self.parts():
            for k, lead in enumerate(self.leads.tolist()):
                yield part, k, self.learned.members(begun, lead, self.values)
                done = part.start * len(self.leads) + (part.stop - part.start) * (k + 1)
                report("forecast", done, len(self) * len(self.leads))

    def each(self, question: Callable[[Ensemble, Any], FloatArray], *last: int) -> FloatArray:
        """Return answers of all distributions and their places, (starts, leads, columns, …)."""
        found = np.empty((*self.shape, *last))
        for part, k, members in self.members():
            for j, own in enumerate(members):
                found[part, k, j] = question(own, (part, k, j))
        return found

    @cached_property
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and variances."""
        both = self.each(lambda own, _: np.column_stack([own.mean, own.variance]), 2)
        return frozen(both[..., 0] + self.season), frozen(both[..., 1])

    @property
    def mean(self) -> FloatArray:
        """Means, (starts, leads, columns)."""
        return self.moments[0]

    @property
    def variance(self) -> FloatArray:
        """Variances, (starts, leads, columns)."""
        return self.moments[1]

    @property
    def std(self) -> FloatArray:
        """Standard deviations, (starts, leads, columns)."""
        return np.sqrt(self.variance)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Return quantiles, (starts, leads, columns) for one p, (P, …) for several.

        Examples
        --------
        >>> model = vbdm.Forecaster(delays=1).fit(np.sin(np.arange(400) / 5))
        >>> forecast = model.predict(leads=[1, 2])
        >>> forecast.quantile([0.05, 0.95]).shape
        (2, 1, 2, 1)
        """
        levels = probabilities(p)
        own = np.atleast_1d(levels)
        found = self.each(lambda members, _: members.quantile(own), len(own))
        found += self.season[..., None]
        return np.moveaxis(found, -1, 0) if levels.ndim else found[..., 0]

    @accepts(level=a_number(0.0, 1.0))
    def interval(self, level: float = 0.9) -> FloatArray:
        """Return the lower and upper ends of central intervals, (2, starts, leads, columns)."""
        return self.quantile([(1 - level) / 2, (1 + level) / 2])

    @accepts(n=a_count(1, 10**6), random_state=a_count(0))
    def sample(self, n: int, random_state: int = 0) -> FloatArray:
        """Draw members from the forecasts, (n, starts, leads, columns).

        Columns of a member belong together: they are those of one row of the record. Leads of a
        member do not: from one to the next weights change, and with them the row.
        """
        level = np.random.default_rng(random_state).random((len(self), n))
        found = np.empty((n, *self.shape))
        for part, begun in self.parts():
            for k, lead in enumerate(self.leads.tolist()):
                drawn = self.learned.drawn(begun, lead, level[part], self.values)
                found[:, part, k] = drawn.transpose(1, 0, 2)
        return found + self.season

    @accepts(values=numbers)
    def density(self, values: ArrayLike, column: int | str = 0) -> FloatArray:
        """Return the density of one column at some of its values, (starts, leads, P)."""
        places, j = np.asarray(values), column_of(column, self.names)
        found = np.empty((*self.shape[:2], len(places)))
        for part, k, members in self.members():
            found[part, k] = members[j].density(places - self.season[part, k, j, None])
        return found

    def crps(self, truth: ArrayLike) -> FloatArray:
        """Return the continuous ranked probability score of what came, (starts, leads, columns).

        `truth` has the shape of the forecasts; NaN where it is not known.
        """
        came = as_floats(truth)
        if came is None or came.shape != self.shape:
            raise InputError(
                f"`truth` must have the shape of the forecasts; received {shown(truth)}. Pass an "
                f"array for {self.shape[0]} starts, {self.shape[1]} leads and {self.shape[2]} "
                "columns, with NaN where nothing is known."
            )
        came = came - self.season
        return self.each(lambda own, place: own.crps(came[place]))

    @accepts(members=a_count(0, 10**6), random_state=a_count(0))
    def to_xarray(self, members: int = 0, random_state: int = 0) -> Any:
        """Return mean, standard deviation and quantiles as a data set of xarray.

        Dimensions are ``init``, ``lead`` and ``column``, and ``quantile``; with `members`, drawn
        members along ``member``. The times that forecasts are for are the coordinate
        ``valid_time``. Needs xarray: ``pip install 'vbdm[netcdf]'``.
        """
        dims = ("init", "lead", "column")
        variables = {
            "mean": (dims, self.mean),
            "std": (dims, self.std),
            "quantiles": (("quantile", *dims), self.quantile(QUANTILES)),
        }
        if members:
            variables["members"] = (("member", *dims), self.sample(members, random_state))
        far, doubt = "start is unlike all states of the record", "no better than climatology"
        return data_set(variables, {
            "init": ("init", self.init, {"long_name": "time of the start"}),
            "lead": ("lead", self.leads, STEPS),
            "column": list(self.names),
            "quantile": list(QUANTILES),
            "valid_time": (dims[:2], self.valid_times, {"long_name": "time of the forecast"}),
            "outside": ("init", self.outside, {"long_name": far}),
            "doubtful": ("lead", self.doubtful, {"long_name": f"{doubt}, or not tried"}),
        })  # fmt: skip

    def to_dataframe(self) -> Any:
        """Return one row for each start, lead and column, as a frame of pandas."""
        import pandas as pd

        start, lead, column = (index.ravel() for index in np.indices(self.shape))
        quantiles = zip(QUANTILES, self.quantile(QUANTILES), strict=True)
        return pd.DataFrame({
            "init": self.init[start],
            "lead": self.leads[lead],
            "valid_time": self.valid_times[start, lead],
            "column": np.array(self.names, dtype=object)[column],
            "mean": self.mean.ravel(),
            "std": self.std.ravel(),
            **{f"q{100 * p:02.0f}": own.ravel() for p, own in quantiles},
            "outside": self.outside[start],
            "doubtful": self.doubtful[lead],
        })  # fmt: skip

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Draw a fan chart: what came before, the mean, and intervals of 50 and 90 %."""
        from ..plot import forecast

        return forecast(self, *args, **kwargs)


def check_leads(leads: Any, horizon: int) -> list[int]:
    """Return leads as a list of ascending numbers of steps."""
    if leads is None:
        return list(range(1, min(12, horizon) + 1))
    array = as_floats(leads)
    if array is not None and array.ndim <= 1 and array.size:
        flat = np.atleast_1d(array)
        if (flat == np.floor(flat)).all() and flat.min() >= 1 and flat.max() <= LONGEST_LEAD:
            return [int(lead) for lead in np.unique(flat)]
    raise InputError(
        f"`leads` must be whole numbers of steps ahead, from 1 to {LONGEST_LEAD:,}; received "
        f"{shown(leads)}. Pass, for example, 6 or range(1, 13)."
    )


def doubtful_leads(learned: Learned, leads: list[int], quiet: bool) -> BoolArray:
    """Return which leads are doubtful, (L,): climatology was not beaten, or they were not tried.

    A warning says so, unless `quiet`.
    """
    longest = int(learned.score.leads[-1])
    untried = np.array([lead > longest for lead in leads])
    beaten = np.array([float(learned.score.at(lead)) > 1 - NO_GAIN for lead in leads]) & ~untried
    told = []
    for which, what in (
        (beaten, "At leads of {} steps, forecasts were no better than climatology on what was held "
         "out of the training series: there they say no more than how often each value occurs in "
         "the record (`doubtful`)."),
        (untried, "Leads of {} steps were not tried on what was held out, only those up to "
         f"{longest}: raise `horizon` to know how good they are (`doubtful`)."),
    ):  # fmt: skip
        if which.any():
            more = " and more" if which.sum() > NAMED else ""
            told.append(what.format(", ".join(map(str, np.array(leads)[which][:NAMED])) + more))
    if told and not quiet:
        warn_user(" ".join(told), SkillWarning)
    return np.asarray(beaten | untried)


def apply_observable(
    observable: Any, record: Record, names: tuple[str, ...]
) -> tuple[FloatArray | None, tuple[str, ...]]:
    """Return a user's function of the rows of the record, (N, k), and names of its columns.

    None, and the names of the record's own columns, if no function was given.
    """
    if observable is None:
        return None, names
    found = as_floats(answer_of(observable, "observable", record.values))
    fits = found is not None and found.shape[:1] == (record.n_rows,) and found.ndim <= 2
    if found is None or not fits or np.isinf(found).any() or np.isnan(found).all():
        raise InputError(
            f"`observable` must return one number, or several, for each of {record.n_rows:,} rows; "
            f"received {shown(found)}. Pass, for example, lambda rows: rows[:, 0] ** 2."
        )
    table = np.array(found.reshape(record.n_rows, -1), dtype=np.float64)
    return table, tuple(f"observable{j}" for j in range(table.shape[1]))
