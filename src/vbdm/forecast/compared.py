"""Forecasts beside references, on a new series or on what was held out of the record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from .learn import Decided
from .learned import Learned
from .record import Record
from .references import NAMES, Normal, References
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


def references_outside(held: Any, lead: int) -> dict[str, Normal]:
    """Return the references of all held-out starts, learned outside their blocks."""
    start = held.record.values[held.rows]
    parts = [
        all_references(
            References(held.record, block.left_out),
            start[block.starts], held.points[block.starts], lead,
        )
        for block in held.blocks
    ]  # fmt: skip
    return {
        name: Normal(
            np.concatenate([own[name].mean for own in parts]),
            np.concatenate([own[name].deviation for own in parts]),
        )
        for name in NAMES
    }


def all_references(
    told: References, start: FloatArray, states: FloatArray, lead: int
) -> dict[str, Normal]:
    """Return the forecasts of all references from some starts."""
    return {
        "climatology": told.climatology(len(start)),
        "persistence": told.persistence(start, lead),
        "linear": told.linear(states, lead),
    }
