"""``vbdm demo``: the main job on bundled data, with the truth beside the estimate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .failures import say_written
from .fit import fit_file
from .options import Command, setting
from .steps import working
from .terminal import interval, sources_in_words, table

if TYPE_CHECKING:
    from ..io import Cloud
    from ..results import Results
    from ..spectrum.spectrum import Spectrum

#: Eigenvalues of the Laplacian on the unit sphere: -l(l+1), each 2l+1 times.
TRUTH = (0.0, *[-2.0] * 3, *[-6.0] * 5, *[-12.0] * 7)
TITLE = "Demonstration: a sphere, unevenly sampled"
#: Options of `vbdm fit`, and a mark by which results of the demonstration are recognised.
OPTIONS = {"eigenpairs": len(TRUTH), "demonstration": True}
#: Numbers of the eigenfunctions in the picture: the first of each l.
DRAWN = (1, 4, 9)
EXAMPLES = """\b
Examples:
  vbdm demo                 writes the folder results/
  vbdm demo --out sphere    writes another one; its own earlier results are replaced
"""


@click.command("demo", cls=Command, epilog=EXAMPLES)
@setting("--out", "-o", type=click.Path(path_type=Path), default=Path("results"),
         help="Results folder. [results]")  # fmt: skip
@setting("-q", "--quiet", is_flag=True, help="Only notes and errors.")
def demo(out: Path, quiet: bool) -> None:
    """Learn the Laplacian of a sphere from 3,000 unevenly scattered points.

    The truth is known, -l(l+1), and printed beside the estimate. The results folder is the same as
    that of vbdm fit, and has two files more: eigenvalues.csv and eigenvalues.png.
    """
    from ..results import check_folder, is_results_folder, read_summary

    settings = read_summary(out)["settings"] if is_results_folder(out) else None
    force = bool((settings or {}).get("demonstration"))
    check_folder(out, force)
    with working(quiet) as work, bundled_points() as file:
        results = fit_file(work, file, out, force, OPTIONS, compare, TITLE, names=("x", "y", "z"))
    say_written(out)
    work.show_notes()
    if not quiet:
        for line in describe(results):
            click.echo(line)


def bundled_points() -> AbstractContextManager[Path]:
    """Return a context with the bundled file: a Gaussian, axes 1 : 0.5 : 0.3, on the sphere."""
    return as_file(files("vbdm.datasets") / "data" / "sphere.npy")


def describe(results: Results) -> Iterator[str]:
    """Yield lines for the terminal: estimate beside truth, and where the results are."""
    yield repr(results.spectrum.operator)
    rows = []
    for group in results.spectrum.errors.by_group:
        first, last = group.members[0], group.members[-1]
        which = f"{first} to {last}" if group.is_several else f"{first}"
        truth = sum(TRUTH[first : last + 1]) / len(group.members)
        ends = "exact" if group.mean == 0 else interval(group.lower, group.upper)
        size = f"{group.total_error:.3f}"
        rows.append([which, f"{group.mean:.3f}", size, ends, f"{truth:.3g}"])
    yield from table(["eigenvalues", "mean", "± error", "95 % interval", "truth"], rows)
    sources = sources_in_words(results.summary["groups"])
    yield f"Errors are total errors of the means, standard deviations; largest part: {sources}."
    yield f"Results: {results.folder}; open {results.folder / 'report.html'}"


def compare(_: Cloud, spectrum: Spectrum, folder: Path) -> None:
    """Write estimate and truth into a folder, as a table and as a picture."""
    import numpy as np

    from ..results import can_draw, save_picture

    columns = [(g.mean, g.total_error, g.lower, g.upper, g.standard_error)
               for g in spectrum.errors.by_group for _ in g.members]  # fmt: skip
    table = np.c_[spectrum.eigenvalues, columns, TRUTH]
    header = "eigenvalue,group_mean,total_error_of_mean,lower,upper,standard_error_of_mean,truth"
    np.savetxt(folder / "eigenvalues.csv", table, delimiter=",", header=header, comments="")
    if can_draw():
        save_picture(partial(draw, spectrum), folder / "eigenvalues.png")


def draw(spectrum: Spectrum) -> Any:
    """Draw the eigenvalues beside the truth, and three eigenfunctions; return the figure."""
    import matplotlib.pyplot as plt

    from .. import plot

    figure = plt.figure(figsize=(16, 4), layout="constrained")
    panels: dict[Any, Any] = figure.subplot_mosaic(
        [["values", *DRAWN]], width_ratios=[1.2, 1, 1, 1],
        per_subplot_kw={DRAWN: {"projection": "3d"}},
    )  # fmt: skip
    plot.spectrum(spectrum, TRUTH, panels["values"]).set_title("Laplacian of the sphere")
    balls = [panels[number] for number in DRAWN]
    plot.eigenfunctions(spectrum, DRAWN, balls)
    means = [group.mean for group in spectrum.errors.by_group for _ in group.members]
    for number, ball in zip(DRAWN, balls, strict=True):
        ball.set_title(f"Eigenfunction {number}, λ ≈ {means[number]:.2f}")
        ball.set_box_aspect((1, 1, 1), zoom=1.4)
        ball.set_axis_off()
    return figure
