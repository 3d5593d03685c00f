"""The sources of the kernels, and what they take.

A kernel gets addresses, and reads whatever lies there: numbers of another type would be garbage, in
silence. So the types of its arguments are read from its source, and each launch is checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

#: Types in the sources.
TYPES = {
    "double": np.float64, "float": np.float32, "int": np.int32, "i64": np.int64, "u64": np.uint64,
    "bool": np.bool_,
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its name and type, and whether it is an array of that type."""

    name: str
    type: np.dtype[Any]
    is_array: bool

    def takes(self, value: Any) -> bool:
        """Tell whether a value is handed over as this parameter."""
        if self.is_array:
            return value is None or getattr(value, "dtype", None) == self.type
        if isinstance(value, float):
            return self.type == np.float64
        return bool(self.type == (np.int32 if isinstance(value, np.int32) else np.int64))


@cache
def source_of(name: str) -> str:
    """Return the text of a source file, what all share in front."""
    folder = files(__package__)
    return (folder / "prelude.cu").read_text("utf-8") + (folder / f"{name}.cu").read_text("utf-8")


@cache
def parameters(source: str, columns: int) -> dict[str, tuple[Parameter, ...]]:
    """Return the parameters of all kernels of a source, compiled for a number of columns."""
    text = source_of(source)
    short = dict(re.findall(r"^#define ([A-Z]+) (.*)$", text, re.MULTILINE))
    types = TYPES | {"value": np.float32 if columns == 32 else np.float64}
    found = {}
    for kernel, listed in re.findall(r"^KERNEL\((\w+),([^)]*)\)", text, re.MULTILINE):
        whole = re.sub(r"\b[A-Z]+\b", lambda word: short[word.group()], listed)
        found[kernel] = tuple(parameter(part, types) for part in whole.split(","))
    return found


def parameter(declared: str, types: dict[str, Any]) -> Parameter:
    """Return a parameter as it is declared, such as ``const double* x``."""
    *_, kind, name = re.findall(r"\w+", declared)
    return Parameter(name, np.dtype(types[kind]), "*" in declared)


def check_arguments(source: str, columns: int, kernel: str, args: tuple[Any, ...]) -> None:
    """Raise unless the arguments have the types that a kernel reads."""
    for wanted, value in zip(parameters(source, columns)[kernel], args, strict=True):
        if not wanted.takes(value):
            given = getattr(value, "dtype", type(value).__name__)
            raise TypeError(f"kernel {kernel} takes {wanted.type} as {wanted.name}, not {given}")
