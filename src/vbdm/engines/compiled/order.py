"""Tree order: each node of the tree is split at the median of its widest column."""

from __future__ import annotations

from .compile import compiled


@compiled
def split_node(columns, order, keys, spare, start, middle, stop):
    """Move the points of a node that belong to its first child to the front, in place.

    Parameters
    ----------
    columns : (n, N) array
        Coordinates in the caller's order.
    order : (N,) int array
        The points, by nodes.
    keys, spare : (N,) arrays
        Room for coordinates and for points.
    start, middle, stop : int
        The node, and where its second child begins.
    """
    widest, axis = -1.0, 0
    for c in range(columns.shape[0]):
        low = high = columns[c, order[start]]
        for p in range(start, stop):
            x = columns[c, order[p]]
            low, high = min(low, x), max(high, x)
        if high - low > widest:
            widest, axis = high - low, c
    for p in range(start, stop):
        keys[p] = columns[axis, order[p]]
    split = smallest(keys, start, stop, middle - 1)
    below = 0
    for p in range(start, stop):
        below += columns[axis, order[p]] < split
    ties = middle - start - below
    first, second = start, middle
    for p in range(start, stop):
        x = columns[axis, order[p]]
        left = x < split
        if x == split and ties > 0:
            left = True
            ties -= 1
        if left:
            spare[first] = order[p]
            first += 1
        else:
            spare[second] = order[p]
            second += 1
    for p in range(start, stop):
        order[p] = spare[p]


@compiled
def smallest(keys, start, stop, place):
    """Return the key that sorting keys[start:stop] would bring to `place`, shuffling them."""
    low, high = start, stop - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    found: float = keys[place]
    return found


@compiled
def split_below(columns, order, keys, spare, level, node, depth):
    """Split a node of a level, its children, and so on down to the level `depth`."""
    n = len(order)
    for below in range(level, depth):
        first = node << (below - level)
        for child in range(first, first + (1 << (below - level))):
            start, stop = (child * n) >> below, ((child + 1) * n) >> below
            middle = ((2 * child + 1) * n) >> (below + 1)
            split_node(columns, order, keys, spare, start, middle, stop)
