"""Columns that are no coordinates: labels, dates and further numbers are kept beside the points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.row_notes import MOST_FIELDS, Labels, RowNotes
from .dates import read_dates
from .table import listed

#: Words that stand for a missing label or date. Sodium, Na, is a label.
NO_WORDS = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "NAN", "null", "NULL", "None", "NaT"}
)


@dataclass(eq=False)
class SetAside:
    """Collects columns that are no coordinates, and tells in words what became of them.

    Attributes
    ----------
    labels, numbers, times, time_name
        As in `RowNotes`.
    left_out : list of str
        Names of columns of which nothing is kept: identifiers, and lists.
    """

    labels: dict[str, Labels] = field(default_factory=dict)
    numbers: dict[str, FloatArray] = field(default_factory=dict)
    times: NDArray[Any] | None = None
    time_name: str = ""
    left_out: list[str] = field(default_factory=list)

    def add_text(self, name: str, cells: Sequence[str]) -> None:
        """Add a column of text: times if all of it are dates, else labels, if they are few."""
        dates = read_dates(cells, NO_WORDS) if self.times is None else None
        if dates is not None:
            self.add_times(name, dates)
        else:
            self.add_labels(name, Labels.of(cells, NO_WORDS))

    def add_labels(self, name: str, labels: Labels | None) -> None:
        """Add labels; None stands for identifiers, which are left out."""
        if labels is not None and labels.names and len(self.labels) < MOST_FIELDS:
            self.labels[name] = labels
        else:
            self.left_out.append(name)

    def add_numbers(self, name: str, values: FloatArray) -> None:
        """Add a column of numbers; one without any number is left out."""
        if not np.isnan(values).all() and len(self.numbers) < MOST_FIELDS:
            self.numbers[name] = values
        else:
            self.left_out.append(name)

    def add_times(self, name: str, times: NDArray[Any]) -> None:
        """Add the times of the rows; of several columns of dates the first gives them."""
        if self.times is None:
            self.times, self.time_name = times, name
        else:
            self.left_out.append(name)

    @property
    def row_notes(self) -> RowNotes:
        """What is kept, in the form in which it stays with the points."""
        return RowNotes(self.labels, self.numbers, self.times, self.time_name)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the user on columns that were set aside without having been asked for."""
        told = []
        if self.labels:
            told.append(f"Set aside as labels, not coordinates: {listed(list(self.labels))}.")
        if self.times is not None:
            told.append(f"Set aside as the time of the rows: {listed([self.time_name])}.")
        if self.left_out:
            told.append(f"Left out, since it tells no groups apart: {listed(self.left_out)}.")
        return tuple(told)
