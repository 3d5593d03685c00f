"""Sets of points, in any of the ways in which people name them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.checks import shown
from ..errors import InputError
from ..operator.operator import Operator
from .conditions import condition_on
from .region import Region, as_array, described, region_of

#: How libraries write a missing label.
MISSING = ("nan", "None", "<NA>", "NaT")


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

    def read(self, what: Any, name: str) -> Region:
        """Return the set that the user means, copies of its points included.

        `name` is the argument's.
        """
        found = self.found(what, name)
        if not found.mask.any():
            raise InputError(
                f"The set `{name}` is empty; received {described(what)}. Compare it with the "
                "range of the data, or with the labels that occur."
            )
        return found.with_copies(self.operator.order)

    def found(self, what: Any, name: str) -> Region:
        """Return the set that the user means, which may be empty."""
        n = self.operator.n_points
        if isinstance(what, Region):
            return what
        if isinstance(what, str) or (self.labels is not None and np.ndim(as_array(what)) == 0):
            return Region(self.by_word(what, name), None, f"{what!r}")
        values = as_array(what)
        if self.labels is not None and values.ndim == 1 and values.shape != (n,):
            several = values.tolist()
            # Numbers that are no labels are row numbers.
            if values.dtype.kind not in "iuf" or all(map(self.is_label, several)):
                return Region(self.by_labels(several, name), None, described(what))
        return region_of(what, n, name)

    def by_word(self, what: Any, name: str) -> BoolArray:
        """Return the points with a label, or those that meet a condition."""
        if not self.is_label(what):
            if isinstance(what, str) and any(sign in what for sign in "<>"):
                table = self.table()
                self.refuse_periodic(what, list(table), name)
                return condition_on(what, table, name)
            if self.labels is None:
                raise InputError(
                    f"`{name}` is neither a condition nor a label; received {shown(what)}. Pass "
                    "labels=, one for each point, or a mask."
                )
        return self.by_labels([what], name)

    @cached_property
    def label_list(self) -> list[Any]:
        """The labels as plain values; None where one is missing."""
        found = as_array(self.labels, object).tolist() if self.labels is not None else []
        return [None if is_missing(label) else label for label in found]

    @cached_property
    def known_labels(self) -> set[Any]:
        """All labels that occur."""
        return set(self.label_list) - {None}

    def is_label(self, what: Any) -> bool:
        """Tell whether a value is one of the labels; a missing label is none."""
        return is_hashable(what) and not is_missing(what) and what in self.known_labels

    def by_labels(self, wanted: Sequence[Any], name: str) -> BoolArray:
        """Return the points that have one of some labels."""
        for one in wanted:
            if not self.is_label(one):
                labels = map(repr, self.known_labels)
                raise InputError(
                    f"`{name}` names a label that does not occur; received {shown(one)}. The "
                    f"labels are {', '.join(sorted(labels)[:8])}. Mind spelling and upper case; "
                    "points without a label are in no set."
                )
        chosen = set(wanted)
        return np.array([label in chosen for label in self.label_list])

    def refuse_periodic(self, text: str, names: Sequence[str], name: str) -> None:
        """Refuse conditions on periodic columns of the points: the values given are not known."""
        period = self.operator.graph.period
        if period is None or isinstance(self.columns, Mapping) or hasattr(self.columns, "columns"):
            return
        for column in (own for own, length in zip(names, period, strict=True) if length > 0):
            if re.search(rf"(?<!\w){re.escape(column)}(?!\w)", text):
                raise InputError(
                    f"`{name}` is a condition on a periodic column; received {shown(text)}. "
                    f"Values of {column} were wrapped into the box from 0 on: it is not known "
                    "which ones you passed. Pass them with `columns`, such as "
                    f"columns={{'{column}': X[:, 0]}}, or pass a mask."
                )

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the columns that conditions may speak of, by their names."""
        if isinstance(self.columns, Mapping) or hasattr(self.columns, "columns"):
            names = getattr(self.columns, "columns", self.columns)
            table = {str(key): as_array(self.columns[key]) for key in names}
            return {
                key: own for key, own in table.items() if own.shape == (self.operator.n_points,)
            }
        points = coordinates(self.operator)
        names = self.columns
        if names is None:
            names = [f"x{j}" for j in range(points.shape[1])]
        if len(names) != points.shape[1]:
            raise InputError(
                f"`columns` must name all columns of the data; received {len(names)} names, "
                f"{points.shape[1]} columns. Pass a dictionary of some columns by their names "
                "instead."
            )
        return dict(zip(names, points.T, strict=True))


def is_missing(label: Any) -> bool:
    """Tell whether a label says that there is none: None, NaN and the like."""
    return not isinstance(label, str) and str(label) in MISSING


def is_hashable(what: Any) -> bool:
    """Tell whether a value can be looked up."""
    try:
        hash(what)
    except TypeError:
        return False
    return True


def check_labels(labels: Any, n: int) -> None:
    """Refuse anything but one label for each point."""
    found = as_array(labels, object)
    named = not isinstance(labels, str | bytes | Mapping) and found.shape == (n,)
    if named and all(map(is_hashable, found)):
        return
    seen = f"{len(found)} labels, {n} points" if found.ndim == 1 else shown(labels)
    raise InputError(
        f"`labels` must have one label for each point; received {seen}. Take the labels of the "
        "very rows that were passed."
    )


def check_columns(columns: Any) -> None:
    """Refuse anything but columns by their names, or a list of names."""
    listed = isinstance(columns, list | tuple | np.ndarray) and as_array(columns).ndim == 1
    names = listed and all(isinstance(name, str) for name in columns)
    if names or isinstance(columns, Mapping) or hasattr(columns, "columns"):
        return
    raise InputError(
        "`columns` has columns by their names, or names of the data's columns; received "
        f"{shown(columns)}. Pass a table, a dictionary of arrays, or a list such as ['phi', "
        "'psi']."
    )


def coordinates(operator: Operator) -> FloatArray:
    """Return the points in the caller's order, (N, n); words if there are only distances."""
    points = operator.graph.point_set.coordinates
    if points is None:
        raise InputError(
            "A condition on columns needs points; received an operator made from distances. Pass "
            "columns=, a table with one row for each point, or a mask."
        )
    return np.asarray(operator.order.to_caller(np.asarray(points)))
