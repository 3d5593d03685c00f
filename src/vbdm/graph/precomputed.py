"""Neighbours found elsewhere: checked, and brought into the form of lists.

Lists of neighbours are two (N, k) arrays, indices and squared distances, with each row sorted and
the point itself first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse

from ..base.arrays import FloatArray, IntArray
from ..base.checks import a_count, kind_of
from ..base.points import check_finite, refuse_masked
from ..base.threads import slices
from ..errors import InputError

#: Most neighbours taken from a matrix, the point itself included, unless the user asks for more.
MOST_TAKEN = 1024
#: Most points of which all distances are taken, where all are known.
MOST_WHOLE = 3000
#: Fewest neighbours that every row must list, the point itself included.
FEWEST = 5
#: Relative difference that the two distances of a pair may have; more is refused.
ASYMMETRY = 1e-3
#: Lists of neighbours: indices and squared distances.
Table = tuple[IntArray, FloatArray]


def table_of_matrix(matrix: Any, n_neighbors: int | None = None) -> Table:
    """Return the lists of neighbours of a square matrix of distances, dense or sparse.

    Distances are not squared. Of a sparse matrix the stored entries are the known distances, stored
    zeros included; a pair that one row lists counts for both. `n_neighbors` is k, the point itself
    included; by default all of a whole matrix of up to 3,000 points, and otherwise as many as every
    row has, at most 1,024.

    Notes
    -----
    All rows are cut to the length k: a kernel sees nothing beyond the end of a list, and lists of
    unequal length would end it at unequal numbers of points. Cost O(N² log k) dense, O(pairs)
    sparse.
    """
    refuse_masked(matrix, "distances")
    received = ""
    if issparse(matrix):
        if matrix.dtype.kind not in "fiu":
            received = f"a sparse matrix of {kind_of(matrix.data)}"
    else:
        try:
            # It may take most of the memory: numbers are not copied, not even a strided view.
            matrix = np.asarray(matrix)
            received = kind_of(matrix)
            if not received and matrix.dtype.kind not in "fiu":
                matrix = matrix.astype(np.float64)
        except (TypeError, ValueError):
            received = type(matrix).__name__
    if not received and (matrix.ndim != 2 or len(set(matrix.shape)) > 1 or matrix.shape[0] < 2):
        received = f"shape {matrix.shape}"
    if received:
        raise InputError(
            "A precomputed distance matrix must be square, with one row per point; received "
            f"{received}. Pass the points and leave `metric` out, or an (N, N) matrix, dense or "
            "sparse."
        )
    if issparse(matrix):
        return table_of_sparse(coo_array(matrix), n_neighbors)
    return table_of_dense(matrix, n_neighbors)


def table_of_dense(D: NDArray[Any], n_neighbors: int | None) -> Table:
    """Return the lists of a complete matrix, which is read a few rows at a time."""
    n = len(D)
    high = n if n_neighbors is None else a_count(2, n)(n_neighbors, "n_neighbors")
    k = most_taken(high, n) if n_neighbors is None else high
    indices, sqdist = np.empty((n, k), dtype=np.int32), np.empty((n, k))
    scale = float(np.max(D))
    for rows in slices(n, size=max(1, (1 << 20) // n)):
        part = np.array(D[rows], dtype=np.float64)
        own = np.arange(rows.start, rows.stop)
        check_distances(part, rows.start)
        check_diagonal(part[own - rows.start, own], own, scale)
        back = np.asarray(D[:, rows], dtype=np.float64).T
        check_symmetry(part, back, scale)
        # The two distances of a pair may differ in the last digits: then the mean counts for both.
        part += back
        part /= 2
        # The point itself must come before its copies, which are at distance 0, too.
        part[own - rows.start, own] = -1.0
        indices[rows], sqdist[rows] = nearest_in_rows(part, k)
        sqdist[rows, 0] = 0.0
    return indices, sqdist


def nearest_in_rows(distances: FloatArray, k: int) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the columns of the k smallest in each row, ties in column order, and their squares."""
    near = np.argpartition(distances, k - 1, axis=1)[:, :k]
    near.sort(axis=1)
    found = np.take_along_axis(distances, near, axis=1)
    order = np.argsort(found, axis=1, kind="stable")
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(found, order, axis=1) ** 2


def table_of_sparse(matrix: Any, n_neighbors: int | None) -> Table:
    """Return the lists of a sparse matrix: pairs entered from both ends, rows cut to one length."""
    n = matrix.shape[0]
    row, column = matrix.row.astype(np.int64), matrix.col.astype(np.int64)
    value = matrix.data.astype(np.float64)
    check_distances(value, row)
    scale = float(value.max(initial=0.0))
    on_diagonal = row == column
    check_diagonal(value[on_diagonal], row[on_diagonal], scale)
    row, column, value = row[~on_diagonal], column[~on_diagonal], value[~on_diagonal]
    # Every pair is entered from both ends. Of double entries the shorter one is kept: they may
    # differ in the last digits.
    key = np.concatenate([row * n + column, column * n + row])
    value = np.concatenate([value, value])
    order = np.lexsort((value, key))
    key, value = key[order], value[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    last = np.append(first[1:], len(key)) - 1
    check_symmetry(value[first], value[last[: len(first)]], scale)
    key, value = key[first], value[first]
    row, column = np.divmod(key, n)
    order = np.lexsort((column, value, row))
    row, column, value = row[order], column[order], value[order]
    count = np.bincount(row, minlength=n) + 1
    k = list_length(count, n_neighbors)
    start = np.cumsum(count - 1) - (count - 1)
    place = start[:, None] + np.arange(k - 1)
    own = np.arange(n)[:, None]
    indices = np.hstack([own, column[place]]).astype(np.int32)
    return indices, np.hstack([np.zeros((n, 1)), value[place] ** 2])


def list_length(count: NDArray[np.intp], n_neighbors: int | None) -> int:
    """Return the length k of all lists, or refuse if some rows have fewer entries."""
    shortest, n = int(count.min()), len(count)
    if n_neighbors is None:
        wanted = min(FEWEST, n)
        k = most_taken(shortest, n)
    else:
        wanted = k = a_count(2, n)(n_neighbors, "n_neighbors")
    if shortest >= wanted:
        return k
    few = count < wanted
    first = int(np.argmax(few))
    raise InputError(
        f"Every row of the distance matrix must list at least {wanted - 1} neighbours; received "
        f"{int(few.sum())} row(s) with fewer, the first is row {first} with {count[first] - 1}. "
        "Store the k nearest of every point (KNeighborsTransformer(mode='distance')), drop "
        "isolated points, or pass a smaller `n_neighbors`."
    )


def most_taken(available: int, n_points: int) -> int:
    """Return how many of the available neighbours are taken: all, or the nearest."""
    whole = available == n_points <= MOST_WHOLE
    return available if whole else min(available, MOST_TAKEN)


def equal_points(table: Table) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return, from whole lists, the first point at distance 0 of each, and those that are first."""
    indices, sqdist = table
    first = np.where(sqdist == 0, indices, len(indices)).min(axis=1).astype(np.intp)
    first = first[first]
    return first, np.flatnonzero(first == np.arange(len(first)))


def part_of_whole(table: Table, chosen: NDArray[np.intp]) -> Table:
    """Return the whole lists of some of the points among themselves."""
    indices, sqdist = table[0][chosen], table[1][chosen]
    place = np.full(len(table[0]), -1, dtype=np.int32)
    place[chosen] = np.arange(len(chosen), dtype=np.int32)
    kept, shape = place[indices] >= 0, (len(chosen), len(chosen))
    return place[indices[kept]].reshape(shape), sqdist[kept].reshape(shape)


def check_distances(values: FloatArray, row: Any) -> None:
    """Refuse negative, infinite and missing distances, and name the first row that has one."""
    wrong = ~(values >= 0) | np.isinf(values)
    if not wrong.any():
        return
    place = np.argwhere(wrong)[0][0]
    at = row + place if np.ndim(row) == 0 else row[place]
    raise InputError(
        f"Distances must be finite and not negative; received {int(wrong.sum())} other value(s), "
        f"the first in row {int(at)}. Leave unknown distances out of a sparse matrix; check that "
        "these are distances, neither similarities nor logarithms."
    )


def check_diagonal(values: FloatArray, rows: NDArray[Any], scale: float) -> None:
    """Refuse a point that is far from itself: the sign of a similarity matrix."""
    wrong = values > 1e-6 * scale
    if wrong.any():
        raise InputError(
            "The distance of a point to itself must be 0; received "
            f"{values[np.argmax(wrong)]:.3g} in row {int(rows[np.argmax(wrong)])}. Pass distances, "
            "not similarities; scanpy keeps them in obsp['distances']."
        )


def check_symmetry(there: FloatArray, back: FloatArray, scale: float) -> None:
    """Refuse distances that depend on the direction."""
    if (np.abs(there - back) > ASYMMETRY * np.maximum(there, back) + 1e-6 * scale).any():
        raise InputError(
            "The distance matrix is not symmetric; received pairs whose two distances differ by "
            "more than 0.1 %. Pass (D + D.T) / 2 if the difference means nothing."
        )


def check_table(indices: NDArray[Any], sqdist: FloatArray) -> None:
    """Refuse arrays that are not lists of neighbours."""
    received = ""
    if indices.ndim != 2 or indices.shape != sqdist.shape or min(indices.shape) < 2:
        received = f"shapes {indices.shape} and {sqdist.shape}"
    elif indices.dtype.kind not in "iu":
        received = f"indices of type {indices.dtype}"
    else:
        check_finite(sqdist, "squared distances")
        own = np.arange(len(indices))
        wrong = (
            (indices[:, 0] != own)
            | (indices.astype(np.int64) < 0).any(axis=1)
            | (indices >= len(indices)).any(axis=1)
            | (np.diff(sqdist, axis=1) < 0).any(axis=1)
            | (sqdist[:, 0] != 0)
            | (np.diff(np.sort(indices, axis=1), axis=1) == 0).any(axis=1)
        )
        if wrong.any():
            received = f"{wrong.sum()} row(s) out of order, the first is row {np.argmax(wrong)}"
    if received:
        raise InputError(
            f"The neighbour arrays do not fit together; received {received}. Pass two (N, k) "
            "arrays, integer indices and squared distances: in each row a point's neighbours by "
            "increasing distance, itself first."
        )
