"""``vbdm fit``: file in, results folder out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .failures import say_written
from .options import (
    AFTER,
    ESTIMATING,
    FILE,
    FOLDER,
    LEFT_OUT,
    PLACING,
    PREPARING,
    READING,
    SOLVING,
    SPEAKING,
    TIME_STEP,
    WEIGHING,
    Command,
    Setting,
    arguments_for,
    in_options,
)
from .places import placing
from .steps import Work, estimate, read_points, solve, working
from .terminal import describe, say_json, times
from .weights import Column, weights_of

if TYPE_CHECKING:
    from ..io import Cloud, Preparation
    from ..results import Results
    from ..spectrum.spectrum import Spectrum

EXAMPLES = """\b
Examples:
  vbdm fit points.csv
      the Laplacian of the manifold behind the points; results in points-vbdm/
  vbdm fit walk.npy --operator generator --eigenpairs 6 --out slow-modes
      the slow modes of a process at equilibrium, the constant and five more
  vbdm fit run.csv -O generator --time-step 0.2ns
      rows are 0.2 ns apart: times of the modes in nanoseconds
  vbdm fit table.csv --columns x,y,z --standardize --drop-missing
      three columns of a table, on equal footing, without rows that have gaps
  vbdm fit sst.nc --variable sst --delays 12
      a field on a grid: one point for each time, joined with eleven earlier ones
  vbdm fit run.xtc --topology run.pdb --features dihedrals -O generator
      backbone angles of a molecule; they are periodic, and treated so
  vbdm fit COLVAR --columns phi,psi --weights metad.rbias --temperature 300 -O generator
      a metadynamics run, reweighted: the slow modes of the molecule without its bias
  vbdm fit cells.h5ad --key X_pca --write-anndata
      single cells; a copy of the file with the results in obsm and uns is added
  vbdm fit big.npy --subsample 100000 --effort 0.5
      a quick look at a large file
  vbdm fit big.zarr --scratch /scratch/me
      all of a file that does not fit into memory: blocks in a scratch file
  vbdm fit big.zarr --cluster tcp://node7:8786
      the same on a cluster of Dask (--workers 8: on workers started here)
  vbdm fit points.csv --force --json > summary.json
      again, replacing earlier results, for a script

What is in the folder: report.html (open it in a browser), results.json, results.npz, model.vbdm
(for vbdm transform and vbdm.load) and figures/summary.png; vbdm plot draws single pictures.

Exit codes: 0; 1 numerical failure or full disk; 2 wrong use or input; 130 Ctrl-C. In each case but
the first, earlier results stay as they were.
"""
OPTIONS = [
    FILE, *FOLDER, *LEFT_OUT,
    Setting(["--no-sensitivity"], AFTER, is_flag=True,
            help="Leave out how the results move with ε, which takes several more estimates."),
    Setting(["--unit"], AFTER, metavar="NAME",
            help="Unit of the coordinates, for page and terminal. [what the file tells]"),
    TIME_STEP,
    Setting(["--write-anndata"], AFTER, is_flag=True,
            help="Add a copy of an .h5ad file with the results in obsm and uns."),
    *SPEAKING, *SOLVING, *ESTIMATING, *WEIGHING, *PLACING, *PREPARING, *READING,
]  # fmt: skip


@click.command("fit", cls=Command, epilog=EXAMPLES, params=OPTIONS)
def fit(
    file: Path, out: Path | None, force: bool, quiet: bool, as_json: bool, **options: Any
) -> None:
    """Estimate an operator from the points in FILE; everything about it goes into one folder.

    Rows of FILE are points, columns are coordinates. NumPy files, text, Parquet, HDF5, Zarr,
    NetCDF, AnnData and molecular trajectories can be read (vbdm info says which are ready here).
    Nothing needs to be chosen: dimension, ε and numbers of neighbours come from the data.
    """
    from ..results import check_folder

    folder = Path(f"{file.stem}-vbdm") if out is None else out
    # Checked before the work. `write_results` checks again: another run may have been quicker.
    check_folder(folder, force)

    def add_anndata(cloud: Cloud, spectrum: Spectrum, folder: Path) -> None:
        from ..io import write_anndata

        copy = folder / f"{file.stem}-vbdm.h5ad"
        write_anndata(file, copy, cloud, spectrum, params=settings_of(options))

    add = add_anndata if options["write_anndata"] else None
    with working(quiet, as_json) as work, placing(options) as placement:
        results = fit_file(work, file, folder, force, options, add, placement=placement)
    say_written(folder)
    tell(results, work, quiet)


def fit_file(
    work: Work, file: Path, folder: Path, force: bool, options: Mapping[str, Any],
    extras: Callable[[Cloud, Spectrum, Path], None] | None = None, title: str = "",
    names: tuple[str, ...] = (), placement: Any = "auto",
) -> Results:  # fmt: skip
    """Go from a file to a results folder: read, estimate, solve, scan over ε, write.

    `extras` is called with the points, the spectrum and a folder, into which it may write more
    files. `names` are those of the columns, if the file has none.
    """
    from ..errors import InputError
    from ..estimate import scan_epsilon
    from ..results import Origin, write_results
    from .runs import find_clock

    column = column_of(file, options)
    table, cloud, preparation = read_points(work, file, options, placement, column)
    cloud = replace(cloud, names=names or cloud.names)
    kind = "pipe" if file.is_fifo() else f"file of format {table.source.format}"
    if options.get("write_anndata") and kind != "file of format anndata":
        raise InputError(
            f"--write-anndata needs an AnnData file; received a {kind}. Leave the option out: "
            "results.npz holds the same arrays."
        )
    weights = None if column is None else weights_of(column, cloud, options)
    spectrum = solve(work, estimate(work, cloud, options, placement, weights), options)
    clock = scan = None
    if options.get("step") is not None:
        with work.ledger.stage("clock"):
            clock = find_clock(spectrum, cloud.rows, options, options["step"])
    if not options.get("no_sensitivity"):
        with work.ledger.stage("sensitivity"):
            scan = scan_epsilon(spectrum)
    note_missing_figures(work, options)
    # The smallest value of each column, if any column is periodic.
    lowest = None if cloud.period is None else [float(x) for x in cloud.points[:].min(axis=0)]
    origin = Origin(
        source=table.source.as_dict(),
        names=cloud.names,
        rows=cloud.rows,
        n_read=cloud.n_read,
        n_dropped=cloud.dropped,
        preparation=preparation.as_dict(),
        reading=reading_alike(options, preparation),
        settings=settings_of(options),
        warnings=work.notes,
        about_rows=cloud.about_rows,
        # Standardised columns are in standard deviations, whatever they were in before.
        unit=(options.get("unit") if preparation.scale is None else None) or cloud.unit,
        lowest=lowest,
    )
    with work.ledger.stage("figures", "page", "saving"):
        return write_results(
            folder, spectrum, origin, force=force, scan=scan, title=title or table.source.name,
            seconds=work.ledger.seconds, clock=clock,
            extras=partial(extras, cloud, spectrum) if extras else None,
            **arguments_for(LEFT_OUT, options),
        )  # fmt: skip


def column_of(file: Path, options: Mapping[str, Any]) -> Column | None:
    """Return where the weights are; None without any."""
    from ..errors import InputError

    weights, temperature = options.get("weights"), options.get("temperature")
    if weights is None and temperature is not None:
        raise InputError(
            f"--temperature goes with --weights; received --temperature {temperature:g} alone. "
            "Name the column of the bias, such as --weights COLVAR:metad.rbias."
        )
    return None if weights is None else Column.of(weights, file)


def reading_alike(options: Mapping[str, Any], preparation: Preparation) -> dict[str, Any]:
    """Return the arguments of `vbdm.io.read` with which new files are to be read later."""
    reading = arguments_for(READING, options)
    # Columns are stored with the preparation, and another file may have another format.
    for name in ("columns", "format", "header"):
        reading.pop(name, None)
    # A stride thins out the training frames only. With delays it is kept, because they count the
    # frames that were taken.
    if preparation.delays == 1:
        reading.pop("stride", None)
    if "topology" in reading:
        reading["topology"] = os.path.abspath(reading["topology"])
    return reading


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that the user gave, as plain values."""
    from ..base.files import plain

    return {name: plain(value) for name, value in options.items() if value is not None}


def note_missing_figures(work: Work, options: Mapping[str, Any]) -> None:
    """Add a note that there will be no figures, if they are wanted but cannot be drawn."""
    from ..results import can_draw

    if not options.get("no_figures") and not can_draw():
        work.note("No figures: matplotlib is missing. Install it with: pip install 'vbdm[plot]'")


def tell(results: Results, work: Work, quiet: bool) -> None:
    """Print what was found: in words, as JSON, or not at all."""
    from ..errors import printable

    # One sentence of each note is enough here: the page and results.json have them in full. What a
    # light will say is not said before.
    shown = quiet or work.as_json
    by_lights = {in_options(entry["words"]) for entry in results.summary["diagnostics"]}
    notes = [note for note in work.notes if shown or note[1] not in by_lights]
    work.show_notes(short=not quiet, notes=notes)
    if work.as_json:
        say_json({"folder": str(results.folder), **results.summary})
        return
    if quiet:
        return
    for line in describe(results.summary):
        click.echo(line)
    click.echo()
    for line in times(work.ledger.seconds):
        click.echo(line)
    click.echo()
    page = results.folder / "report.html"
    look = f"; open {page}" if page.exists() else ""
    click.echo(printable(f"Results: {results.folder}{look}"))
