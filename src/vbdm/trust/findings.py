"""What a check found: a light, words, and the warning that goes with it.

It is said once and read everywhere: the page, the terminal, results.json, the warnings and
`vbdm.diagnose` all read the same findings.
"""

from __future__ import annotations

from collections.abc import Mapping
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
