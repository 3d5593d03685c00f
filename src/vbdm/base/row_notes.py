"""What is known about each row beside its coordinates: labels, further numbers, the time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray

#: Largest numbers of fields of each kind that are kept, of distinct labels in a field, and of
#: characters in a label. A field with more labels holds identifiers, which tell nothing apart.
MOST_FIELDS, MOST_LABELS, LONGEST_LABEL = 60, 1000, 80
#: Beginnings of the names under which `RowNotes.as_arrays` stores its fields.
LABELS, NUMBERS, TIMES = "row_labels", "row_numbers", "row_times"


@dataclass(frozen=True, eq=False)
class Labels:
    """One label per row, such as a species or a cell type."""

    names: tuple[str, ...]
    # Place of each row's label in `names`, (N,); -1 where the label is missing.
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, words: Sequence[Any], missing: Collection[str] = ("",)) -> Labels | None:
        """Return the labels of words, in order of their first row; None if there are too many.

        >>> Labels.of(["b", "a", "", "b"])
        Labels(names=('b', 'a'), codes=array([ 0,  1, -1,  0], dtype=int32))
        """
        places: dict[str, int] = {}
        codes = np.empty(len(words), dtype=np.int32)
        for row, word in enumerate(words):
            text = str(word)[:LONGEST_LABEL]
            codes[row] = -1 if text in missing else places.setdefault(text, len(places))
            if len(places) > MOST_LABELS:
                return None
        return cls(tuple(places), codes)

    @property
    def values(self) -> NDArray[np.str_]:
        """The label of each row as text, (N,); empty where it is missing."""
        return np.asarray([*self.names, ""], dtype=np.str_)[self.codes]


@dataclass(frozen=True, eq=False)
class RowNotes:
    """What a file says about its rows beside their coordinates."""

    #: Columns of text, and categories of an AnnData file
    labels: Mapping[str, Labels] = field(default_factory=dict)
    #: Columns of numbers that are no coordinates, (N,); NaN where a value is missing
    numbers: Mapping[str, FloatArray] = field(default_factory=dict)
    #: Time of each row, (N,), datetime64 or float64; NaT or NaN where it is missing
    times: NDArray[Any] | None = None
    time_name: str = ""  #: name of the times, with their unit if they are numbers: "time (ps)"

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return bool(self.labels or self.numbers or self.times is not None)

    def take(self, rows: NDArray[np.intp]) -> RowNotes:
        """Return the notes of these rows, in this order.

        >>> notes = RowNotes({"kind": Labels.of("aab")}, {"year": np.array([1.0, 2.0, 3.0])})
        >>> last = notes.take(np.array([2]))
        >>> last.labels["kind"].values.tolist(), last.numbers["year"].tolist()
        (['b'], [3.0])
        """
        return RowNotes(
            {name: Labels(kept.names, kept.codes[rows]) for name, kept in self.labels.items()},
            {name: values[rows] for name, values in self.numbers.items()},
            None if self.times is None else self.times[rows],
            self.time_name,
        )

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Return plain arrays that an ``.npz`` file can hold; `from_arrays` takes them back."""
        arrays: dict[str, NDArray[Any]] = {}
        if self.labels:
            arrays[LABELS] = np.asarray(list(self.labels), dtype=np.str_)
        for place, kept in enumerate(self.labels.values()):
            arrays[f"{LABELS}_{place}"] = kept.codes
            arrays[f"{LABELS}_{place}_names"] = np.asarray(kept.names, dtype=np.str_)
        if self.numbers:
            arrays[NUMBERS] = np.column_stack(list(self.numbers.values()))
            arrays[f"{NUMBERS}_names"] = np.asarray(list(self.numbers), dtype=np.str_)
        if self.times is not None:
            arrays[TIMES] = self.times
            arrays[f"{TIMES}_name"] = np.asarray([self.time_name], dtype=np.str_)
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> RowNotes:
        """Return the notes that `as_arrays` stored among these arrays; none of them may be there.

        >>> notes = RowNotes({"kind": Labels.of("aab")}, times=np.arange(3.0), time_name="t (s)")
        >>> again = RowNotes.from_arrays(notes.as_arrays())
        >>> again.labels["kind"].names, again.time_name
        (('a', 'b'), 't (s)')
        """
        fields = {str(name): place for place, name in enumerate(arrays.get(LABELS, ()))}
        numbers = arrays.get(NUMBERS)
        names = arrays.get(f"{NUMBERS}_names", ())
        columns = () if numbers is None else np.asarray(numbers, np.float64).T
        return cls(
            {
                name: Labels(
                    tuple(str(word) for word in arrays[f"{LABELS}_{place}_names"]),
                    np.asarray(arrays[f"{LABELS}_{place}"], np.int32),
                )
                for name, place in fields.items()
            },
            {str(name): values for name, values in zip(names, columns, strict=True)},
            arrays.get(TIMES),
            "".join(str(name) for name in arrays.get(f"{TIMES}_name", ())),
        )
