"""Group the points into nested cells: the unknowns of the coarse problems.

A coarse problem replaces the points by groups of neighbours. Groups must be *near* (strongly
linked) and *nested* (a group of groups is a group), and they must follow the data exactly:
equal slices of a good ordering straddle its cells and cost three times the iterations.

With points, the nodes of a k-d tree are such groups. Without, the strongest links are contracted,
pair by pair (`matching`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ....base.arrays import BoolArray, FloatArray
from ....base.threads import slices

Labels = NDArray[np.int32]

#: Coarsening ends with this few cells.
FEWEST_CELLS = 64
#: A link inside a cell is loose if it is this much weaker than the average link.
LOOSE = 0.1
#: A point is heavy if its diagonal over its mass is below this share of the median.
HEAVY = 0.25


@dataclass(eq=False)
class Cells:
    """Nested groupings, each about half as many cells as the one before, used up from the finest.

    Attributes
    ----------
    groupings : list of int arrays
        Entry 0 gives the cell of each unknown, entry l the cell of each cell of entry l - 1.
    n_apart : int
        At most so many heavy unknowns per level are kept as cells of their own.
    """

    groupings: list[Labels]
    n_apart: int

    @property
    def exhausted(self) -> bool:
        """Whether no grouping is left."""
        return not self.groupings

    def take(self, count: int, links: list[Any], diagonal: FloatArray, mass: FloatArray) -> Labels:
        """Return the cells after `count` groupings, split where they are not tight.

        `links` are sparse matrices whose sum holds ±K; `diagonal` is that of the stiffness.
        """
        labels = self.groupings[0]
        for grouping in self.groupings[1:count]:
            labels = grouping[labels]
        del self.groupings[:count]
        tight = tightened(labels, links, diagonal, mass, self.n_apart)
        if self.groupings:
            parent = np.empty(int(tight.max()) + 1, dtype=np.int32)
            parent[tight] = labels
            self.groupings[0] = self.groupings[0][parent]
        return tight


def tree_cells(points: FloatArray, smallest: int) -> list[Labels]:
    """Return the nodes of a k-d tree with at most 1, 2, 4, ... times `smallest` points.

    Notes
    -----
    The tree's own nodes are walked: with ties in a coordinate its halves are not equal, and cells
    by arithmetic would straddle them.
    """
    tree = cKDTree(points, leafsize=smallest)
    n_levels = max(1, int(np.log2(2 * len(points) / (smallest * FEWEST_CELLS))))
    starts = node_starts(tree, [smallest << level for level in range(n_levels)])
    sizes = np.diff(starts[0], append=len(points))
    first = np.empty(len(points), dtype=np.int32)
    first[tree.indices] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    above = [
        (np.searchsorted(coarse, fine, side="right") - 1).astype(np.int32)
        for fine, coarse in pairwise(starts)
    ]
    return [first, *above]


def node_starts(tree: Any, sizes: list[int]) -> list[NDArray[np.intp]]:
    """Return for each size where the largest nodes of at most so many points begin."""
    starts: list[list[int]] = [[] for _ in sizes]
    # A node, and how many of the sizes have not yet met a small enough node on the way to it.
    stack = [(tree.tree, len(sizes))]
    while stack:
        node, level = stack.pop()
        size = node.end_idx - node.start_idx
        is_leaf = node.split_dim == -1
        while level > 0 and (is_leaf or size <= sizes[level - 1]):
            level -= 1
            # More copies of one point than the size cannot be split by the tree: slices will do.
            starts[level].extend(range(node.start_idx, node.end_idx, sizes[level]))
        if level > 0:
            # The lesser child is popped first, so that the starts come out sorted.
            stack.append((node.greater, level))
            stack.append((node.lesser, level))
    return [np.asarray(level) for level in starts]


def tightened(
    labels: Labels, links: list[Any], diagonal: FloatArray, mass: FloatArray, n_apart: int
) -> Labels:
    """Split cells whose members hardly communicate, and set heavy members apart.

    A cell is one unknown. If it holds a stray point, or parts of two clusters, a mode that lives
    on one of them does not exist in the coarse problem, and then is never found.
    """
    apart = heavy(diagonal, mass, n_apart)
    row, column, strength = inner_links(labels, links, diagonal)
    together = ~(apart[row] | apart[column])
    row, column, strength = row[together], column[together], strength[together]
    n, n_cells = len(labels), int(labels.max()) + 1
    loose = LOOSE * n / sum(part.nnz for part in links)
    # A kernel far too narrow makes everything loose: then only the worst is split.
    for threshold in (loose, loose / 10, loose / 100, 0.0):
        tight = strength >= threshold
        pairs = (np.ones(tight.sum(), dtype=np.int8), (row[tight], column[tight]))
        n_parts, parts = connected_components(coo_array(pairs, shape=(n, n)), directed=False)
        if n_parts <= 1.25 * n_cells + apart.sum():
            break
    return np.asarray(parts, dtype=np.int32)


def heavy(diagonal: FloatArray, mass: FloatArray, n_apart: int) -> BoolArray:
    """Mark the points with the smallest diagonal for their mass: candidates for modes of one point.

    The quotient is the θ of a vector that lives on this point alone.
    """
    quotient = diagonal / mass
    low = np.flatnonzero(quotient < HEAVY * np.median(quotient))
    if len(low) > n_apart:
        low = low[np.argpartition(quotient[low], n_apart)[:n_apart]]
    marked = np.zeros(len(mass), dtype=np.bool_)
    marked[low] = True
    return marked


def inner_links(
    labels: Labels, links: list[Any], diagonal: FloatArray
) -> tuple[Labels, Labels, FloatArray]:
    """Return the links that stay inside a cell, with their strengths K_ij / √(A_ii A_jj)."""
    root = 1 / np.sqrt(diagonal)
    found: list[tuple[Labels, Labels, FloatArray]] = []
    for pointer, start, column, value in row_blocks(links):
        count = np.diff(pointer)
        inside = np.flatnonzero(
            labels[column] == np.repeat(labels[start : start + len(count)], count)
        )
        row = np.searchsorted(pointer, inside, side="right").astype(np.int32) + (start - 1)
        column = column[inside]
        found.append((row, column, np.abs(value[inside]) * root[row] * root[column]))
    row, column, strength = (np.concatenate(part) for part in zip(*found, strict=True))
    return row, column, strength


def row_blocks(matrices: list[Any]) -> Iterator[tuple[Any, int, Labels, FloatArray]]:
    """Yield some rows at a time: row pointer from 0, first row, columns, values; no copies."""
    for matrix in matrices:
        for rows in slices(matrix.shape[0], size=8192):
            pointer = matrix.indptr[rows.start : rows.stop + 1]
            entries = slice(pointer[0], pointer[-1])
            yield pointer - pointer[0], rows.start, matrix.indices[entries], matrix.data[entries]
