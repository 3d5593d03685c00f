"""The choice of ε: what a rule for it is, and what the rule returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..base.checks import FloatArray
from .curves import DegreeCurve, KeptCurve, SlopeCurve
from .scaled import ScaledPairs


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """The choice of ε, with the curve by which it can be judged.

    Attributes
    ----------
    epsilon : float
        The chosen ε.
    rule : str
        Name of the rule: "degree", "slope", "given", or that of a rule of the user's own; if left
        empty, it becomes the name of the rule's class.
    words : str
        How ε was chosen, to stand after "ε was chosen automatically, "; may be left empty.
    curve : SlopeCurve, DegreeCurve, KeptCurve or None
        S(ε) with its slope and, where degrees were computed, their quantiles.
    target : float or None
        n*, to which the 1 % quantile of the degrees was set; None for other rules.
    n_neighbors : int
        Number of neighbours k that holds the kernel at this ε; 0 if the rule did not find out.
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
        """The grid of ε on which the curve is known."""
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
        """Name ε and the rule."""
        return f"Tuning(epsilon={self.epsilon:.4g}, rule={self.rule!r})"


class EpsilonRule(Protocol):
    """A rule for ε; a user may pass one as `epsilon`."""

    def choose(self, pairs: ScaledPairs) -> Tuning:
        """Return ε for these pairs and a kernel of the shape `pairs.shape`."""


def chosen_by(rule: EpsilonRule, pairs: ScaledPairs) -> Tuning:
    """Return the choice of a rule; one that leaves out its name goes by that of its class."""
    tuning = rule.choose(pairs)
    return tuning if tuning.rule else replace(tuning, rule=type(rule).__name__)
