"""``vbdm report``: the page of a results folder, once more."""

from __future__ import annotations

from pathlib import Path

import click

from .failures import say_written
from .options import Command, setting
from .steps import working

EXAMPLES = """\b
Examples:
  vbdm report points-vbdm --open
      makes points-vbdm/report.html again and opens it in the browser
  vbdm report points-vbdm --title "Butane, 300 K" --draw 5000 --out butane.html
      another title, fewer points in the pictures, another file
"""


@click.command("report", cls=Command, epilog=EXAMPLES)
@click.argument("folder", type=click.Path(path_type=Path))
@setting("--title", help="Title of the page. [name of the data file]")
@setting("--draw", type=click.IntRange(min=1), help="Draw at most so many points. [20000]")
@setting("--out", "-o", type=click.Path(path_type=Path),
         help="Where to write it. [FOLDER/report.html, replaced]")  # fmt: skip
@setting("--force", is_flag=True, help="Replace the file given with --out if it exists.")
@setting("--open", "show", is_flag=True, help="Open the page in the browser.")
@setting("-q", "--quiet", is_flag=True, help="Only notes and errors.")
def command(
    folder: Path,
    title: str | None,
    draw: int | None,
    out: Path | None,
    force: bool,
    show: bool,
    quiet: bool,
) -> None:
    """Make the page of the results in FOLDER again: one file that opens offline."""
    from ..results import load_results, write_report
    from ..results.answers import read_answers
    from .outputs import check_output

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
