"""`spectrum.dynamics`: what the process does in time, in the span of the modes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ..base.arrays import BoolArray, FloatArray
from ..base.kept import Accessor, kept
from ..base.threads import one_blas_thread
from ..operator.operator import refuse_unsymmetric
from ..rows.block_array import Tall, beside, mapped, total
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import vectors_of
from ..trust.findings import nonzero_modes
from . import correlations, diffusivity, distances, evolution, states


@dataclass(frozen=True, eq=False)
class Basis:
    r"""The span of the modes as a space with an inner product: functions to coefficients, and back.

    The inner product is that of the invariant measure, :math:`⟨f, g⟩ = Σ_i μ_i f_i g_i` with
    μ = `op.equations.measure`. Eigenfunctions are orthogonal in it only nearly: slow modes may have
    limits of their own (`spectrum.own_limits`), and mean squares are taken over the points. So
    coefficients are those of least squares, with the whole matrix of inner products.
    """

    spectrum: Spectrum
    #: Numbers of the modes whose eigenvalues are known, (k,).
    numbers: NDArray[np.intp]
    #: Which of them are no indicators of pieces, (k,): those whose eigenvalue is not 0.
    varies: BoolArray
    #: The invariant measure in the order inside, (M,), with sum 1 over the pieces that were solved,
    #: and 0 outside them.
    mass: FloatArray

    @cached_property
    def gram(self) -> FloatArray:
        """Inner products of the modes, (k, k)."""
        u = self.functions
        with one_blas_thread():
            return np.asarray(total(weighted_products, u, beside(u, self.mass)))

    @property
    def rates(self) -> FloatArray:
        """The eigenvalues λ of these modes, (k,)."""
        return np.asarray(np.real(self.spectrum.eigenvalues[self.numbers]))

    @property
    def functions(self) -> Tall:
        """The modes in the order inside, (M, k)."""
        vectors = vectors_of(self.spectrum)
        return vectors if len(self.numbers) == vectors.shape[1] else vectors[:, self.numbers]

    @property
    def constant(self) -> FloatArray:
        """Coefficients of the function that is 1 on all pieces, (k,)."""
        means = self.coefficients(np.ones((len(self.mass), 1)))[:, 0]
        return np.where(self.varies, 0.0, means)

    def inside(self, f: FloatArray) -> FloatArray:
        """Return functions, (N,) or (N, m), in the order inside, (M, m); copies are averaged."""
        return self.spectrum.operator.graph.order.to_inside(f.reshape(len(f), -1))

    def mean(self, values: FloatArray) -> FloatArray:
        """Return means under the measure of functions in the order inside, (m,)."""
        return np.asarray(self.mass @ values)

    def coefficients(self, values: FloatArray) -> FloatArray:
        """Return the coefficients of functions in the order inside, (k, m), by least squares."""
        u = self.functions
        with one_blas_thread():
            sums = total(products, u, beside(u, self.mass[:, None] * values))
        return np.asarray(cho_solve(cho_factor(self.gram), sums))

    @property
    def balanced(self) -> FloatArray:
        r"""The matrix B, (k, k), of modes :math:`Φ B` with mean 0 on every piece, but for λ = 0.

        What such a mode gains in one place it loses in another: time cannot change the mean. Where
        λ = 0 the modes are indicators of pieces and stay as they are.
        """
        result, still = np.eye(len(self.numbers)), ~self.varies
        means = np.linalg.solve(self.gram[np.ix_(still, still)], self.gram[still][:, self.varies])
        result[np.ix_(still, self.varies)] = -means
        return result

    def values(self, coefficients: FloatArray) -> FloatArray:
        """Return the functions with these coefficients, (k, m), on the points, (N, m).

        NaN outside the pieces that were solved: no mode says anything about them.
        """
        with one_blas_thread():
            found = np.asarray(mapped(np.matmul, self.functions, coefficients))
        result = self.spectrum.operator.graph.order.to_caller(found)
        result[self.spectrum.pieces.strays] = np.nan
        return result

    def all_modes(self, coefficients: FloatArray) -> FloatArray:
        """Return coefficients (k, …) as (n, …), with 0 for modes whose eigenvalue is NaN."""
        result = np.zeros((len(self.spectrum.eigenvalues), *coefficients.shape[1:]))
        result[self.numbers] = coefficients
        return result


def products(u: FloatArray, weighted: FloatArray) -> FloatArray:
    """Return the sums over rows of products of columns, (k, m)."""
    return np.asarray(u.T @ weighted)


def weighted_products(u: FloatArray, mass: FloatArray) -> FloatArray:
    """Return the inner products of columns, (k, k)."""
    return np.asarray(u.T @ (mass[:, None] * u))


class Dynamics(Accessor):
    """What the process does in time, by the modes of a spectrum: `spectrum.dynamics`.

    Times are in units in which the diffusivity is 1, unless a `clock` is passed, which knows it
    from a time series. A spectrum that lives on a device is copied into this machine's memory
    first.
    """

    def __init__(self, spectrum: Spectrum) -> None:
        super().__init__(spectrum)
        self.spectrum = spectrum

    @kept
    def basis(self) -> Basis:
        """The span of the modes, with the inner product of the invariant measure."""
        spectrum, operator = self.spectrum, self.spectrum.operator
        order = operator.graph.order
        refuse_unsymmetric(operator, "Statements about time")
        numbers = np.flatnonzero(~np.isnan(spectrum.eigenvalues))
        mass = order.to_inside(np.where(spectrum.pieces.strays, 0.0, operator.equations.measure))
        if order.counts is not None:
            mass = mass * order.counts
        varies = np.isin(numbers, nonzero_modes(spectrum.eigenvalues))
        return Basis(spectrum, numbers, varies, mass / mass.sum())

    # Each method stands beside its mathematics.
    project, evaluate = evolution.project, evolution.evaluate
    evolve, drift = evolution.evolve, evolution.drift
    correlation, power_spectrum = correlations.correlation, correlations.power_spectrum
    relax, respond = correlations.relax, correlations.respond
    diffusion_distance = distances.diffusion_distance
    commute_distance, pseudotime = distances.commute_distance, distances.pseudotime
    clock, states = diffusivity.clock, states.states
