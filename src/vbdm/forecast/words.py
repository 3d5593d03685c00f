"""Forecasts and how good they are, in words: for the terminal, the page and forecast.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.wording import counted
from .holdout import mean_known
from .skill import METHODS, Skill

if TYPE_CHECKING:
    from ..forecaster import Forecaster
    from .forecast import Forecast

#: What stands in place of a number that is not known.
UNKNOWN = "—"
#: Columns of the table, by blocks: the measure, and of whom; climatology has no correlation.
BLOCKS = {
    "RMSE": [("rmse", method) for method in METHODS],
    "ACC": [("acc", method) for method in METHODS if method != "climatology"],
    "CRPS": [("crps", method) for method in METHODS],
    "within": [("coverage50", "50 %"), ("coverage90", "90 %")],
    "ignorance": [("ignorance", method) for method in METHODS[:2]],
}
#: Short heads of methods.
HEADS = {"forecast": "ours", "climatology": "clim", "persistence": "pers"}
#: Numbers outside are written with a power of ten.
SMALLEST, LARGEST = 1e-4, 1e6
#: What each predictor does, in a few words.
DOES = {"neighbours": "what came after similar states", "modes": "a density moved by one matrix"}
HELD_OUT = "what was held out of the training series"
#: What must be known of scores that also decided.
CAUTION = (
    "What was held out has also chosen the settings and set the spread: on new data expect a "
    "little less. A series that was never seen, given as --test FILE, tells how much."
)


def skill_in_words(skill: Skill) -> str:
    """Return a table with a row for each lead, and at which leads climatology is not beaten."""
    import pandas as pd

    columns = {}
    for title, own in BLOCKS.items():
        tables = [
            mean_over_columns(skill, name)[METHODS.index(whose) if whose in METHODS else 0]
            for name, whose in own
        ]
        form = format_of(np.array(tables), own[0][0])
        for (_, whose), table in zip(own, tables, strict=True):
            columns[title, HEADS.get(whose, whose)] = [number_text(value, form) for value in table]
    table = pd.DataFrame(columns, index=[str(lead) for lead in skill.leads])
    table.columns.names = ["", "lead"]
    low, high = int(skill.n_cases.min()), int(skill.n_cases.max())
    cases = counted(high, "forecast") if low == high else f"{low:,} to {high:,} forecasts"
    heading = f"Scores of {skill.names[0]}, of {cases} at each lead."
    if len(skill.names) > 1:
        heading = (
            f"Scores of {cases} at each lead, in the mean over {len(skill.names)} columns; RMSE "
            "and CRPS over those of climatology."
        )
    # Wide enough for all columns, whatever the terminal.
    return "\n".join([heading, table.to_string(line_width=10**6), is_climatology_beaten(skill)])


def mean_over_columns(skill: Skill, measure: str, columns: slice = slice(None)) -> FloatArray:
    """Return a measure of all methods, (methods, leads), in the mean over some columns.

    Errors of several columns, whose units may differ, are divided by those of climatology before.
    """
    table = getattr(skill, measure)[..., columns]
    if table.shape[-1] > 1 and measure in ("rmse", "crps"):
        reference = table[skill.methods.index("climatology")]
        table = table / np.where(reference > 0, reference, np.nan)
    return np.asarray(mean_known(table, axis=-1))


def independent(skill: Skill) -> FloatArray:
    """Return the number of independent forecasts at each lead, (L,), 1 or more."""
    return np.asarray(np.maximum(skill.n_cases / skill.leads, 1.0))


def weights_of_leads(skill: Skill) -> FloatArray:
    """Return how much each lead counts in means over leads, (L,): as much as it knows."""
    known = np.where(skill.n_cases > 0, independent(skill), 0.0)
    return np.asarray(known / max(known.sum(), 1.0))


def number_text(value: float, form: str) -> str:
    """Return a number as text; -0.00 is 0.00."""
    return f"{value:z{form}}" if np.isfinite(value) else UNKNOWN


def format_of(table: FloatArray, measure: str) -> str:
    """Return the format of a measure: of errors, three digits of the largest number."""
    if measure.startswith("coverage"):
        return ".0%"
    if measure in ("acc", "ignorance"):
        return ".2f"
    largest = float(np.abs(table[np.isfinite(table)]).max(initial=0.0)) or 1.0
    if not SMALLEST <= largest < LARGEST:
        return ".2e"
    return f".{max(0, 2 - int(np.floor(np.log10(largest))))}f"


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
    n, what = model.delays_, "A state is one row"
    if n > 1:
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


def judged_leads(skill: Skill) -> list[int]:
    """Return the leads at which forecasts can be compared with climatology."""
    return [int(lead) for lead in skill.leads[np.isfinite(skill.crpss).any(axis=1)]]


def is_climatology_beaten(skill: Skill, where: str = "") -> str:
    """Return at which leads forecasts are better than climatology, and at which they are not."""
    known, worse = judged_leads(skill), skill.not_beaten.tolist()
    on = f" on {where}" if where else ""
    if not known:
        why = "nothing changes there" if skill.n_cases.any() else "it is too short"
        return f"Nothing is known of the skill{on}: {why}."
    begin = f"On {where}, forecasts" if where else "Forecasts"
    if not worse:
        return f"{begin} beat climatology at every lead, 1 to {known[-1]} steps."
    at = f"beat climatology, but not at {in_a_row(worse, known)}"
    if len(worse) == len(known):
        at = "do not beat climatology at any lead"
    return f"{begin} {at}: there they say no more than how often each value occurs in the record."


def is_anything_better(skill: Skill) -> str:
    """Return where persistence or a linear model scores better; empty if nowhere."""
    # Over climatology, in the mean of columns, (methods, leads).
    reference = np.where(skill.crps[1] > 0, skill.crps[1], np.nan)
    scores, known = mean_known(skill.crps / reference, axis=2), judged_leads(skill)
    told = []
    for number, name in ((2, "persistence"), (3, "a linear model")):
        better = skill.leads[scores[number] < scores[0]].tolist()
        if better:
            told.append(f"{name} scores better at {in_a_row(better, known)}")
    return "" if not told else f"{told[0][0].upper()}{'; '.join(told)[1:]}."


def how_reliable(skill: Skill) -> str:
    """Return how often intervals held what came."""
    known = np.isin(skill.leads, judged_leads(skill))
    if not known.any():
        return ""
    fifty, ninety = (
        100 * float(np.nanmean(own[0][known])) for own in (skill.coverage50, skill.coverage90)
    )
    return (
        f"Intervals of 90 % held what came in {ninety:.0f} % of the cases, those of 50 % in "
        f"{fifty:.0f} %, in the mean over leads and columns."
    )


def forecast_cells(forecast: Forecast, most: int) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return heads and rows of a table of the last start: means and intervals of some columns."""
    ends = forecast.quantile([0.05, 0.95])[:, -1]
    heads = ["lead", "time"]
    columns = [[str(lead) for lead in forecast.leads], times_in_words(forecast.valid_times[-1])]
    for j, name in enumerate(forecast.names[:most]):
        low, high = ends[..., j]
        digits = decimals(float(np.median(high - low)))
        heads += [name, "90 % interval"]
        columns.append([f"{value:.{digits}f}" for value in forecast.mean[-1, :, j]])
        both = zip(low, high, strict=True)
        columns.append([f"{a:.{digits}f} to {b:.{digits}f}" for a, b in both])
    return heads, list(zip(*columns, strict=True))


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
    if flat.dtype.kind != "M":
        return [f"{one:.10g}" for one in flat]
    units = ("datetime64[D]", "datetime64[s]", flat.dtype)
    fine = next(unit for unit in units if (flat.astype(unit) == flat).all())
    return [str(one) for one in flat.astype(fine)]


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
