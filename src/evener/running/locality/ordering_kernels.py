"""Numbers the vertices of a device's part anew, and brings its rows of arcs into that order."""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit

UNSEEN = np.uint32(0xFFFFFFFF)


@njit(cache=True, nogil=True, counted=False)
def breadth_first(offsets, ends, stop, order, position):
    """Fill in order (m,) uint32: vertices by breadth-first searches, from the first unseen each.

    position (m,) uint32: of each vertex in `order`; UNSEEN before. Ends from m on are left out.
    stop (1,) uint8: ends the search once it is not 0.
    """
    n, found, head = order.size, 0, 0
    for start in range(n):
        if stop[0]:
            return
        if position[start] != UNSEEN:
            continue
        position[start], order[found] = found, start
        found += 1
        while head < found and not stop[0]:
            u = np.uint64(order[head])
            head += 1
            for j in range(np.uint64(offsets[u]), np.uint64(offsets[u + np.uint64(1)])):
                v = np.uint64(ends[j])
                if v < np.uint64(n) and position[v] == UNSEEN:
                    position[v], order[found] = found, v
                    found += 1


@njit(cache=True, nogil=True, counted=False)
def transpose(offsets, ends, weights, order, stop, slots, heads, weights_there):
    """List each arc at its other end: heads there rise, as they are places in `order`.

    Row order[i] is the i-th that is read. slots (vertices,) uint64: where the arcs at each end
    are to begin; left as where they end. weights (arcs,) uint64, any 8 bytes each, or empty.
    """
    one, is_weighted = np.uint64(1), weights.size > 0
    for i in range(np.uint64(order.size)):
        if stop[0]:
            return
        u = np.uint64(order[i])
        for j in range(np.uint64(offsets[u]), np.uint64(offsets[u + one])):
            end = np.uint64(ends[j])
            slot = slots[end]
            slots[end] = slot + one
            heads[slot] = i
            if is_weighted:
                weights_there[slot] = weights[j]


@njit(cache=True, nogil=True, counted=False)
def count_lines(ends, windows, window, shift, seen):
    """Return how many cache lines the ends of the arcs in evenly spread windows lie in, in all.

    Each window, of so many arcs, counts for itself. A line: 2^shift values. seen (lines,): zeros.
    """
    total = 0
    for w in range(windows):
        first = (ends.size - window) * w // max(windows - 1, 1)
        for j in range(first, first + window):
            line = np.int64(ends[j]) >> shift
            if seen[line] != w + 1:
                seen[line] = w + 1
                total += 1
    return total
