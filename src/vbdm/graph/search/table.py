"""Fill a table of neighbours: all points searched, each of them first in its own row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ...base.checks import FloatArray, IntArray, frozen
from ...base.slices import slices
from ...base.threads import for_each
from .exact import BruteForce, NeighborIndex

#: Rows on which an approximate search is checked.
RECALL_ROWS = 200


def search_all(
    index: NeighborIndex, cloud: FloatArray, k: int, *, keep: bool
) -> tuple[IntArray, FloatArray | None]:
    """Find the k nearest of every point; distances come back only if they are to be kept."""
    indices = np.empty((len(cloud), k), dtype=np.int32)
    sqdist = np.empty((len(cloud), k)) if keep else None

    def work(rows: slice) -> None:
        indices[rows], distances = index.query(cloud[rows], k)
        put_self_first(indices[rows], distances, rows.start)
        if sqdist is not None:
            sqdist[rows] = distances

    pieces = slices(len(cloud), size=index.rows_per_call)
    for_each(work, pieces, "neighbours", index.parallel)
    return indices, None if sqdist is None else frozen(sqdist)


def tree_order(points: FloatArray) -> NDArray[np.intp]:
    """Return the permutation that a k-d tree gives the points: near in space, near in memory."""
    # Beyond a few columns a tree has no locality to give, and building it costs.
    columns = points if points.shape[1] <= 32 else points[:, :32]
    order: NDArray[np.intp] = cKDTree(columns, leafsize=8, compact_nodes=False).indices
    return order


def put_self_first(indices: IntArray, sqdist: FloatArray, first: int = 0) -> None:
    """Move each point to column 0 of its own row, in place; the first row is that of `first`.

    Only copies of a point can stand before it, all at distance 0, so a swap keeps the row sorted.
    With more than k copies the point may be missing from its row: it then takes a copy's place.
    """
    own = np.arange(first, first + len(indices), dtype=np.int32)
    strayed = np.flatnonzero(indices[:, 0] != own)
    if strayed.size == 0:
        return
    found = indices[strayed] == own[strayed, None]
    position = np.where(found.any(axis=1), found.argmax(axis=1), 0)
    indices[strayed, position] = indices[strayed, 0]
    sqdist[strayed, position] = sqdist[strayed, 0]
    indices[strayed, 0] = own[strayed]
    sqdist[strayed, 0] = 0.0


def recall_of(cloud: FloatArray, table: IntArray) -> float:
    """Return the share of the true neighbours that a table lists, on a sample of its rows."""
    k = table.shape[1]
    rows = np.linspace(0, len(cloud) - 1, min(len(cloud), RECALL_ROWS)).round().astype(np.intp)
    truth, _ = BruteForce().index(cloud, k).query(cloud[rows], k)
    found = [np.isin(true, table[row]).mean() for row, true in zip(rows, truth, strict=True)]
    return float(np.mean(found))
