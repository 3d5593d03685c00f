"""Sentences on a forecaster and its skill, for its page and for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..forecast.holdout import mean_known
from ..forecast.skill import Skill
from ..forecast.words import judged_leads
from ..forecaster import Forecaster

#: What each predictor does, in a few words.
DOES = {"neighbours": "what came after similar states", "modes": "a density moved by one matrix"}
HELD_OUT = "what was held out of the training series"
#: What must be known of scores that also decided.
CAUTION = (
    "What was held out has also chosen the settings and set the spread: on new data expect a "
    "little less. A series that was never seen, given as --test FILE, tells how much."
)


def who_predicts(model: Forecaster) -> str:
    """Return who predicts and why.

    Examples
    --------
    >>> model = vbdm.Forecaster("neighbours", delays=1).fit(np.sin(np.arange(300) / 5))
    >>> who_predicts(model).split(":")[0]
    'Neighbours predict, as asked'
    """
    name, scores = model.predictor_, model.scores_
    own = f"{name.capitalize()} predict"
    does = f"{DOES[name]} scored {scores[name]:.2f} of climatology on {HELD_OUT}"
    others = [other for other in scores if other != name]
    if not others:
        return f"{own}, as asked: {does} (below 1 is better)."
    other = others[0]
    clear = ", which is not clearly better" if scores[name] > scores[other] else ""
    return f"{own}: {does}, {other} {scores[other]:.2f}{clear} (below 1 is better)."


def what_a_state_is(model: Forecaster) -> str:
    """Return how many rows make a state, and who chose it."""
    n = model.delays_
    if n == 1:
        what = "A state is one row"
    else:
        step = model.learned_.record.delays.step
        apart = "" if step == 1 else f", {step} rows apart"
        what = f"A state is {n} rows, the newest and {n - 1} before it{apart}"
    if not model.delay_scores_:
        return f"{what}, as asked."
    tried = ", ".join(f"{own}: {score:.2f}" for own, score in model.delay_scores_.items())
    return f"{what}, chosen by scores on what was held out ({tried})."


def which_season(model: Forecaster) -> str:
    """Return which cycle was taken off."""
    if not model.season_:
        return "No cycle of the seasons was taken off."
    return (
        f"A cycle of {model.season_:g} steps was taken off before anything was learned, and is put "
        "back in forecasts."
    )


def known_leads(skill: Skill) -> NDArray[np.bool_]:
    """Return at which leads anything is known, (leads,)."""
    return np.asarray((skill.n_cases > 0) & np.isfinite(skill.crps[0]).any(axis=1))


def over_climatology(skill: Skill, method: int) -> FloatArray:
    """Return the score of a method over that of climatology, in the mean of columns, (leads,)."""
    reference = np.where(skill.crps[1] > 0, skill.crps[1], np.nan)
    return np.asarray(mean_known(skill.crps[method] / reference, axis=1))


def is_climatology_beaten(skill: Skill, where: str = HELD_OUT) -> str:
    """Return at which leads forecasts are better than climatology, and at which they are not."""
    known = judged_leads(skill).tolist()
    if not known:
        why = "nothing changes there" if skill.n_cases.any() else "it is too short"
        return f"Nothing is known of the skill on {where}: {why}."
    worse = skill.not_beaten.tolist()
    if not worse:
        return f"On {where}, forecasts beat climatology at every lead, 1 to {known[-1]} steps."
    if len(worse) == len(known):
        return (
            f"On {where}, forecasts do not beat climatology at any lead: they say no more than how "
            "often each value occurs in the record."
        )
    return (
        f"On {where}, forecasts beat climatology, but not at {in_a_row(worse, known)}: there they "
        "say no more than how often each value occurs in the record."
    )


def is_anything_better(skill: Skill) -> str:
    """Return where persistence or a linear model scores better; empty if nowhere."""
    own, known = over_climatology(skill, 0), known_leads(skill)
    all_known = [int(lead) for lead in skill.leads[known]]
    told = []
    for number, name in ((2, "persistence"), (3, "a linear model")):
        better = known & (over_climatology(skill, number) < own)
        if better.any():
            leads = [int(lead) for lead in skill.leads[better]]
            told.append(f"{name} scores better at {in_a_row(leads, all_known)}")
    return "" if not told else f"{told[0][0].upper()}{'; '.join(told)[1:]}."


def in_a_row(leads: Sequence[int], known: Sequence[int]) -> str:
    """Return leads in words, with "to" where they follow each other among those known.

    Examples
    --------
    >>> in_a_row([8, 12, 16], [1, 2, 4, 8, 12, 16]), in_a_row([1, 8], [1, 4, 8])
    ('leads 8 to 16', 'leads 1 and 8')
    """
    place = {lead: at for at, lead in enumerate(known)}
    runs: list[list[int]] = []
    for lead in leads:
        if runs and place[lead] == place[runs[-1][-1]] + 1:
            runs[-1].append(lead)
        else:
            runs.append([lead])
    words = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return f"{'lead' if len(leads) == 1 else 'leads'} {listed}"


def times_in_words(times: NDArray[Any]) -> list[str]:
    """Return times as text: dates without a time of day where all are at midnight.

    Examples
    --------
    >>> times_in_words(np.array(["2020-01-01", "2020-02-01"], dtype="datetime64[ns]"))
    ['2020-01-01', '2020-02-01']
    >>> times_in_words(np.array([0.5, 12.0]))
    ['0.5', '12']
    """
    flat = np.asarray(times).ravel()
    if flat.dtype.kind == "M":
        days = flat.astype("datetime64[D]")
        seconds = flat.astype("datetime64[s]")
        if (days == flat).all():
            return [str(one) for one in days]
        return [str(one) for one in (seconds if (seconds == flat).all() else flat)]
    return [f"{one:.10g}" for one in flat]


def times_in_full(times: NDArray[Any]) -> list[str]:
    """Return times as text for files: numbers with all their digits.

    Examples
    --------
    >>> times_in_full(np.array([1700000000.25, 12.0]))
    ['1700000000.25', '12']
    """
    flat = np.asarray(times).ravel()
    if flat.dtype.kind == "M":
        return times_in_words(flat)
    return [repr(one).removesuffix(".0") for one in flat.tolist()]


def decimals(spread: float) -> int:
    """Return after how many decimals three digits of a spread are told.

    Examples
    --------
    >>> decimals(0.123), decimals(12.0), decimals(4500.0)
    (3, 1, 0)
    """
    if not (np.isfinite(spread) and spread > 0):
        return 3
    return int(np.clip(2 - np.floor(np.log10(spread)), 0, 12))


def how_reliable(skill: Skill) -> str:
    """Return how often intervals held what came."""
    known = known_leads(skill)
    if not known.any():
        return ""
    fifty, ninety = (
        100 * float(np.nanmean(own[0][known])) for own in (skill.coverage50, skill.coverage90)
    )
    return (
        f"Intervals of 90 % held what came in {ninety:.0f} % of the cases, those of 50 % in "
        f"{fifty:.0f} %, in the mean over leads and columns."
    )
