"""The numbers that the page draws, as one JSON text: short ones plain, long arrays in base64.

Values on the points are rounded to 16 bits.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray, to_host
from ..base.files import plain
from ..base.row_notes import Labels, RowNotes
from ..errors import InputError
from ..kernel.tuning import SlopeCurve
from ..operator.operator import Operator
from ..plot._canvas import principal_positions
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import functions_at
from ..trust.epsilon_scan import EpsilonScan, drawn_rows
from ..trust.error_bars import Group, width_of
from ..trust.series import in_series
from ._tables import interval, style_of

#: Largest number of eigenfunctions that follow ε; with more, the page would be too large a file.
MOST_MOVED = 12
BINS = 60


def choose_drawn(
    spectrum: Spectrum, scan: EpsilonScan | None, most: int
) -> tuple[NDArray[np.intp], str]:
    """Choose the points to draw, and say so; those of the scan over ε are always among them."""
    n = spectrum.operator.n_points
    if n <= most:
        return np.arange(n), f"All {n:,} points are drawn."
    rows = drawn_rows(spectrum, most)
    if scan is not None:
        rows = np.union1d(rows, scan.rows)
    note = (
        f"{len(rows):,} of {n:,} points are drawn, chosen at random; unresolved points and weak "
        "links are preferred, so that sparse regions stay visible. All numbers, the density's "
        "histogram and the table are from all points."
    )
    return rows, note


def payload(
    spectrum: Spectrum,
    scan: EpsilonScan | None,
    names: Sequence[str] | None,
    rows: NDArray[np.intp],
    row_numbers: NDArray[Any] | None,
    flags: Mapping[int, Sequence[str]],
    about: RowNotes,
    has_delays: bool = False,
) -> str:
    """Return the JSON text of everything that the page draws, safe inside a script element.

    `rows` are those of the points that are drawn; the scan is for the slider. `names` are those of
    the columns, `row_numbers` the row of each point in its file, (N,); `flags` say what is doubtful
    about an eigenvalue, by its number; with `has_delays`, points were made of several rows of a
    series.
    """
    operator = spectrum.operator
    points, n_axes = operator.graph.points, 0
    if points is not None:
        # Along how many axes the points are drawn at first.
        n_axes = points.shape[1]
        n_axes = n_axes if n_axes <= 3 else principal_positions(points, 3).n_dims
    numbers = rows if row_numbers is None else np.asarray(row_numbers)[rows]
    timed = about.times is not None
    data = {
        "drawn": len(rows),
        "rows": packed(numbers.astype("<u4")),
        "channels": channels(spectrum, names, rows, numbers, about),
        "axes": n_axes,
        "series": "time" if timed else "row" if has_delays or in_series(spectrum) else None,
        "unresolved": packed(spectrum.unresolved[rows].astype(np.uint8)),
        "weak": packed(spectrum.errors.weak_links[rows].astype(np.uint8)),
        "pieces": packed(np.minimum(spectrum.components[rows], 255).astype(np.uint8)),
        "nPieces": spectrum.pieces.n_pieces,
        "modes": modes(spectrum, flags),
        "tuning": tuning(operator),
        "density": histogram(operator),
        "sensitivity": moved(scan, rows),
    }
    text = json.dumps(plain(data), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    # A column's name could contain "</script>": no "<" may end the element or begin another.
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def modes(spectrum: Spectrum, flags: Mapping[int, Sequence[str]]) -> list[dict[str, Any]]:
    """Return one entry per eigenvalue; errors and interval are those of its group's mean.

    `sampling` is the half-width of the 95 % interval that sampling alone would give.
    """
    values, style = np.real(spectrum.eigenvalues), style_of(spectrum)
    return [
        {
            "value": values[i],
            "text": style.show(values[i]),
            "mean": group.mean,
            "meanText": style.show(group.mean),
            "error": group.total_error,
            "errorText": style.show_error(group.total_error),
            "lower": group.lower,
            "upper": group.upper,
            "intervalText": interval(group, style),
            "sampling": width_of(0.95) * group.standard_error,
            "group": list(group.members),
            "doubt": list(flags.get(i, ())),
            "functionError": function_error(spectrum, group),
        }
        for group in spectrum.errors.by_group
        for i in group.members
    ]


def function_error(spectrum: Spectrum, group: Group) -> float:
    """Return the error of a group's eigenfunction, or of the span of several; NaN if unknown."""
    if not spectrum.operator.kernel.is_symmetric:
        return np.nan
    if group.is_several:
        return spectrum.errors.function_of_group(group.members)
    return float(spectrum.errors.functions[group.members[0]])


def tuning(operator: Operator) -> dict[str, Any] | None:
    """Return the curves behind the choice of ε, or None if no other ε was looked at."""
    choice, curve = operator.tuning, operator.tuning.curve
    if curve is None:
        return None
    result: dict[str, Any] = {
        "epsilon": choice.epsilon,
        "target": choice.target,
        "epsilons": curve.epsilons,
        "dimension": 2 * curve.slopes,
        "dim": operator.dim,
    }
    if isinstance(curve, SlopeCurve):
        # Each slope belongs to the interval between two grid points.
        middle = np.sqrt(curve.epsilons[1:] * curve.epsilons[:-1])
        return {**result, "sums": curve.sums, "middle": middle}
    return {
        **result, "levels": curve.levels, "quantiles": curve.quantiles,
        "middle": result["epsilons"],
    }  # fmt: skip


def histogram(operator: Operator) -> dict[str, Any]:
    """Return the histogram of log10 of the density, over all points that have one."""
    density = np.asarray(to_host(operator.density))
    known = np.log10(density[density > 0])
    counts, edges = np.histogram(known, BINS if len(known) > 500 else 24)
    return {"counts": counts, "edges": edges}


def moved(scan: EpsilonScan | None, rows: NDArray[np.intp]) -> dict[str, Any] | None:
    """Return the eigenpairs at other ε, and where their points stand among those drawn.

    `halves` are half-widths of 95 % intervals; of a group's mean, where there is one.
    """
    if scan is None:
        return None
    n = min(scan.eigenvalues.shape[1], MOST_MOVED)
    functions = scan.eigenfunctions[:, :, :n].astype(np.float64)
    # Each mode has one scale for all ε, so that colours can be compared while ε moves.
    size = [float(np.nanmax(np.abs(functions[:, :, j]), initial=1e-12)) for j in range(n)]
    return {
        "epsilons": scan.epsilons,
        "values": scan.eigenvalues[:, :n],
        "halves": width_of(0.95) * scan.total_errors[:, :n],
        "chosen": scan.chosen,
        "nPoints": scan.n_points,
        "places": packed(np.searchsorted(rows, scan.rows).astype("<u4")),
        "size": size,
        "functions": [
            [quantised(step[:, j], -size[j], size[j]) for j in range(n)] for step in functions
        ],
    }


# --- What can be an axis or a colour -------------------------------------------------------------

#: Largest numbers of data columns, of eigenfunctions, of fields of labels and of further numbers;
#: with more, the page would become too large a file.
MOST_COLUMNS, MOST_FUNCTIONS, MOST_LABEL_FIELDS, MOST_NUMBER_FIELDS = 10, 40, 12, 20
#: Labels of a field that have a colour of their own, the most frequent ones; the others share one.
#: The page's `colour.js` has as many colours.
MOST_COLOURED = 10
#: Values are rounded to whole numbers from 0, the smallest value, to STEPS, the largest; MISSING
#: stands for no value. The page's `data.js` has the same two numbers.
STEPS = 65534
MISSING = 65535
#: Anything that is known about the rows, as `page` takes it.
AboutRows = RowNotes | Mapping[str, ArrayLike]
Channel = dict[str, Any]


def channels(
    spectrum: Spectrum,
    names: Sequence[str] | None,
    rows: NDArray[np.intp],
    numbers: NDArray[Any],
    about: RowNotes,
) -> list[Channel]:
    """Return all functions on the drawn points that can be an axis or a colour.

    They are the data's columns, their principal axes, eigenfunctions, density, kernel width, the
    row in the file (`numbers`, of the drawn points), and what is known about the rows: times,
    labels, further numbers.
    """
    operator = spectrum.operator
    result = coordinates(operator.graph.points, names, rows)
    functions = np.real(functions_at(spectrum, rows)[:, :MOST_FUNCTIONS])
    for number, values in enumerate(functions.T):
        result.append(channel("function", f"eigenfunction {number}", values))
    density = np.asarray(to_host(operator.density))[rows]
    with np.errstate(divide="ignore"):
        result.append(channel("density", "log10 of the density", np.log10(density)))
    result.append(channel("width", "kernel width", operator.widths[rows]))
    result.append(channel("row", "row number", numbers.astype(np.float64)))
    return result + noted(about, rows)


def coordinates(
    points: FloatArray | None, names: Sequence[str] | None, rows: NDArray[np.intp]
) -> list[Channel]:
    """Return the columns of the data and, if there are more than three, three principal axes."""
    if points is None:
        return []
    labels = column_names(points.shape[1], names)
    result = [
        channel("column", label, points[rows, column])
        for column, label in enumerate(labels[:MOST_COLUMNS])
    ]
    if points.shape[1] > 3:
        places = principal_positions(points, 3, share=1.0)
        result += [
            channel("principal", label, places.coordinates[rows, axis])
            for axis, label in enumerate(places.labels)
        ]
    return result


def noted(about: RowNotes, rows: NDArray[np.intp]) -> list[Channel]:
    """Return times, labels and further numbers of the drawn rows."""
    result = []
    if about.times is not None:
        label, times = about.time_name or "time", about.times[rows]
        if times.dtype.kind == "M":
            # Dates become milliseconds.
            moments = times.astype("datetime64[ms]")
            values = np.where(np.isnat(moments), np.nan, moments.astype(np.float64))
            result.append({**channel("time", label, values), "date": True})
        else:
            result.append(channel("time", label, np.asarray(times, np.float64)))
    for name, labels in list(about.labels.items())[:MOST_LABEL_FIELDS]:
        result.append(label_channel(name, labels, rows))
    for name, values in list(about.numbers.items())[:MOST_NUMBER_FIELDS]:
        result.append(channel("number", name, values[rows]))
    return result


def channel(kind: str, label: str, values: FloatArray) -> Channel:
    """Return one number per drawn point, packed, with its kind, label and range."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    return {
        "kind": kind, "label": label, "low": low, "high": high,
        "data": quantised(values, low, high),
    }  # fmt: skip


def label_channel(label: str, labels: Labels, rows: NDArray[np.intp]) -> Channel:
    """Return the labels of the drawn points: the most frequent ones, and "other" for the rest."""
    frequency = np.bincount(labels.codes[labels.codes >= 0], minlength=len(labels.names))
    order = np.argsort(-frequency, kind="stable")
    kept = np.sort(order[:MOST_COLOURED])
    names = [labels.names[place] for place in kept]
    if len(order) > MOST_COLOURED:
        names.append(f"{len(order) - MOST_COLOURED:,} others")
    places = np.full(len(labels.names) + 1, len(kept))
    places[kept] = np.arange(len(kept))
    places[-1] = MISSING  # the code -1 of a missing label is the last place
    codes = places[labels.codes[rows]].astype("<u2")
    return {
        "kind": "label", "label": label, "names": names, "low": 0, "high": STEPS,
        "data": packed(codes),
    }  # fmt: skip


def column_names(n: int, names: Sequence[str] | None) -> list[str]:
    """Return one name per column: those given if their number fits, else "column 0" and so on."""
    given = [str(name) for name in names or ()]
    return given if len(given) == n else [f"column {i}" for i in range(n)]


def as_notes(about: AboutRows | None, n: int) -> RowNotes:
    """Return what is known about n rows; of a mapping, text becomes labels and dates the times.

    Examples
    --------
    >>> notes = as_notes({"kind": ["a", "b"], "weight": [1, 2]}, 2)
    >>> notes.labels["kind"].names, notes.numbers["weight"].tolist()
    (('a', 'b'), [1.0, 2.0])
    """
    if about is None:
        return RowNotes()
    if isinstance(about, RowNotes):
        codes = {name: kept.codes for name, kept in about.labels.items()}
        moments = {} if about.times is None else {"times": about.times}
        check_sizes({**codes, **about.numbers, **moments}, n)
        return about
    fields = {str(name): np.asarray(values) for name, values in about.items()}
    check_sizes(fields, n)
    labels, numbers, times, time_name = {}, {}, None, ""
    for name, array in fields.items():
        if array.dtype.kind == "M":
            times, time_name = array, name
        elif array.dtype.kind in "iuf":
            numbers[name] = array.astype(np.float64)
        elif (found := Labels.of(array.tolist(), ("", "nan", "None"))) is not None:
            labels[name] = found
    return RowNotes(labels, numbers, times, time_name)


def check_sizes(fields: Mapping[str, NDArray[Any]], n: int) -> None:
    """Raise unless every field has one value for each of n points."""
    for name, values in fields.items():
        if values.shape != (n,):
            raise InputError(
                f"`about_rows` must have one value for each of the {n:,} points, in their order; "
                f"received an array of shape {values.shape} as {name!r}."
            )


def left_out(about: RowNotes) -> str:
    """Return a note on fields that are too many for the page; empty if there are none."""
    counts = (
        (len(about.labels), MOST_LABEL_FIELDS, "fields of labels"),
        (len(about.numbers), MOST_NUMBER_FIELDS, "further fields of numbers"),
    )
    return "".join(
        f" The first {most} of {n} {what} can be chosen." for n, most, what in counts if n > most
    )


def packed(values: NDArray[Any]) -> str:
    """Return the bytes of an array in base64."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def quantised(values: FloatArray, low: float, high: float) -> str:
    """Return values as 16-bit numbers between `low` and `high`; NaN and infinity are MISSING."""
    known = np.isfinite(values)
    extent = (high - low) or 1.0
    share = np.where(known, np.clip((values - low) / extent, 0, 1), 0)
    return packed(np.where(known, np.round(share * STEPS), MISSING).astype("<u2"))
