"""Where the kernel is cut: the share of its peak below which it counts as 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .dimension import Dimension
from .epsilon_by_degree import ENOUGH_POINTS

#: Share by which the dimension of a clean manifold, without noise, changes with the scale at most.
CLEAN = 0.05


class TruncationRule(Protocol):
    """A rule for the share of its peak at which the kernel is cut."""

    def share(self, n_points: int, dimension: Dimension) -> float | None:
        """Return the share, or None if the kernel ends only where the neighbour list does."""


@dataclass(frozen=True)
class CutAt:
    """A fixed share of the peak; None: no cut."""

    at: float | None

    def share(self, n_points: int, dimension: Dimension) -> float | None:
        """Return the share."""
        return self.at


@dataclass(frozen=True)
class CutWhereClean:
    """e⁻⁵ for more than 10⁴ points without noise, else e⁻⁶·⁹ = 1e-3.

    With its moments corrected the shorter kernel gives the same eigenvalues with three quarters of
    the pairs, unless the points scatter about the manifold: on a noisy circle the error doubles.
    """

    short: float = 0.0067
    long: float = 1e-3

    def share(self, n_points: int, dimension: Dimension) -> float:
        """Return the short cut where the dimension does not change with the scale."""
        clean = abs(dimension.drift) < CLEAN
        return self.short if clean and n_points > ENOUGH_POINTS else self.long
