"""What a forecast is asked for: leads, starts and observables, checked and in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.accepts import answer_of
from ..base.arrays import BoolArray, FloatArray
from ..base.checks import as_floats, shown
from ..errors import InputError, OutsideWarning, SkillWarning, warn_user
from ..extension.rows import kernel_rows
from .learned import Learned
from .reading import Given
from .record import Record, Rows
from .skill import NO_GAIN

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
