"""Stages that several commands share: read, estimate, solve; and the notes taken meanwhile."""

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
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import click

from .options import ESTIMATING, PREPARING, READING, SOLVING, arguments_for, in_options
from .placing import scratch_of
from .timing import Ledger, Screen
from .weights import Column, without_weights

if TYPE_CHECKING:
    from ..base.arrays import FloatArray
    from ..io import Cloud, Preparation, Table
    from ..operator.operator import Operator
    from ..spectrum.spectrum import Spectrum

#: Default number of eigenpairs, the constant included; fewer if there are fewer points.
EIGENPAIRS = 10
#: Warnings for developers, which users need not see.
INTERNAL = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning)


@dataclass
class Work:
    """What a command keeps while it works: seconds by stage, and notes.

    Attributes
    ----------
    ledger : Ledger
        Keeps the seconds of every stage.
    as_json : bool
        Whether notes are written as JSON.
    extra_notes : list of (str, str)
        Kinds and texts of notes that are not warnings.
    """

    ledger: Ledger
    as_json: bool = False
    extra_notes: list[tuple[str, str]] = field(default_factory=list)
    _caught: list[warnings.WarningMessage] = field(default_factory=list)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """Kinds and texts of all notes and warnings, each once."""
        from ..errors import VbdmWarning

        found = dict.fromkeys(self.extra_notes)
        for warning in self._caught:
            if issubclass(warning.category, INTERNAL):
                continue
            kind, text = warning.category.__name__, str(warning.message)
            # Warnings of other libraries get their class in front: they do not say what they are.
            known = issubclass(warning.category, VbdmWarning)
            found[kind, in_options(text) if known else f"{kind}: {text}"] = None
        return list(found)

    def note(self, text: str) -> None:
        """Add a note that is not a warning; parameters in it become options."""
        self.extra_notes.append(("Note", in_options(text)))

    def show_notes(self, short: bool = False, notes: list[tuple[str, str]] | None = None) -> None:
        """Write the notes to stderr; if `short`, only the first sentence of each."""
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
    """Yield a `Work` that collects warnings and times the stages inside the block.

    Unless quiet, stages that take long are shown on a terminal, or all of them as lines of JSON.
    """
    from ..errors import InputError, VbdmWarning
    from ..progress import listening

    # Figures go to files, so matplotlib opens no window, unless the environment names a backend.
    os.environ.setdefault("MPLBACKEND", "Agg")
    show = not quiet and not as_json and sys.stderr.isatty()
    screen = Screen() if show else None
    ledger = Ledger(screen, sys.stderr if as_json and not quiet else None, quiet)
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
        # Something odd in the file may be the cause of the error.
        work.show_notes(notes=work.extra_notes)
        raise


def read_points(
    work: Work,
    file: Path,
    options: Mapping[str, Any],
    placement: Any = "memory",
    weights: Column | None = None,
) -> tuple[Table, Cloud, Preparation]:
    """Read a file and prepare its points; a column of weights is no coordinate."""
    from ..io import prepare

    with work.ledger.stage("reading"):
        table = read_table(file, arguments_for(READING, options), placement)
        # Periods matter before the estimate, too: periodic columns are prepared as such.
        preparing = {**arguments_for(PREPARING, options), "period": options.get("period")}
        preparing["columns"] = without_weights(table, weights, options)
        cloud, preparation = prepare(table, **preparing)
    for text in cloud.notes:
        work.note(text)
    return table, cloud, preparation


def read_table(file: Path, reading: Mapping[str, Any], placement: Any = "memory") -> Table:
    """Read a file; what does not fit into memory, or should not, goes into a scratch file."""
    from ..errors import OutOfMemoryError
    from ..io import read

    try:
        return read(file, **reading, scratch=scratch_of(placement))
    except OutOfMemoryError:
        if placement != "auto":
            raise
    return read(file, **reading, scratch=gettempdir())


def estimate(
    work: Work,
    cloud: Cloud,
    options: Mapping[str, Any],
    placement: Any = "memory",
    weights: FloatArray | None = None,
) -> Operator:
    """Estimate the operator from prepared points."""
    from ..estimate import estimate_operator
    from ..operator.arguments import gather

    given = arguments_for(ESTIMATING, options)
    given.setdefault("metric", cloud.metric)
    # Periods come from the prepared points: those found in the file are among them, and each is
    # repeated for every delay.
    given["period"] = cloud.period
    given["lengths"] = cloud.lengths or None
    given["placement"] = placement
    given["weights"] = weights
    with work.ledger.stage("neighbours", "pairs", "kernel"):
        return estimate_operator(cloud.points, **gather(given))


def solve(work: Work, operator: Operator, options: Mapping[str, Any]) -> Spectrum:
    """Compute the eigenpairs."""
    given = arguments_for(SOLVING, options)
    given.setdefault("n", min(EIGENPAIRS, operator.n_points))
    with work.ledger.stage("eigenpairs"):
        return operator.spectrum(**given)


def error_bars(work: Work, spectrum: Spectrum) -> FloatArray:
    """Return the total errors of the eigenvalues; the spectrum keeps them and their parts."""
    with work.ledger.stage("error bars"):
        return spectrum.total_errors
