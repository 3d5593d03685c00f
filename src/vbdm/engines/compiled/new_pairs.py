"""Pairs within reach of new points: |x-y|² < cut ρ(x) ρ(y), x new and y in the tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import compiled
from .walk import gap_to_box, measure

#: Pairs per new point for which there is room at first.
ROOM = 64


@compiled
def pairs_to(
    columns: Any,
    rho: Any,
    low: Any,
    high: Any,
    widest: Any,
    period: Any,
    depth: int,
    cut: float,
    points: Any,
    widths: Any,
    counts: Any,
) -> tuple[Any, Any]:
    """Return the pairs of new points, (m, n) with widths (m,), row by row; count those of each.

    These are numbers of points of the tree, ascending in each row, and |x-y|²/(ρ(x) ρ(y)).
    """
    n, first = columns.shape[1], (1 << depth) - 1
    distance, stack = np.empty(2 + (n >> depth)), np.empty(depth + 2, np.int64)
    room = ROOM * len(points) + len(distance)
    neighbors, scaled = np.empty(room, np.int32), np.empty(room)
    at = 0
    for i in range(len(points)):
        point, own, begin = points[i], widths[i], at
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if not gap_to_box(point, low, high, period, node) < cut * (own * widest[node]):
                continue
            if node < first:
                stack[top] = 2 * node + 2
                stack[top + 1] = 2 * node + 1
                top += 2
                continue
            leaf = node - first
            start, stop = (leaf * n) >> depth, ((leaf + 1) * n) >> depth
            measure(point, columns, period, start, stop, distance)
            if at + stop - start > len(neighbors):
                neighbors = np.concatenate((neighbors, np.empty_like(neighbors)))
                scaled = np.concatenate((scaled, np.empty_like(scaled)))
            for j in range(start, stop):
                product = own * rho[j]
                if distance[j - start] < cut * product:
                    neighbors[at] = j
                    scaled[at] = distance[j - start] / product
                    at += 1
        counts[i] = at - begin
    return neighbors[:at].copy(), scaled[:at].copy()
