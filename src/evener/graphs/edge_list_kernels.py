"""Lists the edges at each vertex."""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit


@njit(cache=True, nogil=True)
def list_edges(tails, heads, position, offsets, edges):
    """Fill edges (2m,) with each vertex's edges, sorted by the other end's position, then number.

    offsets (n + 1,): the index of the first edge of each vertex.
    """
    n, m = offsets.size - 1, tails.size
    # All ends by the position of the opposite one, then by the vertex they are at: two stable sorts
    # by counting.
    first = np.zeros(n + 1, np.int64)
    for e in range(m):
        first[position[heads[e]] + 1] += 1
        first[position[tails[e]] + 1] += 1
    for v in range(n):
        first[v + 1] += first[v]
    by_other = np.empty(2 * m, np.int64)  # 2e: edge e at its tail, 2e + 1: at its head
    for e in range(m):
        p, q = position[heads[e]], position[tails[e]]
        by_other[first[p]] = 2 * e
        first[p] += 1
        by_other[first[q]] = 2 * e + 1
        first[q] += 1
    free = offsets[:n].copy()
    for end in by_other:
        e = end >> 1
        v = heads[e] if end & 1 else tails[e]
        edges[free[v]] = e
        free[v] += 1


@njit(cache=True, nogil=True)
def count_ends(tails, heads, degrees):
    """Add to degrees (n,) the number of edges at each vertex; a loop counts twice."""
    for e in range(tails.size):
        degrees[tails[e]] += 1
        degrees[heads[e]] += 1
