"""Sorts arcs into ranges of rows (buckets), and makes adjacency lists of sorted arcs.

A key encodes an arc: bits 31 and up hold the row within its range, the lower bits the neighbour.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit

BITS = 31
_LOW = np.int64(2**BITS - 1)


@njit(cache=True, nogil=True, counted=False)
def count_rows(u, v, shift, both, counts):
    """Add the number of arcs in each bucket to counts (buckets,); row u is in bucket u >> shift.

    Pairs of a vertex with itself are ignored. both: pair i also has the arc from v[i] to u[i].
    """
    for i in range(u.size):
        if u[i] != v[i]:
            counts[u[i] >> shift] += 1
            if both:
                counts[v[i] >> shift] += 1


@njit(cache=True, nogil=True, counted=False)
def deal(u, v, weights, shift, both, free, keys, dealt):
    """Write arcs to their buckets; free (buckets,), the next free index of each, is advanced.

    weights (p,) or (0,): `dealt` gets the weight of each arc, at the index of its key.
    """
    low = (np.int64(1) << shift) - 1
    weighted = weights.size > 0
    for i in range(u.size):
        if u[i] == v[i]:
            continue
        a, b = np.int64(u[i]), np.int64(v[i])
        at = free[a >> shift]
        keys[at] = ((a & low) << BITS) | b
        if weighted:
            dealt[at] = weights[i]
        free[a >> shift] = at + 1
        if both:
            at = free[b >> shift]
            keys[at] = ((b & low) << BITS) | a
            if weighted:
                dealt[at] = weights[i]
            free[b >> shift] = at + 1


@njit(cache=True, nogil=True, counted=False)
def lists_of(keys, weights, xadj, adjncy, adjwgt):
    """Make adjacency lists of ascending keys; return the number of entries.

    Of equal arcs the first counts. weights (arcs,) or (0,); xadj (rows + 1,); adjncy and adjwgt
    have room for all arcs.
    """
    weighted = weights.size > 0
    row, edge, before = 0, 0, np.int64(-1)
    xadj[0] = 0
    for i in range(keys.size):
        key = keys[i]
        if key == before:
            continue
        before = key
        while row < key >> BITS:
            row += 1
            xadj[row] = edge
        adjncy[edge] = key & _LOW
        if weighted:
            adjwgt[edge] = weights[i]
        edge += 1
    while row < xadj.size - 1:
        row += 1
        xadj[row] = edge
    return edge
