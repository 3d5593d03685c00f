"""The page of a forecast: words, fan charts, skill and reliability in one file, no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.references import ANALOGS, DIFFUSION_FORECAST
from ..base.versions import __version__, library_versions
from ..forecast.forecast import Forecast
from ..forecast.skill import METHODS, Skill
from ..forecaster import Forecaster
from . import forecast_words as words
from ._page import filled, policy, resource
from ._parts import prose, text
from .forecast_pictures import Past, fan, reliability, score_curves

#: Columns that are drawn, and that have a table of skill; the files have all.
DRAWN = 4
#: What to cite.
WORKS = (
    DIFFUSION_FORECAST.text,
    ANALOGS.text,
    "T. Gneiting, A. E. Raftery: Strictly proper scoring rules, prediction, and estimation. "
    "Journal of the American Statistical Association 102, 359 (2007).",
)
NAMES = ("forecast", "climatology", "persistence", "linear model")


def forecast_page(
    model: Forecaster,
    forecast: Forecast,
    skill: Skill,
    past: Past,
    *,
    title: str = "",
    where: str = words.HELD_OUT,
    n_starts: int = 1,
    source: Mapping[str, Any] | None = None,
    warnings: Sequence[str] = (),
    seconds: Mapping[str, float] | None = None,
) -> str:
    """Return the page as HTML text.

    Parameters
    ----------
    model : Forecaster
        The fitted model.
    forecast : Forecast
        What it forecasts; that from the last start is drawn.
    skill : Skill
        How good forecasts are.
    past : Past
        What came before the last start.
    title : str
        Heading of the page.
    where : str
        What forecasts were compared with, in words.
    n_starts : int
        From how many starts there are forecasts in the files.
    source : mapping, optional
        Where the series came from: name, format, size, sha256 …
    warnings : sequence of str
        Messages of the warnings that were given on the way.
    seconds : mapping, optional
        Seconds that each stage of the work took, by name.
    """
    style = resource("page.css") + resource("forecast.css")
    known = dict(source or {})
    fields = {
        "title": text(title or f"Forecast of {', '.join(forecast.names[:DRAWN])}"),
        "policy": policy(style, ""),
        "style": style,
        "found": text(words.is_climatology_beaten(skill, where)),
        "sentence": text(words.who_predicts(model)),
        "facts": facts(model, forecast, known),
        "start": text(start_in_words(forecast, n_starts)),
        "fans": fans(forecast, past),
        "doubt": text(doubt(forecast)),
        "forecasts": forecast_table(forecast),
        "more": text(what_files_have(forecast)),
        "beaten": text(words.is_climatology_beaten(skill, where)),
        "better": text(words.is_anything_better(skill)),
        "skill": skill_part(skill),
        "caution": text(words.CAUTION if where == words.HELD_OUT else ""),
        "reliable": text(words.how_reliable(skill)),
        "reliability": reliability_part(skill),
        "who": text(words.who_predicts(model)),
        "state": text(words.what_a_state_is(model)),
        "season": text(words.which_season(model)),
        "warnings": warnings_part(warnings),
        "references": "".join(f"<li>{text(work)}</li>" for work in WORKS),
        "settings": settings(model, known, seconds),
    }
    return filled(resource("forecast.html"), fields)


def facts(model: Forecaster, forecast: Forecast, source: Mapping[str, Any]) -> str:
    """Return the facts at the top."""
    record = model.learned_.record
    number = "" if model.n_modes_ is None else f"{model.n_modes_} "
    rows = [
        ("Predictor", f"{number}{model.predictor_}", words.DOES[model.predictor_]),
        ("State", *state_fact(model)),
        ("Season", *season_fact(model)),
        ("Series", f"{record.n_rows:,} rows", str(source.get("name", ""))),
        ("Columns", f"{len(model.names_)}", ", ".join(model.names_[:8])),
        ("Tried up to", f"{model.horizon_} steps", "largest lead on what was held out"),
    ]
    return "\n".join(
        f'<div class="fact"><dt>{text(name)}</dt><dd><b>{text(value)}</b>'
        f"<span>{text(note)}</span></dd></div>"
        for name, value, note in rows
    )


def state_fact(model: Forecaster) -> tuple[str, str]:
    """Return how many rows make a state, and which."""
    if model.delays_ == 1:
        return "1 row", "the newest alone"
    return f"{model.delays_} rows", f"the newest and {model.delays_ - 1} before it"


def season_fact(model: Forecaster) -> tuple[str, str]:
    """Return the length of the cycle, and what is done to it."""
    if not model.season_:
        return "none", "no cycle was taken off"
    return f"{model.season_:g} steps", "a cycle that is taken off and put back"


def start_in_words(forecast: Forecast, n_starts: int) -> str:
    """Return from where, and how far, is forecast."""
    begin = words.times_in_words(forecast.init[-1:])[0]
    counted = "row " if forecast.axis.kind == "rows" else ""
    many = "" if n_starts == 1 else f" The last of {n_starts:,} starts; forecast.csv has all."
    return f"From {counted}{begin} on, {int(forecast.leads[-1])} steps ahead.{many}"


def fans(forecast: Forecast, past: Past) -> str:
    """Return the fan charts of the first columns."""
    return "\n".join(
        f"<h3>{text(forecast.names[j])}</h3>\n<figure>{fan(forecast, past, j)}</figure>"
        for j in range(min(DRAWN, len(forecast.names)))
    )


def doubt(forecast: Forecast) -> str:
    """Return what must be known before a forecast is used; empty if nothing is."""
    told = []
    if forecast.outside[-1]:
        told.append(" The start is unlike all states of the training series: do not trust this.")
    if forecast.doubtful.any():
        leads = [int(lead) for lead in forecast.leads]
        bad = [int(lead) for lead in forecast.leads[forecast.doubtful]]
        when = words.in_a_row(bad, leads)
        told.append(f" At {when} it is no better than climatology, or was not tried.")
    return "".join(told)


def forecast_table(forecast: Forecast) -> str:
    """Return the forecasts of the first columns from the last start, as a table."""
    n = min(DRAWN, len(forecast.names))
    times = words.times_in_words(forecast.valid_times[-1])
    ends = forecast.quantile([0.05, 0.95])[:, -1]
    heads = "".join(
        f'<th scope="col">{text(name)}</th><th scope="col">90 % interval</th>'
        for name in forecast.names[:n]
    )
    rows = []
    digits = [words.decimals(float(np.median(ends[1, :, j] - ends[0, :, j]))) for j in range(n)]
    for k, lead in enumerate(forecast.leads.tolist()):
        cells = "".join(
            f"<td>{forecast.mean[-1, k, j]:.{d}f}</td><td>{ends[0, k, j]:.{d}f} to "
            f"{ends[1, k, j]:.{d}f}</td>"
            for j, d in enumerate(digits)
        )
        rows.append(f'<tr><th scope="row">{lead}</th><td>{text(times[k])}</td>{cells}</tr>')
    head = f'<thead><tr><th scope="col">lead</th><th scope="col">time</th>{heads}</tr></thead>'
    return f'<table class="modes forecast-table">{head}<tbody>{"".join(rows)}</tbody></table>'


def what_files_have(forecast: Forecast) -> str:
    """Return where the other columns are, if there are some."""
    left = len(forecast.names) - DRAWN
    more = f"{left} more column(s) are in the file. " if left > 0 else ""
    return f"{more}All numbers, with more quantiles: forecast.csv."


def skill_part(skill: Skill) -> str:
    """Return the curves of the scores, and tables of the first columns."""
    known = words.known_leads(skill)
    if not known.any():
        return ""
    keys = "".join(f'<li class="method{m}">{text(name)}</li>' for m, name in enumerate(NAMES))
    first, *others = (skill_table(skill, j, known) for j in range(min(DRAWN, len(skill.names))))
    more = f"<details><summary>Other columns</summary>{''.join(others)}</details>"
    tables = first + (more if others else "")
    return (
        f'<div class="split"><figure>{score_curves(skill)}<ul class="keys-of">{keys}</ul>'
        "<figcaption>CRPS over that of climatology, in the mean of the columns, against the lead "
        "in steps. Below 1 is better than climatology; values far above are cut "
        f"off.</figcaption></figure><div>{tables}</div></div>"
    )


def skill_table(skill: Skill, column: int, known: Any) -> str:
    """Return the scores of one column: CRPS of all methods, and how often intervals were right."""
    rows = []
    digits = words.decimals(float(np.nanmedian(skill.crps[1, :, column])))
    for k in np.flatnonzero(known):
        scores = skill.crps[:, k, column]
        finite = scores[np.isfinite(scores)]
        best = float(finite.min()) if len(finite) else np.nan
        cells = "".join(
            f"<td{mark(m, own, best, skill.beaten[k, column])}>{own:.{digits}f}</td>"
            for m, own in enumerate(scores)
        )
        rows.append(
            f'<tr><th scope="row">{int(skill.leads[k])}</th>{cells}'
            f"<td>{skill.acc[0, k, column]:.2f}</td></tr>"
        )
    heads = "".join(f'<th scope="col">{text(name)}</th>' for name in NAMES)
    return (
        f"<h3>{text(skill.names[column])}</h3>"
        '<div class="scroll"><table class="modes forecast-table"><thead><tr>'
        f'<th scope="col">lead</th>{heads}<th scope="col">correlation</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def mark(method: int, own: float, best: float, beaten: bool) -> str:
    """Return how a score is set: the best one bold, a forecast that is worth nothing in amber."""
    if METHODS[method] == "forecast" and not beaten:
        return ' class="worse"'
    return ' class="best"' if own == best else ""


def reliability_part(skill: Skill) -> str:
    """Return the histogram of probabilities."""
    if not words.known_leads(skill).any():
        return ""
    return (
        f'<div class="split"><figure>{reliability(skill)}</figure><p class="note">How often what '
        "came fell into each tenth of its forecast distribution, over all leads and columns. A "
        "reliable forecast has bars of equal height, at the dashed line. High bars at both ends: "
        "the spread is too small. A hump: it is too large. A slope: the mean is off.</p></div>"
    )


def warnings_part(warnings: Sequence[str]) -> str:
    """Return the warnings as a list; empty if there are none."""
    if not warnings:
        return ""
    listed = "".join(f"<li>{prose(own)}</li>" for own in warnings)
    return f'<details class="notes" open><summary>Notes</summary><ul>{listed}</ul></details>'


def settings(
    model: Forecaster, source: Mapping[str, Any], seconds: Mapping[str, float] | None
) -> str:
    """Return parameters, the file, versions and times as rows of a table."""
    parts = {
        "Parameters": model.get_params(),
        "File": source,
        "Seconds": {name: f"{own:.2f}" for name, own in (seconds or {}).items()},
        "Versions": {"vbdm": __version__, **library_versions()},
    }
    rows = []
    for name, entries in parts.items():
        if entries:
            rows.append(f'<tr><th colspan="2">{text(name)}</th></tr>')
            rows += [
                f"<tr><th>{text(key)}</th><td>{text(value)}</td></tr>"
                for key, value in entries.items()
            ]
    return "".join(rows)
