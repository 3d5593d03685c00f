"""What was learned from a record: a predictor, and the spread of its forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from .ensemble import Ensemble
from .leads import ByLead
from .predictor import Predictor, drawn_rows
from .record import Record


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned:
    """A predictor with a spread that was set by what was held out.

    Attributes
    ----------
    predictor : Predictor
        Says which rows of the record a state will be like.
    spread : ByLead
        Factor by which members are moved away from their mean, (L, m).
    score : ByLead
        Score on what was held out, over that of climatology, (L,): below 1 it is better.
    """

    predictor: Predictor
    spread: ByLead
    score: ByLead

    @property
    def record(self) -> Record:
        """What was learned from."""
        return self.predictor.record

    def members(self, begun: Any, lead: int, values: FloatArray | None = None) -> list[Ensemble]:
        """Return forecasts `lead` steps later, of the columns of the record or of other functions.

        Functions of the rows, (N, k), have the spread that the predictor gives them.
        """
        if values is not None:
            return self.predictor.members(begun, lead, values)
        found = self.predictor.members(begun, lead, self.record.values)
        return [own.spread(by) for own, by in zip(found, self.spread.at(lead), strict=True)]

    def drawn(
        self, begun: Any, lead: int, level: FloatArray, values: FloatArray | None = None
    ) -> FloatArray:
        """Return members at levels, (starts, n), of the sums of weights, (starts, n, columns)."""
        weights = self.predictor.weights(begun, lead)
        own = self.record.values if values is None else values
        rows = drawn_rows(weights, np.asarray(np.isfinite(own).all(axis=1)), level)
        plain = np.where((rows >= 0)[..., None], own[rows], np.nan)
        return np.stack(
            [
                as_members(plain[..., j], Ensemble.of(weights, own[:, j]), forecast)
                for j, forecast in enumerate(self.members(begun, lead, values))
            ],
            axis=-1,
        )


def as_members(drawn: FloatArray, plain: Ensemble, forecast: Ensemble) -> FloatArray:
    """Return drawn values, (starts, n), moved and spread as the members of the forecast were."""
    own = np.sqrt(np.where(plain.variance > 0, plain.variance, 1.0))
    factor = np.sqrt(forecast.variance) / own
    return np.asarray(forecast.mean[:, None] + factor[:, None] * (drawn - plain.mean[:, None]))
