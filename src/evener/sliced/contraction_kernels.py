"""Kernels of contraction: a hash table of the edges between clusters, and lists made of it.

A key contains two clusters, the lower one in the upper 32 bits. FREE marks an empty slot. An edge
is counted only at its lower cluster, so that each is counted once.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.arrays_kernels import insert_sorted, sort_along
from evener.jit import inner, njit

FREE = -1
LEAST_PLACES = 1 << 16  # of a table, at least
FULLEST = 0.6  # share of the places of a table in use: above it chains of tries grow long
SPREAD = -7046029254386353131  # 2^64 over the golden ratio: Fibonacci hashing
LOW = 0xFFFFFFFF


@inner(forceinline=True, error_model="numpy", counted=False)
def place_of(keys, key):
    """Return the slot of a key in the table, or the slot where it belongs.

    The size is a power of 2.
    """
    mask = keys.size - 1
    at = ((key * SPREAD) >> 20) & mask
    while keys[at] != key and keys[at] != FREE:
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def add_rows(rows, of, start, keys, sums, used):
    """Add the edges between clusters of the rows from `start` on; return (next row, slots used).

    of (n_local,): the cluster of every vertex. Ends early if the table has too few free slots for a
    row.
    """
    unit = rows.adjwgt.size == 0
    most = int(FULLEST * keys.size)
    n_rows = rows.xadj.size - 1
    for i in range(start, n_rows):
        if used + rows.xadj[i + 1] - rows.xadj[i] > most:
            return i, used
        own = np.int64(of[rows.first + i])
        for e in range(rows.xadj[i], rows.xadj[i + 1]):
            other = np.int64(of[rows.adjncy[e]])
            if other <= own:
                continue
            key = own << 32 | other
            at = place_of(keys, key)
            if keys[at] == FREE:
                keys[at] = key
                used += 1
            sums[at] += 1 if unit else rows.adjwgt[e]
    return n_rows, used


@njit(cache=True, nogil=True, error_model="numpy")
def add_pairs(new_keys, new_sums, keys, sums):
    """Add the sums of keys, except FREE ones, to the table; return the number of new keys."""
    more = 0
    for i in range(new_keys.size):
        key = new_keys[i]
        if key == FREE:
            continue
        at = place_of(keys, key)
        more += keys[at] == FREE
        keys[at] = key
        sums[at] += new_sums[i]
    return more


@njit(cache=True, nogil=True, error_model="numpy")
def sort_lists(xadj, adjncy, adjwgt):
    """Sort the list of each cluster, together with its weights."""
    for i in range(xadj.size - 1):
        if xadj[i + 1] - xadj[i] <= 64:
            insert_sorted(adjncy, adjwgt, xadj[i], xadj[i + 1])
        else:
            own = slice(xadj[i], xadj[i + 1])
            sort_along(adjncy[own], adjwgt[own])


@njit(cache=True, nogil=True, error_model="numpy")
def count_upper(keys, first, starts):
    """Set starts (c + 1,), zero on entry, to where the higher neighbours of each cluster begin.

    The lower cluster of every key is one of `first` to first + c - 1.
    """
    for key in keys:
        if key != FREE:
            starts[(key >> 32) - first + 1] += 1
    for i in range(starts.size - 1):
        starts[i + 1] += starts[i]


@njit(cache=True, nogil=True, error_model="numpy")
def list_upper(keys, sums, first, ends, higher, weights):
    """Write the higher neighbours of clusters. ends (c,): a copy of starts, overwritten."""
    for i in range(keys.size):
        if keys[i] == FREE:
            continue
        c = (keys[i] >> 32) - first
        higher[ends[c]], weights[ends[c]] = keys[i] & LOW, sums[i]
        ends[c] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def add_degrees(first, starts, higher, xadj):
    """Add to xadj[c + 1] the number of these edges at cluster c."""
    for i in range(starts.size - 1):
        xadj[first + i + 1] += starts[i + 1] - starts[i]
    for other in higher:
        xadj[other + 1] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def list_both(first, starts, higher, weights, ends, adjncy, adjwgt):
    """Write edges into the lists of both clusters, at positions ends (n,), which are advanced."""
    for i in range(starts.size - 1):
        own = first + i
        for e in range(starts[i], starts[i + 1]):
            other = higher[e]
            adjncy[ends[own]], adjwgt[ends[own]] = other, weights[e]
            adjncy[ends[other]], adjwgt[ends[other]] = own, weights[e]
            ends[own] += 1
            ends[other] += 1
