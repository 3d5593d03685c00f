"""Where the points of an estimate came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.row_notes import RowNotes


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the points came from, and what the user asked for; every field may be missing."""

    #: The file: name, format, size, sha256.
    source: Mapping[str, Any] | None = None
    #: Names of the columns.
    names: Sequence[str] | None = None
    #: Row of each point in the file, from 0, (N,).
    rows: NDArray[np.intp] | None = None
    #: Number of rows in the file, and of points left out for a missing value in their row or, with
    #: delays, in an earlier one that they need.
    n_read: int | None = None
    n_dropped: int | None = None
    #: What was done to the columns; stored in the model as well, to prepare new points.
    preparation: Mapping[str, Any] | None = None
    #: Arguments of `vbdm.io.read` (key, variable, …), so that new files are read alike.
    reading: Mapping[str, Any] | None = None
    #: Options that the user gave.
    settings: Mapping[str, Any] | None = None
    #: Warnings and notes of the run.
    warnings: Sequence[tuple[str, str]] = ()
    #: Labels, times and further numbers of each point, which are no coordinates.
    about_rows: RowNotes | None = None
    #: Unit of the coordinates; empty if it is not known.
    unit: str = ""
    #: Smallest value of each column, where some are periodic: points are wrapped into their box,
    #: and these tell back into which the file's values were.
    lowest: Sequence[float] | None = None
