"""The points that go into an estimate, and how they are taken from a table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.memory import refuse_array
from ..base.row_notes import RowNotes
from ..errors import InputError
from ..prepare.delays import Delays
from ..prepare.projection import Projection
from .columns import as_slice
from .missing import complete_rows, row_blocks
from .table import Table

if TYPE_CHECKING:
    from .preparation import Preparation

#: Unit of columns that were divided by their standard deviation.
STANDARDIZED = "standard deviations"


@dataclass(frozen=True, eq=False)
class Cloud:
    """The points of an estimate.

    Attributes
    ----------
    points : (N, n) float64 array in C order, or (N, N) sparse array of distances
        The coordinates. If nothing had to be changed, a memory map of the file.
    names : tuple of str
        Names of the columns; "x@-5" is x five rows earlier.
    rows : (N,) array of int
        Row of each point in the file, from 0; with delays the row of the newest sample.
    n_read : int
        Number of rows in the file.
    dropped : int
        Number of points left out for missing values, in their row or in an earlier one they need.
    metric : str
        "euclidean" for points, "precomputed" for distances.
    period : tuple or None
        Period of each column, with None for a column without one; None if no column is periodic.
    notes : tuple of str
        Sentences for the user about the file and its columns.
    lengths : tuple of int
        Numbers of points of each time series, where the file holds several; else empty.
    about_rows : RowNotes
        Labels, times and further numbers of each point, those of its row; with delays, of the row
        of the newest sample.
    unit : str
        Unit of all coordinates, such as "Å" or "standard deviations"; empty if it is not known.
    """

    points: Any
    names: tuple[str, ...]
    rows: NDArray[np.intp]
    n_read: int
    dropped: int = 0
    metric: str = "euclidean"
    period: tuple[float | None, ...] | None = None
    notes: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    about_rows: RowNotes = field(default_factory=RowNotes)
    unit: str = ""


def take(
    table: Table,
    taken: list[int],
    plan: Preparation,
    every: int = 1,
    size: int | None = None,
    seed: int = 0,
    lengths: tuple[int, ...] = (),
) -> Cloud:
    """Return the points of a table: chosen columns, with delays, of complete rows; not scaled.

    Parameters
    ----------
    table : Table
        The table.
    taken : list of int
        Positions of the chosen columns.
    plan : Preparation
        Delays, periods, and what happens to missing values.
    every : int
        Distance between points that are kept: 3 keeps every third.
    size : int, optional
        Number of points to draw at random from those.
    seed : int
        Seed of the random numbers.
    lengths : tuple of int
        Numbers of rows of several time series in the table; no delay reaches from one to another.
    """
    delays = Delays(plan.delays, plan.delay_step)
    n, reach = len(table.values), delays.reach
    if n <= reach:
        raise InputError(
            f"There are fewer rows than the delays need; received {n} row(s), with {plan.delays} "
            f"delays of {plan.delay_step} row(s). The first point needs the {reach} row(s) before "
            "it. Use fewer delays, a smaller step, or a longer series."
        )
    lags = list(delays.lags)
    complete = complete_rows(table, taken, plan.missing)
    rows = delays.rows(complete, lengths)
    dropped = n - reach - len(delays.rows(complete))
    if len(rows) == 0:
        raise InputError(
            f"No point is left after dropping missing values; received {int((~complete).sum())} "
            f"of {n} rows with missing values, and {plan.delays} delays. Use fewer delays, or "
            "fill the gaps first."
        )
    notes = [*table.notes, *gaps_in_words(int((~complete).sum()), dropped, n, lags)]
    rows = rows[::every]
    if size is not None and size > len(rows):
        notes.append(f"All {len(rows):,} points were taken: there are fewer than {size:,}.")
    if size is not None and size < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(rows, size, replace=False))
    names = [name if lag == 0 else f"{name}@-{lag}" for lag in lags for name in plan.columns]
    return Cloud(
        gather(table, rows, taken, lags),
        tuple(names),
        rows.astype(np.intp, copy=False),
        n,
        dropped,
        period=None if plan.period is None else plan.period * plan.delays,
        notes=tuple(notes),
        lengths=lengths_of(rows, lengths),
        about_rows=table.about_rows.take(rows),
        unit=table.unit,
    )


def lengths_of(rows: NDArray[np.intp], lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Return how many of the rows each series has, without those that have none.

    Examples
    --------
    >>> lengths_of(np.array([0, 3, 4]), (2, 1, 2))
    (1, 2)
    """
    found = np.bincount(np.searchsorted(np.cumsum(lengths), rows, side="right"))
    return tuple(found[found > 0].tolist()) if lengths else ()


def gaps_in_words(n_missing: int, dropped: int, n_read: int, lags: list[int]) -> list[str]:
    """Return a note on the rows with missing values and the points left out; empty if none."""
    one = n_missing == 1
    rows = f"{n_missing} of {n_read} rows {'has' if one else 'have'} missing values"
    if not n_missing:
        return []
    if lags == [0]:
        return [f"{rows} and {'was' if one else 'were'} left out."]
    points = "1 point that needs" if dropped == 1 else f"{dropped} points that need"
    were = "was" if dropped == 1 else "were"
    return [f"{rows}; {points} {'it' if one else 'them'} {were} left out."]


def gather(table: Table, rows: NDArray[np.intp], taken: list[int], lags: list[int]) -> FloatArray:
    """Return the columns `taken` of the rows, and of the rows that are `lags` before them.

    Nothing is copied if that is the whole table and it is float64 in C order.
    """
    values = table.values
    everything = len(rows) == len(values) and taken == list(range(values.shape[1]))
    if everything and lags == [0] and values.dtype == np.float64 and values.flags.c_contiguous:
        return np.asarray(values)
    n = len(taken)
    refuse_array(len(rows) * n * len(lags), "The array of points")
    points = np.empty((len(rows), n * len(lags)))
    columns = as_slice(taken)
    for block in row_blocks(len(rows), values.shape[1]):
        for place, lag in enumerate(lags):
            points[block, place * n : (place + 1) * n] = values[rows[block] - lag][:, columns]
    return points


def standardized(cloud: Cloud, plan: Preparation) -> Cloud:
    """Return the cloud with its columns centred and scaled, if the preparation does that."""
    if plan.center is None or plan.scale is None:
        return cloud
    center, scale = np.tile(plan.center, plan.delays), np.tile(plan.scale, plan.delays)
    points = (cloud.points - center) / scale
    return replace(cloud, points=points, unit=STANDARDIZED)


def projected(cloud: Cloud, projection: Projection | None) -> Cloud:
    """Return the cloud in fewer columns, if the preparation has a projection."""
    if projection is None:
        return cloud
    unit = STANDARDIZED if projection.kind == "tica" else cloud.unit
    return replace(cloud, points=projection.apply(cloud.points), names=projection.names, unit=unit)
