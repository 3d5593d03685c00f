"""The result of a prediction: a distribution for each start, lead and column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.checks import a_count, a_number, accepts, answer_of, as_floats, shown
from ..errors import InputError, OutsideWarning, SkillWarning, warn_user
from ..extension.rows import kernel_rows
from ..progress import report
from .ensemble import Ensemble, probabilities
from .predictor import Learned
from .reading import Given
from .record import Record, Rows
from .references import MEASURES
from .skill import NO_GAIN
from .times import Cycle, Steps, TimeAxis

if TYPE_CHECKING:
    from .forecast import Forecast
    from .skill import Skill

#: Starts whose members are in memory together.
STARTS_AT_ONCE = 200


@dataclass(frozen=True, eq=False, kw_only=True)
class Forecast:
    """What comes next: for each start, lead and column a distribution.

    Distributions are made of values that the record had, with weights; nothing outside of what has
    been seen is foreseen, but for the spread that the hold-out asked for. Shapes are (starts,
    leads, columns).

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
    outside: BoolArray = field(repr=False)
    doubtful: BoolArray = field(repr=False)
    learned: Learned = field(repr=False)
    states: FloatArray = field(repr=False)
    axis: TimeAxis = field(repr=False)
    cycle: Cycle = field(repr=False)
    values: FloatArray | None = field(default=None, repr=False)

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

    def members(self) -> Iterator[tuple[slice, int, list[Ensemble]]]:
        """Yield, for parts of the starts and each lead, the distributions of all columns."""
        n = len(self.rows)
        parts = [slice(i, min(i + STARTS_AT_ONCE, n)) for i in range(0, n, STARTS_AT_ONCE)]
        for number, part in enumerate(parts):
            begun = self.learned.predictor.begin(self.states[part])
            for k, lead in enumerate(self.leads.tolist()):
                yield part, k, self.learned.members(begun, lead, self.values)
                done = number * len(self.leads) + k + 1
                report("forecast", done, len(parts) * len(self.leads))

    def each(self, question: Callable[[Ensemble], FloatArray], *last: int) -> FloatArray:
        """Return the answers of all distributions to a question, (starts, leads, columns, …)."""
        found = np.empty((*self.shape, *last))
        for part, k, members in self.members():
            for j, own in enumerate(members):
                found[part, k, j] = question(own)
        return found

    @cached_property
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and variances."""
        both = self.each(lambda own: np.column_stack([own.mean, own.variance]), 2)
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
        found = self.each(lambda members: members.quantile(own), len(own)) + self.season[..., None]
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
        level = np.random.default_rng(random_state).random((len(self.rows), n))
        found = np.empty((n, *self.shape))
        for begin in range(0, len(self.rows), STARTS_AT_ONCE):
            part = slice(begin, begin + STARTS_AT_ONCE)
            begun = self.learned.predictor.begin(self.states[part])
            for k, lead in enumerate(self.leads.tolist()):
                drawn = self.learned.drawn(begun, lead, level[part], self.values)
                found[:, part, k] = drawn.transpose(1, 0, 2)
        return found + self.season

    def density(self, values: ArrayLike, column: int = 0) -> FloatArray:
        """Return the density of one column at some of its values, (starts, leads, P)."""
        places = as_floats(values)
        if places is None or places.ndim != 1 or not np.isfinite(places).all():
            raise InputError(
                f"`values` must be a list of finite numbers; received {shown(values)}. Pass, for "
                "example, np.linspace(-2, 2, 101)."
            )
        j = self.column(column)
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
                f"`truth` must have the shape of the forecasts; received {shown(truth)}. These "
                f"are for {self.shape[0]} starts, {self.shape[1]} leads and {self.shape[2]} "
                "columns. Pass an array of shape (starts, leads, columns); NaN where nothing is "
                "known."
            )
        came = came - self.season
        found = np.empty(self.shape)
        for part, k, members in self.members():
            for j, own in enumerate(members):
                found[part, k, j] = own.crps(came[part, k, j])
        return found

    def column(self, column: int | str) -> int:
        """Return the number of a column, given by number or name."""
        if isinstance(column, str) and column in self.names:
            return self.names.index(column)
        if isinstance(column, (int, np.integer)) and 0 <= column < len(self.names):
            return int(column)
        raise InputError(
            f"There is no such column; received {shown(column)}. The columns are "
            f"{', '.join(self.names)}, numbered from 0. Pass a number or a name."
        )

    def to_xarray(self, members: int = 0, random_state: int = 0) -> Any:
        """Return mean, standard deviation and quantiles as a data set of xarray.

        Dimensions are ``init``, ``lead`` and ``column``, and ``quantile``; with `members`, drawn
        members along ``member``. The times that forecasts are for are the coordinate
        ``valid_time``. Needs xarray: ``pip install 'vbdm[netcdf]'``.
        """
        from .forecast import forecast_to_xarray

        return forecast_to_xarray(self, members, random_state)

    def to_dataframe(self) -> Any:
        """Return one row for each start, lead and column, as a frame of pandas."""
        from .forecast import forecast_to_frame

        return forecast_to_frame(self)

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Draw a fan chart: what came before, the mean, and intervals of 50 and 90 %."""
        from ..plot import forecast

        return forecast(self, *args, **kwargs)

    def __len__(self) -> int:
        return len(self.rows)


#: Leads that are named one by one.
NAMED = 6
#: Largest lead.
LONGEST_LEAD = 10**6


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


def refuse_no_start(rows: Rows, given: Given, record: Record) -> None:
    """Refuse a series in which no row can be a start."""
    if len(rows):
        return
    needed = record.delays.reach + 1
    raise InputError(
        f"No row of the series can be a start; received {len(given.values):,} row(s). A state "
        f"takes {record.delays.count} complete row(s), the newest and those before it: {needed} "
        "row(s) in all. Pass more rows before the start, without missing values."
    )


def observed(
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
            "`observable` must return one number, or several, for each row; received "
            f"{shown(found)}. It was called with {record.n_rows:,} rows of "
            f"{record.values.shape[1]} columns. Pass, for example, lambda rows: rows[:, 0] ** 2."
        )
    table = np.array(found.reshape(record.n_rows, -1), dtype=np.float64)
    return table, tuple(f"observable{j}" for j in range(table.shape[1]))


def unlike_all(learned: Learned, states: FloatArray) -> BoolArray:
    """Return which states are unlike all of the record, (n,), and say so."""
    _, outside = kernel_rows(learned.predictor.operator, states)
    if outside.any():
        warn_user(
            f"{int(outside.sum())} of {len(outside)} starts are unlike all states of the training "
            "series. Their forecasts are those of the nearest states: do not trust them. They are "
            "marked in `outside`.",
            OutsideWarning,
        )
    return outside


def doubtful_leads(learned: Learned, leads: list[int], quiet: bool) -> BoolArray:
    """Return the leads at which forecasts are doubtful, (L,), and say why unless `quiet`.

    At these climatology was not beaten, or they are longer than all that were tried.
    """
    longest = int(learned.score.leads[-1])
    untried = np.array([lead > longest for lead in leads])
    beaten = np.array([float(learned.score.at(lead)) > 1 - NO_GAIN for lead in leads]) & ~untried
    told = []
    if beaten.any():
        told.append(
            "Forecasts were no better than climatology on what was held out of the training series "
            f"at leads of {named(leads, beaten)} steps: there they say no more than how often "
            "each value occurs in the record (`doubtful`)."
        )
    if untried.any():
        told.append(
            f"Leads of {named(leads, untried)} steps were not tried on what was held out, only "
            f"those up to {longest}: raise `horizon` to know how good they are (`doubtful`)."
        )
    if told and not quiet:
        warn_user(" ".join(told), SkillWarning)
    return np.asarray(beaten | untried)


def named(leads: list[int], which: BoolArray) -> str:
    """Return some of the leads in words, the first ones by name."""
    own = [lead for lead, one in zip(leads, which, strict=True) if one]
    return ", ".join(map(str, own[:NAMED])) + (" and more" if len(own) > NAMED else "")


def tell_of_early_end(record: Record, when: Any) -> None:
    """Say so if the last state of a record comes before its end; `when` is the time it has."""
    after = record.n_rows - 1 - int(record.rows[-1])
    if after:
        warn_user(
            f"The last {after:,} row(s) of the training series make no complete state: values are "
            "missing, or a series is too short. Forecasts start before them, at "
            f"{when}, and leads are counted from there (`init`).",
            SkillWarning,
        )


#: Quantiles that tables have: the ends of intervals of 90 and 50 %, and the median.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
STEPS = {"long_name": "lead", "units": "1", "description": "steps of the series ahead"}


@accepts(members=a_count(0, 10**6), random_state=a_count(0))
def forecast_to_xarray(forecast: Forecast, members: int = 0, random_state: int = 0) -> Any:
    """Return mean, standard deviation, quantiles and drawn members as a data set of xarray."""
    xarray = library("xarray", "pip install 'vbdm[netcdf]'")
    dims = ("init", "lead", "column")
    variables = {
        "mean": (dims, forecast.mean),
        "std": (dims, forecast.std),
        "quantiles": (("quantile", *dims), forecast.quantile(QUANTILES)),
    }
    if members:
        variables["members"] = (("member", *dims), forecast.sample(members, random_state))
    return xarray.Dataset(
        variables,
        coords={
            "init": ("init", forecast.init, {"long_name": "time of the start"}),
            "lead": ("lead", forecast.leads, STEPS),
            "column": list(forecast.names),
            "quantile": list(QUANTILES),
            "valid_time": (
                dims[:2], forecast.valid_times, {"long_name": "time that the forecast is for"}
            ),
            "outside": (
                "init", forecast.outside, {"long_name": "start is unlike all states of the record"}
            ),
            "doubtful": (
                "lead", forecast.doubtful, {"long_name": "no better than climatology, or not tried"}
            ),
        },
    )  # fmt: skip


def forecast_to_frame(forecast: Forecast) -> Any:
    """Return one row for each start, lead and column, as a frame of pandas."""
    pandas = library("pandas", "pip install pandas")
    start, lead, column = (index.ravel() for index in np.indices(forecast.shape))
    quantiles = forecast.quantile(QUANTILES)
    return pandas.DataFrame(
        {
            "init": forecast.init[start],
            "lead": forecast.leads[lead],
            "valid_time": forecast.valid_times[start, lead],
            "column": np.array(forecast.names, dtype=object)[column],
            "mean": forecast.mean.ravel(),
            "std": forecast.std.ravel(),
            **{
                f"q{100 * p:02.0f}": own.ravel()
                for p, own in zip(QUANTILES, quantiles, strict=True)
            },
            "outside": forecast.outside[start],
            "doubtful": forecast.doubtful[lead],
        }
    )


def skill_to_frame(skill: Skill) -> Any:
    """Return one row for each method, lead and column, as a frame of pandas."""
    pandas = library("pandas", "pip install pandas")
    method, lead, column = (index.ravel() for index in np.indices(skill.rmse.shape))
    return pandas.DataFrame(
        {
            "method": np.array(skill.methods, dtype=object)[method],
            "lead": skill.leads[lead],
            "column": np.array(skill.names, dtype=object)[column],
            "n_cases": skill.n_cases[lead],
            **{name: getattr(skill, name).ravel() for name in MEASURES},
        }
    )


def skill_to_xarray(skill: Skill) -> Any:
    """Return all measures along model, lead and column, and the histogram, as a data set.

    Methods stand along ``model``: ``sel(method=...)`` means something else to xarray.
    """
    xarray = library("xarray", "pip install 'vbdm[netcdf]'")
    dims = ("model", "lead", "column")
    classes = skill.histogram.shape[-1]
    return xarray.Dataset(
        {
            **{name: (dims, getattr(skill, name)) for name in MEASURES},
            "crpss": (dims[1:], skill.crpss),
            "histogram": ((*dims[1:], "probability"), skill.histogram),
            "n_cases": ("lead", skill.n_cases),
        },
        coords={
            "model": list(skill.methods),
            "lead": ("lead", skill.leads, STEPS),
            "column": list(skill.names),
            "probability": (
                "probability", (np.arange(classes) + 0.5) / classes,
                {"long_name": "middle of a class of F(y)"},
            ),
        },
    )  # fmt: skip


def library(name: str, install: str) -> Any:
    """Import a library that is optional, or raise with how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(
            f"This table needs the library {name}, which cannot be imported here; received an "
            f"import of {name} ({error}). Install it with: {install}"
        ) from error
