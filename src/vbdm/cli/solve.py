"""``vbdm solve``: κu - Lu = f on the points of a run."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .asking import AXES, KEEPING, RUN, answered, drawn, unreached
from .options import FIX, LABELS, RHS, SCREEN, TOL, Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..equations.solved import Solved
    from ..report.answers import Answer, Quantity
    from .runs import Run
    from .steps import Work

EXAMPLES = """\b
Examples:
  vbdm solve walk-vbdm --rhs 1 --fix "x < -1=0" --fix "x > 1=0"
      the mean time until |x| > 1, from every point: -Lu = 1, u = 0 there
  vbdm solve points-vbdm --rhs height --screen 2.5 --name smooth
      2.5 u - Lu = height, for a column of the file; files and section are called smooth
  vbdm solve points-vbdm --fix "x < 0.1=20" --fix "x > 0.9=80"
      a steady temperature between two edges: Lu = 0

The sign: κu - Lu = f. Where nothing is fixed, at the edges of the data, u is flat.
"""
OPTIONS = [RUN, RHS, FIX, SCREEN, LABELS, TOL, AXES, *KEEPING]


@click.command("solve", cls=Command, epilog=EXAMPLES, params=OPTIONS)
def command(run: Path, **options: Any) -> None:
    """Solve κu - Lu = f on the points of RUN, with u given on some sets.

    RUN is a folder that vbdm fit wrote. The solution goes into it as solution.csv, one row for
    each point, and its page gets a section.
    """
    answered(run, "solution", options, partial(question, options))


def question(options: Mapping[str, Any], work: Work, run: Run) -> Answer:
    """Answer the question."""
    from ..equations.sets import refuse_overlap
    from ..report.answers import Answer

    pairs = [parse_fixed(own) for own in options["fixed"]]
    named = {f"--fix {text!r}": text for text, _ in pairs}
    sets = run.read_sets(named, options["labels"])
    refuse_overlap(sets, list(named))
    more = {} if options["tol"] is None else {"tol": options["tol"]}
    with work.ledger.stage("equations"):
        found = run.operator.solve(
            right_side(run, options["rhs"]),
            [(own, value) for own, (_, value) in zip(sets, pairs, strict=True)],
            options["screen"], **more,
        )  # fmt: skip
    with work.ledger.stage("error bars"):
        numbers = about_values(found)
    name = options["name"] or "solution"
    return Answer(
        name=name, title="Solution", asked=asked(options, pairs),
        quantities=[*numbers, *unreached(found)],
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
        pass
    if text not in run.columns:
        raise InputError(
            f"--rhs must be a number or a column; received {text!r}. The columns are "
            f"{listed(run.columns)}. Mind spelling and upper case; vbdm fit keeps the columns of "
            "its file."
        )
    return run.columns[text]


def asked(options: Mapping[str, Any], pairs: Sequence[tuple[str, float]]) -> str:
    """Return the equation in words."""
    screen = f"{options['screen']:g}u - " if options["screen"] else "-"
    held = "".join(f", u = {value:g} where `{own}`" for own, value in pairs)
    return f"{screen}Lu = {options['rhs']}{held}."


def about_values(found: Solved) -> Sequence[Quantity]:
    """Return the mean of a solution, and its range."""
    import numpy as np

    from ..report.answers import Quantity

    known = found.values[~found.unreached]
    return [
        Quantity("mean over the points", *found.mean()),
        Quantity("smallest value", float(np.min(known))),
        Quantity("largest value", float(np.max(known))),
    ]
