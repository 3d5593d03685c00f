"""Pairs within reach: |x-y|² < cut ρ(x) ρ(y), a symmetric relation."""

from __future__ import annotations

import numpy as np

from .compile import compiled, gap_of_boxes, gap_to_box, measure

#: Pairs per new point for which there is room at first.
ROOM = 64


@compiled
def leaves_within(low, high, widest, period, depth, cut, leaf, found):
    """Write down the leaves that hold points within reach of a leaf, in order; return how many."""
    first = (1 << depth) - 1
    own = first + leaf
    stack = np.empty(depth + 2, np.int64)
    stack[0] = 0
    top, count = 1, 0
    while top > 0:
        top -= 1
        node = stack[top]
        if gap_of_boxes(low, high, period, own, node) >= cut * (widest[own] * widest[node]):
            continue
        if node >= first:
            found[count] = node - first
            count += 1
        else:
            stack[top] = 2 * node + 2
            stack[top + 1] = 2 * node + 1
            top += 2
    return count


@compiled
def count_within(columns, rho, low, high, widest, period, depth, cut, with_self, first, last, out):
    """Count, for each point of the leaves first, ..., last - 1, the points within reach of it.

    The point itself is one of them if `with_self`. `out` begins with the first of these points.
    """
    n = columns.shape[1]
    leaves = 1 << depth
    found, distance = np.empty(leaves, np.int64), np.empty(2 + (n >> depth))
    point = np.empty(columns.shape[0])
    begin = (first * n) >> depth
    for leaf in range(first, last):
        m = leaves_within(low, high, widest, period, depth, cut, leaf, found)
        for i in range((leaf * n) >> depth, ((leaf + 1) * n) >> depth):
            own = rho[i]
            for c in range(len(point)):
                point[c] = columns[c, i]
            total = 0
            for q in range(m):
                box = leaves - 1 + found[q]
                if gap_to_box(point, low, high, period, box) >= cut * (own * widest[box]):
                    continue
                start, stop = (found[q] * n) >> depth, ((found[q] + 1) * n) >> depth
                measure(point, columns, period, start, stop, distance)
                for j in range(start, stop):
                    total += distance[j - start] < cut * (own * rho[j])
            # A point is within its own reach unless the product of widths underflows.
            out[i - begin] = total if with_self else total - (cut * (own * own) > 0.0)


@compiled
def write_within(
    columns, rho, low, high, widest, period, depth, cut, with_self, first, last, neighbors, scaled
):
    """Write the pairs of some leaves, row by row: numbers of the others, and |x-y|²/(ρ(x) ρ(y)).

    Returns how many were written; columns are in ascending order. The output needs room for one
    pair more.
    """
    n = columns.shape[1]
    leaves = 1 << depth
    found, distance = np.empty(leaves, np.int64), np.empty(2 + (n >> depth))
    point = np.empty(columns.shape[0])
    at = 0
    for leaf in range(first, last):
        m = leaves_within(low, high, widest, period, depth, cut, leaf, found)
        for i in range((leaf * n) >> depth, ((leaf + 1) * n) >> depth):
            own, begin = rho[i], at
            for c in range(len(point)):
                point[c] = columns[c, i]
            for q in range(m):
                box = leaves - 1 + found[q]
                if gap_to_box(point, low, high, period, box) >= cut * (own * widest[box]):
                    continue
                start, stop = (found[q] * n) >> depth, ((found[q] + 1) * n) >> depth
                measure(point, columns, period, start, stop, distance)
                # Every candidate is written down, and overwritten by the next if it is out of
                # reach: a branch would be mispredicted half of the time.
                for j in range(start, stop):
                    neighbors[at] = j
                    scaled[at] = distance[j - start]
                    hit = distance[j - start] < cut * (own * rho[j])
                    at += hit and (with_self or i != j)
            for p in range(begin, at):
                scaled[p] /= own * rho[neighbors[p]]
    return at


@compiled
def pairs_to(columns, rho, low, high, widest, period, depth, cut, points, widths, counts):
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
