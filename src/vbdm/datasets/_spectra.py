"""Spectra known in closed form, and how to put them together.

Three functions give a `Truth` in one dimension: a circle, an interval with reflecting ends, a
Gaussian. `product` makes tori, boxes and Gaussians in several dimensions from them, because the
eigenvalues of a product are sums and the eigenfunctions products. `pulled_back` moves a truth to
other parameters. The last two refuse operators for which a truth does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import FloatArray
from ..errors import InputError
from ._sample import Function, Truth, TruthBuilder


def periodic_interval(n: int, c1: float, period: float) -> Truth:
    """Truth of a uniform closed curve of length ``period``: -(2πk/period)² with cos and sin."""
    k = (np.arange(n) + 1) // 2
    is_sine = np.arange(n) % 2 == 0

    def eigenfunctions(position: FloatArray) -> FloatArray:
        angle = 2 * np.pi / period * position * k
        waves = np.sqrt(2) * np.where(is_sine, np.sin(angle), np.cos(angle))
        waves[:, 0] = 1.0
        return np.asarray(waves, dtype=np.float64)

    eigenvalues = 0.0 - np.square(2 * np.pi * k / period)
    return Truth(c1, eigenvalues, eigenfunctions)


def neumann_interval(n: int, c1: float, length: float) -> Truth:
    """Truth of a uniform interval [0, length], reflecting ends: -(kπ/length)² with cosines."""
    k = np.arange(n)

    def eigenfunctions(position: FloatArray) -> FloatArray:
        waves = np.sqrt(2) * np.cos(np.pi / length * position * k)
        waves[:, 0] = 1.0
        return np.asarray(waves, dtype=np.float64)

    eigenvalues = 0.0 - np.square(np.pi * k / length)
    return Truth(c1, eigenvalues, eigenfunctions)


def hermite(n: int, c1: float, variance: float) -> Truth:
    """Truth of a Gaussian of this variance on the line: -c1 k/variance, Hermite polynomials."""
    scale = np.sqrt(c1 / variance)

    def eigenfunctions(x: FloatArray) -> FloatArray:
        y = scale * x[:, 0]
        values = np.ones((len(x), n))
        # The three-term recurrence of the normalised polynomials He_k / sqrt(k!).
        for k in range(1, n):
            previous = values[:, k - 2] if k > 1 else 0.0
            values[:, k] = (y * values[:, k - 1] - np.sqrt(k - 1) * previous) / np.sqrt(k)
        return values

    eigenvalues = 0.0 - (c1 / variance) * np.arange(n, dtype=np.float64)
    return Truth(c1, eigenvalues, eigenfunctions)


def product(axes: Sequence[Truth], n: int) -> Truth:
    """Truth of a product of one-dimensional spaces, column ``i`` belonging to ``axes[i]``.

    Each of them must hold at least ``n`` eigenpairs.

    Examples
    --------
    >>> square = product([neumann_interval(4, 0.0, np.pi)] * 2, 4)
    >>> square.eigenvalues
    array([ 0., -1., -1., -2.])
    """
    totals = np.zeros(1)
    orders = np.zeros((1, 0), dtype=np.intp)
    for axis in axes:
        # The n largest sums need only the n largest partial sums, so the rest is dropped.
        sums = (totals[:, np.newaxis] + axis.eigenvalues).ravel()
        kept = np.argsort(-sums, kind="stable")[:n]
        row, order = np.divmod(kept, axis.eigenvalues.size)
        totals = sums[kept]
        orders = np.column_stack([orders[row], order])

    def eigenfunctions(parameters: FloatArray) -> FloatArray:
        values = np.ones((len(parameters), n))
        for i, axis in enumerate(axes):
            values *= axis.eigenfunctions(parameters[:, [i]])[:, orders[:, i]]
        return values

    return Truth(axes[0].c1, totals, eigenfunctions)


def pulled_back(truth: Truth, mapping: Function) -> Truth:
    """Return the same truth for new parameters, which ``mapping`` takes to the old ones."""
    return Truth(truth.c1, truth.eigenvalues, lambda new: truth.eigenfunctions(mapping(new)))


def laplacian_only(name: str, builder: TruthBuilder) -> TruthBuilder:
    """Return a builder that refuses every operator but the Laplacian."""

    def build(n: int, c1: float) -> Truth:
        if c1 != 0:
            raise InputError(
                f"The truth of {name!r} is known for c1=0 only; received c1={c1:g}. Ask for "
                "operator='laplacian'."
            )
        return builder(n, c1)

    return build


def positive_c1_only(name: str, builder: TruthBuilder) -> TruthBuilder:
    """Return a builder that refuses c1 <= 0: no discrete spectrum on an unbounded space."""

    def build(n: int, c1: float) -> Truth:
        if c1 <= 0:
            raise InputError(
                f"The truth of {name!r} is known for c1 > 0 only; received c1={c1:g}. Without the "
                "drift towards the bulk of the density there is no discrete spectrum: diffusion "
                "on an unbounded space spreads for ever. Ask for operator='generator'."
            )
        return builder(n, c1)

    return build
