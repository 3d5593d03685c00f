"""Stages that several commands share: read, estimate, solve; their times, and notes taken."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from time import perf_counter
from typing import TYPE_CHECKING, Any, TextIO

import click

from ..progress import Bar, Progress, listening
from .failures import stop_if_heard
from .options import ESTIMATING, PREPARING, READING, SOLVING, arguments_for, in_options
from .weights import Column

if TYPE_CHECKING:
    from ..base.arrays import FloatArray
    from ..io import Cloud, Preparation, Table
    from ..operator.operator import Operator
    from ..spectrum.spectrum import Spectrum

#: Default number of eigenpairs, the constant included; fewer if there are fewer points.
EIGENPAIRS = 10
#: Warnings for developers, which users need not see.
INTERNAL = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning)


class Ledger:
    """A listener of `vbdm.progress` that adds up the seconds of every stage.

    Stages of the library report under their own names. The time since the last report is added to
    the stage that reports; the time at the end of a block, to the last stage of the block. A `bar`
    draws the stages; `lines` gets a line of JSON for each.
    """

    def __init__(
        self, bar: Bar | None = None, lines: TextIO | None = None, quiet: bool = False
    ) -> None:
        self.seconds: dict[str, float] = {}
        self._bar, self._lines, self._quiet = bar, lines, quiet
        self._open: tuple[str, ...] = ()
        self._last = perf_counter()

    @contextmanager
    def stage(self, *names: str) -> Iterator[None]:
        """Time the named stages, which may alternate inside the block.

        Reports under other names count for the first of them.
        """
        stop_if_heard()
        self._open, self._last = names, perf_counter()
        if self._bar is not None:
            self._bar(Progress(names[0], 0))
        try:
            yield
            self._add(names[-1])
            for name in names if self._lines is not None else ():
                if name in self.seconds:
                    line = {"room": name, "seconds": round(self.seconds[name], 3)}
                    click.echo(json.dumps(line), file=self._lines)
        finally:
            self._open = ()
            if self._bar is not None:
                self._bar.leave()

    def __call__(self, progress: Progress) -> None:
        """Add the time since the last report to the stage that reports."""
        stop_if_heard()
        inside = progress.room in self._open
        if self._open:
            self._add(progress.room if inside else self._open[0])
        if inside and self._bar is not None:
            self._bar(progress)

    def tell(self, text: str) -> None:
        """Write why nothing will happen for a while: as text, or as a line of JSON."""
        line = text if self._lines is None else json.dumps({"note": text, "kind": "Note"})
        if not self._quiet:
            click.echo(line, err=True)

    def _add(self, stage: str) -> None:
        now = perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now

    def close(self) -> None:
        """End what is drawn."""
        if self._bar is not None:
            self._bar.close()


@dataclass
class Work:
    """What a command keeps while it works: seconds by stage, and notes."""

    ledger: Ledger
    # Whether notes are written as JSON.
    as_json: bool = False
    # Kinds and texts of notes that are not warnings.
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
                first = re.split(r"(?<=\.)\s+(?=[A-Z0-9])", text, maxsplit=1)[0]
                shown = first if short else text
                click.echo(f"{click.style('note:', fg='yellow')} {shown}", err=True)


@contextmanager
def working(quiet: bool = False, as_json: bool = False) -> Iterator[Work]:
    """Yield a `Work` that collects warnings and times the stages inside the block.

    Unless quiet, stages that take long are shown on a terminal, or all of them as lines of JSON.
    """
    from ..errors import InputError, VbdmWarning

    # Figures go to files, so matplotlib opens no window, unless the environment names a backend.
    os.environ.setdefault("MPLBACKEND", "Agg")
    bar = Bar() if not quiet and not as_json and sys.stderr.isatty() else None
    ledger = Ledger(bar, sys.stderr if as_json and not quiet else None, quiet)
    work = Work(ledger, as_json)
    try:
        with warnings.catch_warnings(record=True) as work._caught, listening(ledger):
            warnings.simplefilter("always", VbdmWarning)
            yield work
    except InputError:
        # Something odd in the file may be the cause of the error.
        work.show_notes(notes=work.extra_notes)
        raise


def read_points(
    work: Work, file: Path, options: Mapping[str, Any], placement: Any = "memory",
    weights: Column | None = None,
) -> tuple[Table, Cloud, Preparation]:  # fmt: skip
    """Read a file and prepare its points; a column of weights is no coordinate."""
    from ..io import prepare

    with work.ledger.stage("reading"):
        table = read_table(file, arguments_for(READING, options), placement)
        # Periods matter before the estimate, too: periodic columns are prepared as such.
        preparing = {**arguments_for(PREPARING, options), "period": options.get("period")}
        own = weights.name if weights is not None and weights.is_own else None
        if own in table.names and options.get("columns") is None:
            # Coordinates are all columns but the weights.
            preparing["columns"] = [name for name in table.names if name != own]
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


def scratch_of(placement: Any) -> Path | None:
    """Return the folder for what does not stay in memory; None if everything does."""
    from ..placement import Dask, Disk

    if not isinstance(placement, Disk | Dask):
        return None
    return Path(getattr(placement, "scratch", None) or gettempdir())


def estimate(
    work: Work, cloud: Cloud, options: Mapping[str, Any], placement: Any = "memory",
    weights: FloatArray | None = None,
) -> Operator:  # fmt: skip
    """Estimate the operator from prepared points."""
    from ..estimate import estimate_operator
    from ..operator.arguments import gather

    given = arguments_for(ESTIMATING, options)
    given.setdefault("metric", cloud.metric)
    # Periods come from the prepared points: those found in the file are among them, and each is
    # repeated for every delay.
    given |= {"period": cloud.period, "lengths": cloud.lengths or None}
    given |= {"placement": placement, "weights": weights}
    with work.ledger.stage("neighbours", "pairs", "kernel"):
        return estimate_operator(cloud.points, **gather(given))


def solve(work: Work, operator: Operator, options: Mapping[str, Any]) -> Spectrum:
    """Compute the eigenpairs, and the errors of the eigenvalues, which the spectrum keeps."""
    given = arguments_for(SOLVING, options)
    given.setdefault("n", min(EIGENPAIRS, operator.n_points))
    with work.ledger.stage("eigenpairs"):
        spectrum = operator.spectrum(**given)
    with work.ledger.stage("error bars"):
        spectrum.total_errors  # noqa: B018
    return spectrum
