"""Read a results folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, frozen
from ..base.checks import a_path
from ..base.files import PathLike
from ..base.row_notes import RowNotes
from ..errors import InputError
from ..io.saved.archive import DAMAGE
from ..io.saved.persistence import load
from ..io.saved.zarr_group import read_group
from ..spectrum.spectrum import Spectrum
from ..trust.epsilon_scan import EpsilonScan
from .folder import ARRAYS, FORMAT, MODEL, STORE, SUMMARY, VERSION
from .summary import Origin

#: Keys that results.json always has, and the types of their values.
PARTS = {
    "input": dict,
    "settings": dict | None,
    "preparation": dict | None,
    "warnings": list,
    "seconds": dict,
}


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """One estimate, as its results folder holds it."""

    #: The results folder.
    folder: Path
    #: Contents of results.json.
    summary: dict[str, Any]
    #: Contents of results.npz; or of results.zarr, whose tables of many rows are arrays of Zarr,
    #: which are read when they are used.
    arrays: Mapping[str, NDArray[Any]]
    #: The model, if it is in memory already.
    kept: Spectrum | None = None

    @cached_property
    def spectrum(self) -> Spectrum:
        """The model, read from its file when it is first asked for."""
        found = load(self.folder / MODEL) if self.kept is None else self.kept
        if isinstance(found, Spectrum):
            return found
        raise damaged(self.folder, f"{MODEL} holds no spectrum")

    @property
    def eigenvalues(self) -> FloatArray:
        """Eigenvalues λ, (n,), from 0 downwards, in 1/length²."""
        return self.arrays["eigenvalues"]

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors of the eigenvalues, (n,), from sampling alone."""
        return self.arrays["standard_errors"]

    @property
    def total_errors(self) -> FloatArray:
        """Total errors of the eigenvalues, (n,): sampling, tail, ε, noise and boundary together."""
        found = self.arrays.get("total_errors")
        return self.spectrum.total_errors if found is None else found

    @property
    def intervals(self) -> FloatArray:
        """95 % intervals of the eigenvalues, (n, 2): lower and upper ends."""
        found = self.arrays.get("intervals")
        # Folders of versions before these arrays have the model, which knows them.
        return self.spectrum.intervals() if found is None else found

    @property
    def eigenfunctions(self) -> FloatArray:
        """Eigenfunctions, (N, n): one column each, one row for each point that was used."""
        return self.arrays["eigenfunctions"]

    @property
    def rows(self) -> NDArray[np.intp]:
        """Row of each point in the file, (N,), from 0."""
        return self.arrays["rows"]

    @property
    def origin(self) -> Origin:
        """Where the points came from, as far as the folder tells."""
        source = self.summary["input"]
        return Origin(
            source=source if source.get("name") else None,
            names=source.get("columns"),
            rows=self.rows,
            n_read=source.get("n_read"),
            n_dropped=source.get("n_dropped"),
            preparation=self.summary["preparation"],
            settings=self.summary["settings"],
            warnings=[(entry["kind"], entry["text"]) for entry in self.summary["warnings"]],
            about_rows=RowNotes.from_arrays(self.arrays),
            unit=source.get("unit", ""),
            lowest=source.get("lowest"),
        )

    @cached_property
    def scan(self) -> EpsilonScan | None:
        """Eigenpairs at several ε, if they were computed."""
        return EpsilonScan.from_arrays(self.arrays)

    def __repr__(self) -> str:
        """Return the folder and what it holds, in short."""
        values = ", ".join(f"{value:.4g}" for value in self.eigenvalues[:4])
        more = ", …" if len(self.eigenvalues) > 4 else ""
        return f"Results({os.fspath(self.folder)!r}, eigenvalues=[{values}{more}])"


def load_results(folder: PathLike) -> Results:
    """Read what `write_results` or ``vbdm fit`` wrote.

    Parameters
    ----------
    folder : path
        The results folder.

    Returns
    -------
    Results
        The model in it is read when `results.spectrum` is first asked for.

    Raises
    ------
    InputError
        If it is not a results folder, or a file in it is missing or damaged.
    """
    place = Path(a_path(folder, "folder"))
    summary = read_summary(place)
    try:
        if (place / STORE).is_dir():
            return Results(place, summary, read_group(place / STORE))
        with np.load(place / ARRAYS, allow_pickle=False) as archive:
            arrays = {name: frozen(archive[name]) for name in archive.files}
    except FileNotFoundError:
        raise damaged(place, f"{ARRAYS} is missing") from None
    except DAMAGE as error:
        raise damaged(place, f"{ARRAYS} cannot be read ({error})") from error
    return Results(place, summary, arrays)


def read_summary(folder: Path) -> dict[str, Any]:
    """Return the contents of results.json; raise if it is missing, damaged, or of another kind."""
    if not folder.is_dir():
        state = "which is a file" if folder.exists() else "which does not exist"
        raise no_results(folder, state)
    try:
        summary = json.loads((folder / SUMMARY).read_text("utf-8"))
    except FileNotFoundError:
        raise no_results(folder, f"where {SUMMARY} is missing") from None
    except (ValueError, RecursionError) as error:
        raise damaged(folder, f"{SUMMARY} cannot be read ({error})") from error
    if not isinstance(summary, dict) or summary.get("format") != FORMAT:
        raise no_results(folder, f"where {SUMMARY} was written by another program")
    if not isinstance(summary.get("version"), int) or summary["version"] > VERSION:
        raise InputError(
            "The results were written by a newer version of vbdm; received format version "
            f"{summary.get('version')} from vbdm {summary.get('vbdm')}. This version reads "
            f"formats up to {VERSION}. Update with: pip install --upgrade vbdm."
        )
    lost = [n for n, kind in PARTS.items() if n not in summary or not isinstance(summary[n], kind)]
    if lost:
        raise damaged(folder, f"{SUMMARY} does not tell: {', '.join(lost)}")
    return summary


def no_results(folder: Path, state: str) -> InputError:
    """Return the error for a path that is not a results folder."""
    return InputError(
        f"This is not a results folder of vbdm; received {os.fspath(folder)!r}, {state}. Pass the "
        "folder that `vbdm fit` named at its end."
    )


def damaged(folder: Path, state: str) -> InputError:
    """Return the error for a results folder in which a file is missing or damaged."""
    return InputError(
        f"The results folder is damaged; received {os.fspath(folder)!r}: {state}. Copy the folder "
        "again, or run `vbdm fit` again."
    )
