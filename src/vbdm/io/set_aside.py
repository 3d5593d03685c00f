"""Columns that are no coordinates: labels, dates and further numbers are kept beside the points."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.row_notes import MOST_FIELDS, Labels, RowNotes
from .table import listed

#: Words that stand for a missing label or date. Sodium, Na, is a label.
NO_WORDS = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "NAN", "null", "NULL", "None", "NaT"}
)


@dataclass(eq=False)
class SetAside:
    """Collects columns that are no coordinates, and tells in words what became of them."""

    #: As in `RowNotes`.
    labels: dict[str, Labels] = field(default_factory=dict)
    numbers: dict[str, FloatArray] = field(default_factory=dict)
    times: NDArray[Any] | None = None
    time_name: str = ""
    #: Names of columns of which nothing is kept: identifiers, and lists.
    left_out: list[str] = field(default_factory=list)

    def add_text(self, name: str, cells: Sequence[str]) -> None:
        """Add a column of text: times if all of it are dates, else labels, if they are few."""
        dates = read_dates(cells, NO_WORDS) if self.times is None else None
        if dates is not None:
            self.add_times(name, dates)
        else:
            self.add_labels(name, Labels.of(cells, NO_WORDS))

    def add_labels(self, name: str, labels: Labels | None) -> None:
        """Add labels; None stands for identifiers, which are left out."""
        if labels is not None and labels.names and len(self.labels) < MOST_FIELDS:
            self.labels[name] = labels
        else:
            self.left_out.append(name)

    def add_numbers(self, name: str, values: FloatArray) -> None:
        """Add a column of numbers; one without any number is left out."""
        if not np.isnan(values).all() and len(self.numbers) < MOST_FIELDS:
            self.numbers[name] = values
        else:
            self.left_out.append(name)

    def add_times(self, name: str, times: NDArray[Any]) -> None:
        """Add the times of the rows; of several columns of dates the first gives them."""
        if self.times is None:
            self.times, self.time_name = times, name
        else:
            self.left_out.append(name)

    @property
    def row_notes(self) -> RowNotes:
        """What is kept, in the form in which it stays with the points."""
        return RowNotes(self.labels, self.numbers, self.times, self.time_name)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the user on columns that were set aside without having been asked for."""
        told = []
        if self.labels:
            told.append(f"Set aside as labels, not coordinates: {listed(list(self.labels))}.")
        if self.times is not None:
            told.append(f"Set aside as the time of the rows: {listed([self.time_name])}.")
        if self.left_out:
            told.append(f"Left out, since it tells no groups apart: {listed(self.left_out)}.")
        return tuple(told)


# --- Dates ---------------------------------------------------------------------------------------

#: The time behind a date, and its distance from universal time.
CLOCK = r"(?:[ T](?P<clock>\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)\s*(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
YEAR_FIRST = re.compile(rf"(?P<y>\d{{4}})([-/.])(?P<a>\d\d?)(?:\2(?P<b>\d\d?){CLOCK})?")
YEAR_LAST = re.compile(rf"(?P<a>\d\d?)([-/.])(?P<b>\d\d?)\2(?P<y>\d{{4}}){CLOCK}")

Times = NDArray[np.datetime64]


def read_dates(cells: Sequence[str], missing: Set[str] = frozenset({""})) -> Times | None:
    """Return the dates, as (N,) array of datetime64; None if they are none, or if it is in doubt.

    Cells in `missing` become NaT. In 1/2/2020 the day may come first or last: it is the order in
    which all cells are dates; if both are, the one in which the dates never go back; else it is in
    doubt. Before points, as in 1.2.2020, the day comes first.

    Examples
    --------
    >>> read_dates(["2020-01", "2020-02"]).astype("datetime64[D]").tolist()
    [datetime.date(2020, 1, 1), datetime.date(2020, 2, 1)]
    >>> read_dates(["31.1.2020", ""]).astype(str).tolist()
    ['2020-01-31T00:00:00.000000', 'NaT']
    >>> read_dates(["red", "2020-01-01"]), read_dates(["1/2/2020", "3/4/2020"])
    (None, None)
    """
    present = [cell for cell in cells if cell not in missing]
    # One cell excludes nearly all columns of labels at once.
    if not present or not (YEAR_FIRST.fullmatch(present[0]) or YEAR_LAST.fullmatch(present[0])):
        return None
    if YEAR_FIRST.fullmatch(present[0]):
        return dates_by(cells, missing, YEAR_FIRST, "a", "b")
    day_first = dates_by(cells, missing, YEAR_LAST, "b", "a")
    if "." in present[0]:
        return day_first
    month_first = dates_by(cells, missing, YEAR_LAST, "a", "b")
    found = [dates for dates in (day_first, month_first) if dates is not None]
    if len(found) == 2 and (found[0] != found[1])[~np.isnat(found[0])].any():
        found = [dates for dates in found if never_goes_back(dates)]
        if len(found) == 2:
            return None
    return found[0] if found else None


def never_goes_back(dates: Times) -> bool:
    """Tell whether no date is before the one above it."""
    known = dates[~np.isnat(dates)]
    return bool((known[1:] >= known[:-1]).all())


def dates_by(
    cells: Sequence[str], missing: Set[str], pattern: re.Pattern[str], month: str, day: str
) -> Times | None:
    """Return the dates that a pattern finds; None if any cell is neither a date nor missing."""
    import pandas as pd

    texts: list[str | None] = []
    for cell in cells:
        found = pattern.fullmatch(cell)
        if found is None and cell not in missing:
            return None
        texts.append(
            found
            and f"{found['y']}-{found[month]}-{found[day] or 1}T{found['clock'] or '00:00'}"
            f"{found['zone'] or ''}"
        )
    try:
        times = pd.array(texts, dtype="datetime64[us, UTC]")
    except ValueError:  # months and days that do not exist
        return None
    return np.asarray(times.tz_localize(None), dtype="datetime64[us]")
