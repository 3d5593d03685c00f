"""A predictor that was tried on what is held out, and whether it is worth more than another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..base.arrays import FloatArray
from .holdout import HoldOut
from .judged import Judged, mean_in_time, mean_known
from .predictor import Predictor
from .record import Record

#: Leads at which forecasts score less than this share of climatology tell predictors apart.
TELLING = 0.95
#: Something more complicated must score better by this share, and by more than one standard error.
WORTH = 0.01


@dataclass(frozen=True, eq=False)
class Trial:
    """A predictor, and its scores on what was held out.

    Attributes
    ----------
    predictor : Predictor
        The predictor.
    held : HoldOut
        What was held out.
    leads : tuple of int
        Leads at which it was tried.
    judged : tuple of Judged
        Its scores at these leads.
    """

    predictor: Predictor
    held: HoldOut
    leads: tuple[int, ...]
    judged: tuple[Judged, ...]

    @property
    def record(self) -> Record:
        """What it learned from."""
        return self.predictor.record

    @cached_property
    def score(self) -> float:
        """The mean over all leads of its score over that of climatology."""
        return float(mean_known(np.array([own.score for own in self.judged])))

    @property
    def telling(self) -> tuple[int, ...]:
        """Leads at which it clearly beats climatology; all, if these are too few."""
        both = zip(self.leads, self.judged, strict=True)
        found = tuple(lead for lead, own in both if own.score < TELLING)
        return found if len(found) > 1 else self.leads

    def by_start(self, leads: tuple[int, ...]) -> FloatArray:
        """Return the scores of the starts, (n,), in the mean over some leads."""
        both = zip(self.leads, self.judged, strict=True)
        own = np.array([judged.scores(judged.share) for lead, judged in both if lead in leads])
        return mean_known(own, axis=0)

    def worth_more(self, other: Trial, leads: tuple[int, ...] = ()) -> bool:
        """Tell whether this is clearly better than another, by the starts that both have."""
        used = leads or self.leads
        _, here, there = np.intersect1d(self.held.rows, other.held.rows, return_indices=True)
        theirs = other.by_start(used)[there]
        gain, error = mean_in_time(theirs - self.by_start(used)[here])
        return gain > max(error, WORTH * float(mean_known(theirs)))
