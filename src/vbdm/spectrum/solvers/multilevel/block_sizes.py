"""How many vectors the multilevel solver works with to find n eigenpairs."""

from __future__ import annotations

import numpy as np

from ....base.checks import FloatArray
from ....base.errors import bad_input
from .hierarchy import Hierarchy

#: The block of vectors ends where θ has grown by this factor beyond the last wanted one, so that
#: it does not cut through a group of equal θ.
GROWTH = 1.1
#: Columns beyond the end of the block that guard it: they are not corrected.
GUARDS = 3


def block_size(n: int) -> int:
    """Return how many vectors are carried up from the coarse levels to find n pairs.

    Many more than n: the order of the θ is not the same on cells and on points.
    """
    return n - 1 + max(12, n // 2)


def block_end(values: FloatArray, n_wanted: int) -> int:
    """Return how many columns to correct, so that the block does not end in a group of equal θ."""
    far = np.flatnonzero(values[n_wanted:] > GROWTH * values[n_wanted - 1])
    end = n_wanted + int(far[0]) if len(far) else len(values)
    return max(n_wanted, min(end, len(values) - GUARDS))


def check_room(hierarchy: Hierarchy, n: int) -> None:
    """Refuse more pairs than the coarsest level can start."""
    n_modes = len(hierarchy.mode_values)
    if n_modes < block_size(n):
        raise bad_input(
            f"The coarsest level is too small for {n} eigenpairs.",
            received=f"{n_modes} coarse modes where {block_size(n)} are needed",
            because="The solver was prepared for fewer pairs, or there are few points.",
            hint=f"Use prepare(pencil, n={n}), or vbdm.solvers.Dense() for small data.",
        )
