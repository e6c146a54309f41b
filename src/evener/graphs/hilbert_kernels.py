"""Hilbert keys by table, and a stable radix sort of 64-bit keys.

Keys: from the root down, a cell's orientation (the state) and the next few bits of every coordinate
determine the next digits of the key and the next orientation. One look-up handles four bits in the
plane, three in space. Sort: most significant digit first, so that only the digits that distinguish
points are examined; short buckets are sorted by insertion.
"""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import copy_to, insert_sorted
from evener.jit import inner, njit

FIRST_BITS = 12  # the first pass is the only one that leaves the cache
NEXT_BITS = 8
SHORT = 40  # elements; insertion is faster up to about here


@njit(cache=True, nogil=True)
def extents(points, first, last, low, high):
    """Set low and high (d,) to the smallest and largest coordinates of points [first, last).

    first < last.
    """
    d = points.shape[1]
    for j in range(d):
        low[j] = high[j] = points[first, j]
    for i in range(first, last):
        for j in range(d):
            x = points[i, j]
            if x < low[j]:
                low[j] = x
            if x > high[j]:
                high[j] = x


@inner()
def _whole(x, limit):
    return limit if x >= np.float64(limit) else np.uint64(x)


@njit(cache=True, nogil=True)
def keys_2d(points, first, last, low, scale, table, keys):
    """Compute 64-bit keys, 32 bits per coordinate.

    table[state << 8 | x bits | y bits]: as in hilbert.py.
    """
    limit = np.uint64(2**32 - 1)
    four, eight, mask = np.uint64(4), np.uint64(8), np.uint64(15)
    for i in range(first, last):
        x = _whole((points[i, 0] - low[0]) * scale, limit)
        y = _whole((points[i, 1] - low[1]) * scale, limit)
        state = np.uint64(0)
        key = np.uint64(0)
        for step in range(8):
            shift = np.uint64(28 - 4 * step)
            cell = ((x >> shift) & mask) << four | ((y >> shift) & mask)
            entry = np.uint64(table[state << eight | cell])
            key = key << eight | entry & np.uint64(255)
            state = entry >> eight
        keys[i] = key


@njit(cache=True, nogil=True)
def keys_3d(points, first, last, low, scale, table, keys):
    """Compute 63-bit keys, 21 bits per coordinate; table[state << 9 | x bits | y bits | z bits]."""
    limit = np.uint64(2**21 - 1)
    three, six, nine, mask = np.uint64(3), np.uint64(6), np.uint64(9), np.uint64(7)
    for i in range(first, last):
        x = _whole((points[i, 0] - low[0]) * scale, limit)
        y = _whole((points[i, 1] - low[1]) * scale, limit)
        z = _whole((points[i, 2] - low[2]) * scale, limit)
        state = np.uint64(0)
        key = np.uint64(0)
        for step in range(7):
            shift = np.uint64(18 - 3 * step)
            cell = ((x >> shift) & mask) << six | ((y >> shift) & mask) << three
            cell |= (z >> shift) & mask
            entry = np.uint64(table[state << nine | cell])
            key = key << nine | entry & np.uint64(511)
            state = entry >> nine
        keys[i] = key


@inner()
def _scatter(keys, order, first, last, shift, bits, start, to_keys, to_order):
    """Move [first, last) into buckets of one digit, in order; start[d] becomes bucket d's end."""
    shift, mask = np.uint64(shift), np.uint64((1 << bits) - 1)
    start[: (1 << bits) + 1] = 0
    for i in range(first, last):
        start[((keys[i] >> shift) & mask) + np.uint64(1)] += 1
    start[0] = first
    for d in range(1 << bits):
        start[d + 1] += start[d]
    for i in range(first, last):
        d = (keys[i] >> shift) & mask
        to = start[d]
        start[d] = to + 1
        to_keys[to] = keys[i]
        to_order[to] = order[i]


@inner()
def _sort_bucket(keys, order, first, last, shift, start, stack, spare_keys, spare_order):
    """Sort [first, last) by the lowest `shift` bits, which are not sorted yet."""
    stack[0, 0], stack[0, 1], stack[0, 2] = first, last, shift
    top = 1
    while top > 0:
        top -= 1
        first, last, shift = stack[top, 0], stack[top, 1], stack[top, 2]
        if last - first <= SHORT:
            insert_sorted(keys, order, first, last)
            continue
        bits = min(NEXT_BITS, shift)
        shift -= bits
        _scatter(keys, order, first, last, shift, bits, start, spare_keys, spare_order)
        copy_to(spare_keys[first:last], keys[first:last])
        copy_to(spare_order[first:last], order[first:last])
        if shift > 0:
            begin = first
            for d in range(1 << bits):
                if start[d] - begin > 1:
                    stack[top, 0], stack[top, 1], stack[top, 2] = begin, start[d], shift
                    top += 1
                begin = start[d]


@njit(cache=True, nogil=True)
def count_buckets(keys, first, last, counts):
    """Count keys [first, last) by their first digit; counts (2^FIRST_BITS,) must be zero."""
    shift = np.uint64(64 - FIRST_BITS)
    for i in range(first, last):
        counts[keys[i] >> shift] += 1


@njit(cache=True, nogil=True)
def fill_buckets(keys, first, last, start, to_keys, to_order):
    """Move keys [first, last), and their old indices, to buckets that begin at start[digit].

    Keys keep their order within a bucket.
    """
    shift = np.uint64(64 - FIRST_BITS)
    for i in range(first, last):
        d = keys[i] >> shift
        to = start[d]
        start[d] = to + 1
        to_keys[to] = keys[i]
        to_order[to] = i


@njit(cache=True, nogil=True)
def sort_buckets(ends, first_bucket, last_bucket, spare_keys, spare_order, keys, order):
    """Sort the keys of some buckets stably, and `order` with them.

    ends (buckets + 1,): the offsets of all buckets.
    """
    shift = 64 - FIRST_BITS
    start = np.empty((1 << NEXT_BITS) + 1, np.int64)
    # At most one bucket of every level is taken apart while its siblings wait.
    stack = np.empty(((64 // NEXT_BITS + 2) << NEXT_BITS, 3), np.int64)
    for b in range(first_bucket, last_bucket):
        if ends[b + 1] - ends[b] > 1:
            _sort_bucket(
                keys, order, ends[b], ends[b + 1], shift, start, stack, spare_keys, spare_order
            )
