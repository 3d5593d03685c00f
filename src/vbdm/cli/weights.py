"""``--weights``: a column of the file, or of another one, as weights of the points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import READING, arguments_for

if TYPE_CHECKING:
    from ..base.arrays import FloatArray
    from ..io import Cloud

#: Boltzmann's constant in PLUMED's own unit of energy, kJ/mol per kelvin.
BOLTZMANN = 0.00831446261815324
#: Options that say how the file with the points is read, and hold for a column of it as well.
OF_THE_FILE = ("format", "key", "header", "variable", "sample_dims")


@dataclass(frozen=True)
class Column:
    """Where the weights are."""

    file: Path
    # The column; None: the only one.
    name: str | None
    # Whether it is the file with the points.
    is_own: bool = False

    @classmethod
    def of(cls, text: str, points: Path) -> Column:
        """Understand FILE:COLUMN, FILE with one column, or a COLUMN of the file with the points."""
        file, mark, name = text.rpartition(":")
        if mark and Path(file).exists():
            return cls(Path(file), name)
        return cls(Path(text), None) if Path(text).exists() else cls(points, text, True)


def weights_of(column: Column, cloud: Cloud, options: Mapping[str, Any]) -> FloatArray:
    """Return the weights of the points; with a temperature, from a bias in kJ/mol."""
    import numpy as np

    from ..errors import InputError
    from ..io import read

    reading = arguments_for(READING, options)
    how = {name: reading[name] for name in OF_THE_FILE if column.is_own and name in reading}
    file, mark, _ = str(column.name).rpartition(":")
    try:
        table = read(column.file, columns=column.name, **how)
    except InputError as error:
        if not (column.is_own and mark):
            raise
        raise InputError(
            f"The file with the weights is not there; received {file!r} in --weights "
            f"{column.name}. Check its name and folder."
        ) from error
    n_rows, n_columns = table.values.shape
    if n_columns != 1:
        raise InputError(
            f"Weights are one column; received {column.file.name!r} with {n_columns} columns. "
            "Name the column after a colon: --weights COLVAR:metad.rbias."
        )
    if n_rows != cloud.n_read:
        raise InputError(
            f"There must be one weight for each row of the file; received {n_rows:,} rows in "
            f"{column.file.name!r} for {cloud.n_read:,} rows read. Write both with the same stride."
        )
    values = np.asarray(table.values[:, 0], dtype=np.float64)[cloud.rows]
    temperature = options.get("temperature")
    if temperature is not None:
        with np.errstate(invalid="ignore"):
            exponent = values / (BOLTZMANN * temperature)
            # The largest weight is 1; smaller ones than a number can hold are refused as zeros.
            return np.asarray(np.exp(exponent - np.nanmax(exponent)))
    if str(column.name).endswith("bias") or (values < 0).any():
        of = "the column" if column.name is None else f"column {column.name!r}"
        raise InputError(
            f"A bias is an energy, not a weight; received {of} of {column.file.name!r}, from "
            f"{values.min():.4g} to {values.max():.4g}. Give the temperature in kelvin, such as "
            "--temperature 300; the bias is then taken in kJ/mol."
        )
    return values
