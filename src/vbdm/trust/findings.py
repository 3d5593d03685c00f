"""What a judgement is: a traffic light and a sentence; and which eigenvalues are judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..base.checks import FloatArray
from ..base.wording import listed

Light = Literal["green", "amber", "red"]
#: Judgements on eigenvalues look at this many of the first nonzero ones.
FIRST = 5


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked at.

    Attributes
    ----------
    name : str
        What was looked at.
    light : {"green", "amber", "red"}
        Fine; look at it before you trust the result; do not trust the result as it is.
    words : str
        What was found and, unless it is fine, what to do.
    value : float or None
        The number behind the judgement.
    """

    name: str
    light: Light
    words: str
    value: float | None = None


def nonzero_modes(eigenvalues: FloatArray) -> NDArray[np.intp]:
    """Return the numbers of the eigenvalues that are known and not 0."""
    values = np.nan_to_num(np.real(eigenvalues))
    return np.flatnonzero(np.abs(values) > 1e-12 * np.abs(values).max(initial=0.0))


def eigenvalues(numbers: NDArray[np.intp]) -> str:
    """Return "Eigenvalue 3" or "Eigenvalues 3 and 4"."""
    return f"Eigenvalue{'s' if len(numbers) > 1 else ''} {listed(numbers)}"
