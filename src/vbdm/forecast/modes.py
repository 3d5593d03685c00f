r"""Forecasts by modes: a density in a basis of smooth functions, moved by one matrix.

With functions Q that are orthonormal over the states of the record, the matrix
:math:`A = Σ_s Q(x_{s+1}) Q(x_s)^T / n` moves the coefficients of a density, relative to that of the
record, one step ahead. A start at x has the coefficients Q(x), after k steps
:math:`c = A^k Q(x)`, and the density :math:`r = Q c` at the states; negative values count as 0.
This is the diffusion forecast of Berry, Giannakis and Harlim (2015), with a basis that is
orthonormal on the data itself: the raw eigenfunctions are so only nearly, and powers of their
matrix grow without bounds.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csr_array

from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.threads import one_blas_thread
from ..errors import VbdmWarning
from ..extension.rows import kernel_rows
from ..operator.operator import Operator
from .ensemble import Ensemble
from .predictor import Begun, normalize_rows
from .record import Record, Rows

#: Least mean square that a function has over the rows that count.
LEAST_SIZE = 1e-3
#: The least share of a function's mean square that the first states of pairs must have.
LEAST_GRAM = 0.5
#: The least mass of a density that is divided by.
LEAST_MASS = 0.1
#: Most members of a forecast, and of one that is held out.
MEMBERS, MEMBERS_TRIED = 4000, 1000
#: Most functions that are eigenfunctions; beyond it, kernels around landmarks are cheaper.
EIGENFUNCTIONS = 60
#: A function whose part outside the span of those before it is a smaller share of it is left out.
INDEPENDENT = 1e-6
#: Most coordinates whose squares are taken.
SQUARED = 12


@dataclass(frozen=True, eq=False, kw_only=True)
class Modes:
    """Forecasts by a shift matrix in an orthonormal basis; see the module."""

    name: str = field(default="modes", init=False)
    record: Record
    #: Functions on the states, orthonormal over these; the first is 1.
    functions: Basis
    #: Whether each lead has a matrix of its own, from pairs of states so far apart. Else the matrix
    #: of one step is applied again and again.
    direct: bool = False
    #: Rows that do not count, (N,).
    left_out: BoolArray | None = None
    #: Most members of a forecast.
    most_members: int = MEMBERS

    @property
    def basis(self) -> FloatArray:
        """The functions on the states, (S, m)."""
        return self.functions.values

    @property
    def operator(self) -> Operator:
        """The operator of the states."""
        return self.functions.operator

    @property
    def n_modes(self) -> int:
        """Number m of functions."""
        return int(self.basis.shape[1])

    def truncated(self, n_modes: int) -> Modes:
        """Return the predictor by the first functions alone."""
        return replace(self, functions=self.functions.first(n_modes))

    @cached_property
    def counted(self) -> BoolArray:
        """States that count, (S,)."""
        if self.left_out is None:
            return np.ones(len(self.record.rows), dtype=np.bool_)
        return ~self.left_out[self.record.rows]

    def begin(self, states: FloatArray) -> Begun:
        """Return the coefficients of starting states, (n, m): the basis there.

        The nearest state of the record stands in for one that is unlike all: coordinates are in the
        basis, and their squares, which far outside would be a forecast of their own.
        """
        known, outside = self.record.states, kernel_rows(self.operator, states)[1]
        beyond = ((states < known.min(axis=0)) | (states > known.max(axis=0))).any(axis=1)
        moved = np.array(states)
        for i in np.flatnonzero(beyond & outside):
            moved[i] = known[np.argmin(((known - states[i]) ** 2).sum(axis=1))]
        return Begun(self.functions.at(moved), outside)

    @cached_property
    def mix(self) -> FloatArray:
        """The matrix that makes the basis orthonormal over the states that count, (m, m)."""
        if self.left_out is None:
            return np.eye(self.n_modes)
        return whitening_matrix(self.basis[self.counted])

    @cached_property
    def own_basis(self) -> FloatArray:
        """The basis, orthonormal over the states that count, (S, m)."""
        return self.basis if self.left_out is None else self.basis @ self.mix

    def matrix(self, lag: int) -> FloatArray:
        """Return the matrix that moves coefficients by `lag` steps, (m, m)."""
        first, second = self.record.pairs(lag)
        use = self.counted[first] & self.counted[second]
        first, second = first[use], second[use]
        before, after = self.own_basis[first], self.own_basis[second]
        with one_blas_thread():
            return shift_matrix(after.T @ before, before.T @ before, len(first))

    @cached_property
    def one_step(self) -> FloatArray:
        """The matrix of one step."""
        return self.matrix(1)

    def moved(self, begun: Begun, lead: int) -> FloatArray:
        """Return coefficients, (n, m), `lead` steps after some starts."""
        coefficients = begun.values @ self.mix
        if self.direct:
            return np.asarray(coefficients @ self.matrix(lead).T)
        return np.asarray(coefficients @ np.linalg.matrix_power(self.one_step, lead).T)

    @cached_property
    def members_at(self) -> Rows:
        """States that are members of forecasts: all that count or, of very many, some."""
        states = np.flatnonzero(self.counted)
        kept = np.linspace(0, len(states) - 1, min(self.most_members, len(states)))
        return states[kept.round().astype(np.intp)]

    def weights(self, begun: Begun, lead: int) -> Any:
        """Return the weights of the rows of the record `lead` steps later, (n, N)."""
        return self.weighted(self.moved(begun, lead))

    def weighted(self, coefficients: FloatArray) -> Any:
        """Return the weights of the rows by the coefficients of densities, (n, m).

        Densities are relative to that of the record; where they are negative, they count as 0.
        """
        states = self.members_at
        with one_blas_thread():
            densities = coefficients @ self.own_basis[states].T
        found = csr_array(np.maximum(densities, 0.0))
        rows = self.record.rows[states[found.indices]]
        shape = (len(coefficients), self.record.n_rows)
        return normalize_rows(csr_array((found.data, rows, found.indptr), shape=shape))

    def members(self, begun: Begun, lead: int, values: FloatArray) -> list[Ensemble]:
        """Return forecasts of functions on the rows, (N, k), `lead` steps later.

        Mean and variance are those of the density as it is, with its negative parts: these are
        errors of its shape, and largely cancel in sums. The shape is that without them.
        """
        coefficients = self.moved(begun, lead)
        weights = self.weighted(coefficients)
        own = values[self.record.rows[self.counted]]
        known = np.isfinite(own)
        # Squares of values far from 0 would leave nothing of a small variance.
        centre = np.where(known, own, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        low = np.where(known, own, np.inf).min(axis=0) - centre
        high = np.where(known, own, -np.inf).max(axis=0) - centre
        away = np.where(known, own - centre, 0.0)
        mass = np.maximum(coefficients @ self.means(known.astype(np.float64)), LEAST_MASS)
        # Nothing outside of what has been seen is foreseen, nor more spread than between its ends.
        mean = np.clip(coefficients @ self.means(away) / mass, low, high)
        square = coefficients @ self.means(away**2) / mass
        variance = np.minimum(square - mean**2, (high - mean) * (mean - low))
        return [
            Ensemble.of(weights, values[:, j]).matched(mean[:, j] + centre[j], variance[:, j])
            for j in range(values.shape[1])
        ]

    def means(self, values: FloatArray) -> FloatArray:
        """Return the means over the states that count of values there, times the basis, (m, k)."""
        with one_blas_thread():
            found = self.own_basis[self.counted].T @ values
        return np.asarray(found / max(len(values), 1))

    def stepped(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Return the weights of the states one step later, and the share of negative ones."""
        with one_blas_thread():
            found = self.basis @ (self.one_step @ (weights @ self.basis))
        positive = np.maximum(found, 0.0)
        total = positive.sum()
        return np.asarray(positive / total), float(1 - found.sum() / total)

    def without(self, rows: BoolArray) -> Modes:
        """Return the predictor that has not seen some rows, quick to be tried from many starts."""
        return replace(self, left_out=rows, most_members=MEMBERS_TRIED)


def whitening_matrix(basis: FloatArray) -> FloatArray:
    """Return the upper triangular W with which basis @ W is orthonormal over its rows."""
    with one_blas_thread():
        gram = basis.T @ basis / len(basis)
    # A function may live on rows that were left out: it must not be divided by nothing.
    gram += LEAST_SIZE * np.eye(len(gram))
    return np.asarray(solve_triangular(cholesky(gram), np.eye(len(gram))))


def shift_matrix(products: FloatArray, gram: FloatArray, n: int) -> FloatArray:
    """Return the matrix that moves coefficients, from sums over n pairs of states.

    Parameters
    ----------
    products : (m, m) array
        Sums of Q(x_{s+k}) Q(x_s)ᵀ.
    gram : (m, m) array
        Sums of Q(x_s) Q(x_s)ᵀ over the same pairs. They are n up to the ends of series; without
        the quotient a cycle would fade away. Functions that hardly live on these states keep their
        size.
    """
    size, axes = np.linalg.eigh(gram / max(n, 1))
    inverse = axes / np.where(size > LEAST_GRAM, size, 1.0) @ axes.T
    return bound_powers(products / max(n, 1) @ inverse)


def bound_powers(matrix: FloatArray) -> FloatArray:
    """Return a matrix whose powers do not grow, and under which a density keeps its mass.

    The first function is 1, so its coefficient is the mass, which nothing changes. The others may
    grow where a record does, or where few rows are left.
    """
    found = np.array(matrix)
    found[0] = 0.0
    found[0, 0] = 1.0
    if len(found) > 1:
        found[1:] /= max(float(np.abs(np.linalg.eigvals(found[1:, 1:])).max()), 1.0)
    return found


@dataclass(frozen=True, eq=False)
class Basis:
    """Functions on the states of a record, orthonormal over these; the first is 1."""

    #: Extends functions to new states.
    operator: Operator
    #: Functions that are known on the data alone, (S, k).
    learned: FloatArray
    #: Upper triangular, (p + k, m): polynomials and learned functions times it are orthonormal.
    mix: FloatArray
    #: The basis on the states, (S, m).
    values: FloatArray
    #: How many functions it was made of, at most.
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
        mix = orthonormal_matrix(np.hstack([known, learned]))
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
    n_points = len(operator.inside.degrees)
    marks = np.unique(np.linspace(0, n_points - 1, n).round().astype(np.intp))
    functions = np.zeros((n_points, len(marks)))
    functions[marks, np.arange(len(marks))] = 1.0
    degrees = np.where(operator.inside.degrees > 0, operator.inside.degrees, 1.0)[:, None]
    for _ in range(2):
        functions = (operator.alpha_kernel @ functions) / degrees
    return operator.graph.order.to_caller(functions)


def orthonormal_matrix(functions: FloatArray) -> FloatArray:
    """Return the matrix, (k, m), with which functions become orthonormal, one after the other.

    It is upper triangular but for the rows of functions that depend on those before them, which
    are 0.

    Examples
    --------
    >>> F = np.array([[1.0, 1.0, 2.0], [1.0, -1.0, 2.0]])
    >>> Q = F @ orthonormal_matrix(F)
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
