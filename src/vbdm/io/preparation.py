"""The record of what was done to the columns of one file, with which others are treated alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..base.checks import check_choice
from ..base.files import plain
from ..errors import InputError
from ..prepare.projection import Projection
from .cloud import Cloud, projected, standardized, take
from .table import Reference, Table, are_plain, listed

Period = tuple[float | None, ...] | None
#: Note to the user, because the files cannot show whether the order of their columns is the same.
BY_POSITION = (
    "Columns were found by their position: of this file and that of the model, one has no names."
)


@dataclass(frozen=True)
class Preparation:
    """How rows of a table become points.

    Attributes
    ----------
    names : tuple of str
        Names of all columns of the training table; empty for distances.
    columns : tuple of str
        Names of the chosen columns.
    center, scale : tuple of float or None
        Numbers that are subtracted from each chosen column and by which it is then divided; None
        for neither.
    delays, delay_step : int
        Each point is a row and the rows ``delay_step``, ``2 * delay_step``, ... before it,
        `delays` of them together; 1 is the row alone.
    period : tuple or None
        Periods of the chosen columns, with None for a column without one; None if no column is
        periodic.
    missing : {"error", "drop"}
        What happens to rows with missing values.
    reference : tuple of (str, float, float, float), or None
        Frame on which a trajectory was superposed: name, x, y, z of each atom. New frames are
        superposed on it as well when they are read with ``columns=preparation``.
    made_up : bool
        Whether the training table had no names, so that `names` are "x0", "x1", ….
    projection : Projection or None
        Fewer columns, by PCA or TICA; it comes after everything else.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    center: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None
    delays: int = 1
    delay_step: int = 1
    period: Period = None
    missing: str = "error"
    reference: Reference | None = None
    made_up: bool = False
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
            f"needs {len(self.columns)} column(s): {listed(self.columns)}{missing}. Pass a file "
            "with the same columns, in any order if they have names; or choose them, in the "
            "model's order, with `columns`."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; `from_dict` takes them back."""
        return dict(plain(self))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Preparation:
        """Build a preparation from what `as_dict` returned."""
        try:
            read: dict[str, Any] = {
                k: tuple(v) if isinstance(v, list) else v for k, v in values.items()
            }
            if read.get("reference") is not None:
                read["reference"] = tuple(tuple(atom) for atom in read["reference"])
            if read.get("projection") is not None:
                read["projection"] = Projection.from_dict(read["projection"])
            # Files of the first versions do not hold `made_up`.
            read.setdefault("made_up", are_plain(read.get("names", ())))
            preparation = cls(**read)
            check_fields(preparation)
        except (TypeError, ValueError, AttributeError, KeyError) as error:
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
    if not all(type(count) is int and count >= 1 for count in (p.delays, p.delay_step)):
        raise ValueError("delays that are no counts")
    if not all(map(math.isfinite, (*(p.center or ()), *(p.scale or ())))):
        raise ValueError("center or scale that is infinite")
    if not all(number > 0 for number in p.scale or ()):
        raise ValueError("scale that is not positive")
    if not isinstance(p.made_up, bool):
        raise ValueError("made_up that is neither true nor false")
    if p.projection is not None and len(p.projection.center) != n * p.delays:
        raise ValueError("a projection of other columns")
    for name, *place in p.reference or ():
        if not isinstance(name, str) or [type(number) for number in place] != [float] * 3:
            raise ValueError("a reference that is no list of atoms and their places")
    check_choice(p.missing, "missing", ("error", "drop"))


def no_points(what: str) -> InputError:
    """Return the error for input that is distances where points are needed."""
    return InputError(
        f"{what}; received a matrix of distances. Leave these settings out, or choose coordinates "
        "with `key`, such as key='X_pca'."
    )
