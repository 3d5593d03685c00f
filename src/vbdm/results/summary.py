"""The contents of results.json: one estimate in plain numbers and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.files import plain
from ..base.versions import __version__, library_versions
from ..dynamics.clock import Clock
from ..io.saved.zarr_group import as_entry
from ..report.facts import facts_of
from ..report.found import what_was_found
from ..spectrum.spectrum import Spectrum
from ..trust.findings import Finding
from .folder import FORMAT, VERSION
from .origin import Origin


def summarise(
    spectrum: Spectrum,
    story: Origin,
    findings: Sequence[Finding],
    seconds: Mapping[str, float] | None,
    files: Sequence[str],
    clock: Clock | None = None,
) -> dict[str, Any]:
    """Return the contents of results.json.

    Parameters
    ----------
    spectrum : Spectrum
        The result.
    story : Origin
        Where the points came from.
    findings : sequence of Finding
        The findings of `vbdm.diagnose`.
    seconds : mapping or None
        Seconds by stage of the work.
    files : sequence of str
        Names of the other files in the folder.
    clock : Clock, optional
        The clock, if rows follow each other in time.
    """
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
