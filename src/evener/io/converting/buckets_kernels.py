"""Arcs dealt to ranges of rows, and sorted arcs turned to lists.

A key holds an arc: the row within its range in the bits from 31 on, the neighbour below.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit

BITS = 31
_LOW = np.int64(2**BITS - 1)


@njit(cache=True, nogil=True, counted=False)
def count_rows(u, v, shift, both, counts):
    """Add to counts (buckets,) the arcs of pairs by the bucket of their row, row >> shift.

    Pairs of a vertex with itself are none. both: v[i] has u[i] as a neighbour, too.
    """
    for i in range(u.size):
        if u[i] != v[i]:
            counts[u[i] >> shift] += 1
            if both:
                counts[v[i] >> shift] += 1


@njit(cache=True, nogil=True, counted=False)
def deal(u, v, weights, shift, both, free, keys, dealt):
    """Put the arcs of pairs where their buckets begin: free (buckets,), which is used up.

    weights (p,) or (0,), those of arcs in `dealt` beside the keys.
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
    """Turn ascending keys to lists; return how many entries. Of equal arcs the first counts.

    weights (arcs,) or (0,); xadj (rows + 1,); adjncy and adjwgt have room for all.
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
