"""Numbers that depend on the lead: known at some leads, and between them interpolated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class ByLead:
    """Values at some leads.

    Attributes
    ----------
    leads : (L,) array of int
        Ascending numbers of steps.
    values : (L, …) array
        One number, or several, for each of them.
    """

    leads: FloatArray
    values: FloatArray

    def at(self, lead: float) -> FloatArray:
        """Return the values at a lead: linear in its logarithm, constant beyond both ends.

        Examples
        --------
        >>> float(ByLead(np.array([1, 4]), np.array([0.0, 1.0])).at(2))
        0.5
        """
        place = np.interp(np.log(lead), np.log(self.leads), np.arange(len(self.leads)))
        low = int(place)
        high = min(low + 1, len(self.leads) - 1)
        share = place - low
        return np.asarray((1 - share) * self.values[low] + share * self.values[high])


def grid(horizon: int) -> tuple[int, ...]:
    """Return leads from 1 to a horizon, the later ones further apart.

    Examples
    --------
    >>> grid(20)
    (1, 2, 3, 4, 6, 8, 12, 16, 20)
    """
    found = {1, horizon}
    power = 2
    while power <= horizon:
        found.update({power, power * 3 // 2})
        power *= 2
    return tuple(sorted(lead for lead in found if lead <= horizon))
