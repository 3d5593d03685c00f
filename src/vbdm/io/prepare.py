"""The function `prepare`, from a table to points: columns, scaling, delays, thinning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.arrays import BoolArray, FloatArray
from ..base.checks import check_choice, is_whole, shown
from ..errors import InputError
from ..graph.point_set import check_period
from ..prepare.projection import pca as pca_of
from ..prepare.projection import tica as tica_of
from ..prepare.series import check_lengths
from .preparation import Cloud, Period, Preparation, no_points, projected, standardized, take
from .table import Table, as_choice, choose, listed


def prepare(
    table: Table,
    *,
    columns: Any = None,
    standardize: bool = False,
    delays: int = 1,
    delay_step: int = 1,
    subsample: int | None = None,
    every: int = 1,
    seed: int = 0,
    missing: str = "error",
    period: Any = None,
    lengths: Any = None,
    pca: Any = None,
    tica: Any = None,
    lag: int = 1,
) -> tuple[Cloud, Preparation]:
    """Return the points of an estimate, and the record of how they were made.

    Parameters
    ----------
    table : Table
        The table, from `vbdm.io.read`.
    columns : str or list, optional
        The choice of columns, as in `vbdm.io.read`. By default all, but then a column that only
        counts the rows is refused.
    standardize : bool
        Subtract the mean of each column and divide by its standard deviation, both over the rows
        that are used. Columns that do not vary are only centred.
    delays, delay_step : int
        Time-delay embedding: each point is the row t and the rows t - s, t - 2s, ... before it,
        `delays` of them together with s = `delay_step`. 0 and 1 mean none.
    subsample : int, optional
        Number of points to draw at random; they keep the order of the file. All if there are fewer.
    every : int
        Distance between points that are kept: 3 keeps the first, the fourth, the seventh … Points
        are kept after the delays are made and before `subsample` draws.
    seed : int
        Seed of the random numbers.
    missing : {"error", "drop"}
        Refuse rows with missing values, or leave them out. With delays, every point that needs
        such a row is left out, so that no gap in time is bridged.
    period : float or one per chosen column, optional
        Periods of the columns, in place of those that the file gives.
    lengths : sequence of int, optional
        Numbers of rows of several time series that follow each other in the table. Delays do not
        reach from one into another.
    pca : int or float, optional
        Number of principal directions that take the place of the columns, after standardising and
        delays; or, between 0 and 1, the share of the variance that they hold at least
        (`vbdm.pca`).
    tica, lag : int, optional
        Number of slow directions of a time series that take the place of the columns, and the
        number of points after which they are compared (`vbdm.tica`).

    Returns
    -------
    Cloud, Preparation
        The points, and the record of what was done to the columns, to treat other files alike.

    Examples
    --------
    >>> from vbdm.io import Source, Table, prepare
    >>> walk = np.arange(8.0).reshape(4, 2)
    >>> table = Table(walk, ("x", "y"), Source("walk.npy", "npy", 0, ""))
    >>> cloud, preparation = prepare(table, columns="y", delays=2, every=2)
    >>> cloud.points.tolist(), cloud.rows.tolist()
    ([[3.0, 1.0], [7.0, 5.0]], [1, 3])
    """
    if not isinstance(table, Table):
        raise InputError(
            f"A table is needed; received {type(table).__name__}. Read one with vbdm.io.read; "
            "arrays go into vbdm.estimate_operator as they are."
        )
    check_choice(missing, "missing", ("error", "drop"))
    if not isinstance(standardize, bool | np.bool_):
        raise InputError(
            f"`standardize` is True or False; received {repr(standardize)[:200]}. Leave it out."
        )
    delays, delay_step = whole(delays, "delays", 0) or 1, whole(delay_step, "delay_step", 1)
    every, seed = whole(every, "every", 1), whole(seed, "seed", 0)
    size = None if subsample is None else whole(subsample, "subsample", 2)
    joined = () if lengths is None else check_lengths(lengths, table.values.shape[0])
    if table.metric == "precomputed":
        changes = (columns, standardize or None, size, period, pca, tica)
        if any(change is not None for change in changes) or delays > 1 or every > 1:
            raise no_points("A matrix of distances is taken as it is.")
        rows = np.arange(table.values.shape[0], dtype=np.intp)
        cloud = Cloud(
            table.values,
            (),
            rows,
            len(rows),
            metric="precomputed",
            notes=table.notes,
            lengths=joined,
            about_rows=table.about_rows,
            unit=table.unit,
        )
        return cloud, Preparation((), (), missing=missing)
    if columns is None:
        refuse_row_numbers(table)
    taken = choose(columns, table.names, table.made_up)
    chosen = tuple(table.names[position] for position in taken)
    plan = Preparation(
        table.names,
        chosen,
        delays=delays,
        delay_step=delay_step,
        period=periods(table, taken, period),
        missing=missing,
        reference=table.reference,
        made_up=table.made_up,
    )
    for name, wanted in (("standardize", standardize or None), ("pca", pca), ("tica", tica)):
        if wanted is not None:
            refuse_periodic(plan, name)
    cloud = take(table, taken, plan, every, size, seed, joined)
    asked = table.chosen or columns is not None
    odd = remarks(table, taken, cloud.points[:, : len(taken)], asked)
    cloud = replace(cloud, notes=(*cloud.notes, *odd))
    if standardize:
        center, scale = moments(cloud.points[:, : len(taken)], chosen)
        plan = replace(plan, center=center, scale=scale)
        cloud = standardized(cloud, plan)
    projection = directions(cloud, pca, tica, lag, drawn=size is not None)
    if projection is not None:
        plan = replace(plan, projection=projection)
        cloud = projected(cloud, projection)
        cloud = replace(cloud, notes=(*cloud.notes, projection.in_words))
    return cloud, plan


def directions(cloud: Cloud, n_wide: Any, n_slow: Any, lag: Any, *, drawn: bool) -> Any:
    """Return the projection that is asked for, or None; `drawn` tells that rows are missing."""
    if n_wide is not None and n_slow is not None:
        raise InputError(
            f"`pca` and `tica` contradict each other; received pca={shown(n_wide)} and "
            f"tica={shown(n_slow)}. Leave `pca` out."
        )
    if n_slow is not None and drawn:
        raise InputError(
            "`tica` and `subsample` contradict each other; received both. Thin out with `every`."
        )
    if n_wide is not None:
        return pca_of(cloud.points, n_wide)
    if n_slow is None:
        return None
    return tica_of(cloud.points, n_slow, lag, lengths=cloud.lengths, rows=cloud.rows)


def whole(value: Any, name: str, least: int) -> int:
    """Return the value as an int; raise unless it is a whole number, `least` or more."""
    if not is_whole(value) or value < least:
        raise InputError(
            f"`{name}` must be a whole number, {least} or more; received {shown(value)}. Change it."
        )
    return int(value)


def periods(table: Table, taken: list[int], period: Any) -> Period:
    """Return the periods of the chosen columns: those given, or those of the file."""
    if period is not None:
        lengths = check_period(period, len(taken))
        return None if lengths is None else tuple(float(v) or None for v in lengths)
    if table.period is None:
        return None
    kept = tuple(table.period[position] for position in taken)
    return kept if any(kept) else None


def refuse_periodic(plan: Preparation, name: str = "standardize") -> None:
    """Raise if columns to be standardised or mixed are periodic: angles have no mean."""
    if plan.period is None:
        return
    pairs = zip(plan.columns, plan.period, strict=True)
    what = "be standardised" if name == "standardize" else "be reduced"
    raise InputError(
        f"Periodic columns cannot {what}: an angle has no mean; received periodic column(s): "
        f"{listed([column for column, length in pairs if length])}. Leave `{name}` out."
    )


def moments(
    values: FloatArray, names: tuple[str, ...]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return mean and standard deviation of each column; 1 in place of a deviation of 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        center, scale = values.mean(axis=0), values.std(axis=0)
    if not np.isfinite([center, scale]).all():
        raise InputError(
            "The columns cannot be standardised; received values up to "
            f"{np.abs(values).max():.3g} in column(s) {listed(names)}, whose squares are too large "
            "to be numbers. Check the units and the codes for missing values."
        )
    # Rounding errors can give a constant column a deviation that is not 0.
    scale[np.ptp(values, axis=0) == 0] = 1.0
    return tuple(center.tolist()), tuple(scale.tolist())


#: With fewer rows than this, whole numbers in a row may be chance.
FEWEST_ROWS = 10
#: A table with fewer than FEW_ROWS rows, and more than TIMES as many columns, may be transposed.
FEW_ROWS, TIMES = 50, 4
#: A value may be a code for missing values if it is in at least CODES rows, and further from all
#: other values than FAR times their range.
CODES, FAR = 3, 10.0
#: Number of rows that are looked at first; they exclude such a code in nearly all columns.
GLANCE = 200


def refuse_row_numbers(table: Table) -> None:
    """Refuse columns that only count the rows, unless columns were chosen.

    Such a column would be the longest direction of the cloud, and the first eigenfunction would be
    the order of the file. A table in which all columns count is a regular grid, and allowed.
    """
    n = len(table.names)
    counting = [place for place, counts in steady(table.values).items() if counts]
    if table.chosen or not counting or len(counting) == n:
        return
    others = [place for place in range(n) if place not in counting]
    name = table.names[counting[0]]
    first, second = (f"{table.values[row, counting[0]]:.0f}" for row in (0, 1))
    raise InputError(
        f"A column only counts the rows; received column {name!r} (number {counting[0]}), with "
        f"{first}, {second} and so on. Leave it out with "
        f"columns={as_choice(others, table.names)!r}; if it is meant as a coordinate, keep it with "
        f"columns={as_choice(range(n), table.names)!r}."
    )


def steady(values: Any) -> dict[int, bool]:
    """Return the columns that change by the same amount in every row, and whether they count rows.

    A column counts rows if it holds whole numbers that change by exactly 1 or -1. Other differences
    may be inexact, by the digits with which they were written.

    >>> from vbdm.io.prepare import steady
    >>> rows = np.arange(20)
    >>> steady(np.column_stack([rows, rows / 4, rows**2, 7 - rows]))
    {0: True, 1: False, 3: True}
    """
    if len(values) < FEWEST_ROWS:
        return {}
    found = {}
    # The first rows exclude most columns, so that a mapped file is not read through.
    head = np.asarray(values[:FEWEST_ROWS], np.float64)
    for place in np.flatnonzero(on_a_line(head)).tolist():
        column = np.asarray(values[:, place : place + 1], np.float64)
        if on_a_line(column)[0]:
            steps = np.diff(column[:, 0])
            whole = column[0, 0] == np.round(column[0, 0])
            found[place] = bool(whole and abs(steps[0]) == 1 and (steps == steps[0]).all())
    return found


def on_a_line(values: FloatArray) -> BoolArray:
    """Return which columns are linear, and not constant, in the row number."""
    part = np.arange(len(values))[:, None] / (len(values) - 1)
    with np.errstate(over="ignore", invalid="ignore"):
        span = values[-1] - values[0]
        off = np.abs(values - (values[0] + span * part)).max(axis=0)
        return np.asarray((span != 0) & (off <= 0.01 * np.abs(span) / (len(values) - 1)))


def remarks(table: Table, taken: list[int], points: FloatArray, asked: bool) -> Iterator[str]:
    """Yield sentences about what looks odd: shape, times, constant columns, codes.

    `points` are the columns `taken` of the rows that are used; `asked`: the user chose them.
    """
    names = tuple(table.names[place] for place in taken)
    n_rows, n_columns = table.values.shape
    if n_rows < FEW_ROWS and TIMES * n_rows < n_columns and table.source.format != "trajectory":
        yield f"{n_rows} rows and {n_columns:,} columns: is the table transposed?"
    even = [] if asked else list(steady(table.values))
    if 0 < len(even) < len(names):
        yield (
            f"{listed([names[place] for place in even])} changes by the same step in every row: a "
            "time, which is no coordinate? Leave it out with `columns`."
        )
    low, high = points.min(axis=0), points.max(axis=0)
    level = [name for name, same in zip(names, low == high, strict=True) if same]
    if level and len(points) > 1:
        what, do = ("Column", "does") if len(level) == 1 else ("Columns", "do")
        yield f"{what} {listed(level)} {do} not vary."
    yield from codes(points, names, low, high)


def codes(
    points: FloatArray, names: tuple[str, ...], low: FloatArray, high: FloatArray
) -> Iterator[str]:
    """Yield a sentence for each value that may stand for missing ones, such as -999 or 1e20."""
    found: dict[float, list[int]] = {}
    for code, end in ((low, high), (high, low)):
        # If an end of the range is a code, all other values lie near the other end. The first
        # rows exclude that in nearly all columns.
        part = points[:GLANCE]
        with np.errstate(over="ignore", invalid="ignore"):
            near = np.abs(part - end) <= np.abs(end - code) / (FAR + 1)
        for place in np.flatnonzero(((part == code) | near).all(axis=0) & (low < high)).tolist():
            if is_code(code[place], points[:, place]):
                found.setdefault(float(code[place]), []).append(place)
    for value, places in found.items():
        count = int((points[:, places] == value).any(axis=1).sum())
        yield (
            f"{count:,} rows hold exactly {value:.7g} in {listed([names[p] for p in places])}: a "
            "code for missing values?"
        )


def is_code(value: float, column: FloatArray) -> bool:
    """Tell whether a value is frequent, larger in size than all others, and far from them."""
    rest = column[column != value]
    span = np.ptp(rest)
    return bool(
        len(column) - len(rest) >= CODES
        and span > 0
        and abs(value) > np.abs(rest).max()
        and np.abs(rest - value).min() > FAR * span
    )
