"""Arrays as short text inside the page: bytes in base64, numbers rounded to 16 bits."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray

#: Values are rounded to whole numbers from 0, the smallest value, to STEPS, the largest; MISSING
#: stands for no value. The page's `data.js` has the same two numbers.
STEPS = 65534
MISSING = 65535


def packed(values: NDArray[Any]) -> str:
    """Return the bytes of an array in base64."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def quantised(values: FloatArray, low: float, high: float) -> str:
    """Return values as 16-bit numbers between `low` and `high`; NaN and infinity are MISSING."""
    known = np.isfinite(values)
    extent = (high - low) or 1.0
    share = np.where(known, np.clip((values - low) / extent, 0, 1), 0)
    return packed(np.where(known, np.round(share * STEPS), MISSING).astype("<u2"))
