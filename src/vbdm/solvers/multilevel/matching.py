"""Nested cells from the links alone, for graphs without points: contract the strongest pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array

from ...base.arrays import FloatArray
from ...engines.scipy_graph import row_blocks
from ...errors import SolverError
from .tree_cells import FEWEST_CELLS, Labels

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
        labels = matched(weights, sizes)
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


def matched(weights: Any, degrees: FloatArray) -> Labels:
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
    return numbered(partner, favourite)


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


def numbered(partner: Labels, favourite: Labels) -> Labels:
    """Return the pair of each node, numbered from 0; a single node joins its favourite's pair."""
    owner = np.arange(len(partner), dtype=np.int32)
    owner = np.where(partner >= 0, np.minimum(owner, partner), owner)
    single = np.flatnonzero((partner < 0) & (favourite >= 0))
    # A favourite that is single itself may join a pair at the same moment, and cannot be followed
    # there: nodes with such a favourite stay alone.
    followed = single[partner[favourite[single]] >= 0]
    owner[followed] = owner[favourite[followed]]
    return np.unique(owner, return_inverse=True)[1].astype(np.int32)
