"""What is made of earlier results: ``vbdm report``, ``plot`` and ``cite``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from .failures import say_written
from .options import WHICH, Command, Setting, setting
from .steps import working

REPORT_EXAMPLES = """\b
Examples:
  vbdm report points-vbdm --open
      makes points-vbdm/report.html again and opens it in the browser
  vbdm report points-vbdm --title "Butane, 300 K" --draw 5000 --out butane.html
      another title, fewer points in the pictures, another file
"""


@click.command("report", cls=Command, epilog=REPORT_EXAMPLES)
@click.argument("folder", type=click.Path(path_type=Path))
@setting("--title", help="Title of the page. [name of the data file]")
@setting("--draw", type=click.IntRange(min=1), help="Draw at most so many points. [20000]")
@setting("--out", "-o", type=click.Path(path_type=Path),
         help="Where to write it. [FOLDER/report.html, replaced]")  # fmt: skip
@setting("--force", is_flag=True, help="Replace the file given with --out if it exists.")
@setting("--open", "show", is_flag=True, help="Open the page in the browser.")
@setting("-q", "--quiet", is_flag=True, help="Only notes and errors.")
def report(
    folder: Path, title: str | None, draw: int | None, out: Path | None, force: bool, show: bool,
    quiet: bool,
) -> None:  # fmt: skip
    """Make the page of the results in FOLDER again: one file that opens offline."""
    from ..results import load_results, write_report
    from ..results.answers import read_answers
    from .places import check_output

    results = load_results(folder)
    path = folder / "report.html" if out is None else out
    target = check_output(path, (".html",), force or out is None)
    more = {} if draw is None else {"n_drawn": draw}
    if title is None:
        title = results.summary["input"].get("name") or ""
    with working(quiet) as work, work.ledger.stage("page"):
        write_report(
            target, results.spectrum, results.origin, results.scan, title,
            results.summary["seconds"], answers=read_answers(folder),
            clock=results.summary.get("clock"), **more,
        )  # fmt: skip
    say_written(path)
    work.show_notes()
    if not quiet:
        click.echo(f"Page: {path}")
    if show:
        click.launch(str(target))


WHAT = ("summary", "tuning", "spectrum", "eigenfunctions", "embedding", "density", "unresolved")
SUFFIXES = (".png", ".svg", ".pdf")
PLOT_EXAMPLES = """\b
Examples:
  vbdm plot points-vbdm
      an overview, in summary.png
  vbdm plot points-vbdm --what eigenfunctions --which 1,2,3 --out modes.pdf
      three eigenfunctions on the points, for a paper
  vbdm plot model.vbdm --what embedding --which 1,2,3 --out map.svg
      the points in coordinates of three eigenfunctions
"""
PLOT_OPTIONS = [
    click.Argument(["result"], metavar="FOLDER_OR_MODEL", type=click.Path(path_type=Path)),
    Setting(["--what"], default="summary", type=click.Choice(WHAT),
            help="Which picture. [summary]"),
    WHICH,
    Setting(["--out", "-o"], type=click.Path(path_type=Path),
            help="A .png, .svg or .pdf file. [the picture's name with .png]"),
    Setting(["--force"], is_flag=True, help="Replace that file if it exists."),
    Setting(["--dpi"], type=click.IntRange(20, 1200), default=150, help="Dots per inch. [150]"),
    Setting(["-q", "--quiet"], is_flag=True, help="Only notes and errors."),
]  # fmt: skip


@click.command("plot", cls=Command, epilog=PLOT_EXAMPLES, params=PLOT_OPTIONS)
def plot(
    result: Path, what: str, which: str | None, out: Path | None, force: bool, dpi: int, quiet: bool
) -> None:
    """Draw one picture of the results in a folder, or of a saved model (needs matplotlib)."""
    from .. import plot as pictures
    from ..base.files import replacing
    from ..results import save_picture
    from .places import check_output, need_matplotlib
    from .runs import load_spectrum

    path = Path(f"{what}.png") if out is None else out
    numbers = [] if which is None else [parse_numbers(which, what)]
    target = check_output(path, SUFFIXES, force)
    need_matplotlib()
    with working(quiet) as work:
        with work.ledger.stage("model"):
            spectrum = load_spectrum(result)
        with work.ledger.stage("figures"), replacing(target) as stream:
            draw = partial(getattr(pictures, what), spectrum, *numbers)
            save_picture(draw, stream, target.suffix.lower()[1:], dpi=dpi)
    say_written(path)
    work.show_notes()
    if not quiet:
        click.echo(f"Picture: {path}")


def parse_numbers(which: str, what: str) -> list[int]:
    """Return the numbers of the eigenfunctions to draw."""
    reason = "only eigenfunctions and embedding have numbers."
    if what in ("eigenfunctions", "embedding"):
        try:
            return [int(part) for part in which.split(",")]
        except ValueError:
            reason = f"{which!r} is no list of numbers. Write, for example, 1,2."
    raise click.BadParameter(reason, None, None, "--which")


CITE_EXAMPLES = """\b
Examples:
  vbdm cite                                 the paper and this package, as BibTeX
  vbdm cite points-vbdm >> references.bib   whatever was used for these results
  vbdm cite points-vbdm --methods           a methods paragraph, to be pasted into a paper
"""


@click.command("cite", cls=Command, epilog=CITE_EXAMPLES)
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@setting("--text", is_flag=True, help="Plain text instead of BibTeX.")
@setting("--methods", is_flag=True, help="A paragraph on what was done for the results in FOLDER.")
def cite(folder: Path | None, text: bool, methods: bool) -> None:
    """Say what to cite: for vbdm, or for what was used in the results in FOLDER."""
    from ..report.citing import citations, methods_paragraph
    from ..results import read_summary
    from .runs import load_spectrum

    if methods and folder is None:
        raise click.UsageError("--methods describes results: name their folder.")
    spectrum = None if folder is None else load_spectrum(folder)
    if methods and spectrum is not None and folder is not None:
        # Only a results folder knows of the file and its preparation.
        known: dict[str, Any] = read_summary(folder) if folder.is_dir() else {}
        n_read = known.get("input", {}).get("n_read")
        click.echo(methods_paragraph(spectrum, n_read, known.get("preparation")))
        return
    for citation in citations(spectrum):
        click.echo(citation.text if text else citation.bibtex)
