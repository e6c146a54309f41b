"""The blocks that the edges of each vertex are in."""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit


@njit(cache=True, nogil=True)
def count_blocks(offsets, edges, part, blocks, vertices):
    """Count the blocks of each vertex (n,), and the vertices of each block (k,)."""
    last_seen = np.full(vertices.size, -1, np.int64)
    for v in range(offsets.size - 1):
        for i in range(offsets[v], offsets[v + 1]):
            b = part[edges[i]]
            if last_seen[b] != v:
                last_seen[b] = v
                vertices[b] += 1
                blocks[v] += 1
