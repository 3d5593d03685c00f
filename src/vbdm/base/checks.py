"""Checks of input: every array, number and name that a user passes is checked here, once.

Each function returns the value in the type that the package works with, or raises an `InputError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from .array_hints import KIND_NAMES, kind_of, points_in, refuse_kind, refuse_masked, wrong_shape
from .arrays import FloatArray, contiguous, is_elsewhere, to_host
from .threads import rows_that_fit, slices_of


def check_points(
    points: ArrayLike,
    at_least: int = 2,
    n_columns: int | None = None,
    placed: Callable[[Any], Any] | None = None,
) -> FloatArray:
    """Return the points as a finite, C-ordered float64 array of shape (N, n), N >= `at_least`.

    `n_columns`, the number of columns of earlier points, serves the message alone. `placed` brings
    the array to where it is computed with; without it, points that are on a device are copied.
    """
    found = points_in(points)
    try:
        there = placed is not None and is_elsewhere(found)
        X: Any = found if there else np.asarray(to_host(found))
        refuse_kind(X)
        if is_elsewhere(X):
            X = contiguous(X.astype(np.float64, copy=False))
        else:
            X = np.asarray(X, dtype=np.float64, order="C")
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"The points must be an array of real numbers; received {type(points).__name__} "
            f"({error}). Pass an array of shape (n_points, n_coordinates)."
        ) from None
    if X.ndim != 2 or X.shape[1] == 0:
        raise wrong_shape(X, n_columns)
    if len(X) < at_least:
        raise InputError(
            f"At least two points are needed; received {len(X)} point(s). Check that rows are "
            "points and columns are coordinates; X.T may be meant."
        )
    if placed is not None:
        X = placed(X)
    check_finite(X, "points")
    checked: FloatArray = X
    if len(X) and are_too_far_apart(X):
        raise InputError(
            "The points lie too far apart for their squared distances to be numbers; received a "
            f"largest coordinate of {float(np.abs(X).max()):.3g}. Check the units and the codes "
            "for missing values."
        )
    return checked


def are_too_far_apart(X: FloatArray) -> bool:
    """Tell whether squared distances of points overflow."""
    # A bound that nearly all points keep costs no pass along each column, slow on a device.
    side = 2 * max(float(X.max()), -float(X.min()))
    if np.isfinite(X.shape[1] * side * side):
        return False
    with np.errstate(over="ignore"):
        return not np.isfinite(np.square(np.ptp(X, axis=0)).sum())


def check_finite(array: FloatArray, name: str, first_row: int = 0) -> None:
    """Raise if any entry is NaN or infinite; the message counts such rows and names the first.

    `first_row` is the number of the first row, where the array is a part of a larger one.
    """
    size = rows_that_fit(int(np.prod(array.shape[1:])), most=1 << 24)
    for rows in slices_of(array, size):
        finite = np.isfinite(array[rows])
        if finite.all():
            continue
        bad_rows = to_host(~finite.all(axis=tuple(range(1, array.ndim))))
        # More may follow in a large array, of which a part at a time is looked at.
        more = "at least " * (rows.stop < len(array))
        raise InputError(
            f"The {name} must be finite; received {more}{bad_rows.sum()} row(s) with NaN or "
            f"infinity, the first at row {first_row + rows.start + np.argmax(bad_rows)}. Drop or "
            "fill these rows first."
        )


def as_number(value: Any) -> float:
    """Return a real number as a float, and NaN for anything else: text, switches, dates, arrays."""
    no_numbers = (bool, np.bool_, str, bytes, complex, np.complexfloating, np.datetime64)
    if isinstance(value, (*no_numbers, np.timedelta64)) or getattr(value, "ndim", 0) != 0:
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def shown(value: Any) -> str:
    """Return a value for a message, cut off if it is long."""
    try:
        text = repr(value)
    except ValueError:
        # Python refuses to write out integers of thousands of digits.
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"


def check_positive(value: Any, name: str) -> float:
    """Return a finite number > 0 as a float."""
    number = as_number(value)
    if not (np.isfinite(number) and number > 0):
        raise InputError(
            f"`{name}` must be a finite number greater than 0; received {shown(value)}. Leave "
            f"`{name}` at its default to have it estimated."
        )
    return number


def check_real(value: Any, name: str) -> float:
    """Return a finite real number as a float."""
    number = as_number(value)
    if np.isfinite(number):
        return number
    raise InputError(
        f"`{name}` must be a finite real number; received {shown(value)}. Pass a plain number for "
        f"`{name}`."
    )


def check_share(value: Any, name: str) -> float:
    """Return a number strictly between 0 and 1."""
    number = check_real(value, name)
    if not 0 < number < 1:
        raise InputError(
            f"`{name}` must lie between 0 and 1; received {shown(value)}. Pass {name}=0.95 for 95 "
            "%."
        )
    return number


def is_whole(value: Any) -> bool:
    """Tell whether a value is an integer; a switch is none, though Python counts with it."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_count(value: Any, name: str, *, low: int, high: int) -> int:
    """Return an integer between `low` and `high`, both included."""
    if not is_whole(value) or not low <= value <= high:
        raise InputError(
            f"`{name}` must be an integer from {low} to {high}; received {shown(value)}. {high} "
            "is what the number of points and the other settings allow. Pass a whole number "
            f"within these bounds for `{name}`."
        )
    return int(value)


def check_is(value: Any, name: str, kind: type | tuple[type, ...], hint: str) -> None:
    """Raise unless `value` is an object of this class; `hint` says how to get one."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise InputError(
            f"`{name}` must be of the class {' or '.join(k.__name__ for k in kinds)}; received "
            f"an object of the class {type(value).__name__}. {hint}"
        )


def is_auto(value: Any) -> bool:
    """Tell whether a value is the word "auto"; an array, which compares by entries, never is."""
    return isinstance(value, str) and value == "auto"


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`."""
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        raise InputError(
            f"`{name}` is not one of the known names; received {shown(value)}. Choose one of: "
            f"{', '.join(repr(choice) for choice in names)}."
        )
    return value


def as_floats(values: ArrayLike, there: bool = False) -> FloatArray | None:
    """Return a copy of the values as an array of float64; None if they are no real numbers.

    Values that live on a device are copied into this machine's memory, unless they may stay
    `there`.
    """
    try:
        array: Any = values if there and is_elsewhere(values) else np.asarray(to_host(values))
        # Text and dates can be converted, but whoever passes them means something else.
        if kind_of(array) not in ("", KIND_NAMES["b"]):
            return None
        copied: FloatArray = array.astype(np.float64)
        return copied
    except (TypeError, ValueError, OverflowError):
        return None


def check_per_point(values: ArrayLike, name: str, n_points: int) -> FloatArray:
    """Return a copy of the values as one finite float64 per point, shape (N,)."""
    refuse_masked(values, name)
    array = as_floats(values)
    if array is None or array.shape != (n_points,):
        seen = type(values).__name__ if array is None else f"shape {array.shape}"
        raise InputError(
            f"`{name}` must hold one number per point, shape ({n_points},); received {seen}. "
            "Compute it from the very array of points that is passed."
        )
    check_finite(array, name)
    return array


def check_function(f: ArrayLike, n_points: int, there: bool = False) -> FloatArray:
    """Return the values of one or several functions on the points, (N,) or (N, m), finite.

    They come back in this machine's memory, unless they may stay `there`, on a device.
    """
    refuse_masked(f, "function values")
    values = as_floats(f, there)
    if values is None or values.ndim not in (1, 2) or len(values) != n_points:
        seen = type(f).__name__ if values is None else f"shape {values.shape}"
        raise InputError(
            f"A function on the points has shape ({n_points},) or ({n_points}, m); received "
            f"{seen}. Evaluate f on the very points that were passed, in the same order."
        )
    check_finite(values, "function values")
    return values
