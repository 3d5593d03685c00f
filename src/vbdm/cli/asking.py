"""What all questions to a run share: open it, answer, write the answer, tell it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .failures import say_written
from .options import AFTER, NAME, SPEAKING, Setting
from .steps import Work, working
from .terminal import lines_of, say_json

if TYPE_CHECKING:
    from ..equations.solved import Solved
    from ..report.answers import Answer, Quantity
    from .runs import Run, TimeUnit

RUN = click.Argument(["run"], metavar="RUN", type=click.Path(path_type=Path))
AXES = Setting(["--axes"], AFTER, metavar="COLUMNS",
               help="Two columns along which points are drawn. [the first two; of many columns, "
               "principal axes]")  # fmt: skip
#: How an answer is kept and told.
KEEPING = (
    NAME,
    Setting(["--force"], AFTER, is_flag=True, help="Replace an earlier answer of that name."),
    *SPEAKING,
)  # fmt: skip
OF_MOTION = (
    "The operator of this run is not the generator of the process behind the points: times and "
    "rates are those of a Brownian motion with another drift, or none. For the process, fit with "
    "--operator generator."
)


def answered(
    folder: Path, kind: str, options: Mapping[str, Any], question: Callable[[Work, Run], Answer]
) -> None:
    """Put a question to a run, write the answer into its folder, and tell it.

    The answer has the name of its `kind`, if the user gives none.
    """
    from ..errors import printable
    from ..report.answers import as_entry
    from ..results import read_summary
    from ..results.answers import add_answer, check_answer
    from .runs import open_run

    name = options["name"] or kind
    read_summary(folder)
    check_answer(folder, name, options["force"])
    with working(options["quiet"], options["as_json"]) as work:
        with work.ledger.stage("model", "pairs", "kernel"):
            run = open_run(folder)
        answer = question(work, run)
        if name != kind:
            answer = replace(answer, name=name, title=f"{answer.title}: {name}")
        with work.ledger.stage("saving", "page"):
            files = add_answer(run.results, answer)
    say_written(folder)
    work.show_notes(short=not options["quiet"])
    if options["as_json"]:
        told = {"folder": str(folder), "files": [str(path) for path in files]}
        say_json({**told, **as_entry(answer)})
    elif not options["quiet"]:
        for line in lines_of(answer):
            click.echo(line)
        page = folder / "report.html"
        look = f"; open {page}#answer-{answer.name}" if page in files else ""
        click.echo(printable(f"Written: {files[0]}{look}"))


def drawn(work: Work, run: Run, axes: str | None, draw: Callable[..., Any]) -> bytes:
    """Return a picture as a PNG; empty, and a note, without matplotlib.

    `draw` is called with `points`, the places of the points, and `names`, the labels of both axes.
    """
    from ..results import can_draw, save_picture

    points, names = run.places(axes)
    if not can_draw():
        work.note("No picture: matplotlib is missing. Install it with: pip install 'vbdm[plot]'")
        return b""
    stream = BytesIO()
    with work.ledger.stage("figures"):
        save_picture(lambda: draw(points=points, names=names), stream, dpi=130)
    return stream.getvalue()


def unit_of(work: Work, run: Run, step: tuple[float, str] | None) -> TimeUnit:
    """Return the unit of times: of the clock asked for now, or of the one that the run has."""
    from ..results.summary import clock_entry
    from .runs import find_clock, time_unit

    entry = run.results.summary.get("clock")
    if step is not None:
        settings = run.results.summary["settings"] or {}
        with work.ledger.stage("clock"):
            found = find_clock(run.spectrum, run.results.rows, settings, step)
        entry = clock_entry(found)
    return time_unit(entry, run.length)


def notes_on(run: Run, unit: TimeUnit) -> list[str]:
    """Return what the reader of rates and times must know."""
    from ..report.facts import is_generator

    return [*unit.notes, *([] if is_generator(run.operator) else [OF_MOTION])]


def unreached(result: Solved) -> list[Quantity]:
    """Return the number of points without a solution, if there are any."""
    from ..report.answers import Quantity

    lost = int(result.unreached.sum())
    return [Quantity("points without a solution", lost)] if lost else []
