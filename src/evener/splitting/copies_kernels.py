"""Moves edges between blocks for fewer copies of vertices, within the limits of blocks.

Each vertex keeps a table of the blocks that its edges are in, and how many are in each. Tables lie
in one array: that of vertex v begins at offsets[v], and has room for as many blocks as v has edges.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit


class Tables(NamedTuple):
    """For each vertex its blocks, how many edges are in each, and how many blocks there are."""

    offsets: np.ndarray  # (n + 1,) int64
    blocks: np.ndarray  # (2m,) int32
    counts: np.ndarray  # (2m,) int32
    sizes: np.ndarray  # (n,) int32


class Limits(NamedTuple):
    """Of blocks (k,) float64 [units]: their load now, the least and the most of it."""

    load: np.ndarray
    low: np.ndarray
    high: np.ndarray


@njit(cache=True, nogil=True)
def fill_tables(offsets, edges, part, tables):
    """Count the edges of each vertex in each block."""
    for v in range(offsets.size - 1):
        tables.sizes[v] = 0
        for i in range(offsets[v], offsets[v + 1]):
            _add(tables, v, part[edges[i]])


@inner()
def _find(tables, v, b):
    """Entry of block b in the table of v, or -1."""
    first = tables.offsets[v]
    for i in range(first, first + tables.sizes[v]):
        if tables.blocks[i] == b:
            return i
    return np.int64(-1)


@inner()
def _add(tables, v, b):
    """One more edge of v is in block b."""
    i = _find(tables, v, b)
    if i < 0:
        i = tables.offsets[v] + tables.sizes[v]
        tables.sizes[v] += 1
        tables.blocks[i], tables.counts[i] = b, 0
    tables.counts[i] += 1


@inner()
def _take(tables, v, b):
    """One edge of v fewer is in block b."""
    i = _find(tables, v, b)
    tables.counts[i] -= 1
    if tables.counts[i] == 0:
        tables.sizes[v] -= 1
        last = tables.offsets[v] + tables.sizes[v]
        tables.blocks[i], tables.counts[i] = tables.blocks[last], tables.counts[last]


@inner()
def _share(tables, v, i):
    """Share of the edges of v that are in the block of entry i."""
    return tables.counts[i] / (tables.offsets[v + 1] - tables.offsets[v])


@inner()
def _best_block(tables, limits, u, v, b, work):
    """Gain in copies, gain in shares, and the block to which an edge u-v of block b is best moved.

    Of blocks that u or v are in already; -1 where none may take it. Shares are those of the edges
    of u and v that are in the block: of moves alike the one that brings edges together.
    """
    iu, iv = _find(tables, u, b), _find(tables, v, b)
    left = (tables.counts[iu] == 1) + (tables.counts[iv] == 1)  # copies saved where it leaves
    size = tables.offsets
    own = (tables.counts[iu] - 1) / (size[u + 1] - size[u])
    own += (tables.counts[iv] - 1) / (size[v + 1] - size[v])
    best, gain, shares = np.int64(-1), -2, 0.0
    for side in range(2):
        w, x = (u, v) if side == 0 else (v, u)
        first = tables.offsets[w]
        for i in range(first, first + tables.sizes[w]):
            c = tables.blocks[i]
            if c == b or limits.load[c] + work > limits.high[c]:
                continue
            j = _find(tables, x, c)
            if j >= 0 and side == 1:
                continue  # it was seen from the other side
            found = left - (1 if j < 0 else 0)
            near = _share(tables, w, i) - own
            if j >= 0:
                near += _share(tables, x, j)
            if found > gain or (found == gain and near > shares):
                best, gain, shares = np.int64(c), found, near
    return gain, shares, best


@njit(cache=True, nogil=True)
def improve(tails, heads, weights, part, tables, limits, order):
    """Move edges where that saves copies, or brings the edges of a vertex together.

    order: numbers of edges, each looked at once. weights (m,) float64. part (m,) and the tables
    change along. Returns the copies saved and the number of edges moved.
    """
    saved, moved = 0, 0
    for e in order:
        u, v, b = tails[e], heads[e], part[e]
        if tables.sizes[u] == 1 and tables.sizes[v] == 1:
            continue
        work = weights[e]
        if limits.load[b] - work < limits.low[b]:
            continue
        gain, shares, c = _best_block(tables, limits, u, v, b, work)
        if c < 0 or gain < 0 or (gain == 0 and shares <= 1e-9):
            continue
        part[e] = c
        limits.load[b] -= work
        limits.load[c] += work
        for w in (u, v):
            _take(tables, w, b)
            _add(tables, w, c)
        saved += gain
        moved += 1
    return saved, moved
