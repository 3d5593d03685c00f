"""The choice of ε: what a rule is, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..base.arrays import FloatArray
from .curves import DegreeCurve, KeptCurve, SlopeCurve
from .scaled import ScaledPairs


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """The choice of ε, with the curve that it can be judged by.

    Attributes
    ----------
    epsilon : float
        The choice.
    rule : str
        Name of the rule: "degree", "slope", "given", or that of a rule of the user's own; left
        empty, it becomes the name of the rule's class.
    words : str
        How ε was chosen, to stand after "ε was chosen automatically, "; may be left empty.
    curve : SlopeCurve, DegreeCurve, KeptCurve or None
        S(ε) with its slope and, where degrees were looked at, their quantiles.
    target : float or None
        n*, what the 1 % quantile of the degrees was set to.
    n_neighbors : int
        How many neighbours hold the kernel at this ε; 0 if that was not looked at.
    """

    epsilon: float
    rule: str = ""
    words: str = ""
    curve: SlopeCurve | DegreeCurve | KeptCurve | None = None
    target: float | None = None
    n_neighbors: int = 0

    @property
    def dim(self) -> float:
        """The dimension that S(ε) shows: twice its slope; NaN without a curve."""
        return np.nan if self.curve is None else self.curve.dim_at(self.epsilon)

    @property
    def epsilons(self) -> FloatArray:
        """The grid of the curve."""
        return np.empty(0) if self.curve is None else self.curve.epsilons

    @property
    def sums(self) -> FloatArray:
        """S(ε): the mean of the kernel over all pairs."""
        return np.empty(0) if self.curve is None else self.curve.sums

    @property
    def slopes(self) -> FloatArray:
        """Slopes of log S against log ε."""
        return np.empty(0) if self.curve is None else self.curve.slopes

    def __repr__(self) -> str:
        """Say the choice."""
        return f"Tuning(epsilon={self.epsilon:.4g}, rule={self.rule!r})"


class EpsilonRule(Protocol):
    """Chooses ε; a user's own may be passed as `epsilon`."""

    def choose(self, pairs: ScaledPairs) -> Tuning:
        """Return ε for these pairs; `pairs.shape` is the kernel that it is meant for."""


def chosen_by(rule: EpsilonRule, pairs: ScaledPairs) -> Tuning:
    """Return the choice of a rule; a rule that does not say its name goes by that of its class."""
    tuning = rule.choose(pairs)
    return tuning if tuning.rule else replace(tuning, rule=type(rule).__name__)
