"""Any value as strict JSON: one function for results.json, the page and what others' files hold."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a value made of text, numbers, truth values, None, lists and dicts only.

    Parameters
    ----------
    value : anything
        Arrays become nested lists; mappings and dataclasses become dicts whose keys are text;
        paths become text; any other object becomes its `str`.

    Notes
    -----
    JSON knows neither NaN nor infinity: both become None. All text can be written as UTF-8.

    Examples
    --------
    >>> plain({"values": np.array([1.0, np.nan]), "count": np.int64(3), "pair": (True, None)})
    {'values': [1.0, None], 'count': 3, 'pair': [True, None]}
    """
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return readable(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return plain_numbers(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {readable(str(key)): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    return readable(str(value))


def plain_numbers(values: Any) -> Any:
    """Return an array as nested lists, or a NumPy number as a number; fast if all are finite."""
    kind = values.dtype.kind
    if kind == "f":
        # Python's float is 64 bits wide: wider NumPy types would not become plain numbers.
        values = values.astype(np.float64)
    if kind in "biu" or (kind == "f" and np.isfinite(values).all()):
        return values.tolist()
    return plain(values.tolist())


def readable(text: str) -> str:
    """Return text that can be written as UTF-8: undecodable bytes become replacement characters.

    File names may hold such bytes.

    >>> readable("caf" + chr(0xDCE9)) == "caf" + chr(0xFFFD)
    True
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
