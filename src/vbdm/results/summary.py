"""The contents of results.json: one estimate in plain numbers and words; where it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.files import plain
from ..base.row_notes import RowNotes
from ..base.versions import __version__, library_versions
from ..dynamics.clock import Clock
from ..io.saved.zarr_group import as_entry
from ..report.facts import facts_of
from ..report.found import what_was_found
from ..spectrum.spectrum import Spectrum
from ..trust.findings import Finding
from .folder import FORMAT, VERSION


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the points came from, and what the user asked for; every field may be missing."""

    #: The file: name, format, size, sha256.
    source: Mapping[str, Any] | None = None
    #: Names of the columns.
    names: Sequence[str] | None = None
    #: Row of each point in the file, from 0, (N,).
    rows: NDArray[np.intp] | None = None
    #: Number of rows in the file, and of points left out for a missing value in their row or, with
    #: delays, in an earlier one that they need.
    n_read: int | None = None
    n_dropped: int | None = None
    #: What was done to the columns; stored in the model as well, to prepare new points.
    preparation: Mapping[str, Any] | None = None
    #: Arguments of `vbdm.io.read` (key, variable, …), so that new files are read alike.
    reading: Mapping[str, Any] | None = None
    #: Options that the user gave.
    settings: Mapping[str, Any] | None = None
    #: Warnings and notes of the run.
    warnings: Sequence[tuple[str, str]] = ()
    #: Labels, times and further numbers of each point, which are no coordinates.
    about_rows: RowNotes | None = None
    #: Unit of the coordinates; empty if it is not known.
    unit: str = ""
    #: Smallest value of each column, where some are periodic: points are wrapped into their box,
    #: and these tell back into which the file's values were.
    lowest: Sequence[float] | None = None


def summarise(
    spectrum: Spectrum,
    story: Origin,
    findings: Sequence[Finding],
    seconds: Mapping[str, float] | None,
    files: Sequence[str],
    clock: Clock | None = None,
) -> dict[str, Any]:
    """Return the contents of results.json; `files` are the other files in the folder."""
    source = {**(story.source or {}), "n_read": story.n_read, "n_dropped": story.n_dropped}
    summary: dict[str, Any] = plain(
        {
            "format": FORMAT,
            "version": VERSION,
            "vbdm": __version__,
            "libraries": library_versions(),
            "input": {**source, "columns": story.names, "unit": story.unit, "lowest": story.lowest},
            "settings": story.settings,
            "preparation": story.preparation,
            "found": what_was_found(spectrum, story.preparation),
            **describe_estimate(spectrum),
            **({} if clock is None else {"clock": clock_entry(clock)}),
            "diagnostics": [as_entry(finding) for finding in findings],
            "warnings": [{"kind": kind, "text": text} for kind, text in story.warnings],
            "seconds": {room: round(time, 3) for room, time in (seconds or {}).items()},
            "files": list(files),
        }
    )
    return summary


def describe_estimate(spectrum: Spectrum) -> dict[str, Any]:
    """Return what was estimated and decided: operator, dimension, ε, eigenvalues, solver."""
    op = spectrum.operator
    points = op.graph.points
    return {
        **facts_of(op),
        "n_columns": None if points is None else points.shape[1],
        "decided": op.settings.as_dict(),
        "metric": op.graph.metric if points is not None else "precomputed",
        "eigenvalues": eigenvalue_rows(spectrum),
        "groups": spectrum.errors.by_group,
        "eigenfunction_errors": spectrum.errors.functions,
        "n_components": spectrum.pieces.n_pieces,
        "n_unresolved": int(spectrum.unresolved.sum()),
        "left_out": spectrum.left_out,
        "solver": {
            "name": spectrum.log.solver,
            "reason": spectrum.log.reason,
            "iterations": spectrum.log.iterations,
            "converged": spectrum.log.converged,
            "error_estimate": spectrum.log.error_estimate,
        },
    }


def clock_entry(clock: Clock) -> dict[str, Any]:
    """Return what results.json holds of a clock."""
    entry: dict[str, Any] = plain(
        {
            "diffusivity": {"value": clock.diffusivity.value, "error": clock.diffusivity.error},
            "unit": clock.unit,
            "step": clock.step,
            "lag": clock.lagtime,
            "timescales": np.asarray(clock.timescales),
            "timescale_errors": clock.timescale_errors,
            "consistent": clock.consistent,
            "reason": clock.reason,
        }
    )
    return entry


def eigenvalue_rows(spectrum: Spectrum) -> list[dict[str, Any]]:
    """Return one entry per eigenvalue: value, errors, timescale, residual, unresolved share.

    Total error, interval and parts are those of the eigenvalue itself; those of the mean of a
    group are in "groups", and the standard error is that of this mean in both.
    """
    lower, upper = spectrum.intervals().T
    columns = {
        "value": np.real(spectrum.eigenvalues),
        "total_error": spectrum.total_errors,
        "lower": lower,
        "upper": upper,
        "standard_error": spectrum.standard_errors,
        "bias": spectrum.errors.bias,
        "timescale": spectrum.timescales,
        "residual": spectrum.residuals,
        "unresolved_share": spectrum.errors.unresolved_share,
    }
    return [
        {
            "index": index,
            **{name: column[index] for name, column in columns.items()},
            "error_parts": spectrum.errors.parts.of(index),
        }
        for index in range(len(spectrum.eigenvalues))
    ]
