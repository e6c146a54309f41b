"""Assigns the edges of a window: first those that need no copy, then many that share one copy.

An edge whose ends share a block costs nothing in that block. Other edges wait, because copying one
end to a block of the other end can serve several waiting edges, and more of them arrive.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import lowest_bit
from evener.jit import inner, njit
from evener.splitting.placing_kernels import emptiest_of, fits, holds, lacking, take


class WaitingEdges(NamedTuple):
    """Waiting edges, by vertex; those of vertex ids[v] are at offsets[v] to offsets[v + 1] - 1.

    ids (n,) int64; offsets (n + 1,) int64; others, edges (2m,) int32: index of the other end in
    ids, and the edge. works (m,) float64 [units].
    """

    ids: np.ndarray
    offsets: np.ndarray
    others: np.ndarray
    edges: np.ndarray
    works: np.ndarray


@inner(counted=False)
def _put(blocks, u, v, b, work, lack):
    """Call placing_kernels.take, and count the edge as seen at both ends."""
    blocks.seen[u] += 1
    blocks.seen[v] += 1
    return take(blocks, u, v, b, work, lack)


@njit(cache=True, nogil=True, counted=False)
def place_free(tails, heads, works, blocks, waiting, part):
    """Set part[e] of edges that need no new copy, until `waiting` (s,) is full with other edges.

    Skips edges that have a block, part[e] >= 0. Fills waiting with the edges that need a copy.
    Returns the number of edges examined and the number that wait.
    """
    lack = lacking(blocks)
    e, count = 0, 0
    while e < tails.size and count < waiting.size:
        if part[e] >= 0:
            e += 1
            continue
        u, v = tails[e], heads[e]
        b = emptiest_of(blocks, u, v, True, True, works[e], lack)
        if b >= 0:
            lack = _put(blocks, u, v, b, works[e], lack)
            part[e] = b
        else:
            waiting[count] = e
            count += 1
        e += 1
    return e, count


@inner(counted=False)
def _count(window, v, blocks, counts, part, lack):
    """Assign the edges of v that need no copy.

    Counts in counts (k,), by block, the edges that a copy of v there would serve. Returns the work
    that blocks need for their lower limits, and the number of edges assigned.
    """
    held, x, placed = blocks.held, window.ids[v], 0
    for i in range(window.offsets[v], window.offsets[v + 1]):
        e = window.edges[i]
        if part[e] >= 0:
            continue
        y = window.ids[window.others[i]]
        b = emptiest_of(blocks, x, y, True, True, window.works[e], lack)
        if b >= 0:
            lack = _put(blocks, x, y, b, window.works[e], lack)
            part[e] = b
            placed += 1
            continue
        for j in range(held.shape[1]):
            word = held[y, j] & ~held[x, j]
            while word != np.uint64(0):
                counts[64 * j + np.int64(lowest_bit(word))] += 1
                word &= word - np.uint64(1)
    return lack, placed


@inner(counted=False)
def _best(blocks, least, highest, counts, lack):
    """Return the block of largest count, ties to the least full, or -1; reset counts to zero.

    Considers only blocks with a count of at least `least` and a load / target of at most `highest`.
    """
    best, most = np.int64(-1), 0
    for b in range(counts.size):
        count, counts[b] = counts[b], 0
        if count < least or blocks.full[b] > highest or not fits(blocks, b, 1.0, lack):
            continue
        if count > most or (count == most and blocks.full[b] < blocks.full[best]):
            best, most = np.int64(b), count
    return best


@njit(cache=True, nogil=True, counted=False)
def place_together(window, least, wanted, highest, blocks, counts, part):
    """Copy vertices to blocks where a copy serves `least` edges, until `wanted` are assigned.

    highest: blocks with a larger load / target get no copies. counts (k,) int64: must be zeros.
    Returns the number of edges assigned.
    """
    lack, placed = lacking(blocks), 0
    for v in range(window.ids.size):
        x, more = window.ids[v], window.offsets[v + 1] - window.offsets[v] >= least
        while more and placed < wanted:
            lack, free = _count(window, v, blocks, counts, part, lack)
            placed += free
            b = _best(blocks, least, highest, counts, lack)
            before = placed
            if b >= 0:
                for i in range(window.offsets[v], window.offsets[v + 1]):
                    e, y = window.edges[i], window.ids[window.others[i]]
                    work = window.works[e]
                    if part[e] < 0 and holds(blocks.held, y, b) and fits(blocks, b, work, lack):
                        lack = _put(blocks, x, y, b, work, lack)
                        part[e] = b
                        placed += 1
            more = placed > before
    return placed
