"""Results as lines of text for the terminal."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

from .options import in_options

#: Largest number of letters in a line of prose.
WIDTH = 92
#: Sign and colour of the lights; the sign is enough where colours cannot be told apart.
LIGHTS = {"green": ("✔", "green"), "amber": ("▲", "yellow"), "red": ("✖", "red")}


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with few digits; a dash for None."""
    return "–" if value is None else f"{value:.{digits}g}"


def say_json(document: Mapping[str, Any]) -> None:
    """Print the one JSON document of a command; NaN and infinity are null in it."""
    from ..base.files import plain

    click.echo(json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=1))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 0) -> Iterator[str]:
    """Yield the lines of a table; columns end at the right, the last `left` of them begin so."""
    from rich import table as tables
    from rich.console import Console
    from rich.text import Text

    drawn = tables.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, name in enumerate(head):
        side: Any = "left" if number >= len(head) - left else "right"
        drawn.add_column(Text(name), justify=side, no_wrap=True)
    for row in rows:
        drawn.add_row(*map(Text, row))
    console = Console(width=500, color_system=None)
    with console.capture() as capture:
        console.print(drawn)
    first, *lines = capture.get().splitlines()
    yield click.style(f"  {first.rstrip()}", dim=True)
    yield from (f"  {line.rstrip()}" for line in lines)


def describe(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a summary: what was estimated, how, with which errors and doubts."""
    from ..errors import printable

    source = summary["input"].get("name")
    where = f" ({printable(source)})" if source else ""
    name = str(summary["operator"]["name"])
    what = f"{name[0].upper()}{name[1:]}, {summary['operator']['formula']}"
    yield click.style(f"{what}, from {summary['n_points']:,} points{where}", bold=True)
    yield ""
    # Folders of versions before these words have none.
    if summary.get("found"):
        yield from (f"  {line}" for line in textwrap.wrap(summary["found"], WIDTH))
        yield ""
    yield from choices(summary)
    yield ""
    yield from eigenvalue_table(summary["eigenvalues"], summary["groups"], summary.get("clock"))
    yield ""
    yield from lights(summary["diagnostics"])


def lights(diagnostics: list[dict[str, Any]]) -> Iterator[str]:
    """Yield one line per finding; those that are not green say why, and what to do about it."""
    for entry in diagnostics:
        shape, colour = LIGHTS[entry["light"]]
        words = "" if entry["light"] == "green" else f": {in_options(entry['words'])}"
        yield f"  {click.style(shape, fg=colour)} {entry['name']}{words}"


def choices(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was chosen: dimension, ε with its width, neighbours."""
    from ..base.wording import with_error
    from ..errors import printable
    from ..placement import IN_MEMORY

    dim, widths = summary["dimension"], summary["widths"]
    yield f"  dimension    {with_error(dim['value'], dim['standard_error'])}"
    low, middle, high = (number(widths[level], 3) for level in ("0.05", "0.5", "0.95"))
    yield f"  ε            {number(summary['epsilon'])}"
    unit = printable(summary.get("input", {}).get("unit") or "the data's unit")
    yield f"  kernel width {middle} in {unit} ({low} to {high} for 90 % of the points)"
    yield f"  neighbours   {neighbors_in_words(summary)}"
    effective = summary.get("decided", {}).get("effective_points")
    if effective is not None:
        yield f"  weights      worth {effective:,.0f} points of equal weight"
    if summary.get("clock"):
        from ..report.facts import clock_in_words

        words = f"clock        {clock_in_words(summary['clock'], summary['input'].get('unit'))}"
        yield from textwrap.wrap(words, WIDTH, initial_indent="  ", subsequent_indent=" " * 15)
    where = summary.get("decided", {}).get("placement", IN_MEMORY)
    if where != IN_MEMORY:
        yield f"  rows         {where}"


def neighbors_in_words(summary: Mapping[str, Any]) -> str:
    """Return the number of neighbours: of all lists, or of points within the kernel's reach.

    Examples
    --------
    >>> neighbors_in_words({"n_neighbors": 64})
    '64'
    >>> pairs = {"0.05": 71.0, "0.5": 95.0, "0.95": 124.0}
    >>> neighbors_in_words({"n_neighbors": 96, "by_reach": True, "pairs": pairs})
    '96 on average, all within reach (71 to 124 for 90 % of the points)'
    """
    if not summary.get("by_reach"):
        return str(summary["n_neighbors"])
    low, high = (f"{summary['pairs'][level]:.0f}" for level in ("0.05", "0.95"))
    return (
        f"{summary['n_neighbors']} on average, all within reach "
        f"({low} to {high} for 90 % of the points)"
    )


def eigenvalue_table(
    rows: list[dict[str, Any]],
    groups: list[dict[str, Any]],
    clock: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    """Yield the eigenvalues with total errors and intervals; for a group they stand once.

    Examples
    --------
    >>> rows = [{"index": i, "value": -v, "timescale": 1 / v} for i, v in enumerate([1.9, 2.2], 4)]
    >>> group = {"members": [4, 5], "mean": -2.05, "total_error": 0.11, "lower": -2.266,
    ...          "upper": -1.834, "error_parts": {"sampling": 0.02, "epsilon": 0.108}}
    >>> for line in eigenvalue_table(rows, [group]):
    ...     print(click.unstyle(line))
      j  eigenvalue    -1/λ  ± error   95 % interval  mean of group
      4        -1.9  0.5263     0.11  -2.27 to -1.83  4 and 5: -2.05
      5        -2.2  0.4545        ″               ″  ″
      Errors are total errors, standard deviations; largest part: ε.
    """
    from ..report.facts import time_heading, time_in_words

    several = any(len(group["members"]) > 1 for group in groups)
    # Beside times that have errors of their own, it is said whose error this is.
    of = "± error" if clock is None else "± of λ"
    times = "-1/λ" if clock is None else time_heading(clock)
    head = ["j", "eigenvalue", times, of, "95 % interval", *["mean of group"] * several]
    by_index = {row["index"]: row for row in rows}
    cells = []
    for group in groups:
        for j in group["members"]:
            row = by_index[j]
            time = "∞" if row["value"] == 0 else number(row["timescale"])
            if clock is not None:
                time = time_in_words(clock, j)
            cells.append([str(j), number(row["value"]), time, *error_words(group, j)][: len(head)])
    yield from table(head, cells, left=several)
    sources = sources_in_words(groups)
    if sources:
        told = f"  Errors are total errors, standard deviations; largest part: {sources}."
        yield click.style(told, dim=True)


def error_words(group: Mapping[str, Any], index: int) -> tuple[str, str, str]:
    """Return total error, interval and mean of a group beside its first member; then ditto marks.

    An eigenvalue alone needs no mean, and the 0 of a connected piece is exact.
    """
    first, last = group["members"][0], group["members"][-1]
    if index != first:
        return "″", "″", "″"
    which = f"{first} {'and' if last == first + 1 else 'to'} {last}"
    mean = "" if first == last else f"{which}: {number(group['mean'])}"
    if group["mean"] == 0:
        return "exact", "", mean
    return number(group["total_error"], 2), interval(group["lower"], group["upper"]), mean


def interval(lower: float | None, upper: float | None) -> str:
    """Return an interval, its ends with two digits of its half-width.

    Examples
    --------
    >>> interval(-2.11432, -1.8007), interval(-1.000002, -0.999998), interval(None, None)
    ('-2.11 to -1.80', '-1.0000020 to -0.9999980', '–')
    >>> interval(-1640.2, -1190.7), interval(-3.21e-9, -2.9e-9)
    ('-1640 to -1191', '-3.21e-09 to -2.9e-09')
    """
    if lower is None or upper is None:
        return "–"
    half = (upper - lower) / 2
    if half <= 0 or not 1e-4 <= -lower < 1e6:
        return f"{number(lower)} to {number(upper)}"
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return f"{lower:.{decimals}f} to {upper:.{decimals}f}"


def sources_in_words(groups: list[dict[str, Any]]) -> str:
    """Return which parts are the largest of the total errors of groups."""
    from ..trust.findings import main_sources

    return main_sources([(group["members"], group["error_parts"]) for group in groups])


def times(seconds: Mapping[str, float]) -> Iterator[str]:
    """Yield the seconds of each stage, and their sum."""
    for stage, time in seconds.items():
        yield f"  {stage:12s} {time:8.2f} s"
    yield f"  {'together':12s} {sum(seconds.values()):8.2f} s"


def lines_of(answer: Any) -> Iterator[str]:
    """Yield the lines of an answer to a question about a run: title, numbers, notes."""
    from ..errors import printable

    yield click.style(printable(f"{answer.title}. {answer.asked}"), bold=True)
    yield ""
    wide = max((len(own.name) for own in answer.quantities), default=0)
    for own in answer.quantities:
        yield printable(f"  {own.name:{wide}s}  {own.shown:>18s}  {own.unit}").rstrip()
    for note in answer.notes:
        yield ""
        yield from (f"  {line}" for line in textwrap.wrap(printable(note), WIDTH))
    yield ""
