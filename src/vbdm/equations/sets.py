"""Sets of points, in any of the ways in which people name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.checks import as_floats, shown
from ..base.errors import bad_input
from ..operator.operator import Operator
from .conditions import condition_on


@dataclass(frozen=True, eq=False)
class PointSet:
    """Some of the points.

    Attributes
    ----------
    mask : (N,) bool array
        Which ones, in the caller's order.
    distance : (N,) array or None
        Distance of all points to the edge of the set, if that is known.
    name : str
        What to call it in messages.
    """

    mask: BoolArray
    distance: FloatArray | None
    name: str

    @property
    def complement(self) -> PointSet:
        """All other points."""
        return PointSet(~self.mask, self.distance, f"the outside of {self.name}")


@dataclass(frozen=True, eq=False)
class Naming:
    """How sets may be named, besides masks, row numbers and distances.

    Attributes
    ----------
    operator : Operator
        Whose points they are.
    labels : (N,) array or None
        A label of each point.
    columns : mapping, table, list of names, or None
        What conditions such as "phi < -1.2" speak of: columns by their names, of the length N; or
        the names of the columns of the data. None: these are called x0, x1, …
    """

    operator: Operator
    labels: Any = None
    columns: Any = None

    def __post_init__(self) -> None:
        """Refuse labels and columns that are none, even if no set needs them."""
        if self.labels is not None:
            check_labels(self.labels, self.operator.n_points)
        if self.columns is not None:
            check_columns(self.columns)

    def read(self, what: Any, name: str) -> PointSet:
        """Return the set that the user means; `name` is the argument's."""
        found = self.found(what, name)
        if not found.mask.any():
            raise bad_input(
                f"The set `{name}` is empty.",
                received=described(what),
                because="No point belongs to it.",
                hint="Compare it with the range of the data, or with the labels that occur.",
            )
        return found

    def found(self, what: Any, name: str) -> PointSet:
        """Return the set that the user means, which may be empty."""
        n = self.operator.n_points
        if isinstance(what, PointSet):
            return what
        if isinstance(what, str) or (self.labels is not None and np.ndim(what) == 0):
            return PointSet(self.by_word(what, name), None, f"{what!r}")
        values = as_array(what)
        if values.dtype == np.bool_ and values.shape == (n,):
            return PointSet(values, None, f"`{name}`")
        if self.labels is not None and values.ndim == 1 and values.dtype.kind in "USO":
            return PointSet(self.by_labels(values.tolist(), name), None, f"{described(what)}")
        if values.dtype.kind == "f" and values.shape == (n,):
            return by_distance(values, name)
        return PointSet(by_rows(what, values, n, name), None, f"`{name}`")

    def by_word(self, what: Any, name: str) -> BoolArray:
        """Return the points with a label, or those that meet a condition."""
        if self.labels is not None and what in set(self.label_list):
            return self.by_labels([what], name)
        if isinstance(what, str) and any(sign in what for sign in "<>"):
            return condition_on(what, self.table(), name)
        if self.labels is None:
            raise bad_input(
                f"`{name}` is neither a condition nor a label.",
                received=shown(what),
                because="A condition has the form 'x0 < -1.2'; labels were not given.",
                hint="Pass labels=, one for each point, or a mask.",
            )
        return self.by_labels([what], name)

    @property
    def label_list(self) -> list[Any]:
        """The labels as plain values."""
        return list(np.asarray(self.labels, dtype=object).tolist())

    def by_labels(self, wanted: Sequence[Any], name: str) -> BoolArray:
        """Return the points that have one of some labels."""
        labels = self.label_list
        for one in wanted:
            if one not in set(labels):
                known = ", ".join(sorted({repr(label) for label in labels})[:8])
                raise bad_input(
                    f"`{name}` names a label that does not occur.",
                    received=shown(one),
                    because=f"The labels are {known}.",
                    hint="Mind spelling and upper case.",
                )
        chosen = set(wanted)
        return np.array([label in chosen for label in labels])

    def table(self) -> dict[str, FloatArray]:
        """Return the columns that conditions may speak of, by their names."""
        if isinstance(self.columns, Mapping) or hasattr(self.columns, "columns"):
            table = {str(key): np.asarray(self.columns[key]) for key in self.columns}
        else:
            points = coordinates(self.operator)
            names = self.columns or [f"x{j}" for j in range(points.shape[1])]
            table = dict(zip(map(str, names), points.T, strict=False))
        return {key: own for key, own in table.items() if len(own) == self.operator.n_points}


def as_array(what: Any) -> NDArray[Any]:
    """Return what the user passed as an array; of objects, if its rows have different lengths."""
    try:
        return np.asarray(what)
    except ValueError:
        return np.asarray(None)


def check_labels(labels: Any, n: int) -> None:
    """Refuse anything but one label for each point."""
    try:
        shape = np.shape(np.asarray(labels, dtype=object))
    except ValueError:
        shape = ()
    if shape == (n,) and not isinstance(labels, (str, bytes, Mapping)):
        return
    raise bad_input(
        "`labels` must have one label for each point.",
        received=f"{shape[0]} labels, {n} points" if len(shape) == 1 else shown(labels),
        because="Rows may have been left out, or it is no list of labels.",
        hint="Take the labels of the very rows that were passed.",
    )


def check_columns(columns: Any) -> None:
    """Refuse anything but columns by their names, or a list of names."""
    listed = isinstance(columns, list | tuple | np.ndarray) and as_array(columns).ndim == 1
    names = listed and all(isinstance(name, str) for name in columns)
    if names or isinstance(columns, Mapping) or hasattr(columns, "columns"):
        return
    raise bad_input(
        "`columns` has columns by their names, or names of the data's columns.",
        received=shown(columns),
        because="It was something else.",
        hint="Pass a table, a dictionary of arrays, or a list such as ['phi', 'psi'].",
    )


def coordinates(operator: Operator) -> FloatArray:
    """Return the points in the caller's order, (N, n); words if there are only distances."""
    points = operator.graph.point_set.coordinates
    if points is None:
        raise bad_input(
            "A condition on columns needs points.",
            received="an operator made from distances",
            because="Distances have no columns.",
            hint="Pass columns=, a table with one row for each point, or a mask.",
        )
    return np.asarray(operator.order.to_caller(np.asarray(points)))


def by_distance(values: FloatArray, name: str) -> PointSet:
    """Return the set of points whose signed distance to its edge is not positive."""
    if not np.isfinite(values).all():
        raise bad_input(
            f"`{name}` has distances that are no numbers.",
            received=f"{int((~np.isfinite(values)).sum())} values that are NaN or infinite",
            because="A distance is negative in the set, and positive outside.",
            hint="Pass a mask, if distances are not known everywhere.",
        )
    return PointSet(values <= 0, np.abs(values), f"`{name}`")


def by_rows(what: Any, values: NDArray[Any], n: int, name: str) -> BoolArray:
    """Return a mask from row numbers."""
    numbers = as_floats(what)
    usable = numbers is not None and numbers.ndim <= 1 and values.dtype.kind in "iuf"
    rows = np.atleast_1d(numbers) if usable and numbers is not None else np.empty(0)
    if not usable or (rows != np.floor(rows)).any() or (rows < 0).any() or (rows >= n).any():
        raise bad_input(
            f"`{name}` is no set of points.",
            received=described(what),
            because=f"A set is a mask of {n} booleans, row numbers from 0 to {n - 1}, a label, a "
            f"condition such as 'x0 < -1.2', or {n} signed distances to its edge.",
            hint="Pass, for example, X[:, 0] < -1.2.",
        )
    mask = np.zeros(n, dtype=np.bool_)
    mask[rows.astype(np.intp)] = True
    return mask


def refuse_overlap(sets: Sequence[PointSet], names: Sequence[str]) -> None:
    """Refuse sets that share points."""
    for j, own in enumerate(sets):
        for other, name in zip(sets[:j], names, strict=False):
            both = int((own.mask & other.mask).sum())
            if both:
                raise bad_input(
                    f"The sets `{name}` and `{names[j]}` overlap.",
                    received=f"{both} points that belong to both",
                    because="A point cannot be held at two values.",
                    hint="Take the common points out of one of them.",
                )


def described(what: Any) -> str:
    """Return what the user passed, in a few words."""
    values = as_array(what)
    if values.size > 8:
        return f"an array of shape {values.shape} and type {values.dtype}"
    return shown(what)
