"""Turn results into plain arrays and JSON, and back, without pickle.

A result is a tree of frozen dataclasses. Packing walks over it and writes down, for each of them,
the name of its class and its fields; arrays go into a list. What is shared stays shared: an array
or an object that hangs in two places is written once. Only the classes in `vbdm.io.saved.kinds` are known,
so a file cannot name anything else to be called: loading runs no code that is not in this package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.checks import frozen
from ...base.errors import InputError, bad_input
from .kinds import KINDS, NAMES

#: Kinds of numbers that a file may hold: bool, integers, real and complex numbers.
NUMBERS = "biufc"

#: What a user may have given that is code, where it hangs, and what to do instead.
FUNCTIONS = {
    "shape": "Use one of the named shapes: 'gaussian', 'broad' or 'compact'.",
    "given": "Pass `bandwidth` as an array, one value per point: such a model can be saved, but "
    "not be extended to new points.",
    "potential": "Pass `potential` as an array, one value per point: such a model can be saved, "
    "but not be extended to new points.",
    "metric": "Use a metric that has a name, or pass the neighbours, found with your own distance, "
    "to `NeighborGraph.from_arrays`.",
    "index": "Use an engine of `vbdm.search`, or pass the neighbours that yours has found to "
    "`NeighborGraph.from_arrays`.",
}
#: Fields under the name that users know.
KNOWN_AS = {"given": "bandwidth", "index": "search"}


class Packer:
    """Collects what a result is made of: `objects` for JSON, and `arrays`."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: list[NDArray[Any]] = []
        self._seen: dict[Any, int] = {}
        # Keeps what was packed alive: identity is by address, which must not be used again.
        self._kept: list[Any] = []

    def pack(self, item: Any, where: str = "result") -> Any:
        """Return something that JSON can hold; `where` is the name for messages."""
        if item is None or isinstance(item, (bool, str)):
            return item
        if isinstance(item, (int, np.integer)):
            return int(item)
        if isinstance(item, (float, np.floating)):
            # JSON has no infinity and no NaN.
            return float(item) if np.isfinite(item) else {"number": repr(float(item))}
        if isinstance(item, np.bool_):
            return bool(item)
        if type(item) in KINDS:
            return {"object": self._object(item)}
        if isinstance(item, (list, tuple)):
            packed = [self.pack(part, where) for part in item]
            return packed if isinstance(item, list) else {"tuple": packed}
        if isinstance(item, Mapping):
            return {"dict": {str(key): self.pack(value, str(key)) for key, value in item.items()}}
        if hasattr(item, "__array__") and not callable(item):
            return {"array": self._array(np.asarray(item), where)}
        raise cannot_save(item, where)

    def _object(self, item: Any) -> int:
        if id(item) not in self._seen:
            parts = KINDS[type(item)].take(item)
            packed = {name: self.pack(part, name) for name, part in parts.items()}
            self._kept.append((item, parts))
            self._seen[id(item)] = len(self.objects)
            self.objects.append({"class": type(item).__name__, "fields": packed})
        return self._seen[id(item)]

    def _array(self, array: NDArray[Any], where: str) -> int:
        if array.dtype.kind not in NUMBERS:
            raise cannot_save(array, where)
        # Views of the same memory are the same array.
        start = array.__array_interface__["data"][0]
        key = (start, array.shape, array.strides, array.dtype.str) if array.size else id(array)
        if key not in self._seen:
            self._kept.append(array)
            self._seen[key] = len(self.arrays)
            self.arrays.append(array)
        return self._seen[key]


class Unpacker:
    """Makes again what a `Packer` took apart."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = [frozen(array) for array in arrays]
        self.made: list[Any] = []

    def make_all(self, objects: Iterable[Mapping[str, Any]]) -> None:
        """Make the objects; each comes after those that it is made of."""
        for entry in objects:
            kind = KINDS[NAMES[entry["class"]]]
            parts = {name: self.unpack(part) for name, part in entry["fields"].items()}
            self.made.append(kind.make(**parts))

    def unpack(self, packed: Any) -> Any:
        """Return what was packed."""
        if isinstance(packed, list):
            return [self.unpack(part) for part in packed]
        if not isinstance(packed, dict):
            return packed
        ((tag, value),) = packed.items()
        match tag:
            case "number":
                return float(value)
            case "object":
                return self.made[value]
            case "array":
                return self.arrays[value]
            case "tuple":
                return tuple(self.unpack(part) for part in value)
            case "dict":
                return {key: self.unpack(part) for key, part in value.items()}
        raise ValueError(f"unknown tag {tag!r}")


def cannot_save(item: Any, where: str) -> InputError:
    """Say what cannot be written down, and what to do instead."""
    name = KNOWN_AS.get(where, where)
    return bad_input(
        f"`{name}` cannot be saved.",
        received=f"{type(item).__name__} {getattr(item, '__name__', '')}".strip(),
        because="A saved model holds numbers and names, no code, so that loading a file is safe.",
        hint=FUNCTIONS.get(where, "Pass plain numbers, text, lists or arrays of numbers."),
    )
