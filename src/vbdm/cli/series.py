"""Time series from files: columns of numbers, with gaps, and the times of their rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import FloatArray
from ..errors import InputError
from .options import READING, arguments_for
from .steps import Work, read_table

if TYPE_CHECKING:
    from ..io import Preparation, Table

#: Names of columns that are times, if they ascend; a unit may follow.
TIME_NAMES = re.compile(r"(?:time|date|year|t)\b.*", re.IGNORECASE | re.DOTALL)
#: Names of columns that make dates together: years, months and, if there are some, days.
PARTS_OF_DATES = (("year", "yr"), ("month", "mon"), ("day",))


@dataclass(frozen=True, eq=False)
class SeriesFile:
    """A series from a file."""

    #: The columns, (N, n), NaN where a value is missing, and their names.
    values: FloatArray
    names: tuple[str, ...]
    #: Times of the rows, dates or numbers, if there are some, and what the file calls them.
    times: Any
    time_name: str
    #: The file.
    source: dict[str, Any]
    #: Which columns were taken, to find them in other files.
    preparation: Preparation


def read_series(
    work: Work, file: Path, options: Mapping[str, Any], notes: Mapping[str, Any] | None = None
) -> SeriesFile:
    """Read a series; `notes` are those of a model, with whose file this one is read alike."""
    from ..io import Preparation
    from ..io.prepare import codes
    from ..io.table import listed

    with work.ledger.stage("reading"):
        known, reading = how_to_read(file, options, notes or {})
        table = read_table(file, reading)
        refuse_distances(table, file)
        wanted = options.get("time") or (notes or {}).get("time")
        lengths = (options.get("lengths") or ()) if notes is None else ()
        given = options.get("time") is not None
        times, used = times_of(table, wanted, given, lengths, work.note)
        if known is None:
            taken = [j for j, own in enumerate(table.names) if own not in used]
        else:
            taken = known.find(table.names, table.made_up)
        values = np.array(table.values[:, taken], dtype=np.float64)
    chosen = tuple(table.names[j] for j in taken)
    for text in table.notes:
        work.note(text)
    if known is None and set(used) & set(table.names):
        what = "a column" if len(used) == 1 else "columns"
        work.note(f"Taken as the time of the rows: {listed(used)} (--time none: {what}).")
    periodic = [] if table.period is None else [table.names[j] for j in taken if table.period[j]]
    if periodic:
        work.note(f"Periodic columns are forecast as plain numbers: {listed(periodic)}.")
    complete = values[np.isfinite(values).all(axis=1)]
    if len(complete):
        for text in codes(complete, chosen, complete.min(axis=0), complete.max(axis=0)):
            work.note(text)
    plan = known or Preparation(table.names, chosen, reference=table.reference,
                                made_up=table.made_up)  # fmt: skip
    return SeriesFile(values, plan.columns, times, ", ".join(used), table.source.as_dict(), plan)


def how_to_read(
    file: Path, options: Mapping[str, Any], notes: Mapping[str, Any]
) -> tuple[Preparation | None, dict[str, Any]]:
    """Return which columns a model knows, if there is one, and the arguments for the reader."""
    from ..io import Preparation
    from .transform import usable

    given = arguments_for(READING, options)
    if not notes.get("preparation"):
        return None, given
    known = Preparation.from_dict(notes["preparation"])
    stored = dict(notes.get("reading") or {})
    columns = stored.pop("columns", None)
    reading = {**usable(stored, file, given), **given}
    if known.reference is not None:
        columns = known
    return known, {"columns": columns, **reading}


def times_of(
    table: Table,
    wanted: str | None,
    given: bool,
    lengths: Sequence[int],
    note: Callable[[str], None],
) -> tuple[Any, tuple[str, ...]]:
    """Return the times of the rows and their columns: those named, or what looks like times."""
    from ..io.prepare import steady
    from ..io.table import listed

    about = table.about_rows
    if wanted is not None and wanted.lower() == "none":
        return None, ()
    if wanted is not None:
        if wanted in about.numbers:
            return about.numbers[wanted], (wanted,)
        if wanted in table.names:
            return column(table, table.names.index(wanted)), (wanted,)
        if wanted == about.time_name:
            return about.times, (wanted,)
        if given:
            known = [*table.names, *about.numbers, about.time_name]
            raise InputError(
                f"There is no such column of times; received --time {wanted}. The file has "
                f"{listed([own for own in known if own])}. Write --time none to count the rows."
            )
    if about.times is not None:
        return about.times, (about.time_name,) if about.time_name else ()
    parts = parts_of_dates(table)
    dates = dates_of(list(parts.values()), lengths) if parts else None
    if dates is not None:
        return dates, tuple(parts)
    if parts:
        note(f"No ascending dates can be made of the columns {', '.join(parts)}.")
    # A column that counts evenly, or that is called time and ascends.
    for name, values in about.numbers.items():
        if TIME_NAMES.fullmatch(name) and (np.diff(values) > 0).all():
            return values, (name,)
    if table.chosen or len(table.names) < 2:
        return None, ()
    even = [j for j, own in enumerate(table.names) if TIME_NAMES.fullmatch(own)]
    for j in (*even, *steady(table.values)):
        if (np.diff(column(table, j)) > 0).all():
            return column(table, j), (table.names[j],)
    return None, ()


def parts_of_dates(table: Table) -> dict[str, FloatArray]:
    """Return columns called year and month, and day if there is one; empty if nothing is left."""
    free = {} if table.chosen else {own: column(table, j) for j, own in enumerate(table.names)}
    known = {own.strip().lower(): own for own in (*free, *table.about_rows.numbers)}
    found = [next((known[own] for own in names if own in known), None) for names in PARTS_OF_DATES]
    columns = {**free, **table.about_rows.numbers}
    parts = {own: columns[own] for own in found if own is not None}
    if None in found[:2] or set(table.names) <= set(parts):
        return {}
    return parts


def dates_of(parts: Sequence[FloatArray], lengths: Sequence[int]) -> Any:
    """Return dates of years, months and, if given, days; None if they do not ascend in each series.

    Examples
    --------
    >>> [str(own) for own in dates_of([np.array([1990.0, 1991]), np.array([12.0, 1])], ())]
    ['1990-12-01', '1991-01-01']
    >>> dates_of([np.array([1990.0, 1990]), np.array([12.0, 13])], ())
    """
    table = np.column_stack([*parts, np.ones(len(parts[0]))])[:, :3]
    years = table[:, 0]
    if (table != np.round(table)).any() or not (years.min() >= 1 and years.max() <= 9999):
        return None
    try:
        texts = [f"{year:04.0f}-{month:02.0f}-{day:02.0f}" for year, month, day in table]
        dates = np.array(texts, dtype="datetime64[D]")
    except ValueError:
        # Months and days that do not exist.
        return None
    # Another series may begin before the end of the one before it.
    inside = np.diff(dates) > np.timedelta64(0, "D")
    begins = np.cumsum(lengths, dtype=np.int64)[:-1] - 1
    inside[begins[(begins >= 0) & (begins < len(inside))]] = True
    return dates if inside.all() else None


def column(table: Table, j: int) -> FloatArray:
    """Return one column of a table."""
    return np.asarray(table.values[:, j], dtype=np.float64)


def refuse_distances(table: Table, file: Path) -> None:
    """Raise if a file holds distances, which are no series."""
    if table.metric == "precomputed":
        raise InputError(
            f"A series is needed; received {file.name!r} with a matrix of distances. Choose "
            "another array of the file with --key."
        )
