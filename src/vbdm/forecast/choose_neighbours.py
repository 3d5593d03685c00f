"""The sharpness of the kernel at each lead, by what is held out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..operator.operator import Operator
from ..progress import report
from .holdout import HoldOut
from .judged import Judged, judge
from .leads import ByLead
from .neighbours import Neighbours
from .record import Record

#: Powers of the kernel that are tried. Below 1/2 its cut is felt; at 16 few neighbours are left.
POWERS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
#: The least power is taken whose score is no worse than the best by this share.
NO_WORSE = 0.001


def choose_neighbours(
    record: Record,
    operator: Operator,
    held: HoldOut,
    leads: tuple[int, ...],
    powers: tuple[float, ...] = POWERS,
) -> tuple[Neighbours, list[Judged]]:
    """Return the predictor with the sharpness that scores best at each lead, and its scores."""
    nothing = ByLead(np.array([1.0]), np.array([0.0]))
    plain = Neighbours(record=record, operator=operator, sharpness=nothing, share=nothing)
    begun = plain.begin(held.points)
    unseen = [(own, begun[block.starts]) for block, own in held.unseen(plain)]
    chosen, scores = [], []
    for number, lead in enumerate(leads):
        tried = [
            judge(
                held, held.joined(own.sharpened(start, lead, power) for own, start in unseen), lead
            )
            for power in powers
        ]
        own = np.array([one.score for one in tried])
        best = int(np.argmax(own <= own.min() * (1 + NO_WORSE)))
        chosen.append(powers[best])
        scores.append(tried[best])
        report("hold-out", number + 1, len(leads))
    at = np.array(leads, dtype=np.float64)
    share = ByLead(at, np.array([own.share for own in scores]))
    # The power is interpolated by its logarithm.
    return replace(plain, sharpness=ByLead(at, np.log(chosen)), share=share), scores
