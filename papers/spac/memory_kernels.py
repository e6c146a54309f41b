"""Plays memory accesses on a set-associative cache (LRU), and counts sectors that warps touch."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit

EMPTY = -1  # tag of a way that holds no line


@inner(counted=False)
def touch(tags, line):
    """Use a line; return 1 if it was not there. tags (sets, ways) int64: the last used first."""
    ways = tags.shape[1]
    own = tags[line % tags.shape[0]]
    way = 0
    while way < ways - 1 and own[way] != line:
        way += 1
    missed = own[way] != line
    while way > 0:
        own[way] = own[way - 1]
        way -= 1
    own[0] = line
    return np.int64(missed)


@njit(cache=True, nogil=True, counted=False)
def count_misses(lines, tags, misses):
    """Add to misses (c,) how many lines of each column were not there when they were used.

    lines (accesses, c) int64: used row by row.
    """
    for i in range(lines.shape[0]):
        for column in range(lines.shape[1]):
            misses[column] += touch(tags, lines[i, column])


@njit(cache=True, nogil=True, counted=False)
def product_misses(offsets, ends, line_bytes, n_columns, tags, misses):
    """Play y = A x by rows; misses (2,): of x, and of all else.

    Numbers of arcs and of ends take 4 bytes, values 8. Arrays lie one after another, each from the
    beginning of a line.
    """
    n, m = offsets.size - 1, ends.size
    first_y = 8 * n_columns // line_bytes + 1
    first_offset = first_y + 8 * n // line_bytes + 1
    first_end = first_offset + 4 * (n + 1) // line_bytes + 1
    first_weight = first_end + 4 * m // line_bytes + 1
    misses[:] = 0
    for u in range(n):
        misses[1] += touch(tags, first_offset + 4 * (u + 1) // line_bytes)
        for j in range(np.int64(offsets[u]), np.int64(offsets[u + 1])):
            misses[1] += touch(tags, first_end + 4 * j // line_bytes)
            misses[1] += touch(tags, first_weight + 8 * j // line_bytes)
            misses[0] += touch(tags, 8 * np.int64(ends[j]) // line_bytes)
        misses[1] += touch(tags, first_y + 8 * u // line_bytes)


@njit(cache=True, nogil=True, counted=False)
def count_sectors(places, starts, item, sector, warp):
    """Return how many sectors the warps of all blocks touch, each warp its own.

    places (entries,) int64: which entry of an array each thread uses; item: bytes of an entry.
    starts (k + 1,): where the threads of a block begin in places, `warp` at a time.
    """
    total = 0
    for b in range(starts.size - 1):
        for first in range(starts[b], starts[b + 1], warp):
            for i in range(first, min(first + warp, starts[b + 1])):
                own, is_new = places[i] * item // sector, 1
                for j in range(first, i):
                    if places[j] * item // sector == own:
                        is_new = 0
                        break
                total += is_new
    return total
