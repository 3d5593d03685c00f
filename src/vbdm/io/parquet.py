"""Parquet: columns with names and types, of which only the chosen ones are read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..base.files import need
from ..base.memory import refuse_array
from ..base.row_notes import MOST_FIELDS
from ..errors import InputError
from ..rows.sources import Chunks, batches, is_real, numbers_of
from .set_aside import SetAside
from .source import Source
from .table import TRUTH_VALUES, Options, Table, choose, listed, no_rows

#: Beginning of the names of columns in which pandas stores row labels.
INDEX = "__index_level_"
#: A cell of text takes as much memory as this many numbers.
TEXT_NUMBERS = 8


def read(path: Path, options: Options) -> Table:
    """Read a Parquet file; missing values become NaN."""
    parquet = need("pyarrow.parquet", path, "parquet")
    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        names = [name for name in schema.names if not name.startswith(INDEX)]
        chosen = [names[position] for position in choose(options.columns, names)]
        if options.columns is None:
            chosen = [name for name in names if is_real(schema.field(name).type)] or names
        check_columns(schema, chosen, path)
        others = [name for name in names if name not in set(chosen)]
        if hasattr(options.columns, "apply"):
            others = []
        if options.scratch is not None:
            return mapped(path, chosen, others, file.metadata.num_rows, options)
        others = others[:MOST_FIELDS]
        # Twice: as Arrow keeps the columns, and as an array. Text takes more.
        per_row = 2 * len(chosen) + TEXT_NUMBERS * len(others)
        refuse_array(file.metadata.num_rows * per_row, "The file")
        table = file.read(columns=[*chosen, *others])
    if table.num_rows == 0 or not chosen:
        raise no_rows("The file", f"{table.num_rows} rows and {len(chosen)} columns")
    values = np.empty((table.num_rows, len(chosen)))
    for position, name in enumerate(chosen):
        values[:, position] = numbers_of(table.column(name))
    selection = {} if options.columns is None else {"columns": listed(chosen)}
    aside = set_aside(table, others, path)
    return Table(
        values,
        tuple(chosen),
        Source(selection=selection),
        chosen=True,
        notes=aside.notes if options.columns is None else (),
        about_rows=aside.row_notes,
    )


def mapped(
    path: Path, chosen: list[str], others: list[str], n_rows: int, options: Options
) -> Table:
    """Read some columns into a scratch file; the others are left out."""
    if n_rows == 0 or not chosen:
        raise no_rows("The file", f"{n_rows} rows and {len(chosen)} columns")
    chunks = Chunks("The file", (n_rows, len(chosen)), partial(batches, path, chosen))
    note = f"Columns that are no coordinates were left out: {listed(others)}."
    return Table(
        chunks.gathered(options.scratch, mapped=True),
        tuple(chosen),
        Source(selection={} if options.columns is None else {"columns": listed(chosen)}),
        chosen=True,
        notes=(note,) if others and options.columns is None else (),
    )


def set_aside(table: Any, names: list[str], path: Path) -> SetAside:
    """Return the columns that are no coordinates: labels, dates and further numbers."""
    types, aside = need("pyarrow.types", path, "parquet"), SetAside()
    for name in names:
        column = table.column(name)
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if is_real(kind):
            aside.add_numbers(name, np.asarray(numbers_of(column), np.float64))
        elif types.is_date(kind) or types.is_timestamp(kind):
            aside.add_times(name, column.cast("timestamp[us]").to_numpy())
        elif types.is_string(kind) or types.is_large_string(kind) or types.is_boolean(kind):
            aside.add_text(name, ["" if v is None else str(v) for v in column.to_pylist()])
        else:
            aside.left_out.append(name)
    return aside


def check_columns(schema: Any, chosen: list[str], path: Path) -> None:
    """Refuse columns of text, dates and lists, and name those that hold numbers."""
    types = need("pyarrow.types", path, "parquet")
    wrong = [name for name in chosen if not is_real(schema.field(name).type)]
    if not wrong:
        return
    numeric = [name for name in schema.names if is_real(schema.field(name).type)]
    reason = "Columns of labels, dates or lists are no coordinates."
    if all(types.is_boolean(schema.field(name).type) for name in wrong):
        reason = TRUTH_VALUES
    advice = "Choose another file: this one has no columns of numbers."
    if numeric:
        advice = f"Choose others with `columns`; those with numbers: {listed(numeric, 20)}."
    raise InputError(
        "All columns must hold real numbers; received "
        f"{listed([f'{name!r} ({schema.field(name).type})' for name in wrong])}. {reason} {advice}"
    )
