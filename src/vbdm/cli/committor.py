"""``vbdm committor``: the chance to reach one set before another, from every point."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .asking import AXES, KEEPING, RUN, answered, drawn, notes_on, unit_of, unreached
from .options import FROM, LABELS, TIME_STEP, TO, TOL, Command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..equations.sets import Region
    from ..equations.solved import Committor
    from ..report.answers import Answer, Quantity
    from .clocks import TimeUnit
    from .runs import Run
    from .steps import Work

EXAMPLES = """\b
Examples:
  vbdm committor walk-vbdm --from "phi < -1.2" --to "phi > 0.8"
      how likely each point is to reach phi > 0.8 before phi < -1.2
  vbdm committor run-vbdm --from "phi < 0 and psi > 1" --to "phi > 0" --time-step 0.2ns
      rows are 0.2 ns apart: rates per nanosecond
  vbdm committor cells-vbdm --from HSC --to Ery --labels cell_type --name erythroid
      between labels; files and section of the page are called erythroid

Sets are conditions on columns of the file that vbdm fit read, in the file's units, joined by
"and" and "or"; or labels.
"""
OPTIONS = [RUN, FROM, TO, LABELS, TIME_STEP, TOL, AXES, *KEEPING]


@click.command("committor", cls=Command, epilog=EXAMPLES, params=OPTIONS)
def command(run: Path, **options: Any) -> None:
    """Compute the committor of RUN: the chance to reach one set before another.

    RUN is a folder that vbdm fit wrote. The values go into it as committor.csv, one row for each
    point, and its page gets a section: the committor on the points, the line where it is ½, the
    flux of transitions, and the rates.
    """
    answered(run, "committor", options, partial(question, options))


def question(options: Mapping[str, Any], work: Work, run: Run) -> Answer:
    """Answer the question."""
    from ..report.answers import Answer

    sets, found = solved(options, work, run)
    unit = unit_of(work, run, options["step"])
    with work.ledger.stage("error bars"):
        numbers = [*rates_in(found, unit), *about_values(found), *unreached(found)]
    return Answer(
        name="committor", title="Committor", asked=asked(options, sets),
        quantities=numbers, notes=notes_on(run, unit),
        columns={options["name"] or "committor": found.values},
        picture=drawn(work, run, options["axes"], found.plot),
        caption="The probability to reach B before A. Along the dark line it is ½; arrows follow "
        "the flux of transitions.",
    )  # fmt: skip


def solved(options: Mapping[str, Any], work: Work, run: Run) -> tuple[list[Region], Committor]:
    """Return both sets, and the committor."""
    sets = run.read_sets({"A": options["start"], "B": options["end"]}, options["labels"])
    more = {} if options["tol"] is None else {"tol": options["tol"]}
    with work.ledger.stage("equations"):
        return sets, run.operator.committor(*sets, **more)


def asked(options: Mapping[str, Any], sets: list[Region]) -> str:
    """Return the question in words."""
    first, second = (f"{int(own.mask.sum()):,} points" for own in sets)
    return f"From A: `{options['start']}` ({first}) to B: `{options['end']}` ({second})."


def rates_in(found: Committor, unit: TimeUnit) -> list[Quantity]:
    """Return flux and rates in the unit of time."""
    from ..report.answers import Quantity

    return [
        Quantity(name, *unit.rate(own), unit.of_rates)
        for name, own in (
            ("rate from A to B", found.rate),
            ("rate from B to A", found.rate_back),
            ("flux: transitions from A to B", found.flux),
        )
    ]


def about_values(found: Committor) -> list[Quantity]:
    """Return how many points lie between both sets."""
    from ..report.answers import Quantity

    near = (found.values > 0.4) & (found.values < 0.6)
    return [Quantity("points with a committor from 0.4 to 0.6", int(near.sum()))]
