"""A table of numbers from a file, whose rows are points; and what readers need to make one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.checks import KIND_NAMES
from ..base.row_notes import RowNotes
from ..errors import InputError, printable
from .source import Source

#: NumPy's kinds of numbers that become coordinates: integers and real numbers.
REAL = "iuf"
#: Why truth values are refused, for messages.
TRUTH_VALUES = "True and False are labels, not measurements; as 0 and 1 they would be coordinates."
#: A frame to superpose others on: name, x, y, z of each atom.
Reference = tuple[tuple[str, float, float, float], ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers from a file; rows are points, columns are coordinates.

    Attributes
    ----------
    values : (N, n) array, or (N, N) sparse array of distances
        Numbers as the file stores them: real, of any precision, perhaps a read-only memory map.
        Missing values are NaN.
    names : tuple of str
        Names of the columns; "x0", "x1", ... where the file has none. Empty for distances.
    source : Source
        The file.
    metric : str
        "euclidean" for points, "precomputed" for distances.
    period : tuple or None
        Period of each column, with None for a column without one; None if no column is periodic.
    chosen : bool
        Whether the user chose the columns; otherwise they are all that the file has.
    notes : tuple of str
        Sentences for the user about the way the file was read.
    reference : tuple of (str, float, float, float), or None
        Frame on which those of a trajectory were superposed: name, x, y, z of each atom.
    made_up : bool
        Whether the file has no names, so that `names` are "x0", "x1", ….
    about_rows : RowNotes
        Labels, times and further numbers of the rows, which are no coordinates.
    unit : str
        Unit of the values, such as "Å"; empty if the file does not tell, or if columns differ.
    """

    values: Any
    names: tuple[str, ...]
    source: Source
    metric: str = "euclidean"
    period: tuple[float | None, ...] | None = None
    chosen: bool = False
    notes: tuple[str, ...] = ()
    reference: Reference | None = None
    made_up: bool = False
    about_rows: RowNotes = field(default_factory=RowNotes)
    unit: str = ""


@dataclass(frozen=True)
class Options:
    """What to take from a file; the fields are the parameters of `vbdm.io.read`."""

    key: str | None = None
    columns: Any = None
    header: bool | str = "auto"
    variable: str | Sequence[str] | None = None
    sample_dims: str | Sequence[str] | None = None
    topology: Path | None = None
    selection: str | None = None
    features: str = "coordinates"
    stride: int = 1
    scratch: Path | None = None


@dataclass(frozen=True, eq=False)
class Content:
    """What the reader of a format returns; the fields are those of `Table`, with two exceptions.

    `names` are None where the file has none and all columns are there. `columns_taken` is True if
    the reader has already left out the columns that were not chosen.
    """

    values: Any
    names: tuple[str, ...] | None = None
    selection: Mapping[str, str] = field(default_factory=dict)
    metric: str = "euclidean"
    period: tuple[float | None, ...] | None = None
    columns_taken: bool = False
    notes: tuple[str, ...] = ()
    reference: Reference | None = None
    made_up: bool = False
    about_rows: RowNotes = field(default_factory=RowNotes)
    unit: str = ""


def plain_names(n_columns: int) -> tuple[str, ...]:
    """Return "x0", "x1", ... for columns without names."""
    return tuple(f"x{number}" for number in range(n_columns))


def are_plain(names: Sequence[str]) -> bool:
    """Tell whether all names are "x" with a number, as `plain_names` makes them.

    >>> from vbdm.io.table import are_plain
    >>> are_plain(["x0", "x2"]), are_plain(["x", "y"])
    (True, False)
    """
    return all(re.fullmatch(r"x\d+", name) for name in names)


def unique(cells: Sequence[str]) -> tuple[str, ...]:
    """Return cells as names of columns: empty ones and repeated ones are changed.

    >>> from vbdm.io.table import unique
    >>> unique(["", "x", "x"])
    ('x0', 'x', 'x_2')
    """
    names: dict[str, int] = {}
    for position, cell in enumerate(cells):
        first = name = cell or f"x{position}"
        while name in names:
            names[first] += 1
            name = f"{first}_{names[first]}"
        names[name] = 1
    return tuple(names)


def listed(words: Sequence[Any], most: int = 8) -> str:
    """Return words in one line; of more than `most`, the first ones and the number of the rest.

    >>> from vbdm.io.table import listed
    >>> listed(["a", "b", "c", "d"], most=2)
    'a, b and 2 more'
    """
    shown = ", ".join(printable(str(word)) for word in words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def as_rows(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Return an array of real numbers with two axes; an array with one axis becomes one column.

    `what` names the array in messages, such as "The dataset 'a/b'".
    """
    check_real_numbers(array.dtype, what)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise wrong_axes(array.shape, what)
    if 0 in array.shape:
        raise no_rows(what, f"shape {array.shape}")
    return array


def check_real_numbers(dtype: np.dtype[Any], what: str) -> None:
    """Raise unless the type of an array is a real number."""
    if dtype.kind not in REAL:
        reason = (
            TRUTH_VALUES
            if dtype.kind == "b"
            else "Coordinates are measured with real numbers; objects are never unpacked, since "
            "that could run foreign code."
        )
        raise InputError(
            f"{what} must hold real numbers; received {KIND_NAMES.get(dtype.kind, 'values')} "
            f"(type {dtype}). {reason} Convert it to float64 and save it again, or choose other "
            "columns or another key."
        )


def wrong_axes(shape: tuple[int, ...], what: str) -> InputError:
    """Return the error for an array that does not have one or two axes."""
    return InputError(
        f"{what} must be a table with one row per point; received an array with {len(shape)} "
        f"axes, shape {shape}. Reshape it to (points, coordinates) and save it again; for time × "
        "space use NetCDF and name the axes with `sample_dims`."
    )


def no_rows(what: str, received: str) -> InputError:
    """Return the error for a table without rows or columns."""
    return InputError(
        f"{what} holds no points; received {received}. It has no rows or no columns; the program "
        "that wrote it may have stopped early. Check how the file was made."
    )
