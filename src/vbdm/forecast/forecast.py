"""The result of a prediction: a distribution for each start, lead and column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.accepts import a_count, a_number, accepts
from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.checks import as_floats, shown
from ..errors import InputError
from ..progress import report
from .cycle import Cycle
from .ensemble import Ensemble, probabilities
from .learned import Learned
from .time_axis import Steps, TimeAxis

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
        from .tables import forecast_to_xarray

        return forecast_to_xarray(self, members, random_state)

    def to_dataframe(self) -> Any:
        """Return one row for each start, lead and column, as a frame of pandas."""
        from .tables import forecast_to_frame

        return forecast_to_frame(self)

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Draw a fan chart: what came before, the mean, and intervals of 50 and 90 %."""
        from ..plot import forecast

        return forecast(self, *args, **kwargs)

    def __len__(self) -> int:
        return len(self.rows)
