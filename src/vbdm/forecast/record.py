"""The record that a forecast learns from: series in rows, and the states that they went through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.checks import is_whole, shown
from ..errors import InputError
from ..prepare.delays import Delays

#: Fewest states that a record must have.
FEWEST = 30

Rows = NDArray[np.intp]


def changing(values: FloatArray) -> BoolArray:
    """Tell which columns change at all, (n,): the spread of the others is a rounding error."""
    return np.asarray(np.nanmin(values, axis=0) < np.nanmax(values, axis=0))


@dataclass(frozen=True, eq=False, kw_only=True)
class Scaling:
    """Columns are centred and divided by their standard deviations before distances are taken."""

    center: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> Scaling:
        """Return the scaling of a table; a constant column keeps its unit."""
        spread = np.where(changing(values), np.nanstd(values, axis=0), 0.0)
        return cls(center=np.nanmean(values, axis=0), scale=np.where(spread > 0, spread, 1.0))

    def apply(self, values: FloatArray) -> FloatArray:
        """Return scaled values."""
        return np.asarray((values - self.center) / self.scale)


@dataclass(frozen=True, eq=False, kw_only=True)
class Record:
    """Series in rows, and their states: a row together with the rows before it."""

    #: The series, one below the other, in the user's units and without the cycle of the seasons,
    #: (N, n); NaN where a value is missing.
    values: FloatArray
    #: Number of the series of each row, (N,).
    series_of: Rows
    #: How many rows make a state.
    delays: Delays
    #: What is done to the columns of states.
    scaling: Scaling
    #: Rows that have a state, (S,): all values of the row and of those before it that it needs are
    #: known. The state belongs to its last row.
    rows: Rows
    #: The states, scaled, (S, n · delays).
    states: FloatArray

    @classmethod
    def of(
        cls, values: FloatArray, lengths: Sequence[int], delays: Delays, at_least: int = FEWEST
    ) -> Record:
        """Return the record of some series; refuse one with fewer complete states."""
        scaling = Scaling.of(values)
        rows = delays.rows(complete(values), lengths)
        if len(rows) < at_least:
            raise InputError(
                f"The series is too short to learn a forecast from; received {len(values):,} rows "
                f"with {len(rows)} complete states of {delays.count} row(s), of at least {at_least}"
                ". Use fewer delays, fill gaps, or give a longer series."
            )
        return cls(
            values=frozen(values),
            series_of=frozen(np.repeat(np.arange(len(lengths)), lengths)),
            delays=delays,
            scaling=scaling,
            rows=frozen(rows),
            states=frozen(delays.points(scaling.apply(values), rows)),
        )

    @property
    def n_rows(self) -> int:
        """Number N of rows."""
        return len(self.values)

    def later(self, lead: int, left_out: BoolArray | None = None) -> Rows:
        """Return the row `lead` steps after each state, (S,); -1 where its series has ended.

        With rows that are left out, (N,), also -1 where the state's own row or the later one is
        among them.
        """
        ahead = self.rows + lead
        inside = ahead < self.n_rows
        inside[inside] = self.series_of[self.rows[inside]] == self.series_of[ahead[inside]]
        if left_out is not None:
            ahead = np.where(inside, ahead, 0)
            inside = inside & ~left_out[self.rows] & ~left_out[ahead]
        return np.where(inside, ahead, -1)

    @cached_property
    def state_of(self) -> Rows:
        """The state of each row, (N,); -1 for rows without one."""
        found = np.full(self.n_rows, -1)
        found[self.rows] = np.arange(len(self.rows))
        return frozen(found)

    def pairs(self, lead: int) -> tuple[Rows, Rows]:
        """Return pairs of states `lead` steps apart in the same series, as two arrays."""
        ahead = self.later(lead)
        end = np.where(ahead >= 0, self.state_of[ahead], -1)
        first = np.flatnonzero(end >= 0)
        return first, end[first]

    def states_in(self, values: FloatArray, lengths: Sequence[int]) -> tuple[Rows, FloatArray]:
        """Return the rows of other series that have a state, and these states, scaled."""
        rows = self.delays.rows(complete(values), lengths)
        return rows, self.delays.points(self.scaling.apply(values), rows)


def complete(values: FloatArray) -> BoolArray:
    """Tell which rows, (N,), have no missing value."""
    return np.asarray(np.isfinite(values).all(axis=1))


def column_of(column: Any, names: Sequence[str]) -> int:
    """Return the number of a column, given by number or name."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if is_whole(column) and 0 <= column < len(names):
        return int(column)
    raise InputError(
        f"There is no such column; received {shown(column)}. Pass a number from 0, or a name: "
        f"{', '.join(names)}."
    )
