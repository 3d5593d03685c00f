"""``vbdm rates``: how often, and how soon, a process goes from one set to another."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .asking import KEEPING, RUN, answered, notes_on, unit_of, unreached
from .committor import asked, rates_in, solved
from .options import FROM, LABELS, TIME_STEP, TO, TOL, Command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..report.answers import Answer, Quantity
    from .clocks import TimeUnit
    from .runs import Run
    from .steps import Work

EXAMPLES = """\b
Examples:
  vbdm rates walk-vbdm --from "phi < -1.2" --to "phi > 0.8"
      rates in both directions and mean times, in units of length²/D
  vbdm rates walk-vbdm --from "phi < -1.2" --to "phi > 0.8" --time-step 0.2ns
      the same in nanoseconds, as rows are 0.2 ns apart
  vbdm rates walk-vbdm --from folded --to unfolded --labels state --json
      between labels, for a script
"""
OPTIONS = [RUN, FROM, TO, LABELS, TIME_STEP, TOL, *KEEPING]


@click.command("rates", cls=Command, epilog=EXAMPLES, params=OPTIONS)
def command(run: Path, **options: Any) -> None:
    """Compute rates and mean times between two sets of RUN, with standard errors.

    RUN is a folder that vbdm fit wrote. The table goes into it as rates.csv, and into its page.
    """
    answered(run, "rates", options, partial(question, options))


def question(options: Mapping[str, Any], work: Work, run: Run) -> Answer:
    """Answer the question."""
    from ..report.answers import Answer

    sets, found = solved(options, work, run)
    unit = unit_of(work, run, options["step"])
    with work.ledger.stage("error bars"):
        numbers = rates_in(found, unit)
    return Answer(
        name="rates", title="Rates", asked=asked(options, sets),
        quantities=[*numbers, *times_between(work, run, sets, unit), *unreached(found)],
        notes=[
            "A rate counts transitions per time that is spent coming from its set last. A mean "
            "time is that until the other set is reached, from the points of a set.",
            *notes_on(run, unit),
        ],
    )  # fmt: skip


def times_between(work: Work, run: Run, sets: list[Any], unit: TimeUnit) -> list[Quantity]:
    """Return the mean times from each set to the other."""
    from ..report.answers import Quantity

    found = []
    both = list(zip("AB", sets, strict=True))
    for (name, start), (other, end) in (both, both[::-1]):
        with work.ledger.stage("equations"):
            time = run.operator.mean_first_passage(end).mean(over=start)
        found.append(Quantity(f"mean time from {name} to {other}", *unit.time(time), unit.of_times))
    return found
