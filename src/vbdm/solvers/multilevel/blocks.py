"""Dense algebra on sets of vectors, tall arrays (N, m), one slice of rows after the other.

Slices fit the cache, and all cores work on them. Fresh large arrays would cost more than the
arithmetic, so results are written in place wherever possible. Sums are added up in the order of the
slices, so that they do not depend on the number of threads.

The arrays are ordinary ones or live in blocks (`vbdm.rows.block_array`), all of them alike. Those
that are written over come back, and must not be used any more as they were passed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ...base.arrays import FloatArray, column_dots, column_sums, filled
from ...base.threads import for_each, in_order, rows_that_fit, slices_of
from ...rows.block_array import Tall, mapped, of_width, overwrite, total

#: Eigenvalue of the scaled Gram matrix below which a direction depends on others and is left out.
DEPENDENT = 1e-11
#: The most numbers in a slice of rows, all vectors together: it stays in the cache.
BLOCK_ENTRIES = 1 << 18
#: Rows in a slice for Gram matrices.
GRAM_ROWS = 4096


def rayleigh_ritz(
    basis: list[Tall], images: list[Tall], mass: Tall, n_kept: int
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest Ritz values in the span of a basis, and coefficients of their vectors.

    Fewer than `n_kept` come back if the basis has fewer independent directions.
    """
    both = total(both_grams, basis, images, mass)
    width = len(both)
    gram, energy = both[:, :width], both[:, width:]
    gram, energy = (gram + gram.T) / 2, (energy + energy.T) / 2
    size = np.sqrt(np.diag(gram))
    scale = np.divide(1.0, size, out=np.zeros(width), where=size > 0)
    shares, directions = eigh(gram * np.outer(scale, scale))
    kept = shares > DEPENDENT
    independent = scale[:, None] * directions[:, kept] / np.sqrt(shares[kept])
    energy = independent.T @ energy @ independent
    values, rotation = eigh(energy)
    return values[:n_kept], independent @ rotation[:, :n_kept]


def both_grams(basis: list[FloatArray], images: list[FloatArray], mass: FloatArray) -> FloatArray:
    """Return S'MS and S'(D - K)S side by side, for a basis S in parts, with (D - K) S in `images`.

    Both come from one product for each slice of rows: BLAS is slow on narrow ones.
    """

    def work(rows: slice) -> FloatArray:
        block = np.hstack([part[rows] for part in basis])
        both = np.hstack([mass[rows, None] * block, *(image[rows] for image in images)])
        return block.T @ both

    return sum_slices(work, list(slices_of(mass, GRAM_ROWS)))


def sum_slices(work: Callable[[slice], FloatArray], pieces: list[slice]) -> FloatArray:
    """Return the sum of `work` over slices of rows, added up in their order."""
    results = in_order(work, pieces)
    result = next(results)
    for more in results:
        result += more
    return result


def combination(parts: list[Tall], mix: FloatArray) -> Any:
    """Return the parts, side by side, times the matrix `mix`.

    A single part is overwritten if it is as wide as the result: memory need not hold both.
    """
    if len(parts) == 1 and parts[0].shape[1] == mix.shape[1]:
        return overwrite(mix_rows, parts, [], mix)[0][0]
    return of_width(mapped(mixed_rows, parts, mix), mix.shape[1])


def mixed_rows(parts: list[FloatArray], mix: FloatArray) -> FloatArray:
    """Return the parts, side by side, times the matrix `mix`, as an array of its own."""
    result = np.empty((len(parts[0]), mix.shape[1]), like=parts[0])
    mix_rows(result, parts, mix)
    return result


def mix_rows(result: FloatArray, parts: list[FloatArray], mix: FloatArray) -> None:
    """Write the parts, side by side, times the matrix `mix` into `result`: the part, if none."""
    parts = parts or [result]

    def work(rows: slice) -> None:
        result[rows] = np.hstack([part[rows] for part in parts]) @ mix

    for_each(work, row_slices(result, len(mix)))


def move(
    basis: list[Tall], images: list[Tall], mix: FloatArray, active: NDArray[np.intp], mass: Tall
) -> tuple[list[Tall], FloatArray]:
    """In [X, W, P] replace X by the combination `mix`, and W by the new P: its part outside X.

    The images (D - K) [X, W, P] are treated alike. Returns X and P, their images, and the Rayleigh
    quotients of the new X.
    """
    written = [*basis[:2], *images[:2]]
    written, (energy, size) = overwrite(
        move_rows, written, basis[2:], images[2:], mix, active, mass, summed=True
    )
    return written, np.asarray(energy / size)


def move_rows(
    X: FloatArray,
    W: FloatArray,
    X_images: FloatArray,
    W_images: FloatArray,
    P: list[FloatArray],
    P_images: list[FloatArray],
    mix: FloatArray,
    active: NDArray[np.intp],
    mass: FloatArray,
) -> FloatArray:
    """Make the move on some rows; return u'(D - K)u and u'Mu of the new X, summed over them."""
    n_kept = X.shape[1]

    def work(rows: slice) -> FloatArray:
        for x, w, more in ((X, W, P), (X_images, W_images, P_images)):
            moves = np.hstack([part[rows] for part in (w, *more)]) @ mix[n_kept:]
            x[rows] = x[rows] @ mix[:n_kept] + moves
            w[rows] = moves[:, active]
        energy = column_dots(X[rows], X_images[rows])
        return np.stack([energy, mass[rows] @ np.square(X[rows])])

    return sum_slices(work, row_slices(mass, len(mix)))


def rounding(vectors: Tall, degrees: Tall, n_columns: int) -> FloatArray:
    """Return the rounding error of θ for the first columns: u'(D - K)u is a difference of sums.

    Each term D u² carries a rounding error of its own, and these add up like random numbers.
    """
    squares = total(squared_terms, vectors, degrees, n_columns)
    return np.asarray(4 * np.finfo(np.float64).eps * np.sqrt(squares))


def squared_terms(vectors: FloatArray, degrees: FloatArray, n_columns: int) -> FloatArray:
    """Return the sums of (D u²)² over the rows, for the first columns."""

    def work(rows: slice) -> FloatArray:
        terms = degrees[rows, None] * np.square(vectors[rows, :n_columns])
        return cast(FloatArray, column_sums(np.square(terms, out=terms)))

    return sum_slices(work, row_slices(vectors, n_columns))


def remove_constant(block: Tall, mass: Tall) -> Any:
    """Make the columns M-orthogonal to the constant, which is known and not looked for."""
    sums = total(weighted_sums, block, mass)
    return overwrite(subtract_row, [block], sums[:-1] / sums[-1])[0][0]


def weighted_sums(block: FloatArray, mass: FloatArray) -> FloatArray:
    """Return the sums of M u over the rows, for each column u, and that of M."""
    pieces = row_slices(block)
    return np.append(sum_slices(lambda rows: mass[rows] @ block[rows], pieces), mass.sum())


def subtract_row(block: FloatArray, row: FloatArray) -> None:
    """Subtract one row from all rows, in place."""

    def work(rows: slice) -> None:
        block[rows] -= row

    for_each(work, row_slices(block))


def remove_span(block: Tall, vectors: Tall, mass: Tall) -> Any:
    """Make a block M-orthogonal to M-orthonormal vectors and to the constant, in place.

    The vectors themselves are subtracted: where few heavy points dominate all corrections,
    differences of Gram matrices would be nothing but rounding.
    """
    *shares, sums, masses = total(overlaps, block, vectors, mass)
    return overwrite(subtract_span, [block], vectors, np.array(shares), sums / masses)[0][0]


def overlaps(block: FloatArray, vectors: FloatArray, mass: FloatArray) -> FloatArray:
    """Return X'MW, and as further rows the sums of M W and of M, for a block W and vectors X."""

    def work(rows: slice) -> FloatArray:
        weighted = mass[rows, None] * block[rows]
        return np.vstack([vectors[rows].T @ weighted, column_sums(weighted)])

    width = vectors.shape[1] + block.shape[1]
    masses = filled(block.shape[1], mass.sum(), block)
    return np.vstack([sum_slices(work, row_slices(mass, width)), masses])


def subtract_span(
    block: FloatArray, vectors: FloatArray, shares: FloatArray, constant: FloatArray
) -> None:
    """Subtract combinations of vectors and a constant from the columns of a block, in place."""

    def work(rows: slice) -> None:
        block[rows] -= vectors[rows] @ shares
        block[rows] -= constant

    for_each(work, row_slices(block, vectors.shape[1] + block.shape[1]))


def row_slices(array: FloatArray, width: int | None = None) -> list[slice]:
    """Cut the rows of an array, of `width` numbers each, into slices that fit the cache.

    By default the width is that of the array. On a device all rows are one slice.
    """
    width = array.shape[1] if width is None else width
    return list(slices_of(array, rows_that_fit(width, most=BLOCK_ENTRIES, least=256)))
