"""What one solve leaves for the next, which has the same K and another mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....base.checks import FloatArray
from .lobpcg import Block

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
    """

    blocks: list[Block]
    coarse: FloatArray

    def unknown(
        self, values: FloatArray, coarse: FloatArray, mass: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the coarse pairs for a new mass that the old vectors do not contain.

        As a rule there are none, except where the new mass gives a few points modes of their own.
        """
        gram = self.coarse.T @ (mass[:, None] * self.coarse)
        shares = self.coarse.T @ (mass[:, None] * coarse)
        inside = np.einsum("ij,ij->j", shares, np.linalg.lstsq(gram, shares, rcond=1e-12)[0])
        size = mass @ coarse**2
        new = inside < KNOWN * size
        return values[new], coarse[:, new]
