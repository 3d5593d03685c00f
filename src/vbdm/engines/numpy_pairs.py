"""Pairs within reach with NumPy: the leaves of the tree are compared, many at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, IntArray
from ..base.threads import slices
from .tree import Reach, Tree

#: Pairs of points that are measured at a time: the arrays stay in the cache.
MEASURED = 1 << 16


def pairs_within(reach: Reach, leaves: slice, n_pairs: int) -> tuple[IntArray, FloatArray]:
    """Return the pairs of the points of some leaves, row by row: neighbours, |x-y|²/(ρ(x) ρ(y))."""
    tree = reach.tree
    own, other = leaf_pairs(reach, leaves)
    if len(own) == 0:
        return np.empty(0, dtype=np.int32), np.empty(0)
    starts, rows = tree.starts, tree.rows_of(leaves)
    width = int(np.diff(starts).max())
    found = []
    for part in slices(len(own), size=max(1, MEASURED // width**2)):
        i, j, total, product = distances_between(reach, starts, width, own[part], other[part])
        hits = np.flatnonzero(total < reach.cut * product)
        row, place = np.divmod(hits, width)
        scaled = total.ravel()[hits] / product.ravel()[hits]
        found.append((i.ravel()[row], j[row // width, place], scaled))
    row, neighbors, scaled = (np.concatenate(part) for part in zip(*found, strict=True))
    row -= rows.start
    # Pairs come leaf by leaf: a stable sort by rows leaves the neighbours in ascending order. NumPy
    # sorts 16-bit numbers by counting.
    narrow = row.astype(np.uint16) if rows.stop - rows.start < 1 << 16 else row
    order = np.argsort(narrow, kind="stable")
    return neighbors[order].astype(np.int32), scaled[order]


def count_within(reach: Reach, leaves: slice) -> NDArray[np.intp]:
    """Return the number of points within reach of each point of some leaves, (m,)."""
    tree = reach.tree
    own, other = leaf_pairs(reach, leaves)
    starts, rows = tree.starts, tree.rows_of(leaves)
    width = int(np.diff(starts).max())
    counts = np.zeros(rows.stop - rows.start + 1, dtype=np.intp)
    for part in slices(len(own), size=max(1, MEASURED // width**2)):
        i, _, total, product = distances_between(reach, starts, width, own[part], other[part])
        hits = np.count_nonzero(total < reach.cut * product, axis=2)
        counts += np.bincount(i.ravel() - rows.start, hits.ravel(), len(counts)).astype(np.intp)
    return counts[:-1]


def leaf_pairs(reach: Reach, leaves: slice) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs of leaves that may hold pairs within reach."""
    tree = reach.tree
    first = (1 << tree.depth) - 1
    nodes = np.arange(first + leaves.start, first + leaves.stop)
    own, other = descend(reach, tree.low, tree.high, reach.widest, nodes)
    return own - first, other


def descend(
    reach: Reach, low: FloatArray, high: FloatArray, widest: FloatArray, boxes: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Go down the tree; return which boxes may hold points within reach of which leaves.

    All boxes have corners `low` and `high`, (p, n), and a largest ρ, `widest`; a point is a box
    by itself. Pairs come in the order of the `boxes` that are asked about, leaves ascending.
    """
    tree, own = reach.tree, boxes
    node = np.zeros(len(own), dtype=np.intp)
    for level in range(tree.depth + 1):
        bound = reach.cut * (widest[own] * reach.widest[node])
        near = gaps(tree, low, high, own, node) < bound
        own, node = own[near], node[near]
        if level < tree.depth:
            own = np.repeat(own, 2)
            node = np.repeat(2 * node + 1, 2)
            node[1::2] += 1
    return own, node - ((1 << tree.depth) - 1)


def gaps(
    tree: Tree, low: FloatArray, high: FloatArray, a: NDArray[np.intp], b: NDArray[np.intp]
) -> FloatArray:
    """Return the squared distances between boxes a, given by their corners, and nodes b."""
    total = np.zeros(len(a))
    for column, length in enumerate(tree.period):
        low_a, high_a = low[:, column][a], high[:, column][a]
        low_b, high_b = tree.low[:, column][b], tree.high[:, column][b]
        gap = np.maximum(np.maximum(low_a - high_b, low_b - high_a), 0.0)
        if length > 0:
            around = length - np.maximum(high_a - low_b, high_b - low_a)
            gap = np.where(gap > 0, np.maximum(np.minimum(gap, around), 0.0), 0.0)
        total += gap * gap
    return total


def distances_between(
    reach: Reach,
    starts: NDArray[np.intp],
    width: int,
    own: NDArray[np.intp],
    other: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray, FloatArray]:
    """Return all pairs between the points of two leaves each.

    These are the points of both, (m, width), and |x-y|² and ρ(x) ρ(y), (m, width, width).
    """
    tree, places = reach.tree, np.arange(width)
    i, j = starts[own, None] + places, starts[other, None] + places
    # Leaves differ by one point: the place after a shorter one gets ρ = 0, which reaches nothing.
    rho_i = np.where(i < starts[own + 1, None], np.take(reach.rho, i, mode="clip"), 0.0)
    rho_j = np.where(j < starts[other + 1, None], np.take(reach.rho, j, mode="clip"), 0.0)
    total = np.zeros((len(own), width, width))
    for column, length in zip(tree.columns, tree.period, strict=True):
        gap = (
            np.take(column, j, mode="clip")[:, None, :]
            - np.take(column, i, mode="clip")[:, :, None]
        )
        if length > 0:
            gap -= length * np.rint(gap / length)
        total += np.square(gap, out=gap)
    if not reach.with_self:
        same = np.flatnonzero(own == other)
        total[same[:, None], places, places] = np.inf
    return i, j, total, rho_i[:, :, None] * rho_j[:, None, :]


def pairs_to(
    reach: Reach, points: FloatArray, rho: FloatArray
) -> tuple[NDArray[np.intp], IntArray, FloatArray]:
    """Return the pairs of new points, (m, n) with widths (m,), with those within their reach.

    Each new point goes down the tree, all at once.
    """
    new, leaf = descend(reach, points, points, rho, np.arange(len(points)))
    tree, starts = reach.tree, reach.tree.starts
    width = int(np.diff(starts).max())
    counts = np.zeros(len(points), dtype=np.intp)
    neighbors, scaled = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
    for part in slices(len(new), size=max(1, MEASURED // width)):
        own = new[part]
        j = starts[leaf[part], None] + np.arange(width)
        inside = j < starts[leaf[part] + 1, None]
        # Leaves differ by one point: the place after a shorter one gets ρ = 0, as above.
        np.minimum(j, tree.n_points - 1, out=j)
        total = np.zeros(j.shape)
        for x, column, length in zip(points[own].T, tree.columns, tree.period, strict=True):
            gap = column[j] - x[:, None]
            if length > 0:
                gap -= length * np.rint(gap / length)
            total += np.square(gap, out=gap)
        product = rho[own, None] * np.where(inside, reach.rho[j], 0.0)
        hits = total < reach.cut * product
        counts += np.bincount(own, hits.sum(axis=1), len(counts)).astype(np.intp)
        neighbors.append(j[hits].astype(np.int32))
        scaled.append(total[hits] / product[hits])
    return counts, np.concatenate(neighbors), np.concatenate(scaled)
