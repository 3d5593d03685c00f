r"""Gradients and tangent spaces, by regression on the points themselves.

Γ(x, f) has one number for each column of the points, and tends to the gradient of f. But its error
is that of every mean over a kernel, 10 %, and the matrix C = Γ(x, x), which tends to the projector
on the tangent space, has the same error, from the same neighbours:

.. math:: ∇f = V (V^T C V)^{-1} V^T Γ(x, f),

with the leading d eigenvectors V of C, is the regression of the differences of f on those of x,
and exact for linear functions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray, frozen
from ..base.points import check_function
from ..errors import InputError
from ..operator.operator import Operator
from .small_matrices import top_pairs
from .surroundings import Surroundings, at_all_points

#: Directions along which the neighbours spread less than this, against the widest, are not seen.
UNSEEN = 1e-10


def gradient(operator: Operator, f: ArrayLike) -> FloatArray:
    """Return ∇f on the points (see `Operator.gradient`)."""
    values = check_function(f, operator.n_points)
    points, periods, dim = coordinates_of(operator)
    inside = operator.order.to_inside(values.reshape(len(values), -1))
    n, m = points.shape[1], inside.shape[1]
    both = np.concatenate([points, inside], axis=1)
    if periods is not None:
        periods = np.append(periods, np.zeros(m))
    found = at_all_points(operator, gradients, both, n * m, n, dim, periods=periods)
    caller = operator.order.to_caller(found)
    return frozen(caller.reshape(len(caller), n, *values.shape[1:]))


def tangents(operator: Operator) -> FloatArray:
    """Return orthonormal bases of the tangent spaces (see `Operator.tangents`)."""
    points, periods, dim = coordinates_of(operator)
    n = points.shape[1]
    found = at_all_points(operator, bases, points, n * dim, dim, periods=periods)
    caller = operator.order.to_caller(found)
    return frozen(caller.reshape(len(caller), n, dim))


def coordinates_of(operator: Operator) -> tuple[FloatArray, FloatArray | None, int]:
    """Return the points in the order inside, their periods, and the number of tangents."""
    known = operator.graph.point_set
    if known.coordinates is None or known.distance.metric != "euclidean":
        raise InputError(
            f"Gradients and tangents need coordinates; received metric={known.distance.metric!r}. "
            "A gradient has a direction among the columns of the points, with straight lines "
            "between neighbours. `op.carre_du_champ(f)` has the squared length of a gradient "
            "without coordinates."
        )
    points = np.ascontiguousarray(known.coordinates)
    dim = min(max(round(operator.dim), 1), points.shape[1])
    return points, known.distance.period, dim


def gradients(near: Surroundings, n: int, dim: int) -> FloatArray:
    """Return the gradients of the functions after the first n, which are the coordinates."""
    gaps = near.scaled_differences()
    x, f = gaps[..., :n], gaps[..., n:]
    spread, basis = leading(x, dim)
    # Γ(x, f) in the tangent space, (r, d, m).
    slopes = np.swapaxes(x @ basis, 1, 2) @ f
    seen = spread > UNSEEN * spread[:, :1]
    inverse = 1 / np.where(seen & ~near.alone[:, np.newaxis], spread, np.nan)
    return (basis @ (slopes * inverse[..., np.newaxis])).reshape(len(x), -1)


def bases(near: Surroundings, dim: int) -> FloatArray:
    """Return orthonormal bases of the tangent spaces, each as one row."""
    _, basis = leading(near.scaled_differences(), dim)
    basis[near.alone] = np.nan
    return basis.reshape(len(basis), -1)


def leading(x: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    """Return the leading eigenvalues (r, d) and eigenvectors (r, n, d) of C = xᵀx, largest first.

    With more columns than neighbours they are found from x xᵀ, which has the same eigenvalues and
    is smaller.
    """
    if x.shape[1] < dim:
        # Fewer neighbours than dimensions: some directions are any.
        x = np.pad(x, ((0, 0), (0, dim - x.shape[1]), (0, 0)))
    turned = np.swapaxes(x, 1, 2)
    if x.shape[2] <= x.shape[1]:
        return top_pairs(turned @ x, dim)
    values, vectors = top_pairs(x @ turned, dim)
    # The columns are orthogonal already; this makes their lengths 1, also where they are 0.
    return values, np.linalg.qr(turned @ vectors)[0]
