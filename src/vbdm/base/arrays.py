"""Names for the types of arrays, and the read-only view in which results are handed out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of the array, so that no reader of a result can change it."""
    view = array.view()
    view.flags.writeable = False
    return view
