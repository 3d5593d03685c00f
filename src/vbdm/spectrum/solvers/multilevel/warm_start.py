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
    """What a solve leaves for the next: blocks of vectors, and the coarse ones it began with.

    The next solve takes the blocks away: they are a good part of its memory.
    """

    blocks: list[Block]
    coarse: FloatArray

    def unknown(
        self, values: FloatArray, coarse: FloatArray, mass: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the coarse vectors for a new mass that the old ones do not contain.

        Where the new mass gives a few points modes of their own, these are new; as a rule none is.
        """
        gram = self.coarse.T @ (mass[:, None] * self.coarse)
        shares = self.coarse.T @ (mass[:, None] * coarse)
        inside = np.einsum("ij,ij->j", shares, np.linalg.lstsq(gram, shares, rcond=1e-12)[0])
        size = mass @ coarse**2
        new = inside < KNOWN * size
        return values[new], coarse[:, new]
