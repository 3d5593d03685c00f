r"""Products of gradients, from differences of neighbours.

.. math:: Γ(f, g) = ½ (L(fg) - f Lg - g Lf) = ∇f·∇g, \qquad
          Γ(f, g)_i = \frac{1}{2 g_i} Σ_j P_{ij} (f_j - f_i)(g_j - g_i).

The right-hand side is the same number as the one in the middle, but without the cancellation of
large products. Its sampling error is that of a mean over the kernel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray, frozen
from ..base.points import check_function
from ..errors import InputError
from ..operator.operator import Operator
from .surroundings import Surroundings, at_all_points


def carre_du_champ(operator: Operator, f: ArrayLike, g: ArrayLike | None = None) -> FloatArray:
    """Return ∇f·∇g on the points (see `Operator.carre_du_champ`)."""
    first = check_function(f, operator.n_points)
    second = first if g is None else check_function(g, operator.n_points)
    if first.ndim == second.ndim == 2 and first.shape != second.shape:
        raise InputError(
            "`f` and `g` must have as many columns, or one of them a single one; received shapes "
            f"{first.shape} and {second.shape}. The gradient of each column of `f` is multiplied "
            "by that of `g` beside it. Pass one column of `g` as an array of one dimension."
        )
    shape = max(first.shape, second.shape, key=len)
    columns = [values.reshape(len(values), -1) for values in (first, second)]
    n_first = columns[0].shape[1]
    inside = operator.order.to_inside(columns[0] if g is None else np.hstack(columns))
    start = 0 if g is None else n_first
    n_results = max(part.shape[1] for part in columns)
    found = at_all_points(operator, products, inside, n_results, n_first, start)
    return frozen(operator.order.to_caller(found).reshape(shape))


def products(near: Surroundings, n_first: int, start: int) -> FloatArray:
    """Return products of gradients of the first functions with those from `start` on."""
    gaps = near.scaled_differences()
    found = (gaps[..., :n_first] * gaps[..., start:]).sum(axis=1)
    found[near.alone] = np.nan
    return np.asarray(found)
