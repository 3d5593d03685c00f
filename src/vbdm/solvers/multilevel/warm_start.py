"""How many vectors the solver works with, and what one solve leaves for the next one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.arrays import FloatArray, contiguous, to_host
from ...errors import InputError
from ...rows.block_array import BlockArray, Tall
from .finest import Finest
from .hierarchy import Hierarchy
from .lobpcg import Block

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
        raise InputError(
            f"The coarsest level is too small for {n} eigenpairs; received {n_modes} coarse modes "
            f"where {block_size(n)} are needed. Use prepare(pencil, n={n}), or "
            "vbdm.solvers.Dense() for small data."
        )


#: A coarse vector is known if this share of it lies in the span of the earlier ones.
KNOWN = 0.9


@dataclass(eq=False)
class Warm:
    """What a solve leaves for the next.

    Attributes
    ----------
    blocks : list of Block
        Approximate eigenvectors on the points. The next solve takes them out of this list, so that
        it can free them: they are a good part of its memory.
    coarse : (n_cells, m) array
        The vectors on the first cells that the solve started from.
    is_sorted : bool
        Whether the vectors are good enough to stand in the right order, whatever the kernel.
    """

    blocks: list[Block]
    coarse: FloatArray
    is_sorted: bool = False

    @classmethod
    def of_vectors(cls, finest: Finest, vectors: Tall) -> Warm:
        """Start from eigenvectors of another kernel on the same points, the constant among them."""
        own: Tall = vectors[:, 1:]
        if not isinstance(own, BlockArray):
            own = finest.spread(contiguous(own))
        sizes = np.bincount(finest.labels)[:, None]
        values = np.zeros(own.shape[1])
        block = Block(own, finest.stiffness(own), values)
        return cls([block], finest.summed(own) / sizes, is_sorted=True)

    def unknown(
        self, values: FloatArray, coarse: FloatArray, mass: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the coarse pairs for a new mass that the old vectors do not contain.

        As a rule there are none, except where the new mass gives a few points modes of their own.
        """
        gram = to_host(self.coarse.T @ (mass[:, None] * self.coarse))
        shares = to_host(self.coarse.T @ (mass[:, None] * coarse))
        inside = np.einsum("ij,ij->j", shares, np.linalg.lstsq(gram, shares, rcond=1e-12)[0])
        size = to_host(mass @ coarse**2)
        new = np.flatnonzero(inside < KNOWN * size)
        return values[new], coarse[:, new]
