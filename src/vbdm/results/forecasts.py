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

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.files import PathLike, plain
from ..base.versions import __version__
from ..forecast import words
from ..forecast.forecast import Forecast
from ..forecaster import Forecaster
from ..io.saved.forecasts import save_forecaster
from ..progress import report
from ..report.forecast_page import ForecastRun, forecast_page
from .folder import FORECAST, FORECAST_FORMAT, MODEL, PAGE, check_folder, replacing_folder
from .writing import can_draw, files_in, save_picture

VERSION = 1
#: Fewest rows before a start that are drawn.
FEWEST_BEFORE = 48
TABLE, SKILL, FAN, CURVES = "forecast.csv", "skill.csv", "fan.png", "skill.png"


def write_forecast(
    folder: PathLike, run: ForecastRun, *, force: bool = False, figures: bool = True,
    page: bool = True, title: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Write a forecast into one folder, which appears when it is complete; return its summary."""
    target = check_folder(folder, force)
    figures = figures and can_draw()
    with replacing_folder(target, force) as partial_folder:
        if figures:
            draw(run, partial_folder)
        if page:
            report("page", 0, 1)
            own = forecast_page(run, title, figures)
            (partial_folder / PAGE).write_text(own, "utf-8")
        report("saving", 0, 1)
        run.forecast.to_dataframe().to_csv(partial_folder / TABLE, index=False, lineterminator="\n")
        run.skill.to_dataframe().to_csv(partial_folder / SKILL, index=False, lineterminator="\n")
        save_forecaster(run.model, partial_folder / MODEL, notes=dict(run.notes))
        summary = summarise(run, files_in(partial_folder))
        text = json.dumps(summary, indent=1, allow_nan=False, ensure_ascii=False)
        (partial_folder / FORECAST).write_text(text + "\n", "utf-8")
        report("saving", 1, 1)
    return summary


def past_of(
    model: Forecaster, forecast: Forecast, given: tuple[FloatArray, Any] | None = None
) -> int | FloatArray:
    """Return how many rows before the last start are drawn, about twice the time ahead.

    If the start is in another series, with these values and times, return its rows.
    """
    count = max(FEWEST_BEFORE, 2 * int(forecast.leads[-1]))
    if given is None:
        # And the start itself.
        return count - 1
    whole, steps, _ = model._given(given[0], None, given[1])
    end = int(np.searchsorted(steps, forecast.steps[-1], side="right"))
    return whole.values[max(0, end - count) : end]


def draw(run: ForecastRun, folder: Path) -> None:
    """Draw the fan chart of the first column, and the skill, as PNG files."""
    from .. import plot

    report("figures", 0, 2)
    before = run.past if isinstance(run.past, int) else run.past[:, 0]
    save_picture(partial(plot.forecast, run.forecast, past=before), folder / FAN)
    report("figures", 1, 2)
    save_picture(partial(plot.skill, run.skill), folder / CURVES)
    report("figures", 2, 2)


def summarise(run: ForecastRun, files: Sequence[str]) -> dict[str, Any]:
    """Return the contents of forecast.json."""
    model, predictor, newest = run.model, run.model.learned_.predictor, run.forecast[-1:]
    rows = newest.to_dataframe()
    for name in ("init", "valid_time"):
        rows[name] = words.times_in_words(rows[name].to_numpy())
    found: dict[str, Any] = plain({
        "format": FORECAST_FORMAT, "version": VERSION, "vbdm": __version__,
        "input": {**run.source, "columns": model.names_, "n_rows": model.learned_.record.n_rows},
        "parameters": model.get_params(),
        "decided": {
            "predictor": model.predictor_, "delays": model.delays_,
            "delay_step": model.learned_.record.delays.step, "n_modes": model.n_modes_,
            "direct": getattr(predictor, "direct", False), "season": model.season_,
            "horizon": model.horizon_, "scores": model.scores_,
            "delay_scores": model.delay_scores_,
        },
        "start": {"file": run.start or None, "n_starts": len(run.forecast)},
        "leads": newest.leads,
        "doubtful": newest.leads[newest.doubtful],
        "forecast": rows.to_dict("records"),
        "skill": {"on": run.where, "leads": run.skill.leads, "crpss": run.skill.crpss,
                  "not_beaten": run.skill.not_beaten},
        "words": run.in_words,
        "warnings": list(run.warnings), "seconds": dict(run.seconds),
        "files": sorted([*files, FORECAST]),
    })  # fmt: skip
    return found
