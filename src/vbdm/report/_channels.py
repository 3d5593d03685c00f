"""Everything on the points that can be an axis or a colour of the page, as short text.

Arrays are bytes in base64, numbers rounded to 16 bits.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray, to_host
from ..base.row_notes import Labels, RowNotes
from ..errors import InputError
from ..plot._canvas import principal_positions
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import functions_at

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
        result.append(time_channel(about.time_name or "time", about.times[rows]))
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


def time_channel(label: str, times: NDArray[Any]) -> Channel:
    """Return the times of the drawn points; dates become milliseconds."""
    if times.dtype.kind != "M":
        return channel("time", label, np.asarray(times, np.float64))
    moments = times.astype("datetime64[ms]")
    values = np.where(np.isnat(moments), np.nan, moments.astype(np.float64))
    return {**channel("time", label, values), "date": True}


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
