"""Results in words, for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import click

#: Shape, colour and word of the lights: no one has to tell colours apart.
LIGHTS = {"green": ("✔", "green"), "amber": ("▲", "yellow"), "red": ("✖", "red")}


def number(value: float | None, digits: int = 4) -> str:
    """Return a number in few digits; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}g}"


def with_error(value: float, error: float | None) -> str:
    """Return a number with its error, in the digits that the error leaves.

    Examples
    --------
    >>> with_error(2.0009, 0.0052), with_error(2.0009, None)
    ('2.001 ± 0.005', '2')
    """
    if not error:
        return number(value, 3)
    digits = max(0, -math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def describe(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a summary: what, how, how sure, and what to doubt."""
    source = summary["input"].get("name")
    where = f" ({source})" if source else ""
    name = str(summary["operator"]["name"])
    what = f"{name[0].upper()}{name[1:]}, {summary['operator']['formula']}"
    yield click.style(f"{what}, from {summary['n_points']:,} points{where}", bold=True)
    yield ""
    yield from choices(summary)
    yield ""
    yield from eigenvalue_table(summary["eigenvalues"])
    yield ""
    yield from lights(summary["diagnostics"])


def choices(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was chosen: dimension, ε with its width, neighbours."""
    dim, widths = summary["dimension"], summary["widths"]
    yield f"  dimension    {with_error(dim['value'], dim['standard_error'])}"
    low, middle, high = (number(widths[level], 3) for level in ("0.05", "0.5", "0.95"))
    yield f"  ε            {number(summary['epsilon'])}"
    yield f"  kernel width {middle} in the data's unit ({low} to {high} for 90 % of the points)"
    yield f"  neighbours   {summary['n_neighbors']}"


def eigenvalue_table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the eigenvalues with their errors."""
    yield click.style("    j   eigenvalue      ± error    timescale", dim=True)
    for row in rows:
        value, error = row["value"], row["standard_error"]
        time = "∞" if value == 0 else number(row["timescale"])
        yield f"  {row['index']:3d} {number(value):>12s} {number(error, 2):>12s} {time:>12s}"


def lights(diagnostics: list[dict[str, Any]]) -> Iterator[str]:
    """Yield one line per diagnosis; those in doubt say why."""
    for entry in diagnostics:
        shape, colour = LIGHTS[entry["light"]]
        words = "" if entry["light"] == "green" else f": {entry['words']}"
        yield f"  {click.style(shape, fg=colour)} {entry['name']}{words}"


def times(seconds: Mapping[str, float]) -> Iterator[str]:
    """Yield the seconds of each room, and their sum."""
    for room, time in seconds.items():
        yield f"  {room:12s} {time:8.2f} s"
    yield f"  {'together':12s} {sum(seconds.values()):8.2f} s"
