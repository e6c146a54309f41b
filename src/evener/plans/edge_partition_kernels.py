"""Copies that an edge partition makes of vertices."""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit


@njit(cache=True, nogil=True)
def count_copies(offsets, edges, part, vertices):
    """Add up how many vertices have an edge in each block (k,); return the copies.

    Copies of a vertex are the blocks that its edges are in, less one.
    """
    last_seen = np.full(vertices.size, -1, np.int64)
    copies = 0
    for v in range(offsets.size - 1):
        first, last = offsets[v], offsets[v + 1]
        for i in range(first, last):
            b = part[edges[i]]
            if last_seen[b] != v:
                last_seen[b] = v
                vertices[b] += 1
                copies += 1
        if last > first:
            copies -= 1
    return copies
