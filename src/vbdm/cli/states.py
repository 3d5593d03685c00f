"""``vbdm states``: regions that a process leaves seldom, and the rates between them."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .asking import AXES, KEEPING, RUN, answered, drawn, notes_on, unit_of
from .options import ASKED, TIME_STEP, Command, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..dynamics.states import States
    from ..report.answers import Answer, Quantity
    from .clocks import TimeUnit
    from .runs import Run
    from .steps import Work

EXAMPLES = """\b
Examples:
  vbdm states walk-vbdm
      as many states as there are slow modes before the largest gap
  vbdm states walk-vbdm --states 3 --axes phi,psi
      three states, drawn along two columns
  vbdm states walk-vbdm --time-step 0.2ns
      rates between the states per nanosecond, as rows are 0.2 ns apart
"""
OPTIONS = [
    RUN,
    Setting(["--states", "n_states"], ASKED, type=int, metavar="N",
            help="How many states. [as many as stand out]"),
    TIME_STEP, AXES, *KEEPING,
]  # fmt: skip


@click.command("states", cls=Command, epilog=EXAMPLES, params=OPTIONS)
def command(run: Path, **options: Any) -> None:
    """Find the metastable states of RUN: regions that the process leaves seldom.

    RUN is a folder that vbdm fit wrote. How far each point belongs to each state goes into it as
    states.csv, and its page gets a section with populations and rates.
    """
    answered(run, "states", options, partial(question, options))


def question(options: Mapping[str, Any], work: Work, run: Run) -> Answer:
    """Answer the question."""
    from ..report.answers import Answer

    with work.ledger.stage("states"):
        found = found_states(run, options["n_states"])
    unit = unit_of(work, run, options["step"])
    name = options["name"] or "states"
    return Answer(
        name=name, title="Metastable states", asked=f"{len(found)} states.",
        quantities=[*about_states(found, unit), *rates_between(found, unit)],
        notes=[clarity(found), *notes_on(run, unit)],
        columns=columns_of(found, name),
        picture=drawn(work, run, options["axes"], picture_of(found, run, unit)),
        caption="Points in the colour of the state to which they belong most, paler where they "
        "belong to several; circles are populations, arrows rates.",
    )  # fmt: skip


def found_states(run: Run, n: int | None) -> States:
    """Return the states; messages name the option, which is not that of ``vbdm fit``."""
    from ..errors import InputError

    try:
        return run.spectrum.states("auto" if n is None else n)
    except InputError as error:
        words = re.sub(r"\bn=(\d+)", r"--states \1", str(error).replace("`n`", "--states"))
        more = "`vbdm fit` with more --eigenpairs"
        raise InputError(words.replace("`op.spectrum(n)`", more)) from None


def about_states(found: States, unit: TimeUnit) -> Iterator[Quantity]:
    """Yield populations, and the times in which differences between states relax."""
    import numpy as np

    from ..base.estimate import Estimate
    from ..report.answers import Quantity

    for state, share in enumerate(found.populations):
        yield Quantity(f"population of state {state}", *share)
    times = map(Estimate, found.timescales.tolist(), found.timescale_errors.tolist())
    for number, time in enumerate(times, start=1):
        if np.isfinite(time.value):
            told = unit.time_of_mode(number, time)
            yield Quantity(f"relaxation time {number}", *told, unit.of_times)


def rates_between(found: States, unit: TimeUnit) -> Iterator[Quantity]:
    """Yield the rates from state to state."""
    from ..base.estimate import Estimate
    from ..report.answers import Quantity

    for i in range(len(found)):
        for j in range(len(found)):
            if i != j:
                rate = Estimate(float(found.rates[i, j]), float(found.rate_errors[i, j]))
                yield Quantity(f"rate from state {i} to {j}", *unit.rate(rate), unit.of_rates)


def clarity(found: States) -> str:
    """Return how clear the states are, in words."""
    import numpy as np

    clear = f"Crispness {found.crispness:.2f}: 1 if each point belongs to one state alone."
    if not np.isfinite(found.gap):
        return clear
    return f"{clear} What is inside the states decays {found.gap:.3g} times as fast as the rest."


def columns_of(found: States, name: str) -> dict[str, Any]:
    """Return the label of each point, and its memberships."""
    shares = {f"{name}_{j}": own for j, own in enumerate(found.memberships.T)}
    return {name: found.labels.astype(float), **shares}


def picture_of(found: States, run: Run, unit: TimeUnit) -> Callable[..., Any]:
    """Return what draws the states on the points, and the rates beside them."""
    if unit.diffusivity is not None:
        found = replace(found, rates=found.rates * unit.diffusivity.value, unit=unit.unit)

    def draw(**places: Any) -> Any:
        from ..plot._states import states_on_points

        return states_on_points(found, run.operator, **places)

    return draw
