"""A forecast as lines of text for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from .terminal import WIDTH, times

if TYPE_CHECKING:
    from ..forecast.forecast import Forecast
    from ..results.forecasts import ForecastRun

#: Most columns, and most leads, in the table on the terminal.
COLUMNS, LEADS = 3, 14


def describe(run: ForecastRun, folder: Path, seconds: Mapping[str, float]) -> Iterator[str]:
    """Yield what was forecast, by whom, and how good it is."""
    from ..errors import printable
    from ..results.folder import PAGE
    from ..results.forecasts import in_words

    names = ", ".join(run.model.names_[:COLUMNS]) + ", …" * (len(run.model.names_) > COLUMNS)
    rows = run.model.learned_.record.n_rows
    where = run.source.get("name")
    source = f" ({where})" if where else ""
    yield click.style(printable(f"Forecast of {names} from {rows:,} rows{source}"), bold=True)
    yield ""
    for sentence in in_words(run):
        yield from (f"  {line}" for line in textwrap.wrap(printable(sentence), WIDTH))
    yield ""
    yield from (printable(line) for line in forecast_table(run.forecast[-1:]))
    yield ""
    yield from times(seconds)
    yield ""
    page = folder / PAGE
    look = f"; open {page}" if page.exists() else ""
    yield printable(f"Results: {folder}{look}")


def forecast_table(forecast: Forecast) -> Iterator[str]:
    """Yield the mean and the 90 % interval of the first columns, at some leads."""
    from ..forecast.words import decimals, times_in_words

    n = min(COLUMNS, len(forecast.names))
    ends = forecast.quantile([0.05, 0.95])[:, 0]
    digits = [decimals(float(np.median(ends[1, :, j] - ends[0, :, j]))) for j in range(n)]
    shown = np.unique(np.linspace(0, len(forecast.leads) - 1, LEADS).round().astype(int))
    when = times_in_words(forecast.valid_times[0])
    wide = max(6, *(len(when[k]) for k in shown))
    head = "".join(f"{own[:14]:>15s}    {'90 % interval':18s}" for own in forecast.names[:n])
    yield f"  lead  {'time':>{wide}s}{head}".rstrip()
    for k in shown:
        cells = "".join(
            f"{forecast.mean[0, k, j]:15.{d}f}    "
            f"{f'{ends[0, k, j]:.{d}f} to {ends[1, k, j]:.{d}f}':18s}"
            for j, d in enumerate(digits)
        )
        doubt = " *" if forecast.doubtful[k] else ""
        yield f"  {forecast.leads[k]:4d}  {when[k]:>{wide}s}{cells}{doubt}".rstrip()
    if forecast.doubtful[shown].any():
        yield "  * no better than climatology on what was held out, or not tried there"
