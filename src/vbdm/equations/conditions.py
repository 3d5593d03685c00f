"""Conditions on columns, such as "phi < -1.2 and psi > 0", read without running any code."""

from __future__ import annotations

import operator as compare
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray
from ..base.checks import shown
from ..base.errors import InputError, bad_input

SIGNS = {"<": compare.lt, "<=": compare.le, ">": compare.gt, ">=": compare.ge}
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
#: One comparison: a column and a number, in either order; a column between two numbers.
COMPARISON = re.compile(
    rf"\s*(?:(?P<low>{NUMBER})\s*(?P<first>[<>]=?)\s*)?(?P<column>[^<>]+?)\s*"
    rf"(?:(?P<second>[<>]=?)\s*(?P<high>{NUMBER}))?\s*"
)
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def condition_on(text: str, table: Mapping[str, NDArray[Any]], name: str) -> BoolArray:
    """Return the rows that meet a condition.

    Comparisons of a column with numbers are joined by "and" and "or" ("and" binds closer).

    Examples
    --------
    >>> table = {"phi": np.array([-2.0, -1.0, 1.0]), "psi": np.array([0.0, 1.0, 2.0])}
    >>> condition_on("phi < -1.2 or 0 < psi <= 1", table, "B").tolist()
    [True, True, False]
    """
    either = [
        np.logical_and.reduce([
            comparison(part, table, text, name) for part in re.split(r"\band\b|&", alternative)
        ])
        for alternative in re.split(r"\bor\b|\|", text)
    ]  # fmt: skip
    return np.asarray(np.logical_or.reduce(either))


def comparison(
    part: str, table: Mapping[str, NDArray[Any]], text: str, name: str
) -> NDArray[np.bool_]:
    """Return the rows that meet one comparison of a condition."""
    found = COMPARISON.fullmatch(part.strip().strip("()"))
    if found is None or not (found["first"] or found["second"]):
        raise bad_condition(name, text, table, "Not all of it could be read.")
    column = found["column"].strip("`'\"")
    if column not in table:
        raise bad_condition(name, text, table, f"There is no column {column!r}.")
    values = np.asarray(table[column], dtype=np.float64)
    result = np.ones(len(values), dtype=np.bool_)
    if found["first"]:
        result &= SIGNS[MIRRORED[found["first"]]](values, float(found["low"]))
    if found["second"]:
        result &= SIGNS[found["second"]](values, float(found["high"]))
    return result


def bad_condition(name: str, text: str, table: Mapping[str, Any], because: str) -> InputError:
    """Return the error for a condition that cannot be read."""
    known = ", ".join(list(table)[:8])
    return bad_input(
        f"`{name}` is a condition that cannot be read.",
        received=shown(text),
        because=because,
        hint=f"Write, for example, 'x0 < -1.2 and x1 > 0'; the columns are {known}.",
    )
