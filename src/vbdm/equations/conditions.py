"""Conditions on columns, such as "phi < -1.2 and psi > 0", read without running any code."""

from __future__ import annotations

import operator as compare
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.checks import as_floats, shown
from ..errors import InputError

SIGNS = {"<": compare.lt, "<=": compare.le, ">": compare.gt, ">=": compare.ge}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
SIGN = re.compile("([<>]=?)")
AND, OR = re.compile(r"\band\b|&", re.IGNORECASE), re.compile(r"\bor\b|\|", re.IGNORECASE)
#: Minus signs that are typeset, not typed.
MINUS = str.maketrans("−–", "--")
Table = Mapping[str, NDArray[Any]]


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
        raise bad_condition(name, text, table, str(error)) from None
    return np.asarray(np.logical_or.reduce(alternatives))


class Unreadable(ValueError):
    """A comparison that cannot be read; it says why."""


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
    if unquoted(left) not in table and is_number(left):
        left, sign, right = right, MIRRORED[sign], left
    return within(column_of(left, table), sign, right)


def within(values: FloatArray, sign: str, bound: str) -> BoolArray:
    """Return the rows whose values compare so with a number."""
    if not is_number(bound) or not np.isfinite(as_number(bound)):
        raise Unreadable(f"{shown(bound)} is no finite number.")
    return np.asarray(SIGNS[sign](values, as_number(bound)))


def as_number(text: str) -> float:
    """Return the number that a text means."""
    return float(text.translate(MINUS))


def is_number(text: str) -> bool:
    """Tell whether a text means a number."""
    try:
        as_number(text)
    except ValueError:
        return False
    return True


def unquoted(name: str) -> str:
    """Return the name of a column without quotation marks."""
    return name.strip("`'\"")


def column_of(name: str, table: Table) -> FloatArray:
    """Return a column of numbers."""
    if unquoted(name) not in table:
        why = "brackets that join comparisons are not read" if "(" in name or ")" in name else ""
        raise Unreadable(f"There is no column {shown(unquoted(name))}{'; ' * bool(why)}{why}.")
    values = as_floats(table[unquoted(name)])
    if values is None:
        raise Unreadable(f"The column {shown(unquoted(name))} has no numbers.")
    return values


def bad_condition(name: str, text: str, table: Table, because: str) -> InputError:
    """Return the error for a condition that cannot be read."""
    known = ", ".join(list(table)[:8])
    first = next(iter(table), "x0")
    return InputError(
        f"`{name}` is a condition that cannot be read; received {shown(text)}. {because} Write, "
        f"for example, '-2 < {first} < -1.2'; the columns are {known}."
    )
