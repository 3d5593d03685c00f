"""``vbdm reproduce``: the figures of the paper, and the table of its claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import Command, setting
from .steps import working

if TYPE_CHECKING:
    from ..base.progress import Listener, Progress

EXAMPLES = """\b
Examples:
  vbdm reproduce --quick                  all figures, smaller; about three minutes
  vbdm reproduce all                      all figures as in the paper; up to forty minutes
  vbdm reproduce ou_random --out check    one figure, into the folder check/
"""


@click.command("reproduce", cls=Command, epilog=EXAMPLES)
@click.argument("names", nargs=-1)
@setting("--quick", is_flag=True, help="Smaller sets and fewer values of ε.")
@setting("--out", "-o", type=click.Path(path_type=Path), default=Path("reproduction"),
         help="Folder for numbers, pictures and claims. [reproduction]")  # fmt: skip
@setting("-q", "--quiet", is_flag=True, help="Only notes and errors.")
def command(names: tuple[str, ...], quick: bool, out: Path, quiet: bool) -> None:
    """Make figures of the paper by its own settings, and judge its claims.

    NAMES are figures, or "all". Each gives NAME.png and NAME.npz; claims.md says of every claim
    what we find: reproduced, not reproduced, or on what it depends. Names: section3,
    ou_sensitivity, ou_large, ou_outliers, ou_random, ou_plane, circle_sensitivity,
    sphere_sensitivity, left_right_symmetric, nonuniform_circle, c2_exponent.
    """
    from ..base.progress import listening
    from ..figures.reproduce import reproduce
    from .failures import say_kept
    from .outputs import need_matplotlib

    need_matplotlib()
    say_kept(f"Figures that were finished are in {out}.")
    wanted = None if not names or "all" in names else names
    with (
        working(quiet) as work,
        work.ledger.stage("figures"),
        listening(whole_figures(work.ledger)),
    ):
        made = reproduce(wanted, out, quick)
    work.show_notes()
    for name, reason in made.failures.items():
        click.echo(f"{click.style('failed:', fg='red')} {name}: {reason}", err=True)
    if not quiet:
        for name, claim in made.claims:
            click.echo(f"{claim.verdict:15s} {name}: {claim.statement}")
        click.echo("")
        for kind in ("reproduced", "not reproduced", "depends"):
            click.echo(f"{made.count(kind):3d} {kind}")
        click.echo(f"Written: {made.folder / 'claims.md'} and {len(made.files) - 1} more files")
    if made.failures:
        raise click.exceptions.Exit(1)


def whole_figures(listener: Listener) -> Listener:
    """Return a listener that tells another which figure is at work, and how far it is.

    The rooms inside a figure report by the thousand; they are left out.
    """
    from ..base.progress import Progress
    from ..figures import FIGURES

    place = ""

    def listen(progress: Progress) -> None:
        nonlocal place
        if progress.room == "figures":
            place = f"{progress.note} ({progress.done + 1} of {progress.total})"
            listener(Progress("figures", 0, 1, place if progress.note else ""))
        elif progress.room in FIGURES:
            listener(Progress("figures", progress.done, progress.total, place))

    return listen
