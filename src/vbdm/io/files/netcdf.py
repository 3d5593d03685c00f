"""NetCDF and the Zarr stores of xarray: time × space becomes points × coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.errors import bad_input
from .formats import need
from .keyed import choose_key
from .table import Content, Options, check_real_numbers, listed, no_rows

USUAL_DIMENSION = "time"


def read(path: Path, options: Options) -> Content:
    """Read variables; `sample_dims` become rows, all other dimensions become columns.

    Columns that are missing in every row, such as land in a map of the sea, are left out.
    """
    xarray = need("xarray", path, "netcdf")
    engine = "zarr" if path.is_dir() else None
    # Dates stay numbers: a calendar that xarray cannot decode is no reason to refuse the data.
    with xarray.open_dataset(path, engine=engine, decode_times=False) as dataset:
        wanted = words_of(options.sample_dims) or [USUAL_DIMENSION]
        variables = choose_variables(dataset, options.variable, wanted)
        blocks = [flatten(dataset[name], wanted) for name in variables]
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
    return Content(values, tuple(names), selection, notes=tuple(notes))


def words_of(text: str | Sequence[str] | None) -> list[str]:
    """Return "a,b" or ["a", "b"] as a list."""
    pieces = text.split(",") if isinstance(text, str) else list(text or [])
    return [piece.strip() for piece in pieces if piece.strip()]


def choose_variables(dataset: Any, variable: Any, sample_dims: list[str]) -> list[str]:
    """Return the variables that the user named, or the only one with the wanted dimensions."""
    names = [str(name) for name in dataset.data_vars]
    wanted = words_of(variable)
    for name in wanted:
        if name not in dataset.coords:
            choose_key(name, names, "variable", "variable")
    if wanted:
        return wanted
    fitting = [name for name in names if set(sample_dims) <= set(dataset[name].dims)]
    if len(fitting) != 1 and len(names) > 1:
        raise bad_input(
            "Which variable is meant?",
            received=f"no `variable`, and {len(names)} in the file",
            because=f"In the file: {listed([described(dataset[name]) for name in names], 20)}.",
            hint=f"Choose one or more with `variable`, such as variable={(fitting or names)[0]!r}.",
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
        raise bad_input(
            f"The variable {str(variable.name)!r} has no dimension {absent[0]!r} to become rows.",
            received=described(variable),
            because="Rows are points: usually the moments of time, or samples, or members.",
            hint=f"Name the dimension with `sample_dims`, such as sample_dims={dims[0]!r}."
            if dims
            else "Choose another variable.",
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
        labels = labels_of(variable, dim)
        names = [f"{name},{label}" if name else label for name in names for label in labels]
    return [f"{variable.name}[{name}]" if name else str(variable.name) for name in names]


def labels_of(variable: Any, dim: Any) -> list[str]:
    """Return a label for each place along a dimension: its coordinate, else its number."""
    places: list[Any] = list(range(variable.sizes[dim]))
    if dim in variable.coords:
        values = variable.coords[dim].values
        labels = [f"{v:.7g}" if values.dtype.kind == "f" else str(v) for v in values.tolist()]
        if len(set(labels)) == len(labels):
            places = labels
    return [f"{dim}={place}" for place in places]
