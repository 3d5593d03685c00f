"""Metastable states: regions that the process leaves seldom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.estimate import Estimate


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class States:
    """Metastable states, the most populated first.

    Attributes
    ----------
    memberships : (N, n) array
        Share with which each point belongs to each state: not negative, with sum 1. NaN at points
        of pieces that were not solved.
    labels : (N,) int array
        The state to which each point belongs most; -1 where there is none.
    populations : tuple of Estimate
        Share of each state in the invariant measure, with its standard error; NaN errors unless the
        operator is the generator of the sampling density (c1 = 1).
    rates : (n, n) array
        Rates from state to state: entry (i, j) is the rate at which what is in i goes to j. Rows
        sum to 0. Per unit of time if a clock was given, else with diffusivity 1.
    rate_errors : (n, n) array
        Standard errors of these rates from those of the eigenvalues, of two states also from those
        of the populations. Of more than two states, memberships are taken as known: over samples
        of three wells rates scattered up to 1.5 times as much.
    timescales : (n - 1,) array
        Times in which differences between the states level out; infinite between pieces.
    timescale_errors : (n - 1,) array
        Their standard errors.
    crispness : float
        How little the states overlap: 1 if each point belongs to one state alone.
    gap : float
        How much faster the first mode inside states decays than the last one between them; below 5
        the states are no clear ones. NaN if no such mode is known.
    unit : str
        Unit of time of the clock; empty without one.
    """

    memberships: FloatArray
    labels: NDArray[np.intp]
    populations: tuple[Estimate, ...]
    rates: FloatArray
    rate_errors: FloatArray
    timescales: FloatArray
    timescale_errors: FloatArray
    crispness: float
    gap: float
    unit: str = ""

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.populations)

    def plot(self, ax: Any = None) -> Any:
        """Draw populations and rates between the states (see `vbdm.plot.states`)."""
        from ..plot import states

        return states(self, ax=ax)

    def __repr__(self) -> str:
        """Give populations, the slowest time, and how clear the states are."""
        shares = ", ".join(f"{one.value:.3g}" for one in self.populations[:6])
        more = ", …" if len(self) > 6 else ""
        unit = f" {self.unit}" if self.unit else ""
        return (
            f"States({len(self)} states with populations {shares}{more}, slowest time "
            f"{self.timescales[0]:.3g}{unit}, gap {self.gap:.3g}, crispness {self.crispness:.2f})"
        )
