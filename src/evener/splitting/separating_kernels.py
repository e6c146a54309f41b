"""Replaces the border between two blocks of edges by a minimum cut through vertices.

The edges in a corridor around the border may go to either block; the rest of each block is the
source or the sink. A vertex with edges on both sides is copied, so the fewest copies are a minimum
vertex cut: each vertex becomes an arc of capacity 1 from its entry node to its exit node.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.refinement.cutting_kernels import cheaper_cut
from evener.partitioning.refinement.maxflow_kernels import SOURCE, TIED, FlowNetwork, FlowScratch

UNCUT = np.int64(1) << 40  # room of arcs between an edge and its vertices: more than all vertices


class EdgeCorridor(NamedTuple):
    """Edges and vertices around the border of two blocks, in breadth-first order.

    edges, vertices (room,) int32. edge_at (m,), vertex_at (n,) int32: their positions there, or -1.
    """

    edges: np.ndarray
    vertices: np.ndarray
    edge_at: np.ndarray
    vertex_at: np.ndarray


@njit(cache=True, nogil=True)
def list_shared(tables, k, most, pair, vertex):
    """List each vertex that is in 2 to `most` blocks, once per pair of its blocks.

    pair int64: lower block x k + higher block. vertex int32: the vertex. Both may be empty, to
    count only. Returns the number of entries.
    """
    count = 0
    for v in range(tables.sizes.size):
        size = tables.sizes[v]
        if size < 2 or size > most:
            continue
        first = tables.first[v]
        for i in range(first, first + size):
            for j in range(first, i):
                if pair.size > 0:
                    a, b = np.int64(tables.blocks[i]), np.int64(tables.blocks[j])
                    pair[count], vertex[count] = min(a, b) * k + max(a, b), v
                count += 1
    return count


@njit(cache=True, nogil=True)
def separate_pairs(groups, part, limits, pairs, begins, vertices, reach, corridor):
    """Replace the border of each pair of blocks in turn if that saves copies.

    Returns the copies saved. groups: one edge each. The vertices between pair i are
    vertices[begins[i]:begins[i + 1]]. reach: work of a corridor's side, as a multiple of the work
    that the block may lose or gain.
    """
    k, saved = limits.load.size, 0
    for i in range(pairs.size):
        a, b = pairs[i] // k, pairs[i] % k
        border = vertices[begins[i] : begins[i + 1]]
        saved += _separate(groups, part, limits, a, b, border, reach, corridor)
    return saved


@inner()
def _separate(groups, part, limits, a, b, border, reach, corridor):
    """Replace the border of blocks a and b by a minimum cut; return the copies saved."""
    count, n = _fill(groups, part, limits, a, b, border, reach, corridor)
    ties = np.zeros((n, 2), np.bool_)
    network, cost = _network(groups, part, a, b, corridor, count, ties)
    work, blocks = np.empty(count), np.empty(count, np.int32)
    fixed = limits.load[a]
    for i in range(count):
        e = corridor.edges[i]
        work[i], blocks[i] = groups.work[e], part[e]
        fixed -= work[i] if blocks[i] == a else 0.0
    nodes, found = network.supply.size, np.arange(count).astype(np.int32)
    side, order = np.zeros(nodes, np.int8), np.empty(count, np.int32)
    scratch = FlowScratch(
        np.empty(nodes, np.int32), np.empty(nodes, np.int32), np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
    )  # fmt: skip
    pair = (a, b, fixed, limits.load[a], limits.load[a] + limits.load[b])
    gain = cheaper_cut(network, cost, work, blocks, found, pair, limits, side, order, scratch)
    for i in range(count):
        e = corridor.edges[i]
        corridor.edge_at[e] = -1
        to = a if side[i] == SOURCE else b
        if gain > 0 and to != part[e]:
            limits.load[part[e]] -= work[i]
            limits.load[to] += work[i]
            part[e] = to
    for i in range(n):
        corridor.vertex_at[corridor.vertices[i]] = -1
    return gain


@inner()
def _fill(groups, part, limits, a, b, border, reach, corridor):
    """Collect edges of blocks a and b around their border, breadth first, and their vertices.

    Each side is filled up to `reach` x (high - low) of work, or half of its block if that is less.
    Returns the number of edges and of vertices.
    """
    slack = min(limits.high[a] - limits.low[a], limits.high[b] - limits.low[b])
    room_a = min(0.5 * limits.load[a], reach * slack)
    room_b = min(0.5 * limits.load[b], reach * slack)
    count, n = 0, 0
    for v in border:
        corridor.vertex_at[v], corridor.vertices[n] = n, v
        n += 1
    i = 0
    while i < n:
        v = corridor.vertices[i]
        i += 1
        for j in range(groups.offsets[v], groups.offsets[v + 1]):
            e = groups.groups[j]
            if corridor.edge_at[e] >= 0 or (part[e] != a and part[e] != b):
                continue
            if groups.work[e] > (room_a if part[e] == a else room_b):
                continue
            if part[e] == a:
                room_a -= groups.work[e]
            else:
                room_b -= groups.work[e]
            corridor.edge_at[e], corridor.edges[count] = count, e
            count += 1
            for x in range(groups.starts[e], groups.starts[e + 1]):
                u = groups.pins[x]
                if corridor.vertex_at[u] < 0:
                    corridor.vertex_at[u], corridor.vertices[n] = n, u
                    n += 1
    return count, n


@inner()
def _network(groups, part, a, b, corridor, count, ties):
    """Return the network of a corridor, and the number of its vertices that are in both blocks.

    Its nodes are the edges, then an entry and an exit node for each vertex. ties (n, 2): set to
    whether a vertex has edges of a, and of b, outside the corridor. A vertex with both is copied in
    any case, so it gets no arcs.
    """
    n, cost = len(ties), np.int64(0)
    start = np.zeros(count + 2 * n + 1, np.int32)
    for i in range(n):
        v = corridor.vertices[i]
        in_a, in_b = 0, 0
        for j in range(groups.offsets[v], groups.offsets[v + 1]):
            e = groups.groups[j]
            if part[e] != a and part[e] != b:
                continue
            if corridor.edge_at[e] < 0:
                ties[i, 0 if part[e] == a else 1] = True
            elif part[e] == a:
                in_a += 1
            else:
                in_b += 1
        if ties[i, 0] and ties[i, 1]:
            continue
        cost += (ties[i, 0] or in_a > 0) and (ties[i, 1] or in_b > 0)
        start[count + 2 * i + 1] = 1 + in_a + in_b
        start[count + 2 * i + 2] = 1 + in_a + in_b
    for i in range(count):
        e = corridor.edges[i]
        for x in range(groups.starts[e], groups.starts[e + 1]):
            at = corridor.vertex_at[groups.pins[x]]
            if not (ties[at, 0] and ties[at, 1]):
                start[i + 1] += 2
    for i in range(start.size - 1):
        start[i + 1] += start[i]
    arcs, nodes = start[start.size - 1], start.size - 1
    network = FlowNetwork(
        start, np.empty(arcs, np.int32), np.empty(arcs, np.int32), np.zeros(arcs, np.int64),
        np.zeros(nodes, np.int64),
    )  # fmt: skip
    _fill_network(groups, corridor, count, ties, network, start[:-1].copy())
    return network, cost


@inner()
def _fill_network(groups, corridor, count, ties, network, filled):
    """Set the arcs and supplies of a corridor's network."""
    for i in range(len(ties)):
        if ties[i, 0] and ties[i, 1]:
            continue
        enter, leave = count + 2 * i, count + 2 * i + 1
        _join(network, filled, enter, leave, 1)
        if ties[i, 0]:
            network.supply[enter] = TIED
        elif ties[i, 1]:
            network.supply[leave] = -TIED
    for i in range(count):
        e = corridor.edges[i]
        for x in range(groups.starts[e], groups.starts[e + 1]):
            at = corridor.vertex_at[groups.pins[x]]
            if not (ties[at, 0] and ties[at, 1]):
                _join(network, filled, i, count + 2 * at, UNCUT)
                _join(network, filled, count + 2 * at + 1, i, UNCUT)


@inner()
def _join(network, filled, p, q, room):
    """Add an arc of capacity `room` from p to q, and its reverse arc of capacity 0."""
    x, y = filled[p], filled[q]
    filled[p] += 1
    filled[q] += 1
    network.head[x], network.back[x], network.room[x] = q, y, room
    network.head[y], network.back[y], network.room[y] = p, x, 0
