"""Results as users get them: in this machine's memory, or where they were computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import beside_array, frozen, is_elsewhere, to_host
from .threads import for_each, slices

#: Where results are handed out: in this machine's memory, or where they were computed.
OUTPUTS = ("numpy", "device")
#: Numbers of 8 bytes in a page of memory, and in the parts that are touched at a time.
PAGE, AT_ONCE = 512, 1 << 20


def handed_out(values: Any, output: str = "numpy") -> Any:
    """Return results as users get them: read-only NumPy arrays, or as they are on a device."""
    return frozen(values if output == "device" else fetched(values))


def taken_in(values: Any, there: Any, output: str = "numpy") -> Any:
    """Return a user's values where results are handed out; `there` lives where these are made."""
    if output == "device" and is_elsewhere(there):
        return beside_array(values, there)
    return to_host(values)


def fetched(values: Any) -> Any:
    """Return a large array as NumPy's.

    The system hands out fresh memory page by page, when each is first touched: that took most of
    the time of a copy from a device. So all cores touch it first.
    """
    if not is_elsewhere(values) or values.size < AT_ONCE or values.dtype.itemsize != 8:
        return to_host(values)
    result = np.empty(values.shape, values.dtype)
    flat = result.reshape(-1)

    def touch(part: slice) -> None:
        flat[part.start : part.stop : PAGE] = 0

    for_each(touch, slices(flat.size, AT_ONCE))
    return values.get(out=result)
