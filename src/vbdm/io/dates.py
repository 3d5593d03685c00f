"""Dates in text, as they are written in tables: 2020-01-31, 31.01.2020, 1/31/2020, with a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set

import numpy as np
from numpy.typing import NDArray

#: The time behind a date, and its distance from universal time.
CLOCK = r"(?:[ T](?P<clock>\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)\s*(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
YEAR_FIRST = re.compile(rf"(?P<y>\d{{4}})([-/.])(?P<a>\d\d?)(?:\2(?P<b>\d\d?){CLOCK})?")
YEAR_LAST = re.compile(rf"(?P<a>\d\d?)([-/.])(?P<b>\d\d?)\2(?P<y>\d{{4}}){CLOCK}")

Times = NDArray[np.datetime64]


def read_dates(cells: Sequence[str], missing: Set[str] = frozenset({""})) -> Times | None:
    """Return the dates, as (N,) array of datetime64; None if they are none, or if it is in doubt.

    Parameters
    ----------
    cells : sequence of str
        The cells of one column.
    missing : set of str
        Cells that stand for missing dates, which become NaT.

    Notes
    -----
    In 1/2/2020 the day may come first or last. It is the order in which all cells are dates; if
    both are, the one in which the dates never go back; else it is in doubt. Before points, as in
    1.2.2020, the day comes first.

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
        return dates_by(cells, missing, YEAR_FIRST, lambda m: (m["a"], m["b"] or "1"))
    day_first = dates_by(cells, missing, YEAR_LAST, lambda m: (m["b"], m["a"]))
    if "." in present[0]:
        return day_first
    month_first = dates_by(cells, missing, YEAR_LAST, lambda m: (m["a"], m["b"]))
    found = [dates for dates in (day_first, month_first) if dates is not None]
    if len(found) == 2 and not same(*found):
        found = [dates for dates in found if never_goes_back(dates)]
        if len(found) == 2:
            return None
    return found[0] if found else None


def same(left: Times, right: Times) -> bool:
    """Tell whether two arrays hold the same dates."""
    return bool((left == right)[~np.isnat(left)].all())


def never_goes_back(dates: Times) -> bool:
    """Tell whether no date is before the one above it."""
    known = dates[~np.isnat(dates)]
    return bool((known[1:] >= known[:-1]).all())


def dates_by(
    cells: Sequence[str],
    missing: Set[str],
    pattern: re.Pattern[str],
    month_and_day: Callable[[re.Match[str]], tuple[str, str]],
) -> Times | None:
    """Return the dates that a pattern finds; None if any cell is neither a date nor missing."""
    texts, minutes = [], np.zeros(len(cells), dtype="timedelta64[m]")
    for row, cell in enumerate(cells):
        if cell in missing:
            texts.append("NaT")
            continue
        found = pattern.fullmatch(cell)
        if found is None:
            return None
        month, day = month_and_day(found)
        texts.append(f"{found['y']}-{month:0>2}-{day:0>2}T{found['clock'] or '00:00'}")
        minutes[row] = offset(found["zone"])
    try:
        return np.array(texts, dtype="datetime64[us]") - minutes
    except ValueError:
        # Months and days that do not exist.
        return None


def offset(zone: str | None) -> int:
    """Return the minutes by which a zone, such as +05:30, is ahead of universal time."""
    if zone in (None, "Z"):
        return 0
    digits = zone[1:].replace(":", "")
    minutes = 60 * int(digits[:2]) + int(digits[2:])
    return -minutes if zone[0] == "-" else minutes
