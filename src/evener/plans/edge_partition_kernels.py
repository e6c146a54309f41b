"""Counts the blocks that contain the edges of each vertex."""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit


@njit(cache=True, nogil=True)
def count_blocks(tails, heads, part, ends, blocks, vertices):
    """Count the blocks of each vertex (n,), and the vertices of each block (k,).

    ends (n + 1,) int64: in a list of edges by vertex, those of vertex v are ends[v] to ends[v + 1]
    - 1; on return ends[v] is the old ends[v + 1].
    """
    found = np.empty(2 * tails.size, np.int32)
    for e in range(tails.size):
        for v in (tails[e], heads[e]):
            found[ends[v]] = part[e]
            ends[v] += 1
    last_seen = np.full(vertices.size, -1, np.int64)
    begin = 0
    for v in range(blocks.size):
        for i in range(begin, ends[v]):
            b = found[i]
            if last_seen[b] != v:
                last_seen[b] = v
                vertices[b] += 1
                blocks[v] += 1
        begin = ends[v]
