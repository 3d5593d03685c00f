"""Verbs of an operator: methods of `Operator` that hand it to later rooms when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.arrays import FloatArray

if TYPE_CHECKING:
    from .operator import Operator


def measure(self: Operator) -> FloatArray:
    """Weights of the points under the invariant measure q^c1, (N,), with sum 1.

    Means under it are sums with these weights. Points so far outside that they resolve no mode
    weigh no more than the 2 % next to them.
    """
    from ..spectrum.measure import invariant_measure

    return invariant_measure(self)
