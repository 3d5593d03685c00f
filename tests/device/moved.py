"""An ordinary operator, moved to a device: what an estimate there would have made."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from vbdm.engines.cuda.csr import DeviceCsr

from .strict_array import StrictArray
from .strict_engine import StrictEngine


def moved(result: Any, n_points: int, engine: Any = None) -> Any:
    """Return a dataclass whose arrays of at least so many numbers live elsewhere."""
    engine = StrictEngine() if engine is None else engine

    def there(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return StrictArray(value.copy()) if value.size >= n_points else value
        if issparse(value):
            arrays = (StrictArray(part) for part in (value.data, value.indices, value.indptr))
            return DeviceCsr(*arrays, value.shape)
        if type(value) in (list, tuple):
            return type(value)(map(there, value))
        if hasattr(value, "multiply"):
            return engine
        if not is_dataclass(value) or isinstance(value, type):
            return value
        fresh = object.__new__(type(value))
        own = {field.name: there(getattr(value, field.name)) for field in fields(value)}
        vars(fresh).update(own)
        return fresh

    return there(result)
