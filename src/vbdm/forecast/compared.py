"""Forecasts beside references, on a new series or on what was held out of the record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import FloatArray
from .holdout import HoldOut
from .learn import Decided
from .learned import Learned
from .record import Record
from .references import Empirical, Normal, Reference, References
from .skill import Case, Skill, skill_of


def skill_on(
    learned: Learned,
    values: FloatArray,
    lengths: Sequence[int],
    leads: Sequence[int],
    names: tuple[str, ...],
) -> Skill:
    """Return the scores of forecasts from each row of new series, (N, n), without their cycle."""
    record = learned.record
    test = Record.of(values, lengths, record.delays, at_least=1)
    _, states = record.states_in(values, lengths)
    begun = learned.predictor.begin(states)
    told = References(record, np.zeros(record.n_rows, dtype=np.bool_))
    cases = []
    for lead in leads:
        ahead = test.later(lead)
        truths = np.where((ahead >= 0)[:, None], values[ahead], np.nan)
        references = all_references(told, values[test.rows], states, lead)
        cases.append(Case(lead, learned.members(begun, lead), references, truths))
    return skill_of(cases, names)


def skill_held_out(decided: Decided, names: tuple[str, ...]) -> Skill:
    """Return the scores of forecasts on what was held out, with the spread that was learned.

    The same rows have chosen the predictor and set its spread: they flatter it a little.
    """
    chosen = decided.chosen
    held, leads = chosen.held, chosen.leads
    found = held.members(chosen.predictor, chosen.predictor.begin(held.points), leads)
    cases = []
    for lead, plain in zip(leads, found, strict=True):
        factors = decided.learned.spread.at(lead)
        members = [own.spread(by) for own, by in zip(plain, factors, strict=True)]
        cases.append(Case(lead, members, references_outside(held, lead), held.truths(lead)))
    return skill_of(cases, names)


def references_outside(held: HoldOut, lead: int) -> dict[str, Reference]:
    """Return the references of all held-out starts, learned outside their blocks."""
    start = held.record.values[held.rows]
    normal: dict[str, list[Normal]] = {"persistence": [], "linear": []}
    which = np.empty(len(start), dtype=np.intp)
    for number, block in enumerate(held.blocks):
        told = References(held.record, block.left_out)
        normal["persistence"].append(told.persistence(start[block.starts], lead))
        normal["linear"].append(told.linear(held.points[block.starts], lead))
        which[block.starts] = number
    found: dict[str, Reference] = {name: joined(parts) for name, parts in normal.items()}
    known = tuple(block.climatology for block in held.blocks)
    return {"climatology": Empirical(known, which), **found}


def joined(parts: Sequence[Normal]) -> Normal:
    """Return the starts of several distributions, one after the other."""
    return Normal(
        np.concatenate([own.mean for own in parts]),
        np.concatenate([own.deviation for own in parts]),
    )


def all_references(
    told: References, start: FloatArray, states: FloatArray, lead: int
) -> dict[str, Reference]:
    """Return the forecasts of all references from some starts."""
    return {
        "climatology": Empirical((told.climatology(),), np.zeros(len(start), dtype=np.intp)),
        "persistence": told.persistence(start, lead),
        "linear": told.linear(states, lead),
    }
