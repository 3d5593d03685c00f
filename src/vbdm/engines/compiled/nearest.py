"""The k nearest points of each of some points."""

from __future__ import annotations

import numpy as np

from .compile import compiled, gap_to_box, inlined, measure


@inlined
def before(a, i, b, j):
    """Tell whether the pair (a, i) comes before (b, j): by distance, equal ones by number."""
    return a < b or (a == b and i < j)


@compiled
def select(values, numbers, count, k):
    """Bring the k first of `count` pairs to the front, in any order."""
    low, high = 0, count - 1
    while low < high:
        a, m = values[(low + high) // 2], numbers[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while before(values[i], numbers[i], a, m):
                i += 1
            while before(a, m, values[j], numbers[j]):
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                numbers[i], numbers[j] = numbers[j], numbers[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            return


@inlined
def bin_of(value, scale, last):
    """Return the number of a bin, at most `last`, also for what is infinite or no number."""
    place = value * scale
    return int(place) if place < last else last


@compiled
def sort_first(values, numbers, count, k, ends, out_values, out_numbers):
    """Write the k first of `count` pairs, sorted, in front of the output; k <= count.

    Pairs are put into bins of equal width, one or two in each, and then sorted by insertion, which
    moves each of them within its bin only. `ends` is room for one number per bin.
    """
    largest = 0.0
    for p in range(count):
        largest = max(largest, values[p])
    last = len(ends) - 1
    # Where squares of distances underflow or overflow, one bin holds them all.
    scale = last / largest if 1e-300 < largest < 1e300 else 0.0
    ends[:] = 0
    for p in range(count):
        ends[bin_of(values[p], scale, last)] += 1
    total = 0
    for b in range(len(ends)):
        total, ends[b] = total + ends[b], total
    for p in range(count):
        b = bin_of(values[p], scale, last)
        out_values[ends[b]], out_numbers[ends[b]] = values[p], numbers[p]
        ends[b] += 1
    # After the scatter each entry is the end of its bin: what follows the bin of the k-th pair is
    # not among the first.
    kept = 0
    for b in range(len(ends)):
        kept = ends[b]
        if kept >= k:
            break
    for p in range(1, kept):
        a, m = out_values[p], out_numbers[p]
        j = p - 1
        while j >= 0 and before(a, m, out_values[j], out_numbers[j]):
            out_values[j + 1], out_numbers[j + 1] = out_values[j], out_numbers[j]
            j -= 1
        out_values[j + 1], out_numbers[j + 1] = a, m


@compiled
def nearest(columns, low, high, period, depth, queries, k, indices, sqdist):
    """Find the k nearest points of each query, (m, n); equal distances are told apart by number.

    The k-th distance of a query is at most that of the one before it plus their distance. With this
    bound hardly more than k points are looked at, if queries that follow each other are near.
    """
    n, first = columns.shape[1], (1 << depth) - 1
    room = 4 * k + 64
    values, numbers = np.empty(room), np.empty(room, np.int32)
    sorted_values, sorted_numbers = np.empty(room), np.empty(room, np.int32)
    ends = np.empty(k + 1, np.int64)
    distance = np.empty(2 + (n >> depth))
    nodes, gaps = np.empty(depth + 2, np.int64), np.empty(depth + 2)
    bound = np.inf
    for q in range(len(queries)):
        point = queries[q]
        if q > 0:
            step = 0.0
            for c in range(len(point)):
                gap = point[c] - queries[q - 1, c]
                step += gap * gap
            # Squares below 1e-300 have lost their digits: no bound is smaller.
            bound = (np.sqrt(bound) + np.sqrt(step)) ** 2 * (1 + 1e-9) + 1e-300
        count, top = 0, 1
        nodes[0], gaps[0] = 0, 0.0
        while top > 0:
            top -= 1
            node = nodes[top]
            if gaps[top] > bound:
                continue
            if node >= first:
                leaf = node - first
                start, stop = (leaf * n) >> depth, ((leaf + 1) * n) >> depth
                measure(point, columns, period, start, stop, distance)
                # Every candidate is written down, and overwritten by the next if it is too far.
                for j in range(start, stop):
                    values[count], numbers[count] = distance[j - start], j
                    count += distance[j - start] <= bound
                if count > room - len(distance):
                    select(values, numbers, count, k)
                    count = k
                    for p in range(k):
                        if p == 0 or values[p] > bound:
                            bound = values[p]
            else:
                left = gap_to_box(point, low, high, period, 2 * node + 1)
                right = gap_to_box(point, low, high, period, 2 * node + 2)
                near = 2 * node + (1 if left <= right else 2)
                nodes[top], gaps[top] = 4 * node + 3 - near, max(left, right)
                nodes[top + 1], gaps[top + 1] = near, min(left, right)
                top += 2
        sort_first(values, numbers, count, k, ends, sorted_values, sorted_numbers)
        bound = sorted_values[k - 1]
        for p in range(k):
            indices[q, p], sqdist[q, p] = sorted_numbers[p], sorted_values[p]
