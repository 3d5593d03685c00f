"""One-way pairs (i, j): j is among i's neighbours, but i is not among j's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.threads import in_order
from .lists import ListedRows
from .neighbor_graph import NeighborGraph

#: Relative difference, by rounding, that the distances from the two ends of a pair may have.
ROUNDING = 1e-10


def one_way_places(
    graph: NeighborGraph, block: ListedRows, wanted: BoolArray
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places (row, column) in a block of those wanted pairs that are one-way.

    A pair (i, j) is in j's list if it is shorter than the radius of that list, and not if it is
    longer. Only pairs that agree with the radius up to rounding are looked up, so this costs one
    pass. Where lists may have holes, all pairs are looked up.
    """
    radius = np.take(graph.radii, block.neighbors)
    if graph.exact:
        wanted = wanted & (block.sqdist >= (1 - ROUNDING) * radius)
    row, column = np.nonzero(wanted)
    mutual = np.zeros(len(row), dtype=np.bool_)
    inside = block.sqdist[row, column] <= (1 + ROUNDING) * radius[row, column]
    near = np.flatnonzero(inside) if graph.exact else np.arange(len(row))
    owner = (row[near] + block.rows.start).astype(np.int32)
    listed = graph.kept.indices[block.neighbors[row[near], column[near]]]
    mutual[near] = (listed == owner[:, None]).any(axis=1)
    return row[~mutual], column[~mutual]


def at_the_end(block: ListedRows) -> BoolArray:
    """Mark the places (m, k) of a block that are at the distance of the last one, up to rounding.

    Of points at that distance some may not be listed, and order or rounding decides which.
    """
    return np.asarray(block.sqdist >= (1 - ROUNDING) * block.sqdist[:, -1:])


def mean_row_sums(
    graph: NeighborGraph,
    evaluate: Callable[[ListedRows], FloatArray],
    *,
    whole_at_the_end: bool = False,
) -> FloatArray:
    """Return the row sums of (K + Kᵀ)/2, K being known on the listed pairs, without building it.

    `evaluate` returns the values (m, k) of a block of the lists; each point counts as often as it
    occurs. With `whole_at_the_end` the row that lists a pair keeps its value whole at the end of
    the list: then the sums do not depend on which of several points at equal distances are listed.

    Notes
    -----
    Half of each value goes to the row that lists the pair, half to the other: so a pair in both
    lists counts whole, and a one-way pair counts half, for both its ends.
    """
    graph = graph.with_lists()
    sums, counts = np.zeros(graph.n_points), graph.order.counts

    def work(rows: slice) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        block = graph.block(rows)
        values = evaluate(block)
        values *= 0.5
        often = values if counts is None else values * counts[block.neighbors]
        if whole_at_the_end:
            last = at_the_end(block)
            # Neither do the numbers of copies: points there count as often as points on average.
            often = np.where(last, 2 * graph.order.n_rows / graph.n_points * values, often)
            values = np.where(last, 0.0, values)
        if counts is not None:
            values *= counts[rows, None]
        return block.neighbors.reshape(-1), values.reshape(-1), often.sum(axis=1)

    blocks = graph.row_blocks()
    for rows, (neighbors, values, own) in zip(blocks, in_order(work, blocks), strict=True):
        np.add.at(sums, neighbors, values)
        sums[rows] += own
    return sums
