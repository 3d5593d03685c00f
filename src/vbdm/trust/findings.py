"""What a check found: a light, words, and the warning that goes with it.

It is said once and read everywhere: the page, the terminal, results.json, the warnings and
`vbdm.diagnose` all read the same findings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.wording import listed
from ..errors import VbdmWarning

Light = Literal["green", "amber", "red"]
#: Number of nonzero eigenvalues, the first ones, that checks look at.
FIRST = 5


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes
    ----------
    name : str
        The subject of the check.
    light : {"green", "amber", "red"}
        Green: fine. Amber: look at it before you trust the result. Red: do not trust the result as
        it is.
    words : str
        What was found and, unless it is fine, what to do. Parameters stand in `backticks`.
    value : float or None
        The number behind the judgement.
    limit : float or None
        The largest value with a green light; the smallest, where larger is better.
    warning : class of VbdmWarning, or None
        The class of the warning that is issued when the result is made; None: no warning.
    flags : mapping from int to str
        Numbers of the eigenvalues that are doubtful because of it, each with a few words.
    """

    name: str
    light: Light
    words: str
    value: float | None = None
    limit: float | None = None
    warning: type[VbdmWarning] | None = None
    flags: Mapping[int, str] = field(default_factory=dict)


class Findings(tuple[Finding, ...]):
    """All findings about a result, in a fixed order; a notebook shows them as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Give each finding a line: its light, its subject, its words."""
        return "\n".join(f"{one.light:5s}  {one.name}: {one.words}" for one in self)

    def _repr_html_(self) -> str:
        """Return the table that notebooks show."""
        from ..report.tables import findings_html

        return findings_html(self)


def nonzero_modes(eigenvalues: FloatArray) -> NDArray[np.intp]:
    """Return the numbers of the eigenvalues that are known and not 0."""
    values = np.nan_to_num(np.real(eigenvalues))
    return np.flatnonzero(np.abs(values) > 1e-12 * np.abs(values).max(initial=0.0))


def eigenvalues(numbers: NDArray[np.intp]) -> str:
    """Return "Eigenvalue 3" or "Eigenvalues 3 and 4"."""
    return f"Eigenvalue{'s' if len(numbers) > 1 else ''} {listed(numbers)}"


#: What each part of a total error is called where results are shown; others go by their names.
LABELS = {"epsilon": "ε"}
#: Where each part comes from, as the end of the phrase "most of it from …".
CAUSES = {
    "sampling": "sampling",
    "tail": "points too sparse to resolve the modes",
    "epsilon": "the width of the kernel",
    "noise": "noise around the manifold",
    "boundary": "an edge of the data",
}
#: What makes each part smaller.
ADVICE = {
    "sampling": "More data would make it smaller.",
    "tail": "More data, or fewer eigenvalues, would help; see whether these points "
    "(`spectrum.unresolved`) belong to the data.",
    "epsilon": "Eigenvalues move with ε, which can be smaller with more data.",
    "noise": "Remove noise before the estimate, by fewer principal axes or averages of rows, say.",
    "boundary": "If the manifold goes on where the data ends, add data there; otherwise the "
    "operator has Neumann conditions at the edge, and this error stays.",
}
#: Share of the squared total error from which on a part is named as its source.
MOST = 0.5


def label_of(part: str) -> str:
    """Return what a part is called where results are shown.

    >>> label_of("epsilon"), label_of("tail")
    ('ε', 'tail')
    """
    return LABELS.get(part, part)


def largest_part(parts: Mapping[str, float | None]) -> str | None:
    """Return the name of the largest part; None if there is no error, or an unknown one."""
    known = {name: size for name, size in parts.items() if size is not None and size > 0}
    return max(known, key=lambda name: known[name]) if known else None


def main_sources(groups: Sequence[tuple[Sequence[int], Mapping[str, float | None]]]) -> str:
    """Return which parts are the largest of some error, with the eigenvalues' numbers if several.

    `groups` are numbers of eigenvalues, and the parts of the error of their mean.

    >>> parts = {"sampling": 0.1, "epsilon": 0.2}, {"sampling": 0.3, "epsilon": 0.2}
    >>> main_sources([([1, 2, 3], parts[0]), ([4, 5], parts[1]), ([6], parts[0])])
    'ε (1 to 3, 6), sampling (4 to 5)'
    """
    found: dict[str, list[int]] = {}
    for members, parts in groups:
        part = largest_part(parts)
        if part is not None:
            found.setdefault(label_of(part), []).extend(members)
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{label} ({runs(numbers)})" for label, numbers in found.items())


def runs(numbers: Sequence[int]) -> str:
    """Return whole numbers in increasing order in short, consecutive ones as "first to last"."""
    ends: list[list[int]] = []
    for number in numbers:
        if ends and number == ends[-1][-1] + 1:
            ends[-1] = [ends[-1][0], number]
        else:
            ends.append([number])
    return ", ".join(" to ".join(str(end) for end in run) for run in ends)


def shares(parts: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each part in the squared total error: these add up to 1.

    >>> shares({"sampling": 3.0, "epsilon": 4.0})
    {'sampling': 0.36, 'epsilon': 0.64}
    """
    squares = {name: size**2 for name, size in parts.items()}
    whole = sum(squares.values())
    return {name: float(square / whole) if whole > 0 else 0.0 for name, square in squares.items()}


def source_in_words(parts: Mapping[str, float]) -> tuple[str, str]:
    """Return where most of an error comes from, as the end of a sentence, and what to do about it.

    Both are empty if the error is not known; where no part is half of the squared total, the two
    largest are named.
    """
    if not all(np.isfinite(size) for size in parts.values()):
        return "", ""
    share = shares(parts)
    first, second = sorted(share, key=lambda name: share[name], reverse=True)[:2]
    if not share[first]:
        return "", ""
    if share[first] >= MOST:
        return f"most of it from {CAUSES.get(first, first)}", ADVICE.get(first, "")
    both = " and ".join(CAUSES.get(name, name) for name in (first, second))
    return f"most of it from {both}", f"{ADVICE.get(first, '')} {ADVICE.get(second, '')}".strip()
