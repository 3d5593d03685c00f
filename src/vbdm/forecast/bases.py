"""A basis of smooth functions on the states, orthonormal over them, of any size."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from ..base.arrays import FloatArray, frozen
from ..base.threads import one_blas_thread
from ..errors import VbdmWarning
from ..operator.operator import Operator

#: Most functions that are eigenfunctions; beyond it, kernels around landmarks are cheaper.
EIGENFUNCTIONS = 60
#: A function whose part outside the span of those before it is a smaller share of it is left out.
INDEPENDENT = 1e-6
#: Most coordinates whose squares are taken.
SQUARED = 12


@dataclass(frozen=True, eq=False)
class Basis:
    """Functions on the states of a record, orthonormal over these; the first is 1.

    Attributes
    ----------
    operator : Operator
        Extends functions to new states.
    learned : (S, k) array
        Functions that are known on the data alone.
    mix : (p + k, m) array
        Upper triangular: the values of polynomials and learned functions times it are orthonormal.
    values : (S, m) array
        The basis on the states.
    n_functions : int
        How many functions it was made of, at most.
    """

    operator: Operator
    learned: FloatArray
    mix: FloatArray
    values: FloatArray
    n_functions: int

    @classmethod
    def of(cls, operator: Operator, states: FloatArray, n_functions: int) -> Basis:
        """Make a basis of about so many functions; fewer, if they are not independent.

        First the coordinates and their squares, because means and variances are asked for; then the
        slowest eigenfunctions; then kernels around landmarks, P² applied to single points that are
        spread evenly over the data. Each is made orthogonal to those before it. Cost O(N m²): the
        eigenvalue problem is never larger than 60.
        """
        wanted = min(n_functions, operator.n_points // 2)
        known = polynomials(states)
        n_learned = max(wanted - known.shape[1], 1)
        parts = [eigenfunctions(operator, min(n_learned, EIGENFUNCTIONS) + 1)]
        if n_learned > EIGENFUNCTIONS:
            parts.append(bumps(operator, n_learned - EIGENFUNCTIONS))
        learned = np.hstack(parts)
        mix = orthonormalising(np.hstack([known, learned]))
        values = np.hstack([known, learned]) @ mix
        return cls(operator, frozen(learned), frozen(mix), frozen(values), n_functions)

    def at(self, states: FloatArray) -> FloatArray:
        """Return the basis at new states, (n, m)."""
        learned = self.operator.extend(self.learned, states, outside="nearest")
        return np.asarray(np.hstack([polynomials(states), learned]) @ self.mix)

    def first(self, m: int) -> Basis:
        """Return the first m functions."""
        return replace(self, mix=self.mix[:, :m], values=self.values[:, :m])


def polynomials(states: FloatArray) -> FloatArray:
    """Return 1, the coordinates and, of a few, their squares."""
    ones = np.ones((len(states), 1))
    squares = states**2 if states.shape[1] <= SQUARED else states[:, :0]
    return np.hstack([ones, states, squares])


def eigenfunctions(operator: Operator, n: int) -> FloatArray:
    """Return the slowest modes beside the constant, (S, n - 1), without those that are lost."""
    # Doubts about eigenvalues do not concern a basis.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VbdmWarning)
        values = np.asarray(operator.spectrum(n).eigenfunctions)[:, 1:]
    return values[:, np.isfinite(values).all(axis=0)]


def bumps(operator: Operator, n: int) -> FloatArray:
    """Return kernels around n points, twice as wide as one step of the operator, (S, n)."""
    n_points = len(operator.degrees)
    marks = np.unique(np.linspace(0, n_points - 1, n).round().astype(np.intp))
    functions = np.zeros((n_points, len(marks)))
    functions[marks, np.arange(len(marks))] = 1.0
    degrees = np.where(operator.degrees > 0, operator.degrees, 1.0)[:, None]
    for _ in range(2):
        functions = (operator.weights @ functions) / degrees
    return operator.order.to_caller(functions)


def orthonormalising(functions: FloatArray) -> FloatArray:
    """Return the matrix, (k, m), with which functions become orthonormal, one after the other.

    It is upper triangular but for the rows of functions that depend on those before them, which
    are 0.

    Examples
    --------
    >>> F = np.array([[1.0, 1.0, 2.0], [1.0, -1.0, 2.0]])
    >>> Q = F @ orthonormalising(F)
    >>> (Q.T @ Q / 2).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    n, k = functions.shape
    size = np.sqrt((functions**2).mean(axis=0))
    # More than n functions cannot be independent over n states.
    kept = np.flatnonzero(size > 0)[:n]
    with one_blas_thread():
        r = np.linalg.qr(functions[:, kept] / size[kept], mode="r") / np.sqrt(n)
        own = np.abs(np.diag(r))
        if (own < INDEPENDENT).any():
            # Beside a column that depends on others, QR makes up a direction of its own.
            kept = kept[own >= INDEPENDENT]
            r = np.linalg.qr(functions[:, kept] / size[kept], mode="r") / np.sqrt(n)
    r = r * np.where(np.diag(r) < 0, -1.0, 1.0)[:, None]
    mix = np.zeros((k, len(kept)))
    mix[kept] = solve_triangular(r, np.eye(len(kept))) / size[kept, None]
    return mix
