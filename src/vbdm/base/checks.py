"""Arguments of public functions, checked in one line each: kinds of them, and a decorator.

A kind takes a value and the name of its argument, and returns the value in the type that the
package works with, or raises an `InputError`; the decorator `accepts` checks a whole signature.

>>> @accepts(height=check_real, loud=a_switch, times=a_count(1, 9))
... def call(height, loud=False, times=1):
...     return height
>>> call(2)
2.0
>>> try:
...     call(2, loud="yes")
... except ValueError as error:
...     print(error)
`loud` must be a switch; received 'yes'. Pass True or False.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .arrays import FloatArray, is_elsewhere, to_host

P = ParamSpec("P")
T = TypeVar("T")
#: Takes a value and the name of its argument; returns the value to use, or raises an `InputError`.
Kind = Callable[[Any, str], T]
#: The largest count that is believed, in lists and files as in loops.
MOST = 2**40
#: Values of ε between which nothing overflows.
EPSILONS = (5e-324, 1e200)
#: Names of NumPy's kinds of values that are no real numbers.
KIND_NAMES = {
    "b": "truth values", "c": "complex numbers", "O": "Python objects", "U": "text", "S": "text",
    "T": "text", "V": "records", "M": "dates", "m": "time spans",
}  # fmt: skip


def accepts(**kinds: Kind[Any]) -> Callable[[Callable[P, T]], Callable[P, T]]:
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


def a_kind(read: Callable[[Any], T | None], must_be: str, hint: str = "") -> Kind[T]:
    """Return the kind of values that `read` can turn into something else than None."""

    def check(value: Any, name: str) -> T:
        found = read(value)
        if found is None:
            advice = f" {hint}" if hint else ""
            raise InputError(f"`{name}` must be {must_be}; received {shown(value)}.{advice}")
        return found

    return check


def shown(value: Any) -> str:
    """Return a value for a message, cut off if it is long."""
    try:
        text = repr(value)
    except ValueError:
        # Python refuses to write out integers of thousands of digits.
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"


def as_number(value: Any) -> float:
    """Return a real number as a float, and NaN for anything else: text, switches, dates, arrays."""
    no_numbers = (bool, np.bool_, str, bytes, complex, np.complexfloating, np.datetime64)
    if isinstance(value, (*no_numbers, np.timedelta64)) or getattr(value, "ndim", 0) != 0:
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def kind_of(array: NDArray[Any]) -> str:
    """Return what an array holds in place of real numbers, in a word; empty if it is numbers.

    >>> kind_of(np.array(["1"])), kind_of(np.array([True], dtype=object)), kind_of(np.ones(2))
    ('text', 'truth values', '')
    """
    if array.dtype.kind != "O":
        return KIND_NAMES.get(array.dtype.kind, "")
    kinds = {type(value) for value in array.flat}
    if any(issubclass(kind, (str, bytes)) for kind in kinds):
        return KIND_NAMES["U"]
    if any(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return KIND_NAMES["b"]
    return KIND_NAMES["M"] if any(hasattr(kind, "isoformat") for kind in kinds) else ""


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


def number_between(low: float, high: float, strictly: bool = False) -> Callable[[Any], Any]:
    """Return a function that reads a finite number within bounds."""

    def read(value: Any) -> float | None:
        number = as_number(value)
        inside = low < number < high if strictly else low <= number <= high
        return number if inside and np.isfinite(number) else None

    return read


def is_whole(value: Any) -> bool:
    """Tell whether a value is an integer; a switch is none, though Python counts with it."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_auto(value: Any) -> bool:
    """Tell whether a value is the word "auto"; an array, which compares by entries, never is."""
    return isinstance(value, str) and value == "auto"


def members(value: Any) -> list[Any] | None:
    """Return the members of a list; None for a text, a mapping or a scalar."""
    is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    return list(value) if is_list and np.ndim(np.asarray(value, dtype=object)) else None


def as_list(value: Any) -> FloatArray | None:
    """Return a list of finite numbers as an array of one dimension."""
    array = as_floats(value)
    return array if array is not None and array.ndim == 1 and np.isfinite(array).all() else None


def as_path(value: Any) -> Any:
    """Return a path as it is."""
    try:
        return value if "\0" not in os.fspath(value) else None
    except TypeError:
        return None


def as_texts(value: Any) -> list[str] | None:
    """Return a list of texts."""
    parts = members(value)
    if parts is None or not all(isinstance(part, str) for part in parts):
        return None
    return [str(part) for part in parts]


a_switch: Kind[bool] = a_kind(
    lambda value: bool(value) if isinstance(value, (bool, np.bool_)) else None,
    "a switch", "Pass True or False.",
)  # fmt: skip
check_positive: Kind[float] = a_kind(
    number_between(0.0, np.inf, strictly=True), "a finite number greater than 0",
    "Leave it at its default to have it estimated.",
)  # fmt: skip
check_real: Kind[float] = a_kind(number_between(-np.inf, np.inf), "a finite real number")
check_share: Kind[float] = a_kind(
    number_between(0.0, 1.0, strictly=True), "a number between 0 and 1", "0.95 stands for 95 %."
)
numbers: Kind[FloatArray] = a_kind(as_list, "a list of finite numbers")
words: Kind[list[str]] = a_kind(as_texts, "a list of texts")
a_path: Kind[Any] = a_kind(
    as_path, "the path of a file or folder", "Pass, for example, 'results/sphere.vbdm'."
)
a_function: Kind[Callable[..., Any]] = a_kind(
    lambda value: value if callable(value) else None,
    "a function", "Pass, for example, lambda s: np.exp(-s).",
)  # fmt: skip


def a_count(low: int = 1, high: int = MOST) -> Kind[int]:
    """Return the kind of integers between two bounds, both included."""
    bounds = f"{low} or more" if high == MOST else f"from {low} to {high}"
    return a_kind(
        lambda value: int(value) if is_whole(value) and low <= value <= high else None,
        f"an integer, {bounds}",
    )


def a_number(low: float, high: float) -> Kind[float]:
    """Return the kind of real numbers between two bounds, both included."""
    return a_kind(number_between(low, high), f"a number between {low:g} and {high:g}")


def some_of(count: int) -> Kind[NDArray[np.intp]]:
    """Return the kind of lists of numbers from 0 to count - 1, as arrays of integers."""

    def read(value: Any) -> NDArray[np.intp] | None:
        array = as_list(value)
        if array is None or not array.size:
            return None
        whole = (array >= 0) & (array < count) & (array == np.floor(array))
        return array.astype(np.intp) if whole.all() else None

    return a_kind(read, f"a list of numbers from 0 to {count - 1}", "Pass, for example, [1, 2].")


def an(kind: type | tuple[type, ...], hint: str) -> Kind[Any]:
    """Return the kind of objects of a class; `hint` says how to get one."""

    def check(value: Any, name: str) -> Any:
        if not isinstance(value, kind):
            kinds = kind if isinstance(kind, tuple) else (kind,)
            raise InputError(
                f"`{name}` must be of the class {' or '.join(k.__name__ for k in kinds)}; received "
                f"an object of the class {type(value).__name__}. {hint}"
            )
        return value

    return check


def all_of(kind: type, hint: str) -> Kind[list[Any]]:
    """Return the kind of lists of objects of a class; one object is a list of one."""
    one = an(kind, hint)

    def check(value: Any, name: str) -> list[Any]:
        several = members(value)
        return [one(part, name) for part in ([value] if several is None else several)]

    return check


def or_none(kind: Kind[T]) -> Kind[T | None]:
    """Return a kind that takes None as well."""
    return lambda value, name: None if value is None else kind(value, name)


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`."""
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        raise InputError(
            f"`{name}` is not one of the known names; received {shown(value)}. Choose one of: "
            f"{', '.join(map(repr, names))}."
        )
    return value


def answer_of(function: Callable[..., Any], name: str, *arguments: Any) -> Any:
    """Call a user's function; one that cannot take these arguments is refused by its name."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise InputError(
            f"The function given as `{name}` fails on an array of points; received "
            f"{type(error).__name__}: {error}. Call it yourself with a few rows of the data."
        ) from error
