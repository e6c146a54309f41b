"""Kernels of label propagation: vertices move, one after the other, to the block they gain most by.

Few vertices have most of the edges here, so nothing is kept for pairs of a vertex and a block:
for the cut a visit scans the neighbours; for volumes every vertex has a net, itself and its
neighbours, and the net a short list of blocks with their counts, kept right move by move.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit


class PropagationState(NamedTuple):
    """A graph and its blocks; xadj, adjncy, adjwgt, vwgt as in GraphLevel, all vertices with edges.

    part (n,) int32; weight, low, high (k,) [units]; filling: the weight that may fill blocks up to
    `low` later. volumes: whether what is minimised is the sum of price (k,), above zero, times
    what blocks send; else it is the cut. Nets: first (n + 1,) int64, room for blocks and counts
    (first[n],) int32, length (n,) of each; empty for the cut.
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


@njit(cache=True, nogil=True)
def start(vwgt, caps, following, part, weight):
    """Fill blocks, in the order `following`, up to caps (k,) with vertices as they are numbered.

    What fits into no block goes to the one with the most room left.
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
    """Give vertices without edges, heaviest first, to blocks short of low, target, then high."""
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
    """Set first (n + 1,): a net touches no more blocks than it has vertices, and at most k."""
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
    """Add up what every block sends, in `volumes` (k,): for each vertex, the other blocks of its
    net."""
    for v in range(state.part.size):
        volumes[state.part[v]] += state.length[v] - 1


@inner()
def connect(state, v, bond, near):
    """Set bond[b] for the blocks near v, its own first in `near`; returns how many.

    bond[q] - bond[p] is what the objective falls by when v moves from its block p to q; blocks
    that are not near have the bond `far`. bond (k,) comes as zeros.
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
    """Take off what v itself costs a block: its price for every other block among neighbours."""
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
