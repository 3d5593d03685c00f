"""The page of a forecast: words, tables and, with matplotlib, pictures in one file, no script."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.references import ANALOGS, DIFFUSION_FORECAST
from ..forecast import words
from ..forecast.forecast import Forecast
from ..forecast.skill import Skill
from ..forecaster import Forecaster
from ._notes import fact_list
from ._page import filled, policy, resource
from ._tables import grouped, prose
from .tables import text

#: Columns that are drawn, and that have a table of skill; the files have all.
DRAWN = 4
#: Sizes of pictures in inches.
WIDE, PAIR = (9.6, 3.4), (9.6, 3.6)
#: What to cite.
WORKS = (
    DIFFUSION_FORECAST.text,
    ANALOGS.text,
    "T. Gneiting, A. E. Raftery: Strictly proper scoring rules, prediction, and estimation. "
    "Journal of the American Statistical Association 102, 359 (2007).",
)
NOTES = '<details class="notes" open><summary>Notes</summary><ul>{}</ul></details>'
NAMES = ("forecast", "climatology", "persistence", "linear model")


@dataclass(frozen=True, eq=False)
class ForecastRun:
    """Everything that the folder of a forecast holds."""

    model: Forecaster
    forecast: Forecast
    #: How good its forecasts are.
    skill: Skill
    #: What came before the last start: how many rows of the record are drawn, or their values.
    past: int | FloatArray
    #: Where the training series came from.
    source: Mapping[str, Any] = field(default_factory=dict)
    #: The file whose rows are starts; empty for the end of the training series.
    start: str = ""
    #: The file on which the skill was found; empty for what was held out.
    tested_on: str = ""
    #: How files are read, to read others alike.
    notes: Mapping[str, Any] = field(default_factory=dict)
    #: Messages of the warnings that were given on the way.
    warnings: Sequence[str] = ()
    #: Seconds by stage of the work.
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """What forecasts were compared with, in words."""
        return self.tested_on or words.HELD_OUT

    @property
    def in_words(self) -> list[str]:
        """What was found, in sentences."""
        told = [
            words.who_predicts(self.model), words.what_a_state_is(self.model),
            words.which_season(self.model), words.is_climatology_beaten(self.skill, self.where),
            words.is_anything_better(self.skill), words.how_reliable(self.skill),
        ]  # fmt: skip
        return [own for own in told if own]


def forecast_page(run: ForecastRun, title: str = "", figures: bool = True) -> str:
    """Return the page of the forecast from the last start as HTML text; pictures by matplotlib."""
    from .. import plot

    model, skill, forecast = run.model, run.skill, run.forecast[-1:]
    style = resource("page.css") + resource("forecast.css")
    beaten = text(words.is_climatology_beaten(skill, run.where))
    judged, notes = words.judged_leads(skill), "".join(f"<li>{prose(n)}</li>" for n in run.warnings)
    scores = reliability = ""
    if figures and judged:
        upper, lower = new_figure(PAIR), new_figure(PAIR)
        plot.skill(skill, axes=[*upper.subplots(1, 2), *lower.subplots(1, 2)])
        scores = as_image(upper, "Errors and correlation against the lead")
        reliability = as_image(lower, "Coverage of intervals, and reliability")
    fans = []
    for j, name in enumerate(forecast.names[:DRAWN] if figures else ()):
        figure = new_figure(WIDE)
        before = run.past if isinstance(run.past, int) else run.past[:, j]
        plot.forecast(forecast, column=j, past=before, ax=figure.subplots())
        fans.append(f"<h3>{text(name)}</h3>{as_image(figure, f'Fan chart of {name}')}")
    row = "row " if forecast.axis.kind == "rows" else ""
    start = f"From {row}{words.times_in_words(forecast.init[-1:])[0]} on"
    n = len(run.forecast)
    many = "" if n == 1 else f" The last of {n:,} starts; forecast.csv has all."
    heads, cells = words.forecast_cells(forecast, DRAWN)
    left = len(forecast.names) - DRAWN
    more = f"{left} more column(s) are in the file. " if left > 0 else ""
    fields = {
        "title": text(title or f"Forecast of {', '.join(forecast.names[:DRAWN])}"),
        "policy": policy(style, ""),
        "style": style,
        "found": beaten,
        "sentence": text(words.who_predicts(model)),
        "facts": facts(model, run.source),
        "start": text(f"{start}, {int(forecast.leads[-1])} steps ahead.{many}"),
        "fans": "\n".join(fans),
        "doubt": text(doubt(forecast)),
        "forecasts": table(heads, [[row_head(own[0]), *map(cell, own[1:])] for own in cells]),
        "more": text(f"{more}All numbers, with more quantiles: forecast.csv."),
        "beaten": beaten,
        "better": text(words.is_anything_better(skill)),
        "scores": scores,
        "tables": skill_tables(skill, judged),
        "caution": text("" if run.tested_on else words.CAUTION),
        "reliable": text(words.how_reliable(skill)),
        "reliability": reliability,
        "who": text(words.who_predicts(model)),
        "state": text(words.what_a_state_is(model)),
        "season": text(words.which_season(model)),
        "warnings": NOTES.format(notes) if notes else "",
        "references": "".join(f"<li>{text(work)}</li>" for work in WORKS),
        "settings": grouped({"Parameters": model.get_params(), "File": run.source}, run.seconds),
    }
    return filled(resource("head.html") + resource("forecast.html"), fields)


def facts(model: Forecaster, source: Mapping[str, Any]) -> str:
    """Return the facts at the top."""
    number = "" if model.n_modes_ is None else f"{model.n_modes_} "
    delays, season = model.delays_, model.season_
    state = (f"{delays} rows", f"the newest and {delays - 1} before it")
    cycle = (f"{season:g} steps", "a cycle that is taken off and put back")
    n_rows = model.learned_.record.n_rows
    return fact_list([
        ("Predictor", f"{number}{model.predictor_}", words.DOES[model.predictor_]),
        ("State", *(state if delays > 1 else ("1 row", "the newest alone"))),
        ("Season", *(cycle if season else ("none", "no cycle was taken off"))),
        ("Series", f"{n_rows:,} rows", str(source.get("name", ""))),
        ("Columns", f"{len(model.names_)}", ", ".join(model.names_[:8])),
        ("Tried up to", f"{model.horizon_} steps", "largest lead on what was held out"),
    ])  # fmt: skip


def new_figure(size: tuple[float, float]) -> Any:
    """Return a figure that pyplot does not know, so that nobody has to close it."""
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def as_image(figure: Any, label: str) -> str:
    """Return a figure as a picture inside the page; equal figures are equal text."""
    from matplotlib import rc_context

    stream = BytesIO()
    with rc_context({"svg.hashsalt": label}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    data = base64.b64encode(stream.getvalue()).decode()
    return (
        f'<figure class="drawn"><img alt="{text(label)}" src="data:image/svg+xml;base64,{data}">'
        "</figure>"
    )


def doubt(forecast: Forecast) -> str:
    """Return what must be known before a forecast is used; empty if nothing is."""
    told = []
    if forecast.outside[-1]:
        told.append("The start is unlike all states of the training series: do not trust this.")
    if forecast.doubtful.any():
        bad = forecast.leads[forecast.doubtful].tolist()
        when = words.in_a_row(bad, forecast.leads.tolist())
        told.append(f"At {when} it is no better than climatology, or was not tried.")
    return " ".join(told)


def row_head(value: object) -> str:
    """Return the first cell of a row."""
    return f'<th scope="row">{text(value)}</th>'


def cell(value: object, kind: str = "") -> str:
    """Return a cell of a table."""
    return f'<td class="{kind}">{text(value)}</td>' if kind else f"<td>{text(value)}</td>"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are HTML."""
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<table class="modes forecast-table"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def skill_tables(skill: Skill, judged: Sequence[int]) -> str:
    """Return the scores of the first columns: CRPS of all methods, and the correlation."""
    found = []
    for j, name in enumerate(skill.names[:DRAWN] if judged else ()):
        digits, rows = words.decimals(float(np.nanmedian(skill.crps[1, :, j]))), []
        for k in np.flatnonzero(np.isin(skill.leads, judged)):
            scores = skill.crps[:, k, j]
            # The best one is bold, a forecast that is worth nothing amber.
            best = np.nanmin(scores, initial=np.inf)
            kinds = ["best" if own == best else "" for own in scores]
            kinds[0] = kinds[0] if skill.beaten[k, j] else "worse"
            numbers = [f"{own:.{digits}f}" for own in scores]
            cells = [*map(cell, numbers, kinds), cell(f"{skill.acc[0, k, j]:.2f}")]
            rows.append([row_head(skill.leads[k]), *cells])
        scored = table(["lead", *NAMES, "correlation"], rows)
        found.append(f'<h3>CRPS of {text(name)}</h3><div class="scroll">{scored}</div>')
    first, others = "".join(found[:1]), "".join(found[1:])
    more = f"<details><summary>Other columns</summary>{others}</details>" if others else ""
    return first + more
