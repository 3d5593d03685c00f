"""The arguments of public functions, checked in one line each: a decorator, and kinds of arguments.

>>> @accepts(height=check_real, loud=a_switch, times=a_count(1, 9))
... def call(height, loud=False, times=1):
...     return height
>>> call(2)
2.0
>>> try:
...     call(2, loud="yes")
... except ValueError as error:
...     print(error)
`loud` is a switch. Received 'yes'. It is either on or off. Pass True or False.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..errors import InputError
from .checks import as_floats, check_is, check_real, is_whole, shown

P = ParamSpec("P")
T = TypeVar("T")
#: Takes a value and the name of its argument; returns the value to use, or raises an `InputError`.
Kind = Callable[[Any, str], Any]
#: The largest count that is believed, in lists and files as in loops.
MOST = 2**40
#: Values of ε between which nothing overflows.
EPSILONS = (5e-324, 1e200)


def accepts(**kinds: Kind) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that checks arguments by their names; defaults are left as they are."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        parameters = signature(function)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                given = parameters.bind(*args, **kwargs)
            except TypeError:
                # Python's own message names the function.
                return function(*args, **kwargs)
            for name, value in given.arguments.items():
                if name in kinds and value is not parameters.parameters[name].default:
                    given.arguments[name] = kinds[name](value, name)
            return function(*given.args, **given.kwargs)

        return checked

    return decorate


def a_switch(value: Any, name: str) -> bool:
    """Return True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InputError(f"`{name}` is a switch; received {shown(value)}. Pass True or False.")


def a_count(low: int = 1, high: int = MOST) -> Kind:
    """Return the kind of integers between two bounds, both included."""

    def check(value: Any, name: str) -> int:
        if is_whole(value) and low <= value <= high:
            return int(value)
        bounds = f"{low} or more" if high == MOST else f"from {low} to {high}"
        raise InputError(
            f"`{name}` must be an integer, {bounds}; received {shown(value)}. Leave `{name}` at "
            "its default, or pass a whole number."
        )

    return check


def a_number(low: float, high: float) -> Kind:
    """Return the kind of real numbers between two bounds, both included."""

    def check(value: Any, name: str) -> float:
        number = check_real(value, name)
        if low <= number <= high:
            return number
        raise InputError(
            f"`{name}` must lie between {low:g} and {high:g}; received {shown(value)}. Pass a "
            f"number for `{name}` that is nearer to its default."
        )

    return check


def an(kind: type | tuple[type, ...], hint: str) -> Kind:
    """Return the kind of objects of a class; `hint` says how to get one."""

    def check(value: Any, name: str) -> Any:
        check_is(value, name, kind, hint)
        return value

    return check


def all_of(kind: type, hint: str) -> Kind:
    """Return the kind of lists of objects of a class."""

    def check(value: Any, name: str) -> list[Any]:
        is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
        parts = list(value) if is_list and np.ndim(np.asarray(value, dtype=object)) else [value]
        for part in parts:
            check_is(part, name, kind, hint)
        return parts

    return check


def or_none(kind: Kind) -> Kind:
    """Return a kind that takes None as well."""
    return lambda value, name: None if value is None else kind(value, name)


def numbers(value: Any, name: str) -> Any:
    """Return a list of real numbers as an array of one dimension."""
    array = as_floats(value)
    if array is None or array.ndim != 1 or not np.isfinite(array).all():
        raise InputError(
            f"`{name}` must be a list of finite numbers; received {shown(value)}. Pass a list, a "
            "tuple or an array of one dimension."
        )
    return array


def some_of(count: int) -> Kind:
    """Return the kind of lists of different numbers from 0 to count - 1, as arrays of integers."""

    def check(value: Any, name: str) -> Any:
        array = as_floats(value)
        if array is not None and array.ndim == 1 and array.size:
            whole = np.isfinite(array) & (array >= 0) & (array < count)
            if whole.all() and (array == np.floor(array)).all():
                return array.astype(np.intp)
        raise InputError(
            f"`{name}` must be a list of numbers from 0 to {count - 1}; received {shown(value)}. "
            f"There are {count} of them, counted from 0. Pass, for example, [1, 2]."
        )

    return check


def words(value: Any, name: str) -> list[str]:
    """Return a list of texts."""
    # One text is no list of texts, although Python can walk through its letters.
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        parts = list(value) if np.ndim(np.asarray(value, dtype=object)) == 1 else []
        if all(isinstance(part, str) for part in parts):
            return [str(part) for part in parts]
    raise InputError(
        f"`{name}` must be a list of texts; received {shown(value)}. Pass a list of strings."
    )


def a_path(value: Any, name: str) -> Any:
    """Return the path of a file or folder, as it is."""
    try:
        usable = "\0" not in os.fspath(value)
    except TypeError:
        usable = False
    if usable:
        return value
    raise InputError(
        f"`{name}` must be the path of a file or folder; received {shown(value)}. Pass, for "
        "example, 'results/sphere.vbdm'."
    )


def a_function(value: Any, name: str) -> Callable[..., Any]:
    """Return something that can be called."""
    if callable(value):
        found: Callable[..., Any] = value
        return found
    raise InputError(
        f"`{name}` must be a function; received {shown(value)}. Pass, for example, lambda s: "
        "np.exp(-s)."
    )


def answer_of(function: Callable[..., Any], name: str, *arguments: Any) -> Any:
    """Call a user's function; one that cannot take these arguments is refused by its name."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise InputError(
            f"The function given as `{name}` fails on an array of points; received "
            f"{type(error).__name__}: {error}. Call it yourself with a few rows of the data, and "
            "write it with NumPy."
        ) from error
