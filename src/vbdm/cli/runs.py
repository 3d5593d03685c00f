"""A run of ``vbdm fit`` that later questions are put to: its model, and its columns by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import FloatArray
from ..errors import InputError

if TYPE_CHECKING:
    from ..equations.sets import Region
    from ..operator.operator import Operator
    from ..results import Results
    from ..spectrum.spectrum import Spectrum


@dataclass(frozen=True, eq=False)
class Run:
    """A results folder, opened.

    Attributes
    ----------
    results : Results
        What is in the folder.
    columns : mapping from names to (N,) arrays
        The columns of the file, in the file's own units: coordinates, and what was set aside.
    coordinates : tuple of str
        Names of those that are coordinates.
    labels : mapping from names to (N,) arrays
        Columns of text.
    """

    results: Results
    columns: Mapping[str, FloatArray]
    coordinates: tuple[str, ...]
    labels: Mapping[str, Any]

    @property
    def spectrum(self) -> Spectrum:
        """The model."""
        return self.results.spectrum

    @property
    def operator(self) -> Operator:
        """Its operator L."""
        return self.results.spectrum.operator

    @property
    def length(self) -> str:
        """Unit of the coordinates; "length" if it is not known."""
        return self.results.summary["input"].get("unit") or "length"

    def read_sets(self, named: Mapping[str, str], field: str | None) -> list[Region]:
        """Return sets of points from conditions or labels; `named` has them by their options.

        Raises
        ------
        InputError
            If a condition or label cannot be read, or if a set is empty.
        """
        from ..equations.sets import Naming

        words = [own for own in named.values() if not is_condition(own)]
        labels = self.labels_with(words, field) if words else None
        naming = Naming(self.operator, labels, self.columns)
        return [naming.read(own, name) for name, own in named.items()]

    def labels_with(self, words: Sequence[str], field: str | None) -> Any:
        """Return the labels of a column; of the only one with all these words, if none is named."""
        known = self.label_columns()
        if field is not None and field not in known:
            raise InputError(
                f"There is no such column of labels; received {field!r}. The columns are "
                f"{listed(known)}. Mind spelling and upper case; vbdm fit keeps the columns of "
                "its file."
            )
        wanted = set(words)
        fields = [field] if field else [k for k in self.labels if wanted <= set(self.labels[k])]
        if len(fields) == 1:
            return known[fields[0]]
        if fields:
            because = f"They occur in {listed(fields)}."
            hint = f"Say which column is meant: --labels {fields[0]}"
        else:
            because = f"Columns of labels: {listed(self.labels)}. Columns: {listed(self.columns)}."
            hint = "Write a condition, such as 'x0 < -1.2', or a label."
        raise InputError(
            "A set is neither a condition nor a label that can be told; received "
            f"{', '.join(map(repr, words))}. {because} {hint}"
        )  # fmt: skip

    def label_columns(self) -> dict[str, Any]:
        """Return columns that can be labels: text, and whole numbers."""
        numbers = {
            name: np.array([str(int(value)) for value in values])
            for name, values in self.columns.items()
            if name not in self.labels
            and np.isfinite(values).all()
            and np.array_equal(values, np.round(values))
        }
        return {**self.labels, **numbers}

    def places(self, axes: str | None) -> tuple[FloatArray | None, list[str] | None]:
        """Return where points are drawn and the labels of both axes; None: by principal axes."""
        if axes is None and 1 <= len(self.coordinates) <= 3:
            chosen = list(self.coordinates[:2])
        elif axes is None:
            if self.coordinates:
                return None, None
            return self.spectrum.eigenfunctions[:, 1:3], ["eigenfunction 1", "eigenfunction 2"]
        else:
            chosen = [part.strip() for part in axes.split(",")]
        missing = [name for name in chosen if name not in self.columns]
        if missing or not 1 <= len(chosen) <= 2:
            raise InputError(
                f"--axes must name one or two columns; received {axes!r}. The columns are "
                f"{listed(self.columns)}. Write, for example, --axes "
                f"{','.join(list(self.columns)[:2])}"
            )
        return np.column_stack([self.columns[name] for name in chosen]), chosen


def open_run(folder: Path) -> Run:
    """Open a results folder; raise if it is none, or if its model cannot be read."""
    from ..results import load_results

    results = load_results(folder)
    about = results.origin.about_rows
    own = coordinate_columns(results)
    noted = {} if about is None else dict(about.numbers)
    labels = {} if about is None else {name: kept.values for name, kept in about.labels.items()}
    return Run(results, {**noted, **own}, tuple(own), labels)


def coordinate_columns(results: Results) -> dict[str, FloatArray]:
    """Return the coordinates by name, as they were before they were standardised."""
    from ..equations.sets import coordinates

    operator = results.spectrum.operator
    if operator.graph.point_set.coordinates is None:
        return {}
    points = coordinates(operator)
    names = results.summary["input"].get("columns") or ()
    if len(names) != points.shape[1]:
        names = [f"x{j}" for j in range(points.shape[1])]
    done: Mapping[str, Any] = results.summary["preparation"] or {}
    if done.get("scale") is not None and done.get("projection") is None:
        # Each delay repeats the columns.
        n = len(done["scale"])
        repeats = points.shape[1] // n
        points = points * np.tile(done["scale"], repeats) + np.tile(done["center"], repeats)
    lowest, period = results.summary["input"].get("lowest"), operator.graph.period
    if period is not None and lowest is not None:
        points = unwrapped(points, np.asarray(lowest), period)
    elif period is not None:
        # Folders of other versions do not tell the file's values: the name says what these are.
        names = [f"{own} mod {p:g}" if p else own for own, p in zip(names, period, strict=True)]
    return dict(zip(map(str, names), points.T, strict=True))


def unwrapped(points: FloatArray, lowest: FloatArray, period: FloatArray) -> FloatArray:
    """Return points with periodic columns in the period that begins with the lowest value.

    Examples
    --------
    >>> points = np.array([[190.0, 5.0], [0.0, 6.0], [170.0, 7.0]])
    >>> unwrapped(points, np.array([-170.0, 5.0]), np.array([360.0, 0.0])).tolist()
    [[-170.0, 5.0], [0.0, 6.0], [170.0, 7.0]]
    """
    # The lowest value itself may have been rounded when it was wrapped.
    start = lowest - 1e-9 * period
    length = np.where(period > 0, period, 1.0)
    turns = np.where(period > 0, np.floor((points - start) / length), 0.0)
    return np.asarray(points - turns * length)


def is_condition(words: str) -> bool:
    """Tell whether this is a condition, and no label."""
    return any(sign in words for sign in "<>")


def listed(names: Any) -> str:
    """Return names in a row, the first few of many; "none" for none."""
    shown = list(names)
    return ", ".join(shown[:12]) + (", …" if len(shown) > 12 else "") if shown else "none"
