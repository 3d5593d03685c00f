"""Rows of sparse matrices: products with blocks of vectors, sums over cells, connected pieces."""

from __future__ import annotations

import numpy as np

from .compile import compiled, inlined


@inlined
def sum_row(pointer, columns, values, right, power, block, i, total):
    """Write row i of A^power diag(right) · block into `total`, (m,)."""
    scaled = len(right) > 1
    total[:] = 0.0
    for p in range(pointer[i], pointer[i + 1]):
        j = columns[p]
        w = np.float64(values[p])
        if power != 1:
            w = w**power
        if scaled:
            w *= right[j]
        for c in range(len(total)):
            total[c] += w * block[j, c]


@compiled
def product(pointer, columns, values, left, right, power, diagonal, block, first, last, out):
    """Write rows first, ..., last - 1 of diag(left) A^power diag(right) · block into `out`.

    The power is taken entry by entry. A factor of length 1 counts as 1. If there is a
    `diagonal`, the product is subtracted from it times the block. Sums run along the row, in double
    precision.
    """
    total = np.empty(block.shape[1])
    for i in range(first, last):
        sum_row(pointer, columns, values, right, power, block, i, total)
        factor = left[i] if len(left) > 1 else 1.0
        if len(diagonal) > 0:
            for c in range(len(total)):
                out[i, c] = diagonal[i] * block[i, c] - factor * total[c]
        else:
            for c in range(len(total)):
                out[i, c] = factor * total[c]


@compiled
def jacobi(pointer, columns, values, block, added, divisor, first, last, out):
    """Write rows first, ..., last - 1 of (A · block + added) / divisor into `out`."""
    total, one = np.empty(block.shape[1]), np.ones(1)
    for i in range(first, last):
        sum_row(pointer, columns, values, one, 1, block, i, total)
        for c in range(len(total)):
            out[i, c] = (total[c] + added[i, c]) / divisor[i]


@compiled
def sum_over_cells(
    pointer, columns, values, factor, labels, first, last, place, out_columns, out_values, counts
):
    """Write rows first, ..., last - 1 of diag(f) A diag(f) P: sums over cells of columns.

    Parameters
    ----------
    pointer, columns, values
        The CSR matrix A.
    factor, labels : (N,) arrays
        f, and the cell of each point.
    first, last : int
        The wanted rows.
    place : (n_cells,) int array
        Room, filled with -1; it comes back so.
    out_columns, out_values, counts : arrays
        The rows, one after the other, and the number of entries in each.

    Returns
    -------
    int
        Number of entries written.
    """
    at = 0
    for i in range(first, last):
        begin = at
        for p in range(pointer[i], pointer[i + 1]):
            j = columns[p]
            cell = labels[j]
            value = factor[i] * values[p] * factor[j]
            if place[cell] < 0:
                place[cell] = at
                out_columns[at] = cell
                out_values[at] = value
                at += 1
            else:
                out_values[place[cell]] += value
        for p in range(begin, at):
            place[out_columns[p]] = -1
        counts[i - first] = at - begin
    return at


@compiled
def root_of(parents, i):
    """Return the first point of the piece of i; the way there is halved."""
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@compiled
def join(pointer, columns, values, scale, least, few, parents):
    """Join the pieces of points that are linked: by more than `least` times both their scales.

    Only the first `few` links of each row are looked at. `parents` holds for each point another one
    of its piece with a lower number, or itself.
    """
    for i in range(len(parents)):
        own = root_of(parents, i)
        stop = min(pointer[i + 1], pointer[i] + few)
        for p in range(pointer[i], stop):
            j = columns[p]
            if parents[j] == own or not values[p] > least * scale[i] * scale[j]:
                continue
            other = root_of(parents, j)
            if other < own:
                parents[own] = other
                own = other
            elif other > own:
                parents[other] = own


@compiled
def join_within(pointer, columns, values, labels, root, apart, least, parents):
    """Join points of the same cell whose link |K_ij| root_i root_j is `least` or more.

    Points that stand apart are joined to none.
    """
    for i in range(len(parents)):
        if apart[i]:
            continue
        for p in range(pointer[i], pointer[i + 1]):
            j = columns[p]
            if j <= i or labels[j] != labels[i] or apart[j]:
                continue
            if abs(values[p]) * root[i] * root[j] >= least:
                first, second = root_of(parents, i), root_of(parents, j)
                if first < second:
                    parents[second] = first
                elif second < first:
                    parents[first] = second


@compiled
def roots(parents):
    """Give every point the first point of its piece; return the number of pieces."""
    count = 0
    for i in range(len(parents)):
        parents[i] = parents[parents[i]]
        count += parents[i] == i
    return count
