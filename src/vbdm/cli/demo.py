"""``vbdm demo``: the main job on bundled data."""

from __future__ import annotations

from pathlib import Path

import click

from .options import Command, setting
from .steps import working

EXAMPLES = """\b
Examples:
  vbdm demo                 writes the folder results/
  vbdm demo --out sphere    writes another one; its own earlier results are replaced
"""


@click.command("demo", cls=Command, epilog=EXAMPLES)
@setting("--out", "-o", type=click.Path(path_type=Path), default=Path("results"),
         help="Results folder. [results]")  # fmt: skip
@setting("-q", "--quiet", is_flag=True, help="Only notes and errors.")
def command(out: Path, quiet: bool) -> None:
    """Learn the Laplacian of a sphere from 3,000 unevenly scattered points.

    The truth is known, -l(l+1), and printed beside the estimate. The results folder is the same as
    that of vbdm fit, and has two files more: eigenvalues.csv and eigenvalues.png.
    """
    from .demonstration import describe, run

    with working(quiet) as work:
        results = run(out, work.ledger.stage, work.ledger.seconds)
    work.show_notes()
    if not quiet:
        for line in describe(results):
            click.echo(line)
