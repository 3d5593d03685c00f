"""Sets of points, in any of the ways in which people name them.

They are masks, row numbers, signed distances, labels, or conditions on columns such as
"phi < -1.2 and psi > 0", which are read without running any code.
"""

from __future__ import annotations

import operator as compare
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.checks import as_floats, shown
from ..engines.choose import to_engine
from ..errors import InputError
from ..operator.operator import Operator

#: How libraries write a missing label.
MISSING = ("nan", "None", "<NA>", "NaT")
SIGNS = {"<": compare.lt, "<=": compare.le, ">": compare.gt, ">=": compare.ge}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
SIGN = re.compile("([<>]=?)")
AND, OR = re.compile(r"\band\b|&", re.IGNORECASE), re.compile(r"\bor\b|\|", re.IGNORECASE)
#: Minus signs that are typeset, not typed.
MINUS = str.maketrans("−–", "--")
Table = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Region:
    """Some of the points, in the caller's order."""

    mask: BoolArray
    #: What to call it in messages.
    name: str
    #: Distance of all points to the edge of the set, if that is known.
    distance: FloatArray | None = None

    @property
    def complement(self) -> Region:
        """All other points."""
        return Region(~self.mask, f"the outside of {self.name}", self.distance)


def refuse_overlap(sets: Sequence[Region], names: Sequence[str]) -> None:
    """Refuse sets that share points."""
    for j, own in enumerate(sets):
        for other, name in zip(sets[:j], names, strict=False):
            both = int((own.mask & other.mask).sum())
            if both:
                raise InputError(
                    f"The sets `{name}` and `{names[j]}` overlap; received {both} points that "
                    "belong to both, copies of a point included. Take them out of one."
                )


@dataclass(frozen=True, eq=False)
class Naming:
    """How sets may be named, besides masks, row numbers and distances."""

    operator: Operator
    #: A label of each point, (N,).
    labels: Any = None
    #: What conditions speak of: columns of the length N by their names, as a mapping or a table; or
    #: the names of the columns of the data. None: these are called x0, x1, …
    columns: Any = None

    def __post_init__(self) -> None:
        """Refuse labels and columns that are none, even if no set needs them."""
        if self.labels is not None:
            check_labels(self.labels, self.operator.n_points)
        columns = self.columns
        listed = isinstance(columns, list | tuple | np.ndarray) and as_array(columns).ndim == 1
        names = listed and all(isinstance(name, str) for name in columns)
        if not (names or columns is None or self.has_columns):
            raise InputError(
                "`columns` has columns by their names, or names of the data's columns; received "
                f"{shown(columns)}."
            )

    @property
    def has_columns(self) -> bool:
        """Whether columns were passed with their values."""
        return isinstance(self.columns, Mapping) or hasattr(self.columns, "columns")

    def read(self, what: Any, name: str) -> Region:
        """Return the set that the user means, copies of its points included.

        `name` is the argument's.
        """
        found = self.region(what, name)
        if not found.mask.any():
            raise InputError(
                f"The set `{name}` is empty; received {in_short(what)}. Compare it with the "
                "range of the data, or with the labels that occur."
            )
        order = self.operator.graph.order
        if order.copies is None:
            return found
        # All copies of a point are one point.
        mask = order.to_caller(order.to_inside(found.mask.astype(np.float64)) > 0)
        return replace(found, mask=np.asarray(mask))

    def region(self, what: Any, name: str) -> Region:
        """Return the set that the user means, which may be empty."""
        if isinstance(what, Region):
            return what
        n, values = self.operator.n_points, as_array(what)
        if isinstance(what, str) or (self.labels is not None and values.ndim == 0):
            return Region(self.by_word(what, name), f"{what!r}")
        if self.labels is not None and values.ndim == 1 and values.shape != (n,):
            several = values.tolist()
            # Numbers that are no labels are row numbers.
            if values.dtype.kind not in "iuf" or all(map(self.is_label, several)):
                return Region(self.by_labels(several, name), in_short(what))
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
                labels = sorted(map(repr, self.known_labels))
                raise InputError(
                    f"`{name}` names a label that does not occur; received {shown(one)}. The "
                    f"labels are {', '.join(labels[:8])}; points without a label are in no set."
                )
        chosen = set(wanted)
        return np.array([label in chosen for label in self.label_list])

    def refuse_periodic(self, text: str, names: Sequence[str], name: str) -> None:
        """Refuse conditions on periodic columns of the points: the values given are not known."""
        period = self.operator.graph.period
        if period is None or self.has_columns:
            return
        for column in (own for own, length in zip(names, period, strict=True) if length > 0):
            if re.search(rf"(?<!\w){re.escape(column)}(?!\w)", text):
                raise InputError(
                    f"`{name}` is a condition on a periodic column; received {shown(text)}. Pass "
                    f"the values that you mean: columns={{'{column}': X[:, 0]}}, or a mask."
                )

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the columns that conditions may speak of, by their names."""
        n, columns = self.operator.n_points, self.columns
        if self.has_columns:
            names = getattr(columns, "columns", columns)
            table = {str(key): as_array(columns[key]) for key in names}
            return {key: own for key, own in table.items() if own.shape == (n,)}
        points = coordinates(self.operator)
        names = [f"x{j}" for j in range(points.shape[1])] if columns is None else columns
        if len(names) != points.shape[1]:
            raise InputError(
                f"`columns` must name all columns of the data; received {len(names)} names, "
                f"{points.shape[1]} columns. Pass a dictionary of some columns instead."
            )
        return dict(zip(names, points.T, strict=True))


def check_labels(labels: Any, n: int) -> None:
    """Refuse anything but one label for each point."""
    found = as_array(labels, object)
    named = not isinstance(labels, str | bytes | Mapping) and found.shape == (n,)
    if not (named and all(map(is_hashable, found))):
        seen = f"{len(found)} labels, {n} points" if found.ndim == 1 else shown(labels)
        raise InputError(f"`labels` must have one label for each point; received {seen}.")


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


def coordinates(operator: Operator) -> FloatArray:
    """Return the points in the caller's order, (N, n); words if there are only distances."""
    points = operator.graph.point_set.coordinates
    if points is None:
        raise InputError(
            "A condition on columns needs points; received an operator made from distances. Pass "
            "columns=, a table with one row for each point, or a mask."
        )
    return np.asarray(operator.graph.order.to_caller(np.asarray(points)))


def as_array(what: Any, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return what the user passed as an array; None in it, if its rows have different lengths.

    Arrays on a GPU, such as ``X[:, 0] < -1`` of points there, are copied into memory.
    """
    what = to_engine(what, "scipy")
    try:
        return np.asarray(what, dtype=dtype)
    except (ValueError, TypeError, OverflowError):
        return np.asarray(None)


def in_short(what: Any) -> str:
    """Return what the user passed, in a few words."""
    values = as_array(what)
    if values.size > 8:
        return f"an array of shape {values.shape} and type {values.dtype}"
    return shown(what)


def region_of(what: Any, n: int, name: str) -> Region:
    """Return the set that a mask, row numbers or signed distances mean; it may be empty."""
    values, called = as_array(what), f"`{name}`"
    if values.shape == (n,):
        if is_mask(values):
            return Region(values.astype(np.bool_), called)
        if values.dtype.kind == "f":
            unknown = int((~np.isfinite(values)).sum())
            if unknown:
                raise InputError(
                    f"`{name}` has distances that are no numbers; received {unknown} values that "
                    "are NaN or infinite. Pass a mask, if distances are not known everywhere."
                )
            distance = values.astype(np.float64)
            return Region(distance <= 0, called, np.abs(distance))
        different = len(np.unique(values)) if values.dtype.kind in "iu" else n
        # Row numbers of a set have no repeats, cluster numbers do.
        if different < n:
            raise InputError(
                f"`{name}` looks like labels; received a whole number for each point, {different} "
                f"different ones. Pass labels=, and one of them as `{name}`; distances are floats."
            )
    numbers = as_floats(values) if values.dtype.kind in "iuf" and values.ndim <= 1 else None
    rows = np.atleast_1d(np.nan if numbers is None else numbers)
    if (rows != np.floor(rows)).any() or (rows < 0).any() or (rows >= n).any():
        raise InputError(
            f"`{name}` is no set of points; received {in_short(what)}. A set is a mask of {n} "
            f"booleans, row numbers from 0 to {n - 1}, a label, a condition such as 'x0 < -1.2', "
            f"or {n} signed distances to its edge."
        )
    mask = np.zeros(n, dtype=np.bool_)
    mask[rows.astype(np.intp)] = True
    return Region(mask, called)


def is_mask(values: NDArray[Any]) -> bool:
    """Tell whether N values are a mask: booleans, or zeros and ones of any type.

    As row numbers, N zeros and ones would name two points; as distances, all of them would lie in
    the set or within the unit 1 of it.
    """
    if values.dtype.kind == "O":
        return all(isinstance(value, bool | np.bool_) for value in values)
    if values.dtype.kind in "iuf":
        return len(values) > 2 and bool(((values == 0) | (values == 1)).all())
    return values.dtype.kind == "b"


class Unreadable(ValueError):
    """A comparison that cannot be read; it says why."""


def condition_on(text: str, table: Table, name: str) -> BoolArray:
    """Return the rows that meet a condition.

    Comparisons of a column with numbers are joined by "and" and "or" ("and" binds closer).
    Brackets may stand around one comparison.

    Examples
    --------
    >>> table = {"phi": np.array([-2.0, -1.0, 1.0]), "psi": np.array([0.0, 1.0, 2.0])}
    >>> condition_on("phi < -1.2 or 0 < psi <= 1", table, "B").tolist()
    [True, True, False]
    """
    try:
        alternatives = [
            np.logical_and.reduce([comparison(part, table) for part in AND.split(alternative)])
            for alternative in OR.split(text)
        ]
    except Unreadable as error:
        raise InputError(
            f"`{name}` is a condition that cannot be read; received {shown(text)}. {error} Write, "
            f"for example, '-2 < {next(iter(table), 'x0')} < -1.2'; the columns are "
            f"{', '.join(list(table)[:8])}."
        ) from None
    return np.asarray(np.logical_or.reduce(alternatives))


def comparison(text: str, table: Table) -> BoolArray:
    """Return the rows that meet one comparison: column and number, or a column between two."""
    inner = text.strip()
    while inner.startswith("(") and inner.endswith(")"):
        inner = inner[1:-1].strip()
    words = [word.strip() for word in SIGN.split(inner)]
    if len(words) == 5:
        low, first, column, second, high = words
        values = column_of(column, table)
        return within(values, MIRRORED[first], low) & within(values, second, high)
    if len(words) != 3:
        raise Unreadable(f"{shown(inner)} is no comparison of a column with a number.")
    left, sign, right = words
    if left.strip("`'\"") not in table and not np.isnan(number_in(left)):
        left, sign, right = right, MIRRORED[sign], left
    return within(column_of(left, table), sign, right)


def within(values: FloatArray, sign: str, bound: str) -> BoolArray:
    """Return the rows whose values compare so with a number."""
    number = number_in(bound)
    if not np.isfinite(number):
        raise Unreadable(f"{shown(bound)} is no finite number.")
    return np.asarray(SIGNS[sign](values, number))


def number_in(text: str) -> float:
    """Return the number that a text means; NaN if it means none."""
    try:
        return float(text.translate(MINUS))
    except ValueError:
        return np.nan


def column_of(name: str, table: Table) -> FloatArray:
    """Return a column of numbers, whose name may stand in quotation marks."""
    own = name.strip("`'\"")
    if own not in table:
        why = "; brackets that join comparisons are not read" if set("()") & set(name) else ""
        raise Unreadable(f"There is no column {shown(own)}{why}.")
    values = as_floats(table[own])
    if values is None:
        raise Unreadable(f"The column {shown(own)} has no numbers.")
    return values
