"""Checks of the arguments of data sets, beyond those in `vbdm.base.checks`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.checks import as_floats, as_number, is_whole
from ..base.memory import available_memory
from ..errors import InputError, OutOfMemoryError

#: Arrays of the size of the points that exist at the same time while a data set is made.
COPIES = 6
#: Bounds of sizes and lengths: products of a few of them are still numbers.
SMALLEST, LARGEST = 1e-60, 1e60


def check_at_least(value: int, name: str, least: int = 1) -> None:
    """Raise unless ``value`` is an integer, ``least`` or more."""
    if not is_whole(value) or value < least:
        raise InputError(
            f"`{name}` must be an integer, {least} or more; received {value!r}. Try "
            f"{name}={max(least, 10)}."
        )


def check_n_samples(n_samples: int, columns: int, name: str = "n_samples") -> None:
    """Raise unless this is a number of points, and so many of them fit into the free memory."""
    check_at_least(n_samples, name)
    refuse_if_too_large(int(n_samples), columns)


def refuse_if_too_large(rows: int, columns: int) -> None:
    """Raise if a data set of this size does not fit into the free memory."""
    free = available_memory()
    needed = 8 * COPIES * rows * int(columns)
    # Even where the system does not tell what is free, no computer has room for this.
    if needed > (2**50 if free is None else free):
        raise OutOfMemoryError(
            f"The data set would not fit into memory; received {shown(rows)} points with "
            f"{shown(columns)} coordinates. Its arrays would take {shown(needed // 10**9)} GB. "
            "Ask for fewer points, or for fewer dimensions."
        )


def shown(number: int) -> str:
    """Return an integer, a very large one by its power of ten."""
    return f"{number:,}" if number < 10**15 else f"more than 10^{len(str(number)) - 1}"


def check_scale(value: float, name: str) -> float:
    """Return a positive number, neither so small nor so large that its square is no number."""
    number = as_number(value)
    if not SMALLEST <= number <= LARGEST:
        raise InputError(
            f"`{name}` must be a finite number greater than 0, from {SMALLEST:g} to {LARGEST:g}; "
            f"received {value!r}. Leave `{name}` at its default."
        )
    return number


def check_scales(values: Any, name: str, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return so many positive finite numbers, as an array."""
    array = as_floats(values)
    if array is None or array.shape != (count,) or not in_bounds(array):
        raise InputError(
            f"`{name}` must be {count} positive numbers, from {SMALLEST:g} to {LARGEST:g}; "
            f"received {values!r}. Leave `{name}` at its default, or set the dimension to fit."
        )
    return array


def in_bounds(array: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    """Tell whether all numbers are positive, and neither too small nor too large."""
    return bool(((array >= SMALLEST) & (array <= LARGEST)).all())


def check_share(value: float) -> float:
    """Return the share of rows to replace, 0 or more and less than 1."""
    share = as_number(value)
    if not 0 <= share < 1:
        raise InputError(
            f"`share` must be at least 0 and less than 1; received {value!r}. Try share=0.1 "
            "for one row in ten."
        )
    return share


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator of random numbers that a seed, a generator or None stands for."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            "`random_state` must be an integer, 0 or more, a NumPy generator or None; received "
            f"{random_state!r}. Pass random_state=0 to get the same points every time."
        ) from None


def refuse_infinite(name: str, points: np.ndarray[Any, Any]) -> None:
    """Raise if a coordinate came out as NaN or infinite."""
    if not np.isfinite(points).all():
        raise InputError(
            f"Some points of {name!r} would not be finite; received parameters that are too large "
            "or too small. Choose parameters nearer to the defaults."
        )
