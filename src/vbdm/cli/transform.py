"""``vbdm transform``: eigenfunctions at new points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .failures import say_written
from .options import (
    AFTER,
    DROP_MISSING,
    FILE,
    OUTSIDE,
    READING,
    SCRATCH,
    SPEAKING,
    Command,
    Setting,
    arguments_for,
)
from .steps import Work, read_table, working
from .terminal import say_json

if TYPE_CHECKING:
    from ..io import Cloud
    from ..spectrum.spectrum import Spectrum

SUFFIXES = (".npz", ".csv", ".npy", ".zarr")
EXAMPLES = """\b
Examples:
  vbdm transform points-vbdm new.csv
      writes new-vbdm.npz: eigenfunctions, density, and which points lie outside the data
  vbdm transform points-vbdm new.csv --out new-coordinates.csv
      the same as a table: row, phi0, phi1, …, density, outside
  vbdm transform model.vbdm new.npy --outside nearest --out phi.npy
      a saved model; where there is no data, values of the nearest training point
  vbdm transform points-vbdm many.zarr --scratch /scratch/me --out phi.zarr
      more points than fit into memory: read, evaluated and written part by part

The new file needs the columns that were used in training, found by name where the files have
names. Standardising and delays are applied as in training, with the numbers learned there.
"""
OPTIONS = [
    click.Argument(["model"], type=click.Path(path_type=Path)),
    FILE,
    Setting(["--out", "-o"], AFTER, type=click.Path(path_type=Path),
            help="An .npz, .csv, .npy or .zarr file. "
            "[FILE's name with -vbdm.npz, in the current folder]"),
    Setting(["--force"], AFTER, is_flag=True, help="Replace that file if it exists."),
    OUTSIDE, *SPEAKING, SCRATCH, DROP_MISSING, *READING,
]  # fmt: skip


@click.command("transform", cls=Command, epilog=EXAMPLES, params=OPTIONS)
def transform(
    model: Path, file: Path, out: Path | None, force: bool, outside: str, quiet: bool,
    as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Evaluate the eigenfunctions of MODEL at the points in FILE.

    MODEL is a results folder of vbdm fit, or a file that vbdm.save has written.
    """
    from .new_values import write_values
    from .places import check_output

    refuse_swapped(model, file)
    path = Path(f"{file.stem}-vbdm.npz") if out is None else out
    target = check_output(path, SUFFIXES, force)
    with working(quiet, as_json) as work:
        spectrum, cloud = load_and_read(work, model, file, options)
        with work.ledger.stage("extension", "saving"):
            n_outside = write_values(target, spectrum, cloud, outside)
    say_written(path)
    work.show_notes()
    if as_json:
        facts = {"file": path, "n_points": len(cloud.rows), "n_outside": n_outside}
        say_json({**facts, "eigenvalues": spectrum.eigenvalues})
    elif not quiet:
        click.echo(f"{len(spectrum.eigenvalues)} eigenfunctions at {len(cloud.rows):,} points, "
                   f"{n_outside:,} of them outside the data: {path}")  # fmt: skip


def refuse_swapped(model: Path, file: Path) -> None:
    """Raise if model and data were given in the wrong order."""
    from ..errors import InputError
    from .runs import load_notes

    def is_model(place: Path) -> bool:
        try:
            load_notes(place)
        except (InputError, OSError):
            return False
        return True

    if is_model(file) and not is_model(model):
        raise InputError(
            f"The model comes first, then the file with new points; received {str(model)!r}, "
            f"which is no model, and {str(file)!r}, which is one. Write: vbdm transform {file} "
            f"{model}"
        )


def load_and_read(
    work: Work, model: Path, file: Path, options: dict[str, Any]
) -> tuple[Spectrum, Cloud]:
    """Load the model, and read and prepare the file as the training file was."""
    from ..io import Preparation, prepare
    from ..placement import Disk
    from .runs import load_notes, load_spectrum

    with work.ledger.stage("model"):
        notes = load_notes(model)
        spectrum = load_spectrum(model)
    stored = notes.get("preparation")
    known = None if stored is None else Preparation.from_dict(stored)
    given = arguments_for(READING, options)
    reading = {**usable(notes.get("reading") or {}, file, given), **given}
    if known is not None:
        reading.setdefault("columns", known)
    missing = "drop" if options["drop_missing"] else "error"
    with work.ledger.stage("reading"):
        scratch = options.get("scratch")
        table = read_table(file, reading, Disk(scratch) if scratch else "auto")
        if known is not None:
            cloud = replace(known, missing=missing).apply(table)
        else:
            cloud, _ = prepare(table, missing=missing)
    for text in cloud.notes:
        work.note(text)
    return spectrum, cloud


def usable(stored: dict[str, Any], file: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Return those stored reading options that apply to the format of this file."""
    from ..io.reading import find_format

    known = {**stored, **given}
    climate = not known.keys().isdisjoint({"variable", "sample_dims"})
    kind = find_format(file, given.get("format"), known.get("topology"), climate)
    return {name: value for name, value in stored.items() if name in kind.options}
