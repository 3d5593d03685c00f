"""The numbers that the page draws, as one JSON text: short ones plain, long arrays in base64."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import to_host
from ..base.files import plain
from ..base.row_notes import RowNotes
from ..kernel.tuning import SlopeCurve
from ..operator.operator import Operator
from ..plot._canvas import principal_positions
from ..spectrum.spectrum import Spectrum
from ..trust.epsilon_scan import EpsilonScan, drawn_rows
from ..trust.error_bars import Group, width_of
from ..trust.series import in_series
from ._channels import channels, packed, quantised
from ._tables import interval, style_of

#: Largest number of eigenfunctions that follow ε; with more, the page would be too large a file.
MOST_MOVED = 12
BINS = 60


@dataclass(frozen=True, eq=False)
class Drawn:
    """The rows of the points that are drawn, and the note about them on the page."""

    rows: NDArray[np.intp]
    note: str


def choose_drawn(spectrum: Spectrum, scan: EpsilonScan | None, most: int) -> Drawn:
    """Choose the points to draw; those of the scan over ε are always among them."""
    n = spectrum.operator.n_points
    if n <= most:
        return Drawn(np.arange(n), f"All {n:,} points are drawn.")
    rows = drawn_rows(spectrum, most)
    if scan is not None:
        rows = np.union1d(rows, scan.rows)
    note = (
        f"{len(rows):,} of {n:,} points are drawn, chosen at random; unresolved points and weak "
        "links are preferred, so that sparse regions stay visible. All numbers, the density's "
        "histogram and the table are from all points."
    )
    return Drawn(rows, note)


def payload(
    spectrum: Spectrum,
    scan: EpsilonScan | None,
    names: Sequence[str] | None,
    drawn: Drawn,
    row_numbers: NDArray[Any] | None,
    flags: Mapping[int, Sequence[str]],
    about: RowNotes,
    has_delays: bool = False,
) -> str:
    """Return the JSON text of everything that the page draws, safe inside a script element.

    The scan is for the slider. `names` are those of the columns, `row_numbers` the row of each
    point in its file, (N,); `flags` say what is doubtful about an eigenvalue, by its number; with
    `has_delays`, points were made of several rows of a series.
    """
    operator, rows = spectrum.operator, drawn.rows
    numbers = rows if row_numbers is None else np.asarray(row_numbers)[rows]
    timed = about.times is not None
    data = {
        "drawn": len(rows),
        "rows": packed(numbers.astype("<u4")),
        "channels": channels(spectrum, names, rows, numbers, about),
        "axes": axes_in_use(operator),
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


def axes_in_use(operator: Operator) -> int:
    """Return along how many axes the points are drawn at first; 0 without coordinates."""
    points = operator.graph.points
    if points is None or points.shape[1] <= 3:
        return 0 if points is None else points.shape[1]
    return principal_positions(points, 3).n_dims


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
