"""Kernels that renumber the vertices of a device's part, and reorder its rows of arcs."""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit

UNSEEN = np.uint32(0xFFFFFFFF)


@njit(cache=True, nogil=True, counted=False)
def breadth_first(offsets, ends, stop, order, position):
    """Fill order (m,) uint32 by breadth-first searches, each from the first vertex not yet seen.

    position (m,) uint32: position of each vertex in `order`; UNSEEN on entry. Ends from m on are
    ignored. stop (1,) uint8: the search ends once it is not 0.
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
    """List each arc at its other end.

    The entries of each list ascend, as they are places in `order`. Row order[i] is the i-th row
    read. slots (vertices,) uint64: where the list of each end begins; on return where it ends.
    weights (arcs,) uint64: any 8 bytes each, or empty.
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
    """Count the cache lines that contain the ends of the arcs, over evenly spread windows.

    Each window of `window` arcs is counted separately. A line has 2^shift values. seen (lines,):
    zeros.
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
