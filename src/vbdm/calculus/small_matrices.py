"""The largest eigenvalues of many small symmetric matrices at once."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray

#: Matrices up to this size are solved as a whole.
SMALL = 16
#: Vectors beyond those wanted, powers of the matrix in a round, rounds.
EXTRA, POWERS, ROUNDS = 4, 3, 3
#: Largest residual of an eigenvector, in units of the largest eigenvalue.
RESIDUAL = 1e-6


def top_pairs(matrices: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues (r, count) and eigenvectors (r, s, count) of r matrices.

    The matrices, (r, s, s), are symmetric without negative eigenvalues. Larger ones are multiplied
    to a few vectors, which turn towards the leading eigenvectors; tangent spaces stand out so far
    that this takes few products. Where it was not enough the whole matrix is solved.
    """
    size = matrices.shape[1]
    if size <= max(SMALL, 2 * (count + EXTRA)):
        return all_pairs(matrices, count)
    trial = np.random.default_rng(0).standard_normal((size, count + EXTRA))
    for _ in range(ROUNDS):
        for _ in range(POWERS):
            trial = matrices @ trial
        trial = np.linalg.qr(trial)[0]
    image = matrices @ trial
    values, turn = all_pairs(np.swapaxes(trial, 1, 2) @ image, count)
    vectors = trial @ turn
    residual = np.abs(image @ turn - vectors * values[:, np.newaxis]).max(axis=(1, 2))
    rest = np.flatnonzero(~(residual <= RESIDUAL * values[:, 0]))
    if rest.size:
        values[rest], vectors[rest] = all_pairs(matrices[rest], count)
    return values, vectors


def all_pairs(matrices: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues and their eigenvectors, by solving for all."""
    values, vectors = np.linalg.eigh(matrices)
    return values[:, : -count - 1 : -1].copy(), vectors[..., : -count - 1 : -1].copy()
