"""``vbdm fit``: file in, results folder out."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import (
    AFTER,
    HOW,
    Command,
    estimating_options,
    output_options,
    preparing_options,
    reading_options,
    setting,
)
from .steps import Work, estimate, read_points, reading_of, solve, working

if TYPE_CHECKING:
    from ..io import Cloud, Preparation, Table
    from ..io.results import Origin, Results
    from ..spectrum.spectrum import Spectrum

EXAMPLES = """\b
Examples:
  vbdm fit points.csv
      the Laplacian of the manifold behind the points; results in points-vbdm/
  vbdm fit walk.npy --operator generator --eigenpairs 6 --out slow-modes
      the slow modes of a process at equilibrium, the constant and five more
  vbdm fit table.csv --columns x,y,z --standardize --drop-missing
      three columns of a table, on equal footing, without rows that have gaps
  vbdm fit sst.nc --variable sst --delays 12
      a field on a grid: one point for each time, joined with eleven earlier ones
  vbdm fit run.xtc --topology run.pdb --features dihedrals -O generator
      backbone angles of a molecule; they are periodic, and treated so
  vbdm fit cells.h5ad --key X_pca --write-anndata
      single cells; a copy of the file with the results in obsm and uns is added
  vbdm fit big.npy --subsample 100000 --effort 0.5
      a quick look at a large file
  vbdm fit points.csv --force --json > summary.json
      again, replacing earlier results, for a script

What is in the folder: report.html (open it in a browser), results.json, results.npz, model.vbdm
(for vbdm transform and vbdm.load) and figures/.

Exit codes: 0; 1 numerical failure or full disk; 2 wrong use or input; 130 Ctrl-C. In each case but
the first, earlier results stay as they were.
"""


@click.command("fit", cls=Command, epilog=EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@setting("--out", "-o", type=click.Path(path_type=Path), section=AFTER,
         help="Results folder. [FILE's name with -vbdm, in the current folder]")  # fmt: skip
@setting("--force", is_flag=True, section=AFTER, help="Replace earlier results.")
@setting("--no-report", is_flag=True, section=AFTER, help="Leave out report.html.")
@setting("--no-figures", is_flag=True, section=AFTER, help="Leave out figures/.")
@setting(
    "--no-sensitivity",
    is_flag=True,
    section=AFTER,
    help="Leave out how the results move with ε, which takes several more estimates.",
)
@setting("--write-anndata", is_flag=True, section=AFTER,
         help="Add a copy of an .h5ad file with the results in obsm and uns.")  # fmt: skip
@output_options
@setting("--eigenpairs", "-n", type=int, section=HOW,
         help="How many eigenpairs, the constant included. [10]")  # fmt: skip
@setting(
    "--components",
    default="each",
    type=click.Choice(["each", "largest", "error"]),
    section=HOW,
    help="If the data falls into pieces: solve each, the largest, or stop.",
)
@estimating_options
@preparing_options
@reading_options
def command(
    file: Path, out: Path | None, force: bool, quiet: bool, as_json: bool, **options: Any
) -> None:
    """Estimate an operator from the points in FILE; everything about it goes into one folder.

    Rows of FILE are points, columns are coordinates. NumPy files, text, Parquet, HDF5, Zarr,
    NetCDF, AnnData and molecular trajectories can be read (vbdm info says which are ready here).
    Nothing needs to be chosen: dimension, ε and numbers of neighbours come from the data.
    """
    from ..io.results import check_folder

    folder = Path(f"{file.stem}-vbdm") if out is None else out
    check_folder(folder, force)
    with working(quiet, as_json) as work:
        results = fit_file(work, file, folder, force, options)
    tell(results, work, quiet)


def fit_file(work: Work, file: Path, folder: Path, force: bool, options: dict[str, Any]) -> Results:
    """Go from a file to a results folder."""
    table, cloud, preparation = read_points(work, file, options)
    refuse_anndata(options["write_anndata"], table.source.format)
    spectrum = solve(
        work, estimate(work, cloud, options), options["eigenpairs"], options["components"]
    )
    moved = None
    if not options["no_sensitivity"]:
        from ..report import sensitivity

        with work.ledger.stage("sensitivity"):
            moved = sensitivity(spectrum)
    from ..io.results import write_results

    figures = wants_figures(work, not options["no_figures"])
    add = partial(add_anndata, file, cloud, spectrum, settings_of(options))
    with work.ledger.stage("figures", "page", "saving"):
        return write_results(
            folder,
            spectrum,
            origin_of(work, table, cloud, preparation, options),
            force=force,
            sensitivity=moved,
            figures=figures,
            page=not options["no_report"],
            title=table.source.name,
            seconds=work.ledger.seconds,
            extras=add if options["write_anndata"] else None,
        )


def origin_of(
    work: Work, table: Table, cloud: Cloud, preparation: Preparation, options: dict[str, Any]
) -> Origin:
    """Collect where the points came from."""
    from ..io.results import Origin

    return Origin(
        source=table.source.as_dict(),
        names=cloud.names,
        rows=cloud.rows,
        n_read=cloud.n_read,
        n_dropped=cloud.dropped,
        preparation=preparation.as_dict(),
        reading=reading_alike(options, preparation),
        settings=settings_of(options),
        warnings=work.notes,
    )


def reading_alike(options: dict[str, Any], preparation: Preparation) -> dict[str, Any]:
    """Return what it takes to read new files in the same way."""
    reading = reading_of(options)
    # Columns are part of the preparation, and another file has its own format.
    for name in ("columns", "format", "header"):
        reading.pop(name, None)
    # Thinning is not for new frames, but delays count the frames that were taken.
    if preparation.delays == 1:
        reading.pop("stride", None)
    if "topology" in reading:
        reading["topology"] = os.path.abspath(reading["topology"])
    return reading


def settings_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the user asked for, in plain values."""
    from ..io.results import plain

    return {name: plain(value) for name, value in options.items() if value is not None}


def wants_figures(work: Work, wanted: bool) -> bool:
    """Tell if figures can be drawn, and say so if they cannot."""
    from ..io.results import can_draw

    if wanted and not can_draw():
        work.note("No figures: matplotlib is missing. Install it with: pip install 'vbdm[plot]'")
    return wanted and can_draw()


def refuse_anndata(wanted: bool, kind: str) -> None:
    """Raise if results should go back into a file that cannot take them."""
    from ..base.errors import bad_input

    if wanted and kind != "anndata":
        raise bad_input(
            "--write-anndata needs an AnnData file.",
            received=f"a file of format {kind}",
            because="Results are added to a copy of the file that was read.",
            hint="Leave the option out: results.npz holds the same arrays.",
        )


def add_anndata(
    file: Path, cloud: Cloud, spectrum: Spectrum, settings: dict[str, Any], folder: Path
) -> None:
    """Write a copy of an AnnData file with the results in it."""
    from ..io import write_anndata

    write_anndata(file, folder / f"{file.stem}-vbdm.h5ad", cloud, spectrum, params=settings)


def tell(results: Results, work: Work, quiet: bool) -> None:
    """Say what was found: in words, as JSON, or not at all."""
    from .terminal import describe, times

    # In full they stand on the page and in results.json, and the lights say what to do.
    work.show_notes(short=not quiet)
    if work.as_json:
        place = {"folder": str(results.folder), **results.summary}
        click.echo(json.dumps(place, ensure_ascii=False, allow_nan=False, indent=1))
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
    click.echo(f"Results: {results.folder}{look}")
