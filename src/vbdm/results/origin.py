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
    """Where the points came from, and what the user asked for; every field may be missing.

    Attributes
    ----------
    source : dict, optional
        The file: name, format, size, sha256.
    names : sequence of str, optional
        Names of the columns.
    rows : (N,) array, optional
        Row of each point in the file, from 0.
    n_read, n_dropped : int, optional
        Number of rows in the file, and of points left out for a missing value in their row or,
        with delays, in an earlier one that they need.
    preparation : dict, optional
        What was done to the columns; stored in the model as well, to prepare new points.
    reading : dict, optional
        Arguments of `vbdm.io.read` (key, variable, …), so that new files are read alike.
    settings : dict, optional
        Options that the user gave.
    warnings : sequence of (kind, text)
        Warnings and notes of the run.
    about_rows : RowNotes, optional
        Labels, times and further numbers of each point, which are no coordinates.
    unit : str
        Unit of the coordinates; empty if it is not known.
    lowest : sequence of float, optional
        Smallest value of each column, where some are periodic: points are wrapped into their box,
        and these tell back into which the file's values were.
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
    about_rows: RowNotes | None = None
    unit: str = ""
    lowest: Sequence[float] | None = None
