"""Questions to a run: ``vbdm committor``, ``rates``, ``states`` and ``solve``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .asking import AXES, KEEPING, RUN, answered, drawn, notes_on, unit_of, unreached
from .options import (
    ASKED,
    FIX,
    FROM,
    LABELS,
    RHS,
    SCREEN,
    TIME_STEP,
    TO,
    TOL,
    Command,
    Setting,
    arguments_for,
)

if TYPE_CHECKING:
    from ..dynamics.states import States
    from ..equations.sets import Region
    from ..equations.solved import Committor
    from ..report.answers import Answer, Quantity
    from .runs import Run, TimeUnit
    from .steps import Work


# --- From one set to another ---------------------------------------------------------------------

COMMITTOR_EXAMPLES = """\b
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
RATES_EXAMPLES = """\b
Examples:
  vbdm rates walk-vbdm --from "phi < -1.2" --to "phi > 0.8"
      rates in both directions and mean times, in units of length²/D
  vbdm rates walk-vbdm --from "phi < -1.2" --to "phi > 0.8" --time-step 0.2ns
      the same in nanoseconds, as rows are 0.2 ns apart
  vbdm rates walk-vbdm --from folded --to unfolded --labels state --json
      between labels, for a script
"""
SETS = [RUN, FROM, TO, LABELS, TIME_STEP, TOL]


@click.command("committor", cls=Command, epilog=COMMITTOR_EXAMPLES, params=[*SETS, AXES, *KEEPING])
def committor(run: Path, **options: Any) -> None:
    """Compute the committor of RUN: the chance to reach one set before another.

    RUN is a folder that vbdm fit wrote. The values go into it as committor.csv, one row for each
    point, and its page gets a section: the committor on the points, the line where it is ½, the
    flux of transitions, and the rates.
    """
    answered(run, "committor", options, partial(answer_committor, options))


@click.command("rates", cls=Command, epilog=RATES_EXAMPLES, params=[*SETS, *KEEPING])
def rates(run: Path, **options: Any) -> None:
    """Compute rates and mean times between two sets of RUN, with standard errors.

    RUN is a folder that vbdm fit wrote. The table goes into it as rates.csv, and into its page.
    """
    answered(run, "rates", options, partial(answer_rates, options))


def answer_committor(options: Mapping[str, Any], work: Work, run: Run) -> Answer:
    """Answer the question for a committor."""
    from ..report.answers import Answer, Quantity

    sets, found = solved(options, work, run)
    unit = unit_of(work, run, options["step"])
    near = (found.values > 0.4) & (found.values < 0.6)
    with work.ledger.stage("error bars"):
        numbers = [
            *rates_in(found, unit),
            Quantity("points with a committor from 0.4 to 0.6", int(near.sum())),
            *unreached(found),
        ]
    return Answer(
        name="committor", title="Committor", asked=between(options, sets),
        quantities=numbers, notes=notes_on(run, unit),
        columns={options["name"] or "committor": found.values},
        picture=drawn(work, run, options["axes"], found.plot),
        caption="The probability to reach B before A. Along the dark line it is ½; arrows follow "
        "the flux of transitions.",
    )  # fmt: skip


def answer_rates(options: Mapping[str, Any], work: Work, run: Run) -> Answer:
    """Answer the question for rates."""
    from ..report.answers import Answer, Quantity

    sets, found = solved(options, work, run)
    unit = unit_of(work, run, options["step"])
    with work.ledger.stage("error bars"):
        numbers = rates_in(found, unit)
    both = list(zip("AB", sets, strict=True))
    for (name, start), (other, end) in (both, both[::-1]):
        with work.ledger.stage("equations"):
            time = run.operator.mean_first_passage(end).mean(over=start)
        label = f"mean time from {name} to {other}"
        numbers.append(Quantity(label, *unit.time(time), unit.of_times))
    return Answer(
        name="rates", title="Rates", asked=between(options, sets),
        quantities=[*numbers, *unreached(found)],
        notes=[
            "A rate counts transitions per time that is spent coming from its set last. A mean "
            "time is that until the other set is reached, from the points of a set.",
            *notes_on(run, unit),
        ],
    )  # fmt: skip


def solved(options: Mapping[str, Any], work: Work, run: Run) -> tuple[list[Region], Committor]:
    """Return both sets, and the committor."""
    sets = run.read_sets({"A": options["start"], "B": options["end"]}, options["labels"])
    with work.ledger.stage("equations"):
        return sets, run.operator.committor(*sets, **arguments_for([TOL], options))


def between(options: Mapping[str, Any], sets: list[Region]) -> str:
    """Return the question in words."""
    first, second = (f"{int(own.mask.sum()):,} points" for own in sets)
    return f"From A: `{options['start']}` ({first}) to B: `{options['end']}` ({second})."


def rates_in(found: Committor, unit: TimeUnit) -> list[Quantity]:
    """Return flux and rates in the unit of time."""
    from ..report.answers import Quantity

    named = {
        "rate from A to B": found.rate,
        "rate from B to A": found.rate_back,
        "flux: transitions from A to B": found.flux,
    }
    return [Quantity(name, *unit.rate(own), unit.of_rates) for name, own in named.items()]


# --- Metastable states ---------------------------------------------------------------------------

STATES_EXAMPLES = """\b
Examples:
  vbdm states walk-vbdm
      as many states as there are slow modes before the largest gap
  vbdm states walk-vbdm --states 3 --axes phi,psi
      three states, drawn along two columns
  vbdm states walk-vbdm --time-step 0.2ns
      rates between the states per nanosecond, as rows are 0.2 ns apart
"""
N_STATES = Setting(
    ["--states", "n_states"], ASKED, type=int, metavar="N",
    help="How many states. [as many as stand out]",
)  # fmt: skip


@click.command(
    "states", cls=Command, epilog=STATES_EXAMPLES, params=[RUN, N_STATES, TIME_STEP, AXES, *KEEPING]
)
def states(run: Path, **options: Any) -> None:
    """Find the metastable states of RUN: regions that the process leaves seldom.

    RUN is a folder that vbdm fit wrote. How far each point belongs to each state goes into it as
    states.csv, and its page gets a section with populations and rates.
    """
    answered(run, "states", options, partial(answer_states, options))


def answer_states(options: Mapping[str, Any], work: Work, run: Run) -> Answer:
    """Answer the question for metastable states."""
    from ..errors import InputError
    from ..plot._dynamics import states_on_points
    from ..report.answers import Answer

    n = options["n_states"]
    try:
        with work.ledger.stage("states"):
            found = run.spectrum.states("auto" if n is None else n)
    except InputError as error:
        # The option is not that of `vbdm fit`.
        words = re.sub(r"\bn=(\d+)", r"--states \1", str(error).replace("`n`", "--states"))
        more = "`vbdm fit` with more --eigenpairs"
        raise InputError(words.replace("`op.spectrum(n)`", more)) from None
    unit = unit_of(work, run, options["step"])
    name = options["name"] or "states"
    shares = {f"{name}_{j}": own for j, own in enumerate(found.memberships.T)}
    in_unit = found
    if unit.diffusivity is not None:
        in_unit = replace(found, rates=found.rates * unit.diffusivity.value, unit=unit.unit)
    draw = partial(states_on_points, in_unit, run.operator)
    return Answer(
        name=name, title="Metastable states", asked=f"{len(found)} states.",
        quantities=list(about_states(found, unit)), notes=[clarity(found), *notes_on(run, unit)],
        columns={name: found.labels.astype(float), **shares},
        picture=drawn(work, run, options["axes"], draw),
        caption="Points in the colour of the state to which they belong most, paler where they "
        "belong to several; circles are populations, arrows rates.",
    )  # fmt: skip


def about_states(found: States, unit: TimeUnit) -> Iterator[Quantity]:
    """Yield populations, times in which differences between states relax, and rates."""
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
    for (i, j), value in np.ndenumerate(found.rates):
        if i != j:
            rate = Estimate(float(value), float(found.rate_errors[i, j]))
            yield Quantity(f"rate from state {i} to {j}", *unit.rate(rate), unit.of_rates)


def clarity(found: States) -> str:
    """Return how clear the states are, in words."""
    import math

    clear = f"Crispness {found.crispness:.2f}: 1 if each point belongs to one state alone."
    if not math.isfinite(found.gap):
        return clear
    return f"{clear} What is inside the states decays {found.gap:.3g} times as fast as the rest."


# --- Equations -----------------------------------------------------------------------------------

SOLVE_EXAMPLES = """\b
Examples:
  vbdm solve walk-vbdm --rhs 1 --fix "x < -1=0" --fix "x > 1=0"
      the mean time until |x| > 1, from every point: -Lu = 1, u = 0 there
  vbdm solve points-vbdm --rhs height --screen 2.5 --name smooth
      2.5 u - Lu = height, for a column of the file; files and section are called smooth
  vbdm solve points-vbdm --fix "x < 0.1=20" --fix "x > 0.9=80"
      a steady temperature between two edges: Lu = 0

The sign: κu - Lu = f. Where nothing is fixed, at the edges of the data, u is flat.
"""


@click.command(
    "solve", cls=Command, epilog=SOLVE_EXAMPLES,
    params=[RUN, RHS, FIX, SCREEN, LABELS, TOL, AXES, *KEEPING],
)  # fmt: skip
def solve(run: Path, **options: Any) -> None:
    """Solve κu - Lu = f on the points of RUN, with u given on some sets.

    RUN is a folder that vbdm fit wrote. The solution goes into it as solution.csv, one row for
    each point, and its page gets a section.
    """
    answered(run, "solution", options, partial(answer_solve, options))


def answer_solve(options: Mapping[str, Any], work: Work, run: Run) -> Answer:
    """Answer the question for the solution of an equation."""
    from ..equations.sets import refuse_overlap
    from ..report.answers import Answer, Quantity

    pairs = [parse_fixed(own) for own in options["fixed"]]
    named = {f"--fix {text!r}": text for text, _ in pairs}
    sets = run.read_sets(named, options["labels"])
    refuse_overlap(sets, list(named))
    fixed = [(own, value) for own, (_, value) in zip(sets, pairs, strict=True)]
    right, screen = right_side(run, options["rhs"]), options["screen"]
    with work.ledger.stage("equations"):
        found = run.operator.solve(right, fixed, screen, **arguments_for([TOL], options))
    known = found.values[~found.unreached]
    with work.ledger.stage("error bars"):
        mean = Quantity("mean over the points", *found.mean())
    name = options["name"] or "solution"
    held = "".join(f", u = {value:g} where `{own}`" for own, value in pairs)
    return Answer(
        name=name, title="Solution",
        asked=f"{f'{screen:g}u - ' if screen else '-'}Lu = {options['rhs']}{held}.",
        quantities=[
            mean, Quantity("smallest value", float(known.min())),
            Quantity("largest value", float(known.max())), *unreached(found),
        ],
        columns={name: found.values}, picture=drawn(work, run, options["axes"], found.plot),
        caption="The solution on the points.",
    )  # fmt: skip


def parse_fixed(text: str) -> tuple[str, float]:
    """Return a set and its value: "x <= -1=0" is the set "x <= -1" and 0."""
    found = re.fullmatch(r"(?P<set>.*[^<>=\s])\s*=\s*(?P<value>[^=<>]+)", text)
    try:
        if found is not None:
            return found["set"].strip(), float(found["value"])
    except ValueError:
        pass
    raise click.BadParameter(
        f"{text!r} is no set with a value. Write, for example, 'x < -1=0'.", None, None, "--fix"
    )


def right_side(run: Run, text: str) -> Any:
    """Return a number, or a column of the file."""
    from ..errors import InputError
    from .runs import listed

    try:
        return float(text)
    except ValueError:
        if text in run.columns:
            return run.columns[text]
    raise InputError(
        f"--rhs must be a number or a column; received {text!r}. The columns are "
        f"{listed(run.columns)}."
    )
