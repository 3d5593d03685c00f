"""``vbdm plot``: one picture of a result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .failures import say_written
from .options import WHICH, Command, Setting
from .steps import working

if TYPE_CHECKING:
    from ..spectrum.spectrum import Spectrum

WHAT = ("summary", "tuning", "spectrum", "eigenfunctions", "embedding", "density", "unresolved")
SUFFIXES = (".png", ".svg", ".pdf")
EXAMPLES = """\b
Examples:
  vbdm plot points-vbdm
      an overview, in summary.png
  vbdm plot points-vbdm --what eigenfunctions --which 1,2,3 --out modes.pdf
      three eigenfunctions on the points, for a paper
  vbdm plot model.vbdm --what embedding --which 1,2,3 --out map.svg
      the points in coordinates of three eigenfunctions
"""


OPTIONS = [
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


@click.command("plot", cls=Command, epilog=EXAMPLES, params=OPTIONS)
def command(
    result: Path,
    what: str,
    which: str | None,
    out: Path | None,
    force: bool,
    dpi: int,
    quiet: bool,
) -> None:
    """Draw one picture of the results in a folder, or of a saved model (needs matplotlib)."""
    from ..base.files import replacing
    from ..results import save_picture
    from .models import load_spectrum
    from .outputs import check_output, need_matplotlib

    path = Path(f"{what}.png") if out is None else out
    numbers = parse_numbers(which, what)
    target = check_output(path, SUFFIXES, force)
    need_matplotlib()
    with working(quiet) as work:
        with work.ledger.stage("model"):
            spectrum = load_spectrum(result)
        with work.ledger.stage("figures"), replacing(target) as stream:
            draw = picture(spectrum, what, numbers)
            save_picture(draw, stream, target.suffix.lower()[1:], dpi=dpi)
    say_written(path)
    work.show_notes()
    if not quiet:
        click.echo(f"Picture: {path}")


def parse_numbers(which: str | None, what: str) -> list[int] | None:
    """Return the numbers of the eigenfunctions to draw; None for the default."""
    if which is None:
        return None
    if what not in ("eigenfunctions", "embedding"):
        raise click.BadParameter("only eigenfunctions and embedding have numbers.", None, None,
                                 "--which")  # fmt: skip
    try:
        return [int(part) for part in which.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"{which!r} is no list of numbers. Write, for example, 1,2.", None, None, "--which"
        ) from None


def picture(spectrum: Spectrum, what: str, numbers: list[int] | None) -> Callable[[], Any]:
    """Return a function without arguments that draws the picture."""
    from .. import plot

    function = getattr(plot, what)
    return partial(function, spectrum) if numbers is None else partial(function, spectrum, numbers)
