"""NetCDF and the Zarr stores of xarray: time × space becomes points × coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.files import need
from ..base.memory import refuse_array
from ..base.row_notes import RowNotes
from ..errors import InputError
from .arrays import choose_key, refuse_other_files
from .source import Source
from .table import REAL, Options, Table, check_real_numbers, listed, no_rows

USUAL_DIMENSION = "time"


def read(path: Path, options: Options) -> Table:
    """Read variables; `sample_dims` become rows, all other dimensions become columns.

    Columns that are missing in every row, such as land in a map of the sea, are left out.
    """
    xarray = need("xarray", path, "netcdf")
    if not path.is_dir():
        refuse_other_files(path, "netcdf")
    engine = "zarr" if path.is_dir() else None
    # Dates stay numbers: a calendar that xarray cannot decode is no reason to refuse the data.
    with xarray.open_dataset(path, engine=engine, decode_times=False) as dataset:
        wanted = words_of(options.sample_dims) or [USUAL_DIMENSION]
        refuse_repeated(wanted, "sample_dims")
        variables = choose_variables(dataset, options.variable, wanted)
        # Twice: each variable, and all of them side by side.
        refuse_array(2 * sum(dataset[name].size for name in variables), "The variables together")
        blocks = [flatten(dataset[name], wanted) for name in variables]
        units = {str(dataset[name].attrs.get("units", "")) for name in variables}
        about = times_of(xarray, dataset, wanted, len(blocks[0][0]))
    values = np.hstack([block for block, _ in blocks])
    names = [name for _, block_names in blocks for name in block_names]
    if 0 in values.shape:
        raise no_rows("The variable", f"shape {values.shape}")
    selection = {"variable": ",".join(variables), "sample_dims": ",".join(wanted)}
    kept = ~np.isnan(values).all(axis=0)
    if not kept.any():
        raise no_rows(f"The variable {variables[0]!r}", "missing values only")
    notes = []
    if not kept.all():
        count = f"{(~kept).sum()} of {len(kept)} columns"
        selection["dropped"] = f"{count}, missing in every row"
        notes.append(f"{count} have no value in any row and were left out (land?).")
        values = values[:, kept]
        names = [name for name, keep in zip(names, kept, strict=True) if keep]
    return Table(
        values,
        tuple(names),
        Source(selection=selection),
        notes=tuple(notes),
        about_rows=about,
        unit=units.pop() if len(units) == 1 else "",
    )


def times_of(xarray: Any, dataset: Any, sample_dims: list[str], n_rows: int) -> RowNotes:
    """Return the time of each row, if rows are moments: as dates, or as numbers with their unit."""
    if len(sample_dims) != 1 or sample_dims[0] not in dataset.coords:
        return RowNotes()
    name = sample_dims[0]
    axis = dataset.coords[name]
    if axis.shape != (n_rows,) or axis.dtype.kind not in REAL:
        return RowNotes()
    if name != USUAL_DIMENSION and "since" not in str(axis.attrs.get("units", "")):
        return RowNotes(numbers={name: np.asarray(axis.values, np.float64)})
    try:
        dates = xarray.decode_cf(xarray.Dataset(coords={name: axis})).coords[name].values
    except Exception:
        # Calendars that the library cannot decode are no reason to refuse the data.
        dates = axis.values
    if dates.dtype.kind == "M":
        return RowNotes(times=dates.astype("datetime64[us]"), time_name=name)
    unit = axis.attrs.get("units")
    numbers = np.asarray(axis.values, np.float64)
    return RowNotes(times=numbers, time_name=f"{name} ({unit})" if unit else name)


def words_of(text: str | Sequence[str] | None) -> list[str]:
    """Return "a,b" or ["a", "b"] as a list."""
    pieces = text.split(",") if isinstance(text, str) else list(text or [])
    return [piece.strip() for piece in pieces if piece.strip()]


def refuse_repeated(words: list[str], parameter: str) -> None:
    """Raise if a word is given twice."""
    if len(set(words)) < len(words):
        raise InputError(
            f"`{parameter}` must name each once; received {','.join(words)!r}. Leave one out."
        )


def choose_variables(dataset: Any, variable: Any, sample_dims: list[str]) -> list[str]:
    """Return the variables that the user named, or the only one with the wanted dimensions."""
    names = [str(name) for name in dataset.data_vars]
    wanted = words_of(variable)
    refuse_repeated(wanted, "variable")
    for name in wanted:
        if name not in dataset.coords:
            choose_key(name, names, "variable", "variable")
    if wanted:
        return wanted
    fitting = [name for name in names if set(sample_dims) <= set(dataset[name].dims)]
    if len(fitting) != 1 and len(names) > 1:
        raise InputError(
            f"Which variable is meant?; received no `variable`, and {len(names)} in the file. In "
            f"the file: {listed([described(dataset[name]) for name in names], 20)}. Choose one or "
            f"more with `variable`, such as variable={(fitting or names)[0]!r}."
        )
    return fitting or [choose_key(None, names, "variable", "variable")]


def described(variable: Any) -> str:
    """Return name and dimensions, such as ``sst(time, lat, lon)``."""
    return f"{variable.name}({', '.join(str(name) for name in variable.dims)})"


def flatten(variable: Any, sample_dims: list[str]) -> tuple[NDArray[Any], list[str]]:
    """Return the variable as an array of samples × places, and the names of its columns."""
    absent = [name for name in sample_dims if name not in variable.dims]
    if absent:
        dims = [str(name) for name in variable.dims]
        advice = "Choose another variable."
        if dims:
            advice = f"Name the dimension with `sample_dims`, such as sample_dims={dims[0]!r}."
        raise InputError(
            f"The variable {str(variable.name)!r} has no dimension {absent[0]!r} to become rows; "
            f"received {described(variable)}. {advice}"
        )
    check_real_numbers(variable.dtype, f"The variable {str(variable.name)!r}")
    others = [name for name in variable.dims if name not in sample_dims]
    ordered = variable.transpose(*sample_dims, *others)
    n_rows = int(np.prod([variable.sizes[name] for name in sample_dims]))
    n_columns = int(np.prod([variable.sizes[name] for name in others], dtype=int))
    values = np.asarray(ordered.values).reshape(n_rows, n_columns)
    return values, column_names(variable, others)


def column_names(variable: Any, dims: Sequence[Any]) -> list[str]:
    """Return one name per column, such as ``sst[lat=10,lon=20]``."""
    names = [""]
    for dim in dims:
        # A label for each place: its coordinate, else its number.
        labels = [str(place) for place in range(variable.sizes[dim])]
        if dim in variable.coords:
            values = variable.coords[dim].values
            own = [f"{v:.7g}" if values.dtype.kind == "f" else str(v) for v in values.tolist()]
            labels = own if len(set(own)) == len(own) else labels
        labels = [f"{dim}={label}" for label in labels]
        names = [f"{name},{label}" if name else label for name in names for label in labels]
    return [f"{variable.name}[{name}]" if name else str(variable.name) for name in names]
