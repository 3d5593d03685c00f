"""How observations come about: logarithms of the likelihoods of the rows of a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.accepts import answer_of
from ..base.arrays import BoolArray, FloatArray
from ..base.checks import as_floats, shown
from ..errors import InputError
from .filtering import LogLikelihood

#: Standard deviations between this and its inverse have squares that are numbers.
SMALLEST = 1e-100


def observations_of(observations: Any) -> tuple[list[Any], BoolArray]:
    """Return observations as a list, and which of them are missing: None, or NaN throughout."""
    if hasattr(observations, "to_numpy"):
        observations = observations.to_numpy()
    if isinstance(observations, np.ma.MaskedArray):
        observations = np.ma.filled(observations.astype(np.float64), np.nan)
    one_only = isinstance(observations, np.ndarray) and observations.ndim == 0
    is_list = isinstance(observations, (list, tuple, np.ndarray)) and not one_only
    if not is_list or not len(observations):
        raise InputError(
            "`observations` must be a list, one entry for each step; received "
            f"{shown(observations)}. Pass an array of shape (n_steps,) or (n_steps, n_observed)."
        )
    seen = [None if one is None else as_floats(one) for one in observations]
    wrong = [t for t, one in enumerate(observations) if one is not None and seen[t] is None]
    if wrong:
        raise InputError(
            "An observation must be a number, or several; received "
            f"{shown(observations[wrong[0]])} at step {wrong[0]}. Pass None, or NaN, where "
            "nothing was observed."
        )
    missing = [one is None or bool(np.isnan(one).all()) for one in seen]
    # A function that was given as likelihood gets observations as they were.
    return list(observations), np.array(missing, dtype=np.bool_)


def as_likelihood(
    likelihood: Any, columns: Sequence[int | str] | None, names: tuple[str, ...], seen: list[Any]
) -> LogLikelihood:
    """Return log ℓ(y, rows), of a function or, of numbers, by normal errors so large."""
    if callable(likelihood):
        return lambda y, rows: logarithm(
            checked(answer_of(likelihood, "likelihood", y, rows), len(rows))
        )
    deviation = as_floats(likelihood)
    if (
        deviation is None
        or deviation.ndim > 1
        or not ((deviation > SMALLEST) & (deviation < 1 / SMALLEST)).all()
    ):
        raise InputError(
            "`likelihood` must be a function, or positive standard deviations; received "
            f"{shown(likelihood)}. Pass, for example, 0.5, or lambda y, rows: np.exp(-abs(rows[:, "
            "0] - y))."
        )
    chosen = numbers_of(columns, names)
    shapes = {np.shape(one) for one in seen if one is not None}
    fitting = {(len(chosen),)} | ({()} if len(chosen) == 1 else set())
    if not shapes <= fitting or deviation.size not in (1, len(chosen)):
        widths = sorted({int(np.prod(shape)) for shape in shapes})
        raise InputError(
            f"Observations do not fit the columns; received {' or '.join(map(str, widths))} "
            f"number(s) in an observation, {deviation.size} deviation(s), and {len(chosen)} "
            "column(s). Say which columns are observed: columns=[0]."
        )
    return lambda y, rows: normal(np.atleast_1d(y), rows[:, chosen], deviation)


def numbers_of(columns: Sequence[int | str] | None, names: tuple[str, ...]) -> list[int]:
    """Return the numbers of columns that are given by number or name; all by default."""
    if columns is None:
        return list(range(len(names)))
    several = isinstance(columns, (list, tuple, range)) or np.ndim(columns) == 1
    given = list(columns) if several else [columns]
    found: list[Any] = [names.index(j) if isinstance(j, str) and j in names else j for j in given]
    whole = all(isinstance(j, (int, np.integer)) and 0 <= j < len(names) for j in found)
    if not found or not whole:
        raise InputError(
            f"`columns` must name columns of the series; received {shown(columns)}. The columns "
            f"are {', '.join(names)}, numbered from 0. Pass, for example, columns=[0]."
        )
    return [int(j) for j in found]


def normal(y: FloatArray, rows: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return log-likelihoods of rows, (S, k), under normal errors; missing numbers do not count.

    Examples
    --------
    >>> normal(np.array([100.0]), np.array([[0.0], [99.0]]), np.array(1.0)).round(3).tolist()
    [-5000.919, -1.419]
    """
    seen = np.asarray(y, dtype=np.float64)
    known = np.isfinite(seen)
    sigma = np.broadcast_to(deviation, seen.shape)[known]
    with np.errstate(under="ignore", over="ignore"):
        z = (rows[:, known] - seen[known]) / sigma
        return np.asarray(-0.5 * (z**2).sum(axis=1) - np.log(sigma * np.sqrt(2 * np.pi)).sum())


def logarithm(likely: FloatArray) -> FloatArray:
    """Return the logarithms of likelihoods; that of 0 is -inf."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(likely))


def checked(found: Any, n_rows: int) -> FloatArray:
    """Return the likelihoods that a user's function gave, or refuse them."""
    values = as_floats(found)
    if (
        values is None
        or values.shape != (n_rows,)
        or not (values >= 0).all()
        or np.isinf(values).any()
    ):
        raise InputError(
            "`likelihood` must return a number, 0 or more, for each row; received "
            f"{shown(found)}. It was called with one observation and {n_rows:,} rows. Pass, for "
            "example, lambda y, rows: np.exp(-0.5 * (rows[:, 0] - y) ** 2)."
        )
    return values
