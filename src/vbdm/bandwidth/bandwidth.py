"""How wide the kernel is at each point: one factor for its row, one for its column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.checks import FloatArray


@dataclass(frozen=True, eq=False)
class Bandwidth:
    """Two factors, a at the row's point and b at the column's: ``K = h(|x-y|² / (ε a(x) b(y)))``.

    The four forms of the paper differ in nothing else. With ρ the bandwidth function,

    =========  ======  ======  =====================================
    form       a(x)    b(y)    equation
    =========  ======  ======  =====================================
    symmetric  ρ       ρ       "vbkernel"
    left       ρ       1       "leftkernel"
    right      1       ρ       "rightkernel"
    two-sided  ρ1      ρ2      Remark, appendix "symmform"
    =========  ======  ======  =====================================

    and in all of them the kernel's squared local length is ε·a(x)·b(x), its volume
    (a b)^{d/2}. Arrays are in the order inside.
    """

    row: FloatArray
    column: FloatArray
    form: str = "symmetric"

    @classmethod
    def of_form(cls, form: str, rho: FloatArray | tuple[FloatArray, FloatArray]) -> Bandwidth:
        """Place ρ, or the pair (ρ1, ρ2) of the two-sided form, where the form wants it."""
        if isinstance(rho, tuple):
            return cls(*rho, form)
        one = np.ones_like(rho)
        row, column = {"left": (rho, one), "right": (one, rho)}.get(form, (rho, rho))
        return cls(row, column, form)

    @property
    def is_symmetric(self) -> bool:
        """Whether K(x, y) = K(y, x)."""
        return self.form == "symmetric"

    @property
    def squared(self) -> FloatArray:
        """The local squared length a(x) b(x), in units of ε."""
        return self.row * self.column
