"""Earlier results that a command is given: a saved model, or a run of ``vbdm fit`` with columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.estimate import Estimate
from ..errors import InputError
from ..report.facts import check_clock, unit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..dynamics.clock import Clock
    from ..equations.sets import Region
    from ..operator.operator import Operator
    from ..results import Results
    from ..spectrum.spectrum import Spectrum


def model_file(place: Path) -> Path:
    """Return the file of a model: inside a results folder, or the path itself."""
    from ..results import read_summary

    if place.is_dir() or not place.exists():
        # Raises, and says what is wrong, if this is not a folder of results.
        read_summary(place)
        return place / "model.vbdm"
    return place


def load_spectrum(place: Path) -> Spectrum:
    """Read a spectrum, from a results folder or from a file."""
    from ..io.saved.persistence import load
    from ..spectrum.spectrum import Spectrum

    found: Any = load(model_file(place))
    found = getattr(found, "spectrum_", found)
    if isinstance(found, Spectrum):
        return found
    raise InputError(
        f"The file holds no eigenfunctions; received {str(place)!r} with a "
        f"{type(found).__name__}. Pass a results folder, or what op.spectrum(10).save wrote."
    )


def load_notes(place: Path) -> dict[str, Any]:
    """Return how the training file was read and prepared; empty for a model without a folder."""
    from ..io.saved.persistence import read_notes

    return read_notes(model_file(place))


@dataclass(frozen=True, eq=False)
class Run:
    """A results folder, opened."""

    results: Results
    # The columns of the file by name, (N,), in its own units: coordinates, and what was set aside.
    columns: Mapping[str, FloatArray]
    # Names of those that are coordinates.
    coordinates: tuple[str, ...]
    # Columns of text by name, (N,).
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
        """Return sets of points from conditions or labels; `named` has them by their options."""
        from ..equations.sets import Naming

        words = [own for own in named.values() if not ("<" in own or ">" in own)]
        labels = self.labels_with(words, field) if words else None
        naming = Naming(self.operator, labels, self.columns)
        return [naming.read(own, name) for name, own in named.items()]

    def labels_with(self, words: Sequence[str], field: str | None) -> Any:
        """Return the labels of a column; of the only one with all these words, if none is named."""
        known = self.label_columns()
        if field is not None and field not in known:
            raise InputError(
                f"There is no such column of labels; received {field!r}. The columns are "
                f"{listed(known)}."
            )
        wanted = set(words)
        fields = [field] if field else [k for k in self.labels if wanted <= set(self.labels[k])]
        if len(fields) == 1:
            return known[fields[0]]
        which = f"Columns of labels: {listed(self.labels)}. Columns: {listed(self.columns)}."
        hint = f"{which} Write a condition, such as 'x0 < -1.2', or a label."
        if fields:
            hint = f"They occur in {listed(fields)}. Say which is meant: --labels {fields[0]}"
        raise InputError(
            "A set is neither a condition nor a label that can be told; received "
            f"{', '.join(map(repr, words))}. {hint}"
        )

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


def listed(names: Any) -> str:
    """Return names in a row, the first few of many; "none" for none."""
    shown = list(names)
    return ", ".join(shown[:12]) + (", …" if len(shown) > 12 else "") if shown else "none"


# --- Units of time -------------------------------------------------------------------------------


@dataclass(frozen=True)
class TimeUnit:
    """The unit of rates and times: from a clock, if rows are steps in time; else of coordinates."""

    # Unit of the coordinates.
    length: str
    # D in length² per unit of time; None without a clock.
    diffusivity: Estimate | None = None
    unit: str = ""
    # Why the clock cannot be trusted; empty if it can.
    doubt: str = ""
    # Standard errors of the times of the modes, by their numbers; empty without a clock.
    of_modes: tuple[float, ...] = ()

    @property
    def of_times(self) -> str:
        """Unit of times."""
        return self.unit if self.diffusivity else f"{self.length}²/D"

    @property
    def of_rates(self) -> str:
        """Unit of rates."""
        return f"1/{self.unit}" if self.diffusivity else f"D/{self.length}²"

    def rate(self, found: Estimate) -> Estimate:
        """Return a rate in this unit; the errors of both factors count as independent."""
        return found if self.diffusivity is None else found.times(self.diffusivity)

    def time(self, found: Estimate) -> Estimate:
        """Return a time in this unit."""
        return found if self.diffusivity is None else found.over(self.diffusivity)

    def time_of_mode(self, number: int, found: Estimate) -> Estimate:
        """Return the time of a mode: its error is the clock's, to which D and λ add together."""
        value, error = self.time(found)
        return Estimate(value, self.of_modes[number] if number < len(self.of_modes) else error)

    @property
    def notes(self) -> list[str]:
        """What the reader must know about these times."""
        if self.diffusivity is None:
            return [
                f"Times are in units of {self.of_times}, D being the diffusion coefficient: points "
                "alone have no clock. Where rows are steps in time, --time-step 0.2ns finds D."
            ]
        found = f"D = {self.diffusivity} {self.length}² per {self.unit}"
        if self.doubt:
            return [f"The clock is in doubt ({found}): {self.doubt}"]
        return [f"The clock: {found}, on which the modes agree."]


def time_unit(entry: Mapping[str, Any] | None, length: str) -> TimeUnit:
    """Return the unit of times of a clock as results.json has it; None: there is no clock."""
    if not entry:
        return TimeUnit(length)
    check_clock(entry, "clock")
    found = Estimate(*(float(entry["diffusivity"][key]) for key in ("value", "error")))
    doubt = "" if entry["consistent"] else str(entry["reason"])
    errors = (np.nan if own is None else float(own) for own in entry["timescale_errors"])
    return TimeUnit(length, found, unit_of(entry), doubt, tuple(errors))


def find_clock(
    spectrum: Spectrum, rows: NDArray[np.intp], settings: Mapping[str, Any], step: tuple[float, str]
) -> Clock:
    """Return the clock of rows of a file, of which some may have been left out.

    `rows` has the row of each point in the file; of the options of ``vbdm fit``, `every` and
    `stride` make steps longer; `step` is the time between rows of the file, and its unit.
    """
    if settings.get("subsample") is not None and np.any(np.diff(rows) != 1):
        raise InputError(
            "A clock needs rows that follow each other; received points drawn at random "
            "(--subsample). Thin the rows out evenly, with --every."
        )
    if spectrum.operator.settings.weighting.is_used:
        raise InputError(
            "A biased run has no clock; received --time-step, and points with weights. Leave "
            "--time-step out: rates are then in units of D/length²."
        )
    every = int(settings.get("every") or 1)
    factor = every * int(settings.get("stride") or 1)
    time, unit = step
    known = spectrum.settings.series.lengths or (len(rows),)
    return spectrum.clock(step=time * factor, unit=unit, lengths=unbroken(rows, every, known))


def unbroken(rows: NDArray[np.intp], every: int, lengths: tuple[int, ...]) -> list[int]:
    """Return lengths of the stretches in which rows follow each other without a gap.

    Examples
    --------
    >>> unbroken(np.array([0, 1, 2, 5, 6, 7]), 1, (5, 1))
    [3, 2, 1]
    """
    joints = set(np.cumsum(lengths).tolist())
    joints |= set((1 + np.flatnonzero(np.diff(rows) != every)).tolist())
    return [int(n) for n in np.diff(sorted({0, *joints}))]
