"""Where the points of an estimate came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the points came from, and how they were asked about; every part may be missing.

    Attributes
    ----------
    source : dict, optional
        The file: name, format, size, sha256.
    names : sequence of str, optional
        Names of the columns.
    rows : (N,) array, optional
        Row numbers in the file.
    n_read, n_dropped : int, optional
        Rows in the file, and points left out because a value is missing: in their row or, with
        delays, in an earlier one that they need.
    preparation : dict, optional
        What was done to the columns; stored inside the model, too, for new points.
    reading : dict, optional
        How the file was read (key, variable, …), so that new files are read alike.
    settings : dict, optional
        What the user asked for.
    warnings : sequence of (kind, text)
        Doubts that were raised on the way.
    """

    source: Mapping[str, Any] | None = None
    names: Sequence[str] | None = None
    rows: NDArray[np.intp] | None = None
    n_read: int | None = None
    n_dropped: int | None = None
    preparation: Mapping[str, Any] | None = None
    reading: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] | None = None
    warnings: Sequence[tuple[str, str]] = ()
