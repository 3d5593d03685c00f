r"""Forecasts by neighbours: what came after states that were like this one.

The weight of the state x_s of the record is :math:`K(x, x_s)^{p}`, K the kernel of the operator and
p ≥ 1/2 a sharpness that depends on the lead: the forecast k steps ahead is made of the rows k steps
after the x_s. This is Lorenz's method of analogs with the variable bandwidth kernel for the choice
of analogs (Zhao and Giannakis 2016). It asks for nothing but similar states, so it is at home in
chaos; where there is noise, modes average over more.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..base.arrays import BoolArray, FloatArray
from ..extension.rows import kernel_rows
from ..operator.operator import Operator
from .ensemble import Ensemble
from .predictor import Begun, ByLead, normalize_rows
from .record import Record, Rows

#: Rows that stand for climatology in forecasts that have a share of it.
CLIMATE_ROWS = 500
#: Power of the kernel by which a filter shares states out among those near them.
SHARED = 4.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Neighbours:
    """Forecasts by what came after similar states; see the module."""

    name: str = field(default="neighbours", init=False)
    record: Record
    #: Its kernel says what is similar.
    operator: Operator
    #: Logarithm of the power of the kernel at each lead: above 0 for fewer, nearer states.
    sharpness: ByLead
    #: Share of climatology in forecasts: at long leads a few neighbours know less than all rows.
    share: ByLead
    #: Rows that do not count, (N,).
    left_out: BoolArray | None = None

    def begin(self, states: FloatArray) -> Begun:
        """Return the states of the record near starting states, (n, …)."""
        rows, outside = kernel_rows(self.operator, states)
        order, n = self.operator.graph.order, len(self.record.rows)
        # Columns are points in the order inside; each state has one, copies share theirs.
        place = order.inside_rows(np.arange(n))
        of_states = csr_array((np.ones(n), (place, np.arange(n))), shape=(order.n_points, n))
        kernel = csr_array(rows @ of_states)
        largest = kernel.max(axis=1).toarray().ravel()
        scale = np.repeat(np.where(largest > 0, largest, 1.0), np.diff(kernel.indptr))
        parts = kernel.data / scale, kernel.indices, kernel.indptr
        return Begun(csr_array(parts, shape=kernel.shape), outside)

    def weights(self, begun: Begun, lead: int) -> Any:
        """Return the weights of the rows `lead` steps after the states near the starts, (n, N)."""
        own = self.sharpened(begun, lead, float(np.exp(self.sharpness.at(lead))))
        return mix_climatology(own, float(self.share.at(lead)), self.climate)

    @cached_property
    def climate(self) -> Rows:
        """Rows that stand for climatology: some of those that count, evenly chosen."""
        known = np.isfinite(self.record.values).all(axis=1)
        rows = np.flatnonzero(known if self.left_out is None else known & ~self.left_out)
        kept = np.linspace(0, len(rows) - 1, min(CLIMATE_ROWS, len(rows)))
        return rows[kept.round().astype(np.intp)]

    def sharpened(self, begun: Begun, lead: int, power: float) -> Any:
        """Return the weights by a given power of the kernel."""
        target = self.record.later(lead, self.left_out)
        kernel = begun.values
        ahead = target[kernel.indices]
        kept = ahead >= 0
        pointer = np.concatenate([[0], np.cumsum(kept)])[kernel.indptr]
        with np.errstate(under="ignore"):
            data = kernel.data[kept] ** power
        shape = (kernel.shape[0], self.record.n_rows)
        return normalize_rows(csr_array((data, ahead[kept], pointer), shape=shape))

    def members(self, begun: Begun, lead: int, values: FloatArray) -> list[Ensemble]:
        """Return forecasts of functions on the rows, (N, k), `lead` steps later."""
        weights = self.weights(begun, lead)
        return [Ensemble.of(weights, column) for column in values.T]

    def stepped(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Return the weights of the states one step later.

        Each state moves to the one after it, and is shared out among those near that one: else only
        states that have followed all observations from the first on would be left.
        """
        early, late = self.record.pairs(1)
        moved = np.bincount(late, weights[early], minlength=len(weights))
        found = moved @ self.near_states
        total = found.sum()
        if not total > 0:
            return np.full(len(weights), 1 / len(weights)), 0.0
        return np.asarray(found / total), 0.0

    @cached_property
    def near_states(self) -> Any:
        """How each state is shared out among those near it, as CSR (S, S)."""
        near = self.begin(self.record.states).values
        parts = near.data**SHARED, near.indices, near.indptr
        return normalize_rows(csr_array(parts, shape=near.shape))

    def without(self, rows: BoolArray) -> Neighbours:
        """Return the predictor that has not seen some rows."""
        return replace(self, left_out=rows)


def mix_climatology(weights: Any, share: float, climate: Rows) -> Any:
    """Return weights with a share of climatology; starts without any have climatology alone."""
    own = np.asarray(weights.sum(axis=1)).ravel()
    part = np.where(own > 0, share, 1.0)
    if not part.any() or not len(climate):
        return weights
    n, k = len(own), len(climate)
    scaled = weights.data * np.repeat(1 - part, np.diff(weights.indptr))
    kept = csr_array((scaled, weights.indices, weights.indptr), shape=weights.shape)
    added = np.repeat(part / k, k), np.tile(climate, n), np.arange(0, n * k + 1, k)
    return csr_array(kept + csr_array(added, shape=weights.shape))
