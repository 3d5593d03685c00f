"""Parquet: columns with names and types, of which only the chosen ones are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import bad_input
from .columns import choose
from .formats import need
from .table import TRUTH_VALUES, Content, Options, listed, no_rows

#: Beginning of the names of columns in which pandas stores row labels.
INDEX = "__index_level_"


def read(path: Path, options: Options) -> Content:
    """Read a Parquet file; missing values become NaN."""
    parquet = need("pyarrow.parquet", path, "parquet")
    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        names = [name for name in schema.names if not name.startswith(INDEX)]
        chosen = [names[position] for position in choose(options.columns, names)]
        check_columns(schema, chosen, path)
        table = file.read(columns=chosen)
    if table.num_rows == 0 or not chosen:
        raise no_rows("The file", f"{table.num_rows} rows and {len(chosen)} columns")
    values = np.empty((table.num_rows, len(chosen)))
    for position, name in enumerate(chosen):
        values[:, position] = column_of(table, name, path)
    selection = {} if options.columns is None else {"columns": listed(chosen)}
    return Content(values, tuple(chosen), selection, columns_taken=True)


def column_of(table: Any, name: str, path: Path) -> Any:
    """Return one column as float64."""
    column = table.column(name)
    types = need("pyarrow.types", path, "parquet")
    if types.is_float16(column.type):
        return column.to_numpy()
    return column.cast("float64", safe=False).to_numpy()


def check_columns(schema: Any, chosen: list[str], path: Path) -> None:
    """Refuse columns of text, dates and lists, and name those that hold numbers."""
    types = need("pyarrow.types", path, "parquet")

    def is_real(kind: Any) -> bool:
        tests = (types.is_floating, types.is_integer, types.is_decimal)
        return any(test(kind) for test in tests)

    wrong = [name for name in chosen if not is_real(schema.field(name).type)]
    if not wrong:
        return
    numeric = [name for name in schema.names if is_real(schema.field(name).type)]
    raise bad_input(
        "All columns must hold real numbers.",
        received=listed([f"{name!r} ({schema.field(name).type})" for name in wrong]),
        because=TRUTH_VALUES
        if all(types.is_boolean(schema.field(name).type) for name in wrong)
        else "Columns of labels, dates or lists are no coordinates.",
        hint=f"Choose others with `columns`; those with numbers: {listed(numeric, 20)}."
        if numeric
        else "Choose another file: this one has no columns of numbers.",
    )
