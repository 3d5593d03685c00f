"""Accessors such as `spectrum.errors`: views of a result, whose answers the result keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")
#: Where a result keeps what its accessors have found, by accessor.
KEPT = "_kept"


class Accessor:
    """A view of a result. What it computes is kept with the result, by no reference in a circle."""

    def __init__(self, result: Any) -> None:
        self._known: dict[str, Any]
        self._result = result
        self._known = vars(result).setdefault(KEPT, {}).setdefault(type(self).__name__, {})

    def __repr__(self) -> str:
        """Say whose it is, and what can be asked."""
        asked = ", ".join(name for name in dir(type(self)) if not name.startswith("_"))
        return f"{type(self).__name__} of {self._result!r}: {asked}"


class kept(Generic[Value]):
    """A property of an `Accessor` that is computed once for each result."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, accessor: None, owner: type) -> Self: ...
    @overload
    def __get__(self, accessor: Accessor, owner: type) -> Value: ...
    def __get__(self, accessor: Accessor | None, owner: type) -> Value | Self:
        if accessor is None:
            return self
        if self.name not in accessor._known:
            accessor._known[self.name] = self.compute(accessor)
        value: Value = accessor._known[self.name]
        return value


def kept_with(result: Any, name: str, compute: Callable[[], Value]) -> Value:
    """Return what a function computes of a result, which keeps it under a name."""
    known = vars(result).setdefault(KEPT, {})
    if name not in known:
        known[name] = compute()
    value: Value = known[name]
    return value
