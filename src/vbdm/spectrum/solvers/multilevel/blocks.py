"""Dense algebra on sets of vectors, tall arrays (N, m), one block of rows after the other.

Blocks of rows fit the cache, and all cores work on them. Fresh large arrays would cost more than
the arithmetic, so results are written in place wherever possible. Sums are added up in the order of
the blocks, so that they do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ....base.arrays import FloatArray
from ....base.threads import for_each, in_order, rows_that_fit, slices

#: Eigenvalue of the scaled Gram matrix below which a direction depends on others and is left out.
DEPENDENT = 1e-11
#: The most numbers in a block of rows, all vectors together: it stays in the cache.
BLOCK_ENTRIES = 1 << 18
#: Rows in a block for Gram matrices.
GRAM_ROWS = 4096


def rayleigh_ritz(
    basis: list[FloatArray], images: list[FloatArray], mass: FloatArray, n_kept: int
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest Ritz values in the span of a basis, and coefficients of their vectors.

    Fewer than `n_kept` come back if the basis has fewer independent directions.
    """
    gram, energy = gram_matrices(basis, images, mass)
    width = len(gram)
    size = np.sqrt(np.diag(gram))
    scale = np.divide(1.0, size, out=np.zeros(width), where=size > 0)
    shares, directions = eigh(gram * np.outer(scale, scale))
    kept = shares > DEPENDENT
    independent = scale[:, None] * directions[:, kept] / np.sqrt(shares[kept])
    energy = independent.T @ energy @ independent
    values, rotation = eigh(energy)
    return values[:n_kept], independent @ rotation[:, :n_kept]


def gram_matrices(
    basis: list[FloatArray], images: list[FloatArray], mass: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return S'MS and S'(D - K)S for a basis S in parts, with (D - K) S in `images`.

    Both come from one product for each block of rows: BLAS is slow on narrow ones.
    """
    width = sum(part.shape[1] for part in basis)

    def work(rows: slice) -> FloatArray:
        block = np.hstack([part[rows] for part in basis])
        both = np.hstack([mass[rows, None] * block, *(image[rows] for image in images)])
        return np.asarray(block.T @ both)

    both = summed(work, list(slices(len(mass), size=GRAM_ROWS)))
    gram, energy = both[:, :width], both[:, width:]
    return (gram + gram.T) / 2, (energy + energy.T) / 2


def summed(work: Callable[[slice], FloatArray], pieces: list[slice]) -> FloatArray:
    """Return the sum of `work` over blocks of rows, added up in their order."""
    results = in_order(work, pieces)
    total = next(results)
    for result in results:
        total += result
    return total


def combination(parts: list[FloatArray], mix: FloatArray) -> FloatArray:
    """Return the parts, side by side, times the matrix `mix`.

    A single part is overwritten if it is as wide as the result: memory need not hold both.
    """
    width, first = mix.shape[1], parts[0]
    same = len(parts) == 1 and first.shape[1] == width
    result = first if same else np.empty((len(first), width))

    def work(rows: slice) -> None:
        result[rows] = np.hstack([part[rows] for part in parts]) @ mix

    for_each(work, row_slices(len(result), len(mix)))
    return result


def move(
    basis: list[FloatArray],
    images: list[FloatArray],
    mix: FloatArray,
    active: NDArray[np.intp],
    mass: FloatArray,
) -> FloatArray:
    """In [X, W, P] replace X by the combination `mix`, and W by the new P: its part outside X.

    The images (D - K) [X, W, P] are treated alike. Returns the Rayleigh quotients of the new X.
    """
    n_kept = basis[0].shape[1]

    def work(rows: slice) -> FloatArray:
        for parts in (basis, images):
            X, W = parts[:2]
            moves = np.hstack([part[rows] for part in parts[1:]]) @ mix[n_kept:]
            X[rows] = X[rows] @ mix[:n_kept] + moves
            W[rows] = moves[:, active]
        return energies(basis[0], images[0], mass, rows)

    energy, size = summed(work, row_slices(len(mass), len(mix)))
    return np.asarray(energy / size)


def energies(vectors: FloatArray, images: FloatArray, mass: FloatArray, rows: slice) -> FloatArray:
    """Return u'(D - K)u and u'Mu of each column, summed over some rows, (2, m)."""
    energy = np.einsum("ij,ij->j", vectors[rows], images[rows])
    return np.stack([energy, mass[rows] @ np.square(vectors[rows])])


def rounding(vectors: FloatArray, degrees: FloatArray) -> FloatArray:
    """Return the rounding error of θ for each column: u'(D - K)u is a difference of large sums.

    Each term D u² carries a rounding error of its own, and these add up like random numbers.
    """

    def work(rows: slice) -> FloatArray:
        terms = degrees[rows, None] * np.square(vectors[rows])
        return np.asarray(np.square(terms, out=terms).sum(axis=0))

    squares = summed(work, row_slices(len(vectors), vectors.shape[1]))
    return np.asarray(4 * np.finfo(np.float64).eps * np.sqrt(squares))


def remove_constant(block: FloatArray, mass: FloatArray) -> None:
    """Make the columns M-orthogonal to the constant, which is known and not looked for."""
    pieces = row_slices(len(mass), block.shape[1])
    mean = summed(lambda rows: mass[rows] @ block[rows], pieces) / mass.sum()

    def work(rows: slice) -> None:
        block[rows] -= mean

    for_each(work, pieces)


def remove_span(block: FloatArray, vectors: FloatArray, mass: FloatArray) -> None:
    """Make a block M-orthogonal to M-orthonormal vectors and to the constant, in place.

    The vectors themselves are subtracted: where few heavy points dominate all corrections,
    differences of Gram matrices would be nothing but rounding.
    """
    pieces = row_slices(len(mass), vectors.shape[1] + block.shape[1])

    def overlaps(rows: slice) -> FloatArray:
        weighted = mass[rows, None] * block[rows]
        return np.vstack([vectors[rows].T @ weighted, weighted.sum(axis=0)])

    shares = summed(overlaps, pieces)
    constant = shares[-1] / mass.sum()

    def work(rows: slice) -> None:
        block[rows] -= vectors[rows] @ shares[:-1]
        block[rows] -= constant

    for_each(work, pieces)


def row_slices(n_rows: int, width: int) -> list[slice]:
    """Cut rows of `width` numbers into blocks that fit the cache."""
    return list(slices(n_rows, size=rows_that_fit(width, most=BLOCK_ENTRIES, least=256)))
