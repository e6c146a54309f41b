"""Kernels of label propagation: the state, moves of a vertex, and clusters of vertices.

Vertices move, one after the other, to the block with the largest gain. A few vertices have most of
the edges, so no data are stored per pair of vertex and block. For the cut, evaluating a vertex
scans its neighbours. For volumes, every vertex has a net, which contains itself and its neighbours;
the net stores a short list of blocks with their counts, which each move updates.

Graphs with hubs are coarsened by clusters that vertices choose repeatedly [MSS17]_. Joining pairs
of neighbours ends early in such graphs: leaves want to join a hub whose cluster is full. Vertices
that are left alone join other vertices that want the same cluster.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit


class PropagationState(NamedTuple):
    """A graph and its blocks; xadj, adjncy, adjwgt, vwgt as in GraphLevel; every vertex has edges.

    part (n,) int32; weight, low, high (k,) [units]; filling: weight of vertices without edges,
    which may later fill blocks up to `low`. volumes: whether the objective is the sum of price
    (k,), above zero, x the volume that each block sends; otherwise it is the cut. Nets: first (n +
    1,) int64: where the entries of each net begin; blocks and counts (first[n],) int32; length
    (n,): number of entries; all empty for the cut. fixed (n,) bool: vertices that never move, or
    (0,).
    """

    xadj: np.ndarray
    adjncy: np.ndarray
    adjwgt: np.ndarray
    vwgt: np.ndarray
    part: np.ndarray
    weight: np.ndarray
    low: np.ndarray
    high: np.ndarray
    filling: float
    volumes: bool
    price: np.ndarray
    first: np.ndarray
    blocks: np.ndarray
    counts: np.ndarray
    length: np.ndarray
    fixed: np.ndarray = np.empty(0, np.bool_)


@njit(cache=True, nogil=True)
def start(vwgt, caps, following, part, weight):
    """Fill blocks, in the order `following`, up to caps (k,) with vertices in ascending order.

    A vertex that fits into no block goes to the block with the most room left.
    """
    i = 0
    for v in range(part.size):
        while i < following.size and weight[following[i]] + vwgt[v] > caps[following[i]]:
            i += 1
        if i < following.size:
            b = following[i]
        else:
            b = 0
            for q in range(caps.size):
                if caps[q] - weight[q] > caps[b] - weight[b]:
                    b = q
        part[v] = b
        weight[b] += vwgt[v]


@njit(cache=True, nogil=True)
def fill(vwgt, low, targets, high, part, weight):
    """Put vertices without edges, heaviest first, into blocks below low, then target, then high."""
    k = weight.size
    at = np.zeros(3, np.int64)
    for v in range(part.size):
        w = vwgt[v]
        b = -1
        while at[0] < k and weight[at[0]] >= low[at[0]]:
            at[0] += 1
        if at[0] < k:
            b = at[0]
        for i in range(1, 3):
            if b < 0:
                bound = targets if i == 1 else high
                while at[i] < k and weight[at[i]] + w > bound[at[i]]:
                    at[i] += 1
                if at[i] < k:
                    b = at[i]
        if b < 0:
            b = 0
            for q in range(k):
                if high[q] - weight[q] > high[b] - weight[b]:
                    b = q
        part[v] = b
        weight[b] += w


@njit(cache=True, nogil=True)
def net_rooms(xadj, k, first):
    """Set first (n + 1,): each net has room for as many entries as it has vertices, at most k."""
    first[0] = 0
    for v in range(first.size - 1):
        first[v + 1] = first[v] + min(np.int64(xadj[v + 1]) - np.int64(xadj[v]) + 1, k)


@njit(cache=True, nogil=True)
def count_nets(state):
    """Fill the nets' blocks, counts and lengths."""
    place = np.full(state.weight.size, -1, np.int64)
    for v in range(state.part.size):
        begin = state.first[v]
        state.blocks[begin], state.counts[begin] = state.part[v], 1
        place[state.part[v]] = begin
        end = begin + 1
        for e in range(state.xadj[v], state.xadj[v + 1]):
            b = state.part[state.adjncy[e]]
            if place[b] < 0:
                place[b] = end
                state.blocks[end], state.counts[end] = b, 1
                end += 1
            else:
                state.counts[place[b]] += 1
        state.length[v] = end - begin
        for i in range(begin, end):
            place[state.blocks[i]] = -1


@njit(cache=True, nogil=True)
def sent(state, volumes):
    """Fill volumes (k,): each vertex is sent once to every other block of its net."""
    for v in range(state.part.size):
        volumes[state.part[v]] += state.length[v] - 1


@inner()
def connect(state, v, bond, near):
    """Set bond[b] for the blocks near v, and list them in `near`, v's own first.

    Returns their number. bond[q] - bond[p] is the decrease of the objective if v moves from its
    block p to q; blocks that are not near have the bond `far`. bond (k,) must be zero on entry.
    """
    p = state.part[v]
    near[0] = p
    size = 1
    if not state.volumes:
        unit = state.adjwgt.size == 0
        for e in range(state.xadj[v], state.xadj[v + 1]):
            x = 1 if unit else state.adjwgt[e]
            if x == 0:
                continue  # or its block would be listed again and again
            b = state.part[state.adjncy[e]]
            if bond[b] == 0 and b != p:
                near[size] = b
                size += 1
            bond[b] += x
        return size
    for e in range(state.xadj[v], state.xadj[v + 1]):
        u = state.adjncy[e]
        worth = state.price[state.part[u]]
        for i in range(state.first[u], state.first[u] + state.length[u]):
            b = state.blocks[i]
            if b == p:
                if state.counts[i] > 1:
                    bond[b] += worth
                continue
            if bond[b] == 0:
                near[size] = b
                size += 1
            bond[b] += worth
    return _add_own_net(state, v, bond, near, size)


@inner()
def far(state, v, b):
    """Return the bond of v with a block b that is not near."""
    if not state.volumes:
        return 0.0
    p = state.part[v]
    others = 0
    for i in range(state.first[v], state.first[v] + state.length[v]):
        others += state.blocks[i] != p or state.counts[i] > 1
    return -state.price[b] * others


@inner()
def _add_own_net(state, v, bond, near, size):
    """Subtract from the bonds what v itself would send: the price x the number of other blocks."""
    p = state.part[v]
    others = 0
    for i in range(state.first[v], state.first[v] + state.length[v]):
        b = state.blocks[i]
        if b != p or state.counts[i] > 1:
            others += 1
            bond[b] += state.price[b]
    for i in range(size):
        bond[near[i]] -= state.price[near[i]] * others
    return size


@inner()
def _repin(state, u, p, q):
    """Count one vertex of the net of u in block q instead of p."""
    begin = state.first[u]
    end = begin + state.length[u]
    at_p, at_q = -1, -1
    for i in range(begin, end):
        if state.blocks[i] == p:
            at_p = i
        elif state.blocks[i] == q:
            at_q = i
    if state.counts[at_p] == 1:
        if at_q < 0:
            state.blocks[at_p] = q
            return
        state.blocks[at_p], state.counts[at_p] = state.blocks[end - 1], state.counts[end - 1]
        state.length[u] -= 1
        if at_q == end - 1:
            at_q = at_p
    else:
        state.counts[at_p] -= 1
        if at_q < 0:
            state.blocks[end], state.counts[end] = q, 0
            state.length[u] += 1
            at_q = end
    state.counts[at_q] += 1


@inner()
def put(state, v, q):
    """Move v to block q."""
    p, q = np.int64(state.part[v]), np.int64(q)
    state.part[v] = q
    state.weight[p] -= state.vwgt[v]
    state.weight[q] += state.vwgt[v]
    if state.volumes:
        _repin(state, v, p, q)
        for e in range(state.xadj[v], state.xadj[v + 1]):
            _repin(state, np.int64(state.adjncy[e]), p, q)


@inner()
def wake(state, v, slack):
    """Lower the slack of v, which has moved, and of vertices whose gains this changes.

    slack (n,) int32: lower bound on the loss of a vertex's best move. Vertices with a slack of 0 or
    less must be evaluated again. A neighbour's move changes the gain in the cut by at most twice
    the edge's weight.
    """
    slack[v] = 0
    unit = state.adjwgt.size == 0
    for e in range(state.xadj[v], state.xadj[v + 1]):
        u = state.adjncy[e]
        if slack[u] <= 0:
            continue
        if state.volumes:
            slack[u] = 0
        else:
            slack[u] -= 2 if unit else 2 * state.adjwgt[e]


SETTLED = 0.03  # share of the vertices: a round in which fewer change their cluster is the last


@njit(cache=True, nogil=True, error_model="numpy")
def gather_clusters(xadj, adjncy, adjwgt, vwgt, part, cap, order, rounds, leader, weight):
    """Find clusters of vertices of the same block, of weight up to `cap`, in up to `rounds` rounds.

    Vertices, in `order`, join the neighbouring cluster with the largest ratio of edge weight to
    cluster weight. Fills leader (n,) int32: the first vertex of each vertex's cluster; weight (n,)
    [units] is scratch.
    """
    n = vwgt.size
    bond, near = np.zeros(n), np.empty(n, np.int32)
    wanted = np.full(n, -1, np.int32)
    for v in range(n):
        leader[v], weight[v] = v, vwgt[v]
    for _ in range(rounds):
        moved = 0
        for v in order:
            size = _bonds(xadj, adjncy, adjwgt, part, v, leader, bond, near)
            c = _choose(v, vwgt[v], cap, leader, weight, size, bond, near, wanted)
            if c != leader[v]:
                weight[leader[v]] -= vwgt[v]
                weight[c] += vwgt[v]
                leader[v] = c
                moved += 1
        if moved < SETTLED * n:
            break
    _join_alone(vwgt, part, cap, order, wanted, leader, weight)
    _name_by_first(leader)


@inner(error_model="numpy")
def _bonds(xadj, adjncy, adjwgt, part, v, leader, bond, near):
    """Set bond[c] for the clusters next to v, and list them in `near`; return their number."""
    unit = adjwgt.size == 0
    size = 0
    for e in range(xadj[v], xadj[v + 1]):
        u = adjncy[e]
        x = 1 if unit else adjwgt[e]
        if part[u] != part[v] or x == 0:
            continue
        c = leader[u]
        if bond[c] == 0:
            near[size] = c
            size += 1
        bond[c] += x
    return size


@inner(error_model="numpy")
def _choose(v, w, cap, leader, weight, size, bond, near, wanted):
    """Return the best cluster for v, its own if none is better, and reset `bond`.

    wanted[v] is set to the cluster with the most edge weight to v, even if it has no room.
    """
    own = leader[v]
    rest = weight[own] - w
    best, score = own, bond[own] / rest if rest > 0 else 0.0
    most = 0.0
    for i in range(size):
        c = near[i]
        if bond[c] > most:
            wanted[v], most = c, bond[c]
        if c != own and weight[c] + w <= cap and bond[c] > score * max(weight[c], 1e-300):
            best, score = c, bond[c] / max(weight[c], 1e-300)
    for i in range(size):
        bond[near[i]] = 0
    return best


@inner()
def _join_alone(vwgt, part, cap, order, wanted, leader, weight):
    """Join vertices that are alone in their cluster if they want the same cluster."""
    members = np.zeros(leader.size, np.int32)
    for v in range(leader.size):
        members[leader[v]] += 1
    last = np.full(leader.size, -1, np.int32)
    for v in order:
        if members[leader[v]] > 1 or wanted[v] < 0:
            continue
        u = last[wanted[v]]
        if u >= 0 and part[u] == part[v] and weight[leader[u]] + vwgt[v] <= cap:
            weight[leader[v]] -= vwgt[v]
            leader[v] = leader[u]
            weight[leader[u]] += vwgt[v]
        else:
            last[wanted[v]] = v


@inner()
def _name_by_first(leader):
    """Rename every cluster after its first vertex."""
    first = np.full(leader.size, -1, np.int32)
    for v in range(leader.size):
        c = leader[v]
        if first[c] < 0:
            first[c] = v
        leader[v] = first[c]
