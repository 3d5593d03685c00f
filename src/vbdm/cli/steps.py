"""The steps that commands share: read, estimate, solve, and hear what is said meanwhile."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import ESTIMATING, PREPARING, READING, SOLVING, arguments_for, in_options
from .timing import Ledger, Screen

if TYPE_CHECKING:
    from ..base.arrays import FloatArray
    from ..io import Cloud, Preparation, Table
    from ..operator.operator import Operator
    from ..spectrum.spectrum import Spectrum

#: Eigenpairs, the constant included, unless the user says otherwise or there are fewer points.
EIGENPAIRS = 10
#: Warnings for developers, which users need not see.
INTERNAL = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning)


@dataclass
class Work:
    """What is going on: seconds by stage, and doubts that were raised."""

    ledger: Ledger
    as_json: bool = False
    extra_notes: list[tuple[str, str]] = field(default_factory=list)
    _caught: list[warnings.WarningMessage] = field(default_factory=list)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """Kinds and texts of all doubts, each once."""
        from ..base.errors import VbdmWarning

        found = dict.fromkeys(self.extra_notes)
        for warning in self._caught:
            if issubclass(warning.category, INTERNAL):
                continue
            kind, text = warning.category.__name__, str(warning.message)
            # Warnings of other libraries do not say whose they are.
            known = issubclass(warning.category, VbdmWarning)
            found[kind, in_options(text) if known else f"{kind}: {text}"] = None
        return list(found)

    def note(self, text: str) -> None:
        """Add a doubt that is no warning, in the library's words."""
        self.extra_notes.append(("Note", in_options(text)))

    def show_notes(self, short: bool = False, notes: list[tuple[str, str]] | None = None) -> None:
        """Write the doubts to stderr; if they are told elsewhere, the first sentence will do."""
        for kind, text in self.notes if notes is None else notes:
            if self.as_json:
                line = {"note": text, "kind": kind}
                click.echo(json.dumps(line, ensure_ascii=False), err=True)
            else:
                shown = first_sentence(text) if short else text
                click.echo(f"{click.style('note:', fg='yellow')} {shown}", err=True)


def first_sentence(text: str) -> str:
    """Return the first sentence of a message.

    Examples
    --------
    >>> first_sentence("There are 2 pieces (of 1.5 and 3). Raise epsilon.")
    'There are 2 pieces (of 1.5 and 3).'
    """
    return re.split(r"(?<=\.)\s+(?=[A-Z0-9])", text, maxsplit=1)[0]


@contextmanager
def working(quiet: bool = False, as_json: bool = False) -> Iterator[Work]:
    """Collect warnings and time the stages inside the block; show what should be shown."""
    from ..base.errors import InputError, VbdmWarning
    from ..base.progress import listening

    # Figures go to files: no window is opened, whatever the user's settings are.
    os.environ.setdefault("MPLBACKEND", "Agg")
    show = not quiet and not as_json and sys.stderr.isatty()
    screen = Screen() if show else None
    ledger = Ledger(screen, sys.stderr if as_json and not quiet else None)
    work = Work(ledger, as_json)
    try:
        with (
            warnings.catch_warnings(record=True) as work._caught,
            listening(ledger),
            screen.on() if screen else nullcontext(),
        ):
            warnings.simplefilter("always", VbdmWarning)
            yield work
    except InputError:
        # What was odd in the file may be why.
        work.show_notes(notes=work.extra_notes)
        raise


def read_points(
    work: Work, file: Path, options: Mapping[str, Any]
) -> tuple[Table, Cloud, Preparation]:
    """Read a file and prepare its points."""
    from ..io import prepare, read

    with work.ledger.stage("reading"):
        table = read(file, **arguments_for(READING, options))
        # The points are estimated on a torus if they have periods, and are prepared for it.
        preparing = {**arguments_for(PREPARING, options), "period": options.get("period")}
        cloud, preparation = prepare(table, **preparing)
    for text in cloud.notes:
        work.note(text)
    return table, cloud, preparation


def estimate(work: Work, cloud: Cloud, options: Mapping[str, Any]) -> Operator:
    """Estimate the operator from prepared points."""
    from ..estimate import estimate_operator

    given = arguments_for(ESTIMATING, options)
    given.setdefault("metric", cloud.metric)
    # The preparation knows the periods of the file, too, and repeats them for each delay.
    given["period"] = cloud.period
    with work.ledger.stage("neighbours", "kernel"):
        return estimate_operator(cloud.points, **given)


def solve(work: Work, operator: Operator, options: Mapping[str, Any]) -> Spectrum:
    """Compute the eigenpairs."""
    given = arguments_for(SOLVING, options)
    given.setdefault("n", min(EIGENPAIRS, operator.n_points))
    with work.ledger.stage("eigenpairs"):
        return operator.spectrum(**given)


def error_bars(work: Work, spectrum: Spectrum) -> tuple[FloatArray, FloatArray]:
    """Compute standard errors and bias of the eigenvalues; the spectrum keeps them from now on."""
    with work.ledger.stage("error bars"):
        return spectrum.standard_errors, spectrum.bias
