"""Series as people have them, arrays, lists, frames of pandas, arrays of xarray, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.checks import as_floats, shown
from ..errors import InputError
from ..prepare.series import check_lengths
from .times import Cycle, Steps, TimeAxis, axis_of, inner_gaps

#: Most rows that are filled in where times are missing, as a multiple of the rows given.
MOST_FILLED = 10
#: Largest value whose square is a number.
LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Given:
    """Series as they were given, one below the other."""

    #: The values, (N, n); NaN where they are missing.
    values: FloatArray
    #: Numbers of rows of the series.
    lengths: tuple[int, ...]
    #: Times of the rows, as given.
    times: NDArray[Any] | None
    #: Names of the columns.
    names: tuple[str, ...]
    #: The row as it was given of each row, -1 for one that was filled in; None: nothing was.
    rows: NDArray[np.intp] | None = None

    @property
    def starts(self) -> NDArray[np.intp]:
        """First rows of the series."""
        return np.cumsum([0, *self.lengths[:-1]])


def read(series: Any, lengths: Any = None, times: Any = None) -> Given:
    """Return series, lengths and times, all as in `Forecaster.fit`, as one table of floats."""
    if lengths is None and is_several(series):
        return several(series, times)
    values, own_times, names = table_of(series)
    parts = (len(values),) if lengths is None else check_lengths(lengths, len(values))
    return Given(values, parts, checked_times(times, own_times, len(values)), names)


def is_several(series: Any) -> bool:
    """Tell whether these are several series, not the rows of one."""
    if not isinstance(series, (list, tuple)) or not series:
        return False
    if all(hasattr(one, "coords") and len(getattr(one, "dims", ())) for one in series):
        return True
    try:
        shapes = [np.shape(one) for one in series]
    except (ValueError, TypeError):
        # Lists in lists, of different lengths; data sets of xarray among other things.
        return False
    if all(len(shape) == 2 for shape in shapes):
        return True
    # A list of lists as long as each other are the rows of a table; frames and arrays are not.
    return all(len(shape) == 1 for shape in shapes) and all(
        hasattr(one, "dtype") or hasattr(one, "iloc") for one in series
    )


def several(series: Sequence[Any], times: Any) -> Given:
    """Return several series, each an array of its own."""
    parts = [table_of(one) for one in series]
    widths = sorted({own.shape[1] for own, _, _ in parts})
    if len(widths) > 1:
        raise InputError(
            "All series must have the same columns; received arrays with "
            f"{', '.join(map(str, widths))} columns."
        )
    named = [names for _, _, names in parts if are_own(names)]
    for names in named[1:]:
        refuse_other_names(names, named[0], "the first series")
    own = [when for _, when, _ in parts]
    joined = None if any(when is None for when in own) else np.concatenate(own)
    values = np.concatenate([own for own, _, _ in parts])
    lengths = tuple(len(own) for own, _, _ in parts)
    names_of_all = named[0] if named else parts[0][2]
    return Given(values, lengths, checked_times(times, joined, len(values)), names_of_all)


def are_own(names: tuple[str, ...]) -> bool:
    """Tell whether names are the user's, not those that are given to columns without any."""
    numbers = range(len(names))
    return names not in (tuple(f"x{j}" for j in numbers), tuple(str(j) for j in numbers))


def refuse_other_names(names: tuple[str, ...], wanted: tuple[str, ...], whose: str) -> None:
    """Refuse columns whose names, both the user's, are others or in another order."""
    if names == wanted or not (are_own(names) and are_own(wanted)):
        return
    one, other = next(both for both in zip(names, wanted, strict=True) if both[0] != both[1])
    raise InputError(
        f"The columns must be those of {whose}, in the same order; received '{one}' where "
        f"'{other}' should be. Put them in order, or pass an array without names."
    )


def table_of(series: Any) -> tuple[FloatArray, Any, tuple[str, ...]]:
    """Return one series as a table, its times if it has some, and the names of its columns."""
    times: Any = None
    names: tuple[str, ...] = ()
    if hasattr(series, "dims") and hasattr(series, "coords"):
        series, times, names = from_xarray(series)
    elif hasattr(series, "index") and hasattr(series, "iloc"):
        index = series.index
        if hasattr(index, "to_timestamp"):
            # Periods, by their first day.
            index = index.to_timestamp()
        elif getattr(index, "tz", None) is not None:
            index = index.tz_convert(None)
        index = np.asarray(index)
        times = index if index.dtype.kind == "M" else None
        # A frame may have a column with the name "name".
        named = series.columns if hasattr(series, "columns") else [series.name or "x0"]
        names = tuple(str(name) for name in named)
        series = series.to_numpy()
    if isinstance(series, np.ma.MaskedArray):
        series = np.ma.filled(series.astype(np.float64), np.nan)
    values = as_floats(series)
    if values is None or values.ndim not in (1, 2) or values.size == 0:
        raise InputError(
            "A series must be a table of numbers with one row for each time; received "
            f"{shown(series)}. Pass an array of shape (n_times,) or (n_times, n_columns)."
        )
    if np.isinf(values).any():
        raise InputError(
            f"The series has infinite values; received {int(np.isinf(values).sum())}. Replace them "
            "by NaN if they are missing."
        )
    if np.nanmax(np.abs(values), initial=0.0) > LARGEST:
        raise InputError(
            "The series has values that are too large; received values up to "
            f"{np.nanmax(np.abs(values)):.3g}. Use another unit, or NaN for what is missing."
        )
    values = np.array(values.reshape(len(values), -1), dtype=np.float64)
    return values, times, names or tuple(f"x{j}" for j in range(values.shape[1]))


def refuse_empty(values: FloatArray) -> None:
    """Refuse columns without a single value."""
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        raise InputError(
            "A column has no values; received column(s) "
            f"{', '.join(map(str, np.flatnonzero(empty)))} with NaN alone."
        )


def from_xarray(series: Any) -> tuple[Any, Any, tuple[str, ...]]:
    """Return the values of an array or data set of xarray, its times, and names of columns."""
    dims, coords = [str(name) for name in series.dims], series.coords
    dated = {name for name in dims if name in coords and coords[name].dtype.kind == "M"}
    named = [name for name in dims if name in dated or name.lower() in ("time", "date", "t")]
    along = next(iter(named or dims[: len(dims) == 1]), None)
    own = [series]
    if hasattr(series, "data_vars"):
        # Bounds of cells, maps and the like are no series.
        own = [v for v in series.data_vars.values() if along in v.dims and v.dtype.kind in "biuf"]
    if along is None or not own:
        raise InputError(
            f"No dimension of the array is time; received {', '.join(dims) or 'none'}. Rename the "
            "dimension: series.rename(step='time')."
        )
    if hasattr(series, "data_vars"):
        parts = [from_xarray(variable) for variable in own]
        names = tuple(name for _, _, one in parts for name in one)
        return np.hstack([values for values, _, _ in parts]), parts[0][1], names
    moved = series.transpose(along, ...)
    values = np.asarray(moved.values).reshape(moved.shape[0], -1)
    times = np.asarray(moved[along].values) if along in moved.coords else None
    if series.name is None:
        return values, times, ()
    numbers = [""] if values.shape[1] == 1 else range(values.shape[1])
    return values, times, tuple(f"{series.name}{j}" for j in numbers)


def checked_times(times: Any, own: Any, n_rows: int) -> Any:
    """Return the times that were given, or those that the series has; None without any."""
    try:
        found = own if times is None else np.asarray(times)
    except ValueError:
        # Lists of different lengths.
        found = np.asarray(None)
    if found is not None and np.shape(found) != (n_rows,):
        raise InputError(
            f"`times` must have one entry for each row; received {np.shape(found)} times, and "
            f"{n_rows:,} rows."
        )
    return found


def on_axis(given: Given) -> tuple[Given, TimeAxis, Steps]:
    """Return series with a row for each step, their axis, and the numbers of steps of the rows.

    Rows whose times are missing are filled in with NaN; without times, rows are counted, in each
    series from 0.
    """
    if given.times is None:
        return given, TimeAxis(), np.concatenate([np.arange(n) for n in given.lengths])
    axis, steps = axis_of(given.times, given.starts)
    whole, steps = fill_gaps(given, steps)
    return whole, axis, steps


def fill_gaps(given: Given, steps: Steps) -> tuple[Given, Steps]:
    """Return series with rows of NaN for steps that are missing, and the steps of all rows."""
    starts, n = given.starts, np.array(given.lengths)
    first, last = steps[starts], steps[starts + n - 1]
    size = last - first + 1
    far = (inner_gaps(steps, starts).min(initial=1) < 1) | (size > MOST_FILLED * n + 1000).any()
    if far:
        raise InputError(
            f"`times` must ascend, a constant step apart; received {len(steps):,} rows from step "
            f"{steps.min():,} to {steps.max():,}. Sort the rows; cut at long gaps into several "
            "series."
        )
    place = steps + np.repeat(np.cumsum(size) - size - first, n)
    table = np.full((int(size.sum()), given.values.shape[1]), np.nan)
    table[place] = given.values
    origin = np.full(len(table), -1, dtype=np.intp)
    origin[place] = np.arange(len(steps))
    whole = np.concatenate([np.arange(a, b + 1) for a, b in zip(first, last, strict=True)])
    return Given(table, tuple(size.tolist()), None, given.names, origin), whole


def match_axis(given: Given, axis: TimeAxis, cycle: Cycle) -> tuple[Given, Steps, TimeAxis]:
    """Return a new series with a row for each step, their numbers, and how these are counted.

    `axis` and `cycle` are those of the model. Without a cycle, times are of no use to a model whose
    rows are counted; without times, rows are counted.
    """
    if given.times is not None and (axis.kind != "rows" or cycle.period):
        return *fill_gaps(given, axis.steps(given.times)), axis
    if cycle.period:
        raise InputError(
            f"Times of the rows are needed, where a cycle of {cycle.period:g} steps was taken off; "
            "received none. Pass `times` as in `fit`, or numbers of rows, counted from 0 at the "
            "first row of the training series."
        )
    return given, np.concatenate([np.arange(n) for n in given.lengths]), TimeAxis()
