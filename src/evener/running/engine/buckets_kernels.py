"""A thread's buckets of vertices: lists of chunks from a common pool, one list per priority.

There are BINS buckets; priorities that differ by a multiple of BINS share a bucket, which costs
time but is correct.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner
from evener.running.engine.atomics_kernels import ONE

BINS = np.int64(256)  # a power of two; more than the largest weight / delta + 2 in usual cases
CHUNK = np.uint64(256)  # entries, a power of two
NONE = np.int64(1) << np.int64(62)  # a priority above all others
# Places in a thread's row of work.bins: of bucket b, from 4 b on, its first chunk, where the next
# entry goes, and how many there are; after all buckets, the first unused chunk, and the first that
# was given back, or -1.
END, SIZE = np.uint64(1), np.uint64(2)
UNUSED, BACK = np.uint64(4 * BINS), np.uint64(4 * BINS + 1)


class Buckets(NamedTuple):
    """A thread's buckets.

    bits: flags of vertices that are missed, and of ghosts that are marked.
    """

    bins: np.ndarray
    pool: np.ndarray
    following: np.ndarray
    few: np.ndarray
    bits: np.ndarray


@inner(counted=False, error_model="numpy")
def is_put(buckets, priority, v):
    """Append a vertex to the bucket of a priority; return whether there was room."""
    bins, pool, following = buckets.bins, buckets.pool, buckets.following
    at = np.uint64(priority & (BINS - 1)) << np.uint64(2)
    place = np.uint64(bins[at + END])
    if place & (CHUNK - ONE) == 0:  # its last chunk is full, or it has none
        chunk = bins[BACK]
        if chunk >= 0:
            bins[BACK] = following[np.uint64(chunk)]
        else:
            chunk = bins[UNUSED]
            if chunk == following.size:
                return False
            bins[UNUSED] = chunk + 1
        if bins[at + SIZE] == 0:
            bins[at] = chunk
        else:
            following[place // CHUNK - ONE] = chunk
        place = np.uint64(chunk) * CHUNK
    pool[place] = v
    bins[at + END] = np.int64(place + ONE)
    bins[at + SIZE] += 1
    return True


@inner(counted=False, error_model="numpy")
def emptied(buckets, priority, target, place):
    """Move a bucket's vertices to target[place:]; free its chunks."""
    bins, pool, following = buckets.bins, buckets.pool, buckets.following
    at = np.uint64(priority & (BINS - 1)) << np.uint64(2)
    chunk, left = bins[at], bins[at + SIZE]
    while left > 0:
        start = np.uint64(chunk) * CHUNK
        count = min(np.uint64(left), CHUNK)
        for i in range(count):
            target[place + i] = pool[start + i]
        place += count
        left -= np.int64(count)
        after = following[np.uint64(chunk)]
        following[np.uint64(chunk)] = bins[BACK]
        bins[BACK] = chunk
        chunk = after
    bins[at + END] = 0
    bins[at + SIZE] = 0


@inner(counted=False, error_model="numpy")
def size_of(buckets, priority):
    """Return the number of vertices in the bucket of a priority."""
    return buckets.bins[(np.uint64(priority & (BINS - 1)) << np.uint64(2)) + SIZE]


@inner(counted=False, error_model="numpy")
def nearest(buckets, priority):
    """Return the first priority from `priority` on whose bucket has vertices, or NONE."""
    for further in range(BINS):
        if size_of(buckets, priority + further) > 0:
            return priority + further
    return NONE
