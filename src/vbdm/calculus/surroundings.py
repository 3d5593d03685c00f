r"""The neighbours of some points, side by side: what derivatives at these points are made of.

A block of points has its neighbours as columns of one table, with weights
:math:`P_{ij} / (2 g_i)` that turn products of differences into products of gradients. Rows of
fewer neighbours are filled up with the point itself at weight 0. So every derivative is a product
of small matrices, one for each point, and a block needs as much memory as its differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import for_each, in_order, one_blas_thread
from ..kernel.block_matrix import BlockMatrix
from ..operator.operator import Operator
from ..search.exact import to_nearest_image

#: Differences, as numbers of 8 bytes, that are in memory at a time, for each thread.
MOST_NUMBERS = 1 << 18


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Some points and their neighbours."""

    #: Functions on all points that may occur, (M, m).
    values: FloatArray
    #: The points, (r,), and their neighbours, (r, k), by their rows of `values`.
    own: NDArray[np.intp]
    neighbors: NDArray[np.intp]
    #: :math:`P_{ij} / (2 g_i)`, (r, k).
    weights: FloatArray
    #: The period of each function, (m,), 0 where it has none.
    periods: FloatArray | None = None

    @cached_property
    def alone(self) -> BoolArray:
        """Which of the points have no neighbour, (r,): there are no derivatives at these."""
        other = self.neighbors != self.own[:, np.newaxis]
        return np.asarray(~(other & (self.weights > 0)).any(axis=1))

    def scaled_differences(self) -> FloatArray:
        """Return differences of the functions to the neighbours, times roots of weights, (r, k, m).

        Sums over neighbours of products of two of them are products of gradients.
        """
        gaps = self.values[self.neighbors] - self.values[self.own][:, np.newaxis]
        if self.periods is not None:
            for column in np.flatnonzero(self.periods):
                to_nearest_image(gaps[..., column], float(self.periods[column]))
        gaps *= np.sqrt(self.weights)[..., np.newaxis]
        return gaps


#: What is computed at some points: a table with a row for each of them.
Local = Callable[..., FloatArray]


def at_all_points(
    operator: Operator, local: Local, values: FloatArray, n_results: int, *args: Any,
    periods: FloatArray | None = None,
) -> FloatArray:  # fmt: skip
    """Return what a function makes of the surroundings of each point, (M, n_results).

    `local` takes `Surroundings` and `args` and returns (r, n_results); it is a module's function,
    since rows may live elsewhere. `values`, (M, m), are functions on the points in the order
    inside.
    """
    weights = operator.alpha_kernel
    # A point without neighbours has no weights, and the rate of its steps does not matter.
    degrees = np.where(operator.inside.degrees > 0, operator.inside.degrees, 1.0)
    rates = (1.0 if weights.left is None else weights.left) / (2 * degrees * operator.inside.steps)
    result = np.empty((len(values), n_results))
    if isinstance(weights, BlockMatrix):
        spread, right = weights.rows.spread(rates), weights.factors[1]
        options = right, spread, weights.power, periods, local, args
        weights.read_into(result, weights.stored.applied(of_block, values, *options))
        return result
    parts = weights.parts

    def work(rows: slice) -> None:
        matrix = sum(part[rows] for part in parts)
        near = surroundings(matrix, rows, values, weights.right, rates[rows], periods)
        result[rows] = local(near, *args)

    counts = weights.pairs_per_row() + 1
    with one_blas_thread():
        for_each(work, row_blocks(counts, values.shape[1]))
    return result


def of_block(
    matrix: Any,
    values: FloatArray,
    right: FloatArray | None,
    rates: FloatArray,
    power: int,
    periods: FloatArray | None,
    local: Local,
    args: tuple[Any, ...],
) -> FloatArray:
    """Return what a function makes of the points of a block, whose columns have their own numbers.

    `values` has rows for the points of the block first, and then for those near it.
    """

    def work(rows: slice) -> FloatArray:
        stored = matrix[rows].astype(np.float64).power(power)
        return local(surroundings(stored, rows, values, right, rates[rows], periods), *args)

    blocks = row_blocks(np.diff(matrix.indptr), values.shape[1])
    with one_blas_thread():
        return np.concatenate(list(in_order(work, blocks)))


def surroundings(
    matrix: Any,
    rows: slice,
    values: FloatArray,
    right: FloatArray | None,
    rates: FloatArray,
    periods: FloatArray | None,
) -> Surroundings:
    """Return the surroundings of the points `rows`, whose pairs are the rows of a CSR matrix."""
    counts, own = np.diff(matrix.indptr), np.arange(rows.start, rows.stop)
    stored = np.arange(max(counts.max(), 1)) < counts[:, np.newaxis]
    neighbors = np.repeat(own[:, np.newaxis], stored.shape[1], axis=1)
    weights = np.zeros(stored.shape)
    neighbors[stored] = matrix.indices
    weights[stored] = matrix.data if right is None else matrix.data * right[matrix.indices]
    return Surroundings(values, own, neighbors, weights * rates[:, np.newaxis], periods)


def row_blocks(counts: NDArray[np.integer], n_functions: int) -> list[slice]:
    """Cut rows with so many pairs into blocks, until the differences of each fit into memory.

    A block has room for as many neighbours of each point as any of them has.

    Examples
    --------
    >>> row_blocks(np.array([2, 2, 10**6, 2]), 1)
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    found, waiting = [], [slice(0, len(counts))]
    while waiting:
        rows = waiting.pop()
        size = rows.stop - rows.start
        if size > 1 and size * int(counts[rows].max()) * n_functions > MOST_NUMBERS:
            middle = rows.start + size // 2
            waiting += [slice(middle, rows.stop), slice(rows.start, middle)]
        elif size:
            found.append(rows)
    return found
