"""Levels for tests, and slow references on their edges."""

import numpy as np

from evener.partitioning.levels.levels import finest
from evener.threads import slices_for


def level_of(graph, *, threads=1):
    """The graph as a level, its vertices in their own order; whole edge weights."""
    weights = np.empty(0) if graph.adjwgt is None else graph.adjwgt
    return finest(graph, np.arange(graph.n), graph.weights(), weights.astype(np.int32), threads)


def edges_of(level):
    """{(u, v): weight} of both directions, edge by edge."""
    edges = {}
    for v in range(level.n):
        for e in range(int(level.xadj[v]), int(level.xadj[v + 1])):
            u = int(level.adjncy[e])
            assert (v, u) not in edges
            edges[v, u] = int(level.adjwgt[e]) if level.adjwgt.size else 1
    return edges


def slice_of(level, v):
    """Which slice of the work the vertex is in."""
    slices = slices_for(level.n)
    return next(i for i in range(slices) if v < level.n * (i + 1) // slices)


def priced_cut(level, part, price):
    """What all borders cost: every edge between blocks at the price of both."""
    return sum(
        w * (int(price[part[v]]) + int(price[part[u]]))
        for (v, u), w in edges_of(level).items()
        if v < u and part[v] != part[u]
    )
