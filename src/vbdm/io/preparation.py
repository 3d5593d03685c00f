"""The points of an estimate, and the record with which other files are treated alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.checks import check_choice
from ..base.files import plain
from ..base.memory import refuse_array
from ..base.row_notes import RowNotes
from ..base.threads import rows_that_fit, slices
from ..errors import InputError
from ..prepare.delays import Delays
from ..prepare.projection import Projection
from .table import Reference, Table, as_slice, listed

#: Numbers that are read or copied at a time, so that a mapped file need not fit into memory.
AT_A_TIME = 1 << 22


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Return slices of consecutive rows with at most `AT_A_TIME` numbers each."""
    return slices(n_rows, rows_that_fit(n_columns, most=AT_A_TIME))


def complete_rows(table: Table, taken: list[int], missing: str) -> BoolArray:
    """Return which rows have no missing value, (N,); raise if any value is infinite.

    Missing values raise if `missing` is "error", or if every row has some.
    """
    complete = np.empty(len(table.values), dtype=bool)
    with_gaps, infinite = np.zeros(len(taken), dtype=bool), np.zeros(len(taken), dtype=bool)
    first_infinite = -1
    for rows in row_blocks(*table.values.shape):
        part = np.asarray(table.values[rows][:, as_slice(taken)])
        with np.errstate(over="ignore"):
            # Numbers of higher precision may overflow; they are then refused as infinite.
            part = part.astype(np.float64, copy=False)
        gaps, beyond = np.isnan(part), np.isinf(part)
        complete[rows] = ~gaps.any(axis=1)
        with_gaps |= gaps.any(axis=0)
        infinite |= beyond.any(axis=0)
        if first_infinite < 0 and beyond.any():
            first_infinite = rows.start + int(np.argmax(beyond.any(axis=1)))
    if infinite.any():
        raise InputError(
            "The values must be finite; received infinity in column(s) "
            f"{columns_where(table, taken, infinite)}, first in row {first_infinite} (rows count "
            "from 0). Correct these values, store missing ones as NaN, or choose other columns."
        )
    if not complete.all() and (missing == "error" or not complete.any()):
        incomplete, every = np.flatnonzero(~complete), not complete.any()
        hint = "Leave these rows out with missing='drop', or fill the gaps first."
        raise InputError(
            f"{('Every row has missing values.' if every else 'Some rows have missing values.')}; "
            f"received {len(incomplete)} of {len(complete)} rows, the first: "
            f"{listed(incomplete[:5].tolist())} (rows count from 0), in column(s) "
            f"{columns_where(table, taken, with_gaps)}. "
            f"{('Leave such columns out with `columns`.' if every else hint)}"
        )
    return complete


def columns_where(table: Table, taken: list[int], wrong: BoolArray) -> str:
    """Return the names of those taken columns that are marked as wrong."""
    return listed([table.names[taken[place]] for place in np.flatnonzero(wrong)])


#: Unit of columns that were divided by their standard deviation.
STANDARDIZED = "standard deviations"


@dataclass(frozen=True, eq=False)
class Cloud:
    """The points of an estimate."""

    #: (N, n): The coordinates. If nothing had to be changed, a memory map of the file.
    points: Any
    #: Names of the columns; "x@-5" is x five rows earlier.
    names: tuple[str, ...]
    #: Row of each point in the file, from 0; with delays the row of the newest sample, (N,).
    rows: NDArray[np.intp]
    #: Number of rows in the file.
    n_read: int
    #: Number of points left out for missing values, in their row or in an earlier one they need.
    dropped: int = 0
    #: "euclidean" for points, "precomputed" for distances.
    metric: str = "euclidean"
    #: Period of each column, with None for a column without one; None if no column is periodic.
    period: tuple[float | None, ...] | None = None
    #: Sentences for the user about the file and its columns.
    notes: tuple[str, ...] = ()
    #: Numbers of points of each time series, where the file holds several; else empty.
    lengths: tuple[int, ...] = ()
    #: Labels, times and further numbers of each point, those of its row; with delays, of the row
    #: of the newest sample.
    about_rows: RowNotes = field(default_factory=RowNotes)
    #: Unit of all coordinates, such as "Å" or "standard deviations"; empty if it is not known.
    unit: str = ""


def take(
    table: Table,
    taken: list[int],
    plan: Preparation,
    every: int = 1,
    size: int | None = None,
    seed: int = 0,
    lengths: tuple[int, ...] = (),
) -> Cloud:
    """Return the points of a table: chosen columns, with delays, of complete rows; not scaled.

    Every `every`-th is kept, of these `size` are drawn; `lengths` are those of several series.
    """
    delays = Delays(plan.delays, plan.delay_step)
    n, reach = len(table.values), delays.reach
    if n <= reach:
        raise InputError(
            f"There are fewer rows than the delays need; received {n} row(s), with {plan.delays} "
            f"delays of {plan.delay_step} row(s). Use fewer delays, or a smaller step."
        )
    lags = list(delays.lags)
    complete = complete_rows(table, taken, plan.missing)
    rows = delays.rows(complete, lengths)
    dropped = n - reach - len(delays.rows(complete))
    if len(rows) == 0:
        raise InputError(
            f"No point is left after dropping missing values; received {int((~complete).sum())} "
            f"of {n} rows with missing values, and {plan.delays} delays. Fill the gaps first."
        )
    notes = [*table.notes, *gaps_in_words(int((~complete).sum()), dropped, n, lags)]
    rows = rows[::every]
    if size is not None and size > len(rows):
        notes.append(f"All {len(rows):,} points were taken: there are fewer than {size:,}.")
    if size is not None and size < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(rows, size, replace=False))
    own = np.bincount(np.searchsorted(np.cumsum(lengths), rows, side="right"))
    names = [name if lag == 0 else f"{name}@-{lag}" for lag in lags for name in plan.columns]
    return Cloud(
        gather(table, rows, taken, lags),
        tuple(names),
        rows.astype(np.intp, copy=False),
        n,
        dropped,
        period=None if plan.period is None else plan.period * plan.delays,
        notes=tuple(notes),
        lengths=tuple(own[own > 0].tolist()) if lengths else (),
        about_rows=table.about_rows.take(rows),
        unit=table.unit,
    )


def gaps_in_words(n_missing: int, dropped: int, n_read: int, lags: list[int]) -> list[str]:
    """Return a note on the rows with missing values and the points left out; empty if none."""
    one = n_missing == 1
    rows = f"{n_missing} of {n_read} rows {'has' if one else 'have'} missing values"
    if not n_missing:
        return []
    if lags == [0]:
        return [f"{rows} and {'was' if one else 'were'} left out."]
    points = "1 point that needs" if dropped == 1 else f"{dropped} points that need"
    were = "was" if dropped == 1 else "were"
    return [f"{rows}; {points} {'it' if one else 'them'} {were} left out."]


def gather(table: Table, rows: NDArray[np.intp], taken: list[int], lags: list[int]) -> FloatArray:
    """Return the columns `taken` of the rows, and of the rows that are `lags` before them.

    Nothing is copied if that is the whole table and it is float64 in C order.
    """
    values = table.values
    everything = len(rows) == len(values) and taken == list(range(values.shape[1]))
    if everything and lags == [0] and values.dtype == np.float64 and values.flags.c_contiguous:
        return np.asarray(values)
    n = len(taken)
    refuse_array(len(rows) * n * len(lags), "The array of points")
    points = np.empty((len(rows), n * len(lags)))
    columns = as_slice(taken)
    for block in row_blocks(len(rows), values.shape[1]):
        for place, lag in enumerate(lags):
            points[block, place * n : (place + 1) * n] = values[rows[block] - lag][:, columns]
    return points


def standardized(cloud: Cloud, plan: Preparation) -> Cloud:
    """Return the cloud with its columns centred and scaled, if the preparation does that."""
    if plan.center is None or plan.scale is None:
        return cloud
    center, scale = np.tile(plan.center, plan.delays), np.tile(plan.scale, plan.delays)
    points = (cloud.points - center) / scale
    return replace(cloud, points=points, unit=STANDARDIZED)


def projected(cloud: Cloud, projection: Projection | None) -> Cloud:
    """Return the cloud in fewer columns, if the preparation has a projection."""
    if projection is None:
        return cloud
    unit = STANDARDIZED if projection.kind == "tica" else cloud.unit
    return replace(cloud, points=projection.apply(cloud.points), names=projection.names, unit=unit)


Period = tuple[float | None, ...] | None
#: Note to the user, because the files cannot show whether the order of their columns is the same.
BY_POSITION = (
    "Columns were found by their position: of this file and that of the model, one has no names."
)


@dataclass(frozen=True)
class Preparation:
    """How rows of a table become points."""

    #: Names of all columns of the training table; empty for distances.
    names: tuple[str, ...]
    #: Names of the chosen columns.
    columns: tuple[str, ...]
    #: Numbers that are subtracted from each chosen column and by which it is then divided; None
    #: for neither.
    center: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None
    #: Each point is a row and the rows ``delay_step``, ``2 * delay_step``, ... before it, `delays`
    #: of them together; 1 is the row alone.
    delays: int = 1
    delay_step: int = 1
    #: Periods of the chosen columns, with None for a column without one; None if no column is
    #: periodic.
    period: Period = None
    #: What happens to rows with missing values.
    missing: str = "error"
    #: Frame on which a trajectory was superposed: name, x, y, z of each atom. New frames are
    #: superposed on it as well when they are read with ``columns=preparation``.
    reference: Reference | None = None
    #: Whether the training table had no names, so that `names` are "x0", "x1", ….
    made_up: bool = False
    #: Fewer columns, by PCA or TICA; it comes after everything else.
    projection: Projection | None = None

    def apply(self, table: Table) -> Cloud:
        """Return the points of another table, prepared as those of the training table.

        Columns are found by name; where a file has no names, by position. No points are thinned
        out.
        """
        if table.metric == "precomputed" or not self.names:
            raise no_points("New points cannot be prepared from distances.")
        if self.reference is not None and table.reference not in (None, self.reference):
            raise InputError(
                "The frames were superposed on another one than in training; received "
                f"{table.source.name!r}, superposed on its own first frame. Read the file with "
                "columns=preparation."
            )
        cloud = standardized(take(table, self.find(table.names, table.made_up), self), self)
        cloud = projected(cloud, self.projection)
        if table.made_up == self.made_up:
            return cloud
        return replace(cloud, notes=(*cloud.notes, BY_POSITION))

    def find(self, names: Sequence[str], made_up: bool = False) -> list[int]:
        """Return the positions of the chosen columns among the names of another table.

        Real names are never compared with made-up ones: a column called x1 may be the first.
        """
        place = {name: position for position, name in enumerate(names)}
        if made_up == self.made_up and all(name in place for name in self.columns):
            return [place[name] for name in self.columns]
        if made_up or self.made_up:
            if len(names) == len(self.columns):
                return list(range(len(names)))
            if len(names) == len(self.names):
                return [self.names.index(name) for name in self.columns]
        raise self.other_columns(names, made_up)

    def other_columns(self, names: Sequence[str], made_up: bool) -> InputError:
        """Return the error for a table in which the columns cannot be found."""
        absent = [name for name in self.columns if name not in names]
        missing = f"; missing: {listed(absent)}"
        if made_up != self.made_up:
            missing = ", and only one of the two files has names"
        return InputError(
            "The file does not have the columns that the model was learned on; received "
            f"{len(names)} "
            f"column(s){(' without names' if made_up else f': {listed(list(names))}')}. The model "
            f"needs {len(self.columns)} column(s): {listed(self.columns)}{missing}. Pass such a "
            "file, or choose the columns, in the model's order, with `columns`."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; `from_dict` takes them back."""
        return dict(plain(self))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Preparation:
        """Build a preparation from what `as_dict` returned."""
        try:
            if unknown := set(values) - set(cls.__dataclass_fields__):
                raise ValueError(f"it has {listed(sorted(unknown))}")
            projection = values.get("projection")
            preparation = msgspec.convert({**values, "projection": None}, cls)
            if projection is not None:
                preparation = replace(preparation, projection=Projection.from_dict(projection))
            check_fields(preparation)
        except (msgspec.ValidationError, TypeError, ValueError, AttributeError, KeyError) as error:
            raise InputError(
                "The preparation of the columns cannot be understood; received "
                f"{str(values)[:200]} ({error}). Make the model again from its data."
            ) from error
        return preparation


def check_fields(preparation: Preparation) -> None:
    """Raise ValueError unless the fields have the right types and fit together."""
    p, n = preparation, len(preparation.columns)
    if not set(p.columns) <= set(p.names):
        raise ValueError("columns that are not among the names")
    for name in ("center", "scale", "period"):
        part = getattr(p, name)
        if part is not None and len(part) != n:
            raise ValueError(f"{name} has another length than the columns")
    if (p.center is None) != (p.scale is None):
        raise ValueError("center without scale")
    if min(p.delays, p.delay_step) < 1:
        raise ValueError("delays that are no counts")
    if not np.isfinite([*(p.center or ()), *(p.scale or ())]).all() or min(p.scale or (1,)) <= 0:
        raise ValueError("center or scale that is none")
    if p.projection is not None and len(p.projection.center) != n * p.delays:
        raise ValueError("a projection of other columns")
    check_choice(p.missing, "missing", ("error", "drop"))


def no_points(what: str) -> InputError:
    """Return the error for input that is distances where points are needed."""
    return InputError(
        f"{what}; received a matrix of distances. Leave these settings out, or choose coordinates "
        "with `key`, such as key='X_pca'."
    )
