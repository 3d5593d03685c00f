"""What a saved file may hold, field by field: `pack` writes it, `unpack` checks it and reads it.

A section of the file is a table of fields, `part(make, name=field, …)`: the names are those in the
file, and `make` is called with the values. These tables are the schema, which docs/file-format.md
says in words. Classes may change as long as they can be taken apart into these names: `pack` takes
the values from the attributes of an object, or from a mapping where these have other names.

Fields are `bool`, `str`, a tuple of words of which it is one, or an object of a class below.
Numbers and words stand in the JSON text, arrays in entries of their own. Bounds are looked at when
a file is written, too: what is saved can be read. What is wrong in a file raises a plain
`ValueError`, which `archive.complaining` turns into words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import frozen
from ...errors import InputError
from .archive import Source

#: What a user may have given that is code, and what to do instead.
FUNCTIONS = {
    "shape": "Use one of the named shapes: 'gaussian', 'broad' or 'compact'.",
    "bandwidth": "Pass `bandwidth` as an array, one value per point: such a model can be saved, "
    "but not be extended to new points.",
    "potential": "Pass `potential` as an array, one value per point: such a model can be saved, "
    "but not be extended to new points.",
    "metric": "Use a metric that has a name, or pass the neighbours, found with your own distance, "
    "to `NeighborGraph.from_arrays`.",
    "search": "Use an engine of `vbdm.search`, or pass the neighbours that yours has found to "
    "`NeighborGraph.from_arrays`.",
}


def cannot_save(item: Any, name: str) -> InputError:
    """Say what cannot be written down, and what to do instead."""
    kind = f"{type(item).__name__} {getattr(item, '__name__', '')}".strip()
    advice = FUNCTIONS.get(name, "Pass plain numbers, text, lists or arrays of numbers.")
    return InputError(
        f"`{name}` cannot be saved; received {kind}. A saved model holds numbers and names, no "
        f"code, so that loading a file is safe. {advice}"
    )


def out_of_bounds(path: str) -> InputError:
    """Say that a result holds numbers that no sound result has."""
    return InputError(
        f"This result is broken, and cannot be saved; received numbers in {path} that cannot be "
        "there. Numbers of extreme size overflow on the way, and a rule or a solver of your own "
        "may return NaN; a file with them would be refused when it is read. Check the units of "
        "the data, and what your own code returns."
    )


#: Arrays to be written, by the name of their entry.
Arrays = dict[str, NDArray[Any]]
LARGEST = float(np.finfo(np.float64).max)
#: The smallest number above 0: a lower bound for what is positive.
POSITIVE = 5e-324
#: JSON has no such numbers: they are written as words.
NOT_FINITE = ("nan", "inf", "-inf")


@dataclass(frozen=True)
class Number:
    """A number within bounds, both included; NaN only if it may be `missing`."""

    low: float = -LARGEST
    high: float = LARGEST
    missing: bool = False
    whole: bool = False


def count(low: int = 0, high: int = 2**31 - 1) -> Number:
    """Return the field of a whole number."""
    return Number(low, high, whole=True)


@dataclass(frozen=True)
class Array:
    """An array of numbers.

    Attributes
    ----------
    axes : tuple of str
        A name for the length of each axis. The first array with a name says how long it is, and
        all others must agree.
    kinds : str
        Which kinds of numbers, in NumPy's letters: f(loat), i(nteger), b(ool), c(omplex); and s for
        floats of single precision.
    low, high : float
        Bounds, both included; infinities only where a bound is one.
    below : str
        The name of a length that all numbers are below: they are indices.
    missing, empty : bool
        Whether NaN may stand in it; whether there may be no number at all.
    frozen : bool
        Whether it becomes read-only. What compiled loops work on may not: an estimate makes such
        arrays writable, and for read-only ones the loops would be compiled again.
    known_as : str
        How users call it, for the refusal of a function in its place.
    """

    axes: tuple[str, ...]
    kinds: str = "f"
    low: float = -LARGEST
    high: float = LARGEST
    below: str = ""
    missing: bool = False
    empty: bool = False
    frozen: bool = True
    known_as: str = ""


@dataclass(frozen=True)
class Maybe:
    """A field that may be absent: None, in JSON null."""

    field: Any


@dataclass(frozen=True)
class Added:
    """A field of a part that was added later; left out of a file where it has its default."""

    field: Any
    default: Any


@dataclass(frozen=True)
class Many:
    """Several values of one kind: a tuple, in JSON a list."""

    field: Any


@dataclass(frozen=True)
class Named:
    """Words under names that the schema does not know: a dict."""


@dataclass(frozen=True)
class Part:
    """A table of fields, and what is called with their values."""

    make: Callable[..., Any]
    fields: Mapping[str, Any]


def part(make: Callable[..., Any], /, **fields: Any) -> Part:
    """Return a table of fields."""
    return Part(make, fields)


@dataclass(frozen=True)
class OneOf:
    """An object of one of several classes, by a name for its class, and its fields.

    Attributes
    ----------
    known_as : str
        How users call it, for the refusal of a class of their own.
    parts : mapping from names to Part
        The known classes, which are what these make.
    words : callable or None
        From an object of another class to words, which are kept under the name "own"; None: it is
        refused.
    """

    known_as: str
    parts: Mapping[str, Part]
    words: Callable[[Any], str] | None = None


def require(holds: Any, path: str, what: str) -> None:
    """Raise if something does not hold of a file: it is damaged."""
    if not holds:
        raise ValueError(f"{path} {what}")


def pack(field: Any, value: Any, path: str, out: Arrays) -> Any:
    """Return what stands in the JSON text at this place; arrays go to `out`."""
    match field:
        case Maybe():
            return None if value is None else pack(field.field, value, path, out)
        case Many():
            return [pack(field.field, item, path, out) for item in value]
        case Named():
            return {str(key): str(item) for key, item in value.items()}
        case Part(fields=fields):
            found = value if isinstance(value, Mapping) else {k: getattr(value, k) for k in fields}
            kept = [k for k in fields if not is_default(fields[k], found[k])]
            return {k: pack(fields[k], found[k], f"{path}/{k}", out) for k in kept}
        case Added():
            return pack(field.field, value, path, out)
        case OneOf(parts=parts):
            for name, known in parts.items():
                if type(value) is known.make:
                    return {"name": name, **pack(known, value, path, out)}
            if field.words is None:
                raise cannot_save(value, field.known_as)
            return {"name": "own", "words": field.words(value)}
        case Array():
            array = np.asarray(value)
            if callable(value) or array.dtype.kind not in "fiubc":
                raise cannot_save(value, field.known_as or path)
            is_single = "s" in field.kinds and array.dtype == np.float32
            if "f" in field.kinds and not is_single:
                precise = complex if array.dtype.kind == "c" else float
                array = array.astype(precise, copy=False)
            if not field.below and not is_right(array, field, {}):
                raise out_of_bounds(path)
            out[f"{path}.npy"] = array
            return f"{path}.npy"
    if field is bool:
        return bool(value)
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, (bool, int, float, str)):
        raise cannot_save(value, path.rpartition("/")[2])
    if isinstance(field, Number) and not is_number(plain, field):
        raise out_of_bounds(path)
    return repr(plain) if isinstance(plain, float) and not np.isfinite(plain) else plain


def unpack(field: Any, stored: Any, path: str, source: Source) -> Any:
    """Return the value that stands at this place of a file, if it is what it should be."""
    match field:
        case Maybe():
            return None if stored is None else unpack(field.field, stored, path, source)
        case Many():
            require(isinstance(stored, list), path, "is no list")
            return tuple(unpack(field.field, item, path, source) for item in stored)
        case Named():
            require(isinstance(stored, dict), path, "is no object")
            return {key: unpack(str, item, path, source) for key, item in stored.items()}
        case Part(fields=fields):
            require(isinstance(stored, dict), path, "is no object")
            there = [k for k in fields if k in stored or not isinstance(fields[k], Added)]
            found = {k: unpack(fields[k], stored[k], f"{path}/{k}", source) for k in there}
            return field.make(**found)
        case Added():
            return unpack(field.field, stored, path, source)
        case OneOf(parts=parts):
            require(isinstance(stored, dict), path, "is no object")
            return unpack(parts[stored["name"]], stored, path, source)
        case Array():
            require(stored == f"{path}.npy", path, "has no entry of its own")
            array = source.array(stored, field.axes, field.kinds)
            require(is_right(array, field, source.sizes), path, "holds what cannot be there")
            return frozen(array) if field.frozen else array
        case Number():
            number = float(stored) if stored in NOT_FINITE else stored
            require(is_number(number, field), path, f"is {stored!r:.40}")
            return number
    known = isinstance(stored, field) if field in (bool, str) else stored in field
    require(known, path, f"is {stored!r:.40}")
    return stored


def is_default(field: Any, value: Any) -> bool:
    """Tell whether a field can be left out of the file."""
    return isinstance(field, Added) and bool(value == field.default)


def is_number(number: Any, field: Number) -> bool:
    """Tell whether this is a number that the field may hold; whole ones stay whole."""
    if isinstance(number, bool) or not isinstance(number, int if field.whole else (int, float)):
        return False
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        return False
    return field.low <= number <= field.high or (field.missing and number != number)


def is_right(array: NDArray[Any], field: Array, sizes: Mapping[str, int]) -> bool:
    """Tell whether an array holds only what its field may hold; no copy is made."""
    if array.size == 0 or array.dtype.kind == "b":
        return field.empty or array.size > 0
    low, high = (0, sizes[field.below] - 1) if field.below else (field.low, field.high)
    parts = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
    smaller, larger = (np.fmin, np.fmax) if field.missing else (np.minimum, np.maximum)
    with np.errstate(invalid="ignore"):
        ends = [(smaller.reduce(p, axis=None), larger.reduce(p, axis=None)) for p in parts]
    # As Python's numbers: beside one of single precision, NumPy would round the bounds.
    numbers = [(lowest.item(), highest.item()) for lowest, highest in ends]
    return all(
        (low <= lowest and highest <= high) or (field.missing and lowest != lowest)
        for lowest, highest in numbers
    )
