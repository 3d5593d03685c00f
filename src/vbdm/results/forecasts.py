"""The folder of a forecast: tables, pictures, a page, and the model, whole or not at all.

==================  ===================================================================
`forecast.csv`      mean, standard deviation and quantiles for each start, lead and column
`skill.csv`         scores of the forecast and of what it must beat, for each lead and column
`forecast.json`     what was decided, where the series came from, the forecast, words, files
`model.vbdm`        the model; `vbdm.load` gives it back
`report.html`       one page to look at, offline
`fan.png`, ...      pictures (with matplotlib)
==================  ===================================================================
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.files import PathLike, plain
from ..base.versions import __version__
from ..forecast.forecast import QUANTILES, Forecast
from ..forecast.modes import Modes
from ..forecast.references import MEASURES
from ..forecast.skill import METHODS, Skill
from ..forecaster import Forecaster
from ..io.saved.forecasts import save_forecaster
from ..progress import report
from ..report import forecast_words as words
from ..report.forecast_page import forecast_page
from ..report.forecast_pictures import Past
from .figures import can_draw, save_picture
from .folder import FORECAST, FORECAST_FORMAT, MODEL, PAGE, check_folder, replacing_folder
from .writing import files_in

VERSION = 1
#: Fewest rows before a start that are drawn.
FEWEST_BEFORE = 48
TABLE, SKILL, FAN, CURVES = "forecast.csv", "skill.csv", "fan.png", "skill.png"


@dataclass(frozen=True, eq=False)
class ForecastRun:
    """Everything that the folder of a forecast holds.

    Attributes
    ----------
    model : Forecaster
        The fitted model.
    forecast : Forecast
        What it forecasts.
    skill : Skill
        How good its forecasts are.
    past : Past
        What came before the last start.
    source : mapping
        Where the training series came from.
    start : str
        The file whose rows are starts; empty for the end of the training series.
    tested_on : str
        The file on which the skill was found; empty for what was held out.
    notes : mapping
        How files are read, to read others alike.
    warnings : sequence of str
        Messages of the warnings that were given on the way.
    seconds : mapping
        Seconds by stage of the work.
    """

    model: Forecaster
    forecast: Forecast
    skill: Skill
    past: Past
    source: Mapping[str, Any] = field(default_factory=dict)
    start: str = ""
    tested_on: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """What forecasts were compared with, in words."""
        return self.tested_on or words.HELD_OUT


def write_forecast(
    folder: PathLike, run: ForecastRun, *, force: bool = False, figures: bool = True,
    page: bool = True, title: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Write a forecast into one folder, which appears when it is complete; return its summary."""
    target = check_folder(folder, force)
    with replacing_folder(target, force) as partial_folder:
        if figures and can_draw():
            draw(run, partial_folder)
        if page:
            report("page", 0, 1)
            own = forecast_page(
                run.model, newest(run.forecast), run.skill, run.past, title=title,
                where=run.where, n_starts=len(run.forecast), source=run.source,
                warnings=run.warnings, seconds=run.seconds,
            )  # fmt: skip
            (partial_folder / PAGE).write_text(own, "utf-8")
        report("saving", 0, 1)
        write_rows(partial_folder / TABLE, forecast_rows(run.forecast))
        write_rows(partial_folder / SKILL, skill_rows(run.skill))
        save_forecaster(run.model, partial_folder / MODEL, notes=dict(run.notes))
        summary = summarise(run, files_in(partial_folder))
        text = json.dumps(summary, indent=1, allow_nan=False, ensure_ascii=False)
        (partial_folder / FORECAST).write_text(text + "\n", "utf-8")
        report("saving", 1, 1)
    return summary


def newest(forecast: Forecast, n_starts: int = 1) -> Forecast:
    """Return the forecast from the last starts alone."""
    last = slice(max(len(forecast) - n_starts, 0), None)
    return replace(
        forecast, rows=forecast.rows[last], places=forecast.places[last],
        steps=forecast.steps[last], outside=forecast.outside[last], states=forecast.states[last],
    )  # fmt: skip


def past_of(
    model: Forecaster, forecast: Forecast, given: tuple[FloatArray, Any] | None = None
) -> Past:
    """Return what came before the last start, in the user's units: about twice the time ahead.

    `given` are values and times of another series, if the start is in it.
    """
    if given is None:
        record = model.learned_.record
        rows = np.flatnonzero(record.series_of == record.series_of[record.rows[-1]])
        steps = model.last_step_ - (record.n_rows - 1 - rows)
        values = record.values[rows] + model.cycle_.at(steps)
    else:
        whole, steps, _ = model._given(given[0], None, given[1])
        values = whole.values
    last = int(np.searchsorted(steps, forecast.steps[-1], side="right"))
    first = max(0, last - max(FEWEST_BEFORE, 2 * int(forecast.leads[-1])))
    return Past(steps[first:last], values[first:last])


def draw(run: ForecastRun, folder: Path) -> None:
    """Draw the fan chart of the first column, and the skill, as PNG files."""
    from .. import plot

    report("figures", 0, 2)
    before = run.past.values[:, 0] if len(run.past.steps) else None
    save_picture(partial(plot.forecast, newest(run.forecast), past=before), folder / FAN)
    report("figures", 1, 2)
    save_picture(partial(plot.skill, run.skill), folder / CURVES)
    report("figures", 2, 2)


def write_rows(path: Path, rows: Iterator[Sequence[Any]]) -> None:
    """Write a table as text, numbers in full; what is not known is left empty."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for row in rows:
            writer.writerow([cell(own) for own in row])


def cell(value: Any) -> Any:
    """Return what stands in a cell."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value)) if np.isfinite(value) else ""
    return value


def forecast_rows(forecast: Forecast) -> Iterator[Sequence[Any]]:
    """Yield the forecast as rows, with names first: one for each start, lead and column."""
    yield ("init", "lead", "time", "column", "mean", "std", *quantile_names())
    inits, times = (words.times_in_full(own) for own in (forecast.init, forecast.valid_times))
    levels = forecast.quantile(list(QUANTILES))
    n_leads = len(forecast.leads)
    for i, k, j in np.ndindex(forecast.shape):
        numbers = forecast.mean[i, k, j], forecast.std[i, k, j], *levels[:, i, k, j]
        place = inits[i], int(forecast.leads[k]), times[i * n_leads + k], forecast.names[j]
        yield (*place, *numbers)


def quantile_names() -> list[str]:
    """Return the names of the columns of quantiles: q05, q25 and so on."""
    return [f"q{100 * p:02.0f}" for p in QUANTILES]


def skill_rows(skill: Skill) -> Iterator[Sequence[Any]]:
    """Yield the skill as rows, with names first: one for each method, lead and column."""
    yield ("method", "lead", "column", "n_cases", *MEASURES)
    for m, k, j in np.ndindex(skill.rmse.shape):
        measured = (getattr(skill, name)[m, k, j] for name in MEASURES)
        yield (METHODS[m], int(skill.leads[k]), skill.names[j], int(skill.n_cases[k]), *measured)


def summarise(run: ForecastRun, files: Sequence[str]) -> dict[str, Any]:
    """Return the contents of forecast.json."""
    model, forecast = run.model, run.forecast
    head, *rows = forecast_rows(newest(forecast))
    found: dict[str, Any] = plain({
        "format": FORECAST_FORMAT, "version": VERSION, "vbdm": __version__,
        "input": {**run.source, "columns": model.names_, "n_rows": model.learned_.record.n_rows},
        "parameters": model.get_params(),
        "decided": decided(model),
        "start": {"file": run.start or None, "n_starts": len(forecast)},
        "leads": forecast.leads,
        "doubtful": forecast.leads[forecast.doubtful],
        "forecast": [dict(zip(head, row, strict=True)) for row in rows],
        "skill": {"on": run.where, "leads": run.skill.leads, "crpss": run.skill.crpss,
                  "not_beaten": run.skill.not_beaten},
        "words": in_words(run),
        "warnings": list(run.warnings), "seconds": dict(run.seconds),
        "files": sorted([*files, FORECAST]),
    })  # fmt: skip
    return found


def decided(model: Forecaster) -> dict[str, Any]:
    """Return what the hold-out decided."""
    predictor = model.learned_.predictor
    return {
        "predictor": model.predictor_, "delays": model.delays_,
        "delay_step": model.learned_.record.delays.step, "n_modes": model.n_modes_,
        "direct": isinstance(predictor, Modes) and predictor.direct, "season": model.season_,
        "horizon": model.horizon_, "scores": model.scores_, "delay_scores": model.delay_scores_,
    }  # fmt: skip


def in_words(run: ForecastRun) -> list[str]:
    """Return what was found, in sentences."""
    told = [
        words.who_predicts(run.model), words.what_a_state_is(run.model),
        words.which_season(run.model), words.is_climatology_beaten(run.skill, run.where),
        words.is_anything_better(run.skill), words.how_reliable(run.skill),
    ]  # fmt: skip
    return [own for own in told if own]
