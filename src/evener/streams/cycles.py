"""Cycles of filters, which limit the period if few tokens are on them."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.graphs.stream_graph import StreamGraph

LOOKED_AT = 8  # rounds of the Bellman-Ford algorithm between two searches for a cycle
LONGER = 1e-12  # relative margin by which a path must be longer to count as longer


def edges_of_cycles(graph: StreamGraph) -> IntArray:
    """Return the numbers of the edges that are on cycles; empty if there is no cycle."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if graph.tokens is None or not graph.tokens.any():
        return np.empty(0, np.int64)
    matrix = coo_array((np.ones(graph.m), (graph.tails, graph.heads)), (graph.n, graph.n))
    label = connected_components(matrix, directed=True, connection="strong")[1]
    return np.flatnonzero(label[graph.tails] == label[graph.heads])


def slowest_cycle(graph: StreamGraph, edges: IntArray, own: FloatArray, sent: FloatArray) -> float:
    """Return the largest ratio of the time around a cycle of filters to its tokens [s].

    With t tokens on a cycle, a run of a filter depends on its own run t iterations before. So the
    period is at least the time around the cycle / t.

    edges: numbers of the edges on cycles. own (n,) [s]: time of a run of each filter. sent (edges,)
    [s]: transfer time of each of these edges.
    """
    if edges.size == 0:
        return 0.0
    assert graph.tokens is not None
    names, ends = np.unique([graph.tails[edges], graph.heads[edges]], return_inverse=True)
    tails, heads = ends.reshape(2, -1)
    seconds, tokens = own[graph.tails[edges]] + sent, graph.tokens[edges]
    ratio = 0.0
    while True:
        cycle = _positive_cycle(names.size, tails, heads, seconds - ratio * tokens)
        if not cycle:
            return ratio
        larger = float(seconds[cycle].sum() / tokens[cycle].sum())
        if larger <= ratio * (1 + LONGER):
            return ratio
        ratio = larger


def _positive_cycle(n: int, tails: IntArray, heads: IntArray, lengths: FloatArray) -> list[int]:
    """Return the edges of a cycle of positive length, by Bellman-Ford for longest paths, or []."""
    reached, came = np.zeros(n), np.full(n, -1)
    hair = LONGER * max(float(np.abs(lengths).max()), 1e-300)
    for turn in range(1, n + LOOKED_AT + 1):
        offered = reached[tails] + lengths
        longest = reached.copy()
        np.maximum.at(longest, heads, offered)
        better = np.flatnonzero((offered >= longest[heads]) & (offered > reached[heads] + hair))
        if better.size == 0:
            return []
        came[heads[better]] = better
        reached[heads[better]] = offered[better]
        if turn % LOOKED_AT == 0 or turn > n:
            cycle = _cycle_of(came, tails)
            if cycle:
                return cycle
    return []


def _cycle_of(came: IntArray, tails: IntArray) -> list[int]:
    """Return the edges of a cycle among the edges `came` (n,) that reached each filter, or []."""
    seen = np.full(came.size, -1)
    for root in range(came.size):
        v, way = root, []
        while came[v] >= 0 and seen[v] < 0:
            seen[v] = root
            way.append(int(came[v]))
            v = int(tails[came[v]])
        if way and came[v] >= 0 and seen[v] == root:
            # v is where the walk returned to itself: the cycle is the walk since then.
            first = next(i for i, e in enumerate(way) if _head_side(way, i, tails, root) == v)
            return way[first:]
    return []


def _head_side(way: list[int], i: int, tails: IntArray, root: int) -> int:
    """Return the filter from which the walk took its i-th edge."""
    return root if i == 0 else int(tails[way[i - 1]])
