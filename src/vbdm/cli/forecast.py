"""``vbdm forecast``: a time series in, what comes next out, with its skill."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .failures import say_written
from .options import (
    AFTER,
    ASKED,
    FORECASTING,
    LEARNING,
    PREDICTING,
    READING,
    SPEAKING,
    Command,
    Setting,
    arguments_for,
    count_or,
    parse_lengths,
)
from .steps import Work, working
from .terminal import WIDTH, times

if TYPE_CHECKING:
    from ..forecaster import Forecaster
    from ..report.forecast_page import ForecastRun

EXAMPLES = """\b
Examples:
  vbdm forecast sst.csv --lead 12 --delays 5
      twelve steps ahead from the end of the series; results in sst-forecast/
  vbdm forecast sst.csv --columns nino34 --time date --season 12
      one column, with its dates, and a cycle of twelve rows
  vbdm forecast walk.npy --predictor modes --n-modes 40 --test later.npy
      modes alone; their skill on a file that they have not seen
  vbdm forecast sst-forecast --lead 24
      a run from before is opened, nothing is learned again: results in sst-forecast-24/
  vbdm forecast sst-forecast --from new.csv --lead 6
      the same model, from the newest row of another file: results in new-forecast/
  vbdm forecast sst.csv --force --json > summary.json
      again, replacing earlier results, for a script

What is in the folder: report.html (open it in a browser), forecast.csv, skill.csv, forecast.json,
model.vbdm (for vbdm.load) and, with matplotlib, fan.png and skill.png.

Rows are steps in time, a constant time apart. Missing values are empty cells, NA or NaN; with
times, rows may be missing as well.
"""
FITTING = (
    *FORECASTING,
    Setting(["--lengths"], LEARNING, callback=parse_lengths, metavar="NUMBERS",
            help="Rows of several series that follow each other: 5000,3000."),
)  # fmt: skip
#: Most columns, and most leads, in the table on the terminal.
COLUMNS, LEADS = 3, 14
LEFT_OUT = (
    Setting(["--no-report"], AFTER, parameter="page", stands_for=False, is_flag=True,
            help="Leave out report.html."),
    Setting(["--no-figures"], AFTER, parameter="figures", stands_for=False, is_flag=True,
            help="Draw no pictures, neither on the page nor fan.png and skill.png."),
)  # fmt: skip
OPTIONS = [
    click.Argument(["series"], type=click.Path(path_type=Path)),
    PREDICTING[0],
    Setting(["--from", "start"], ASKED, type=click.Path(path_type=Path), metavar="FILE",
            help="Start from the rows of another file. [the end of SERIES]"),
    Setting(["--starts"], ASKED, callback=count_or(1, "all"), metavar="N",
            help="With --from: how many of its newest rows are starts, or all. [1]"),
    Setting(["--test"], ASKED, type=click.Path(path_type=Path), metavar="FILE",
            help="Skill on this file. [on what is held out of SERIES]"),
    *FITTING,
    Setting(["--out", "-o"], AFTER, type=click.Path(path_type=Path),
            help="Results folder. [SERIES's name with -forecast, in the current folder]"),
    Setting(["--force"], AFTER, is_flag=True, help="Replace earlier results."),
    *LEFT_OUT, *SPEAKING, PREDICTING[1], *READING,
]  # fmt: skip


@click.command("forecast", cls=Command, epilog=EXAMPLES, params=OPTIONS)
def forecast(
    series: Path, out: Path | None, force: bool, quiet: bool, as_json: bool, **options: Any
) -> None:
    """Forecast the series in SERIES: what comes next, with a calibrated spread.

    SERIES is a file with one row for each time, in any format that vbdm fit reads; or a folder of
    an earlier forecast, or its model.vbdm, which is then used again. Nothing needs to be chosen:
    parts of the series, each held out in turn, choose who predicts, delays and modes, and set the
    spread.
    """
    from ..results import check_folder
    from ..results.folder import is_forecast_folder
    from ..results.forecasts import write_forecast
    from .fit import note_missing_figures

    continued = series.suffix.lower() == ".vbdm" or (series.is_dir() and is_forecast_folder(series))
    name = series.resolve().name if series.is_dir() else series.stem
    if options["start"] is not None:
        name = f"{options['start'].stem}-forecast"
    else:
        # Never where an earlier run is that is opened.
        name = f"{name}-{options['lead'] or 'again'}" if continued else f"{series.stem}-forecast"
    folder = Path(name) if out is None else out
    check_folder(folder, force)
    if options["starts"] is not None and options["start"] is None:
        raise InputError(
            f"--starts goes with --from; received --starts {options['starts']} alone. Write, for "
            "example, --from new.csv --starts 10."
        )
    with working(quiet, as_json) as work:
        run = compute(work, series, continued, options)
        note_missing_figures(work, options)
        with work.ledger.stage("figures", "page", "saving"):
            left_out = arguments_for(LEFT_OUT, options)
            source, started = run.source.get("name"), f", from {run.start}" if run.start else ""
            title = f"Forecast of {source}{started}" if source else ""
            summary = write_forecast(folder, run, force=force, title=title, **left_out)
    say_written(folder)
    work.show_notes(short=not quiet)
    if as_json:
        told = {"folder": str(folder), **summary}
        click.echo(json.dumps(told, ensure_ascii=False, allow_nan=False, indent=1))
    elif not quiet:
        for line in describe(run, folder, work.ledger.seconds):
            click.echo(line)


def compute(work: Work, series: Path, continued: bool, options: Mapping[str, Any]) -> ForecastRun:
    """Learn or load the model, forecast, and find the skill."""
    from ..report.forecast_page import ForecastRun
    from ..results.forecasts import past_of
    from .series import read_series

    model, notes = reopen(work, series, options) if continued else learn_from(work, series, options)
    start, test = (
        None if options[name] is None else read_series(work, options[name], options, notes)
        for name in ("start", "test")
    )
    n = options["lead"]
    leads, given = None if n is None else range(1, n + 1), None
    with work.ledger.stage("forecast"):
        if start is None:
            forecast = model.predict(leads=leads)
        else:
            given = start.values, start.times
            forecast = model.predict(start.values, leads, times=start.times)
            if options["starts"] != "all":
                forecast = forecast[-(options["starts"] or 1) :]
        past = past_of(model, forecast, given)
        forecast.moments  # noqa: B018 - computed here, where its time is counted
    with work.ledger.stage("skill"):
        if test is None:
            skill = model.skill_
        else:
            tried = [int(lead) for lead in model.learned_.score.leads if lead < len(test.values)]
            skill = model.skill(test.values, tried or [1], times=test.times)
    return ForecastRun(
        model, forecast, skill, past, source=notes.get("input") or {},
        start="" if start is None else start.source["name"],
        tested_on="" if test is None else test.source["name"], notes=notes,
        warnings=[text for _, text in work.notes], seconds=work.ledger.seconds,
    )  # fmt: skip


def learn_from(
    work: Work, file: Path, options: Mapping[str, Any]
) -> tuple[Forecaster, dict[str, Any]]:
    """Read a series and learn from it; the notes say how other files are read alike."""
    from ..base.files import plain
    from ..forecaster import Forecaster
    from .fit import reading_alike
    from .series import read_series

    found = read_series(work, file, options)
    given = arguments_for(FORECASTING, options)
    if given.get("season") == "none":
        given["season"] = None
    with work.ledger.stage("delays", "hold-out", "spread"):
        model = Forecaster(**given)
        model.fit(found.values, lengths=options["lengths"], times=found.times)
    model.names_ = found.names
    reading = reading_alike(options, found.preparation)
    if options.get("columns") is not None:
        reading["columns"] = options["columns"]
    notes = {
        "preparation": found.preparation.as_dict(), "reading": reading,
        "time": found.time_name or ("none" if found.times is None else None),
        "input": found.source,
    }  # fmt: skip
    return model, plain(notes)


def reopen(
    work: Work, place: Path, options: Mapping[str, Any]
) -> tuple[Forecaster, dict[str, Any]]:
    """Load a model from before, and its notes; options about learning are refused."""
    from ..forecaster import Forecaster
    from ..io.saved.persistence import load, read_notes
    from ..results.folder import MODEL

    given = [option.typed for option in FITTING if options[str(option.name)] is not None]
    if given:
        raise InputError(
            f"The model has been learned before; received {str(place)!r} and {', '.join(given)}. "
            "Leave them out, or pass the series itself."
        )
    file = place / MODEL if place.is_dir() else place
    with work.ledger.stage("model"):
        model = load(file)
    if isinstance(model, Forecaster):
        # The file may be a stranger's.
        kinds = {"preparation": dict, "reading": dict, "time": str, "input": dict}
        notes = read_notes(file).items()
        return model, {name: own for name, own in notes if isinstance(own, kinds.get(name, ()))}
    raise InputError(
        f"The file holds no forecaster; received {str(place)!r} with a {type(model).__name__}. "
        "Pass the series itself, or the folder of an earlier forecast."
    )


def describe(run: ForecastRun, folder: Path, seconds: Mapping[str, float]) -> Iterator[str]:
    """Yield what was forecast, by whom, and how good it is."""
    import numpy as np
    import pandas as pd

    from ..errors import printable
    from ..forecast.words import forecast_cells
    from ..results.folder import PAGE

    names = ", ".join(run.model.names_[:COLUMNS]) + ", …" * (len(run.model.names_) > COLUMNS)
    rows = run.model.learned_.record.n_rows
    where = run.source.get("name")
    source = f" ({where})" if where else ""
    yield click.style(printable(f"Forecast of {names} from {rows:,} rows{source}"), bold=True)
    yield ""
    for sentence in run.in_words:
        yield from (f"  {line}" for line in textwrap.wrap(printable(sentence), WIDTH))
    heads, cells = forecast_cells(run.forecast[-1:], COLUMNS)
    shown = np.unique(np.linspace(0, len(cells) - 1, LEADS).round().astype(int))
    doubtful = run.forecast.doubtful[shown]
    table = pd.DataFrame([cells[k] for k in shown])
    table[""] = ["*" if doubt else "" for doubt in doubtful]
    text = table.to_string(index=False, header=[*heads, ""], line_width=10**6)
    yield ""
    yield from (f"  {printable(line).rstrip()}" for line in text.splitlines())
    if doubtful.any():
        yield "  * no better than climatology on what was held out, or not tried there"
    yield ""
    yield from times(seconds)
    yield ""
    page = folder / PAGE
    yield printable(f"Results: {folder}{f'; open {page}' if page.exists() else ''}")
