"""Group the points into nested cells: the unknowns of the coarse problems.

A coarse problem replaces the points by groups of neighbours. The members of a group must be *near*
(strongly linked), groups must be *nested* (a group of groups is a group), and they must follow the
data exactly: equal slices of a good ordering straddle its cells, and cost three times the
iterations.

Where there are points, the nodes of a k-d tree are such groups. Where there are none, the strongest
links are contracted, pair by pair.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array

from ...base.arrays import BoolArray, FloatArray
from ...engines.engine import Engine
from ...engines.scipy_engine import ScipyEngine, row_blocks
from ...engines.tree import levels_to
from ...errors import SolverError
from ...kernel.block_matrix import BlockMatrix
from ...rows.block_array import PerBlock
from ...rows.sparse_blocks import OwnAndNear, made_square, owned

Labels = NDArray[np.int32]

#: An array in this machine's memory.
NOTHING = np.empty(0)

#: Coarsening ends with this few cells.
FEWEST_CELLS = 64
#: A link inside a cell is loose if it is weaker than this share of the average link.
LOOSE = 0.1
#: A point is heavy if its diagonal over its mass is below this share of the median.
HEAVY = 0.25


@dataclass(eq=False)
class Cells:
    """Nested groupings, each with about half as many cells as the one before; used up in order."""

    # Entry 0 gives the cell of each unknown, entry l the cell of each cell of entry l - 1: finest
    # first
    groupings: list[Labels]
    n_apart: int  # the most heavy unknowns on a level that are kept as cells of their own
    engine: Engine = field(default_factory=ScipyEngine)  # who looks for links

    def count_down_to(
        self, fewest: float, most: int, diagonal: FloatArray, mass: FloatArray
    ) -> int:
        """Return how many groupings, `most` at most, can be used up to leave `fewest` cells.

        Cells that `take` splits because they are not tight are not foreseen.
        """
        n_apart = int(heavy(diagonal, mass, self.n_apart).sum())
        sizes = [int(grouping.max()) + 1 + n_apart for grouping in self.groupings[:most]]
        return sum(size >= fewest for size in sizes)

    def take(self, count: int, links: list[Any], diagonal: FloatArray, mass: FloatArray) -> Labels:
        """Use up `count` groupings; return the cell of each unknown, cells split if not tight.

        `links` are sparse matrices whose sum holds ±K, or one in blocks; `diagonal` is that of the
        stiffness matrix.
        """
        labels = self.groupings[0]
        for grouping in self.groupings[1:count]:
            labels = grouping[labels]
        del self.groupings[:count]
        tight = split_loose(labels, links, diagonal, mass, self.n_apart, self.engine)
        if self.groupings:
            parent = np.empty(int(tight.max()) + 1, dtype=np.int32, like=tight)
            parent[tight] = labels
            self.groupings[0] = self.groupings[0][parent]
        return tight


def tree_cells(
    n_points: int, smallest: int, order: NDArray[np.intp] | None = None, like: Any = NOTHING
) -> list[Labels]:
    """Return groupings by the nodes of a k-d tree, the first of at most `smallest` points.

    `order` are the points in tree order, (N,); None if they stand in it. The groupings live where
    `like` does.
    """
    level = levels_to(n_points, smallest)
    # Node i holds the points from i N >> level on (`vbdm.engines.tree.starts_of`).
    ends = np.arange(1, n_points + 1, like=like) << level
    first = ((ends - 1) // n_points).astype(np.int32)
    if order is not None:
        labels = np.empty_like(first)
        labels[order] = first
        first = labels
    above = [
        np.arange(1 << finer, dtype=np.int32, like=like) >> 1
        for finer in range(level, 0, -1)
        if 1 << (finer - 1) >= FEWEST_CELLS
    ]
    return [first, *above]


def cells_of_members(groupings: list[Labels], members: NDArray[np.intp]) -> list[Labels]:
    """Return nested groupings of some of the points; `groupings` are those of all.

    Cells without members are left out, and the others keep their order.

    Examples
    --------
    >>> groupings = [np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 0, 1, 1])]
    >>> [labels.tolist() for labels in cells_of_members(groupings, np.array([1, 4, 5, 7]))]
    [[0, 1, 1, 2], [0, 1, 1]]
    """
    result, kept = [], members
    for grouping in groupings:
        kept, labels = np.unique(grouping[kept], return_inverse=True)
        result.append(labels.reshape(-1).astype(np.int32))
    return result


def split_loose(
    labels: Labels,
    links: list[Any],
    diagonal: FloatArray,
    mass: FloatArray,
    n_apart: int,
    engine: Engine,
) -> Labels:
    """Split cells whose members hardly communicate, and set heavy members apart.

    A cell is one unknown. If it holds an outlying point, or parts of two clusters, a mode that
    lives on one of them does not exist in the coarse problem, and is never found.
    """
    apart, root = heavy(diagonal, mass, n_apart), 1 / np.sqrt(diagonal)
    n_cells = int(labels.max()) + 1
    loose = LOOSE * len(labels) / sum(part.nnz for part in links)
    # If the kernel is far too narrow, all links are loose: then only the worst cells are split.
    for threshold in (loose, loose / 10, loose / 100, 0.0):
        parts = parts_of_cells(links, labels, root, apart, threshold, engine)
        if parts.max() + 1 <= 1.25 * n_cells + apart.sum():
            break
    return parts.astype(np.int32, copy=False)


def parts_of_cells(
    links: list[Any],
    labels: Labels,
    root: FloatArray,
    apart: BoolArray,
    least: float,
    engine: Engine,
) -> Labels:
    """Return the connected parts of cells (`vbdm.engines.engine.Engine.parts_of_cells`).

    Cells have no points in two blocks, so their parts are found block by block.
    """
    matrix = links[0]
    if not isinstance(matrix, BlockMatrix):
        return engine.parts_of_cells(links, labels, root, apart, least)
    halo, result, n_before = matrix.stored.halo, [], 0
    given = (PerBlock(OwnAndNear(halo, values)) for values in (labels, root, apart))
    found = matrix.stored.run(parts_in_block, *given, least, engine, matrix.power)[0]
    for parts in matrix.rows.place.read(found):
        result.append(parts + np.int32(n_before))
        n_before += int(parts.max()) + 1
    return np.concatenate(result)


def parts_in_block(
    matrix: Any,
    labels: Labels,
    root: FloatArray,
    apart: BoolArray,
    least: float,
    engine: Engine,
    power: int,
) -> Labels:
    """Return the connected parts of a block's cells, from figures of its own and near points."""
    links = made_square(to_power(matrix, power))
    parts = engine.parts_of_cells([links], owned(labels), owned(root), owned(apart), least)
    return np.array(parts[: matrix.shape[0]], dtype=np.int32)


def to_power(matrix: Any, power: int) -> Any:
    """Return a CSR matrix with its entries raised to a power."""
    return matrix if power == 1 else matrix.astype(np.float64).power(power)


def heavy(diagonal: FloatArray, mass: FloatArray, n_apart: int) -> BoolArray:
    """Mark the points with the smallest diagonal for their mass: candidates for modes of one point.

    The quotient is the θ of a vector that lives on this point alone.
    """
    quotient = diagonal / mass
    low = np.flatnonzero(quotient < HEAVY * np.median(quotient))
    if len(low) > n_apart:
        low = low[np.argpartition(quotient[low], n_apart)[:n_apart]]
    marked = np.zeros(len(mass), dtype=np.bool_, like=mass)
    marked[low] = True
    return marked


#: Rounds of mutual choice per contraction: after these, few cells are without a partner.
ROUNDS = 6


def graph_cells(
    links: list[Any], degrees: FloatArray, smallest: int, factor: FloatArray | None = None
) -> list[Labels]:
    """Return nested groupings along the strongest links of K = diag(f) (sum of `links`) diag(f).

    Each contraction about halves the number of cells; the first grouping contracts
    log2(smallest) times.
    """
    factor = np.ones(len(degrees)) if factor is None else factor
    strong = strong_links(links, degrees / factor**2)
    weights, sizes = csr_array(diags_array(factor) @ strong @ diags_array(factor)), degrees
    contracted: list[Labels] = []
    while len(sizes) > FEWEST_CELLS:
        labels = match_pairs(weights, sizes)
        n_cells = int(labels.max()) + 1
        if n_cells > 0.9 * len(labels):
            break
        contracted.append(labels)
        sizes = np.asarray(np.bincount(labels, sizes, n_cells), dtype=np.float64)
        coo = weights.tocoo()
        weights = link_matrix(coo.data, labels[coo.row], labels[coo.col], n_cells)
    if not contracted:
        raise SolverError(
            f"The graph of {len(degrees)} points has too few links to be coarsened. Raise ε or the "
            "number of neighbours, or use vbdm.solvers.ShiftInvert()."
        )
    n_first = max(1, int(np.log2(smallest)))
    first = contracted[0]
    for labels in contracted[1:n_first]:
        first = labels[first]
    return [first, *contracted[n_first:]]


def strong_links(links: list[Any], degrees: FloatArray) -> Any:
    """Return the links at least half as strong as the strongest at one of their ends.

    The strength of a link is K_ij / √(D_i D_j): a hub is no better a partner than others.
    """
    root = 1 / np.sqrt(degrees)
    strongest = np.zeros(len(degrees))
    kept: list[tuple[FloatArray, Labels, Labels]] = []
    for is_last in (False, True):
        for pointer, start, column, value in row_blocks(links):
            count = np.diff(pointer)
            row = np.repeat(np.arange(start, start + len(count), dtype=np.int32), count)
            strength = value * root[row] * root[column] * (row != column)
            if is_last:
                bar = 0.5 * np.minimum(strongest[row], strongest[column])
                strong = (strength >= bar) & (strength > 0)
                kept.append((value[strong], row[strong], column[strong]))
            elif len(strength):
                filled = np.flatnonzero(count)
                largest = np.maximum.reduceat(strength, pointer[filled])
                np.maximum.at(strongest, start + filled, largest)
    value, row, column = (np.concatenate(part) for part in zip(*kept, strict=True))
    return link_matrix(value, row, column, len(degrees))


def link_matrix(value: FloatArray, row: Labels, column: Labels, n: int) -> Any:
    """Return links as a CSR matrix without diagonal; links of the same pair are summed."""
    off = row != column
    return csr_array(coo_array((value[off], (row[off], column[off])), shape=(n, n)))


def match_pairs(weights: Any, degrees: FloatArray) -> Labels:
    """Contract pairs that are each other's strongest neighbour; return the cell of each node.

    Notes
    -----
    Some nodes find all their neighbours taken; around a hub, most do. They are paired among
    themselves by the neighbour they share, and the last ones join a pair.
    """
    coo = weights.tocoo()
    row, column = coo.row, coo.col
    strength = coo.data / np.sqrt(degrees[row] * degrees[column]) * tie_breaker(row, column)
    favourite = strongest_neighbour(row, column, strength, len(degrees))
    partner = np.full(len(degrees), -1, dtype=np.int32)
    best = favourite
    for _ in range(ROUNDS):
        mutual = np.flatnonzero((best >= 0) & (best[best] == np.arange(len(best))))
        partner[mutual] = best[mutual]
        free = (partner[row] < 0) & (partner[column] < 0)
        row, column, strength = row[free], column[free], strength[free]
        best = strongest_neighbour(row, column, strength, len(degrees))
    pair_by_shared_neighbour(partner, favourite)
    return number_pairs(partner, favourite)


def strongest_neighbour(row: Labels, column: Labels, strength: FloatArray, n: int) -> Labels:
    """Return for each row the column of its largest entry, or -1 if empty; `row` is sorted."""
    best = np.full(n, -1, dtype=np.int32)
    if row.size:
        first = np.flatnonzero(np.diff(row, prepend=-1))
        count = np.diff(first, append=len(row))
        at_top = strength == np.repeat(np.maximum.reduceat(strength, first), count)
        best[row[at_top]] = column[at_top]
    return best


def tie_breaker(row: Labels, column: Labels) -> FloatArray:
    """Return factors between 1 and 1.01, random but fixed, the same from both ends.

    On a lattice all links are equal: without this hardly any two nodes would choose each other.
    """
    mixed = np.minimum(row, column).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.maximum(row, column).astype(np.uint64)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    return np.asarray(1 + 0.01 / 2**24 * (mixed >> np.uint64(40)).astype(np.float64))


def pair_by_shared_neighbour(partner: Labels, favourite: Labels) -> None:
    """Pair the nodes left over, two by two among those with the same favourite, in place."""
    left: NDArray[np.intp] = np.flatnonzero((partner < 0) & (favourite >= 0))
    left = left[np.argsort(favourite[left], kind="stable")]
    start = np.flatnonzero(np.diff(favourite[left], prepend=-1))
    place = np.arange(len(left)) - np.repeat(start, np.diff(start, append=len(left)))
    second = np.flatnonzero(place % 2 == 1)
    partner[left[second]] = left[second - 1]
    partner[left[second - 1]] = left[second]


def number_pairs(partner: Labels, favourite: Labels) -> Labels:
    """Return the pair of each node, numbered from 0; a single node joins its favourite's pair."""
    owner = np.arange(len(partner), dtype=np.int32)
    owner = np.where(partner >= 0, np.minimum(owner, partner), owner)
    single = np.flatnonzero((partner < 0) & (favourite >= 0))
    # A favourite that is single itself may join a pair at the same moment, and cannot be followed
    # there: nodes with such a favourite stay alone.
    followed = single[partner[favourite[single]] >= 0]
    owner[followed] = owner[favourite[followed]]
    return np.unique(owner, return_inverse=True)[1].astype(np.int32)
