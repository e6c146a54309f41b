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


class Board(NamedTuple):
    """A graph and its blocks; xadj, adjncy, adjwgt, vwgt as in Level, all vertices with edges.

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
def count_nets(board):
    """Fill the nets' blocks, counts and lengths."""
    place = np.full(board.weight.size, -1, np.int64)
    for v in range(board.part.size):
        begin = board.first[v]
        board.blocks[begin], board.counts[begin] = board.part[v], 1
        place[board.part[v]] = begin
        end = begin + 1
        for e in range(board.xadj[v], board.xadj[v + 1]):
            b = board.part[board.adjncy[e]]
            if place[b] < 0:
                place[b] = end
                board.blocks[end], board.counts[end] = b, 1
                end += 1
            else:
                board.counts[place[b]] += 1
        board.length[v] = end - begin
        for i in range(begin, end):
            place[board.blocks[i]] = -1


@njit(cache=True, nogil=True)
def sent(board, volumes):
    """Add up what every block sends, in `volumes` (k,): for each vertex, the other blocks of its
    net."""
    for v in range(board.part.size):
        volumes[board.part[v]] += board.length[v] - 1


@inner()
def connect(board, v, bond, near):
    """Set bond[b] for the blocks near v, its own first in `near`; returns how many.

    bond[q] - bond[p] is what the objective falls by when v moves from its block p to q; blocks
    that are not near have the bond `far`. bond (k,) comes as zeros.
    """
    p = board.part[v]
    near[0] = p
    size = 1
    if not board.volumes:
        unit = board.adjwgt.size == 0
        for e in range(board.xadj[v], board.xadj[v + 1]):
            x = 1 if unit else board.adjwgt[e]
            if x == 0:
                continue  # or its block would be listed again and again
            b = board.part[board.adjncy[e]]
            if bond[b] == 0 and b != p:
                near[size] = b
                size += 1
            bond[b] += x
        return size
    for e in range(board.xadj[v], board.xadj[v + 1]):
        u = board.adjncy[e]
        worth = board.price[board.part[u]]
        for i in range(board.first[u], board.first[u] + board.length[u]):
            b = board.blocks[i]
            if b == p:
                if board.counts[i] > 1:
                    bond[b] += worth
                continue
            if bond[b] == 0:
                near[size] = b
                size += 1
            bond[b] += worth
    return _add_own_net(board, v, bond, near, size)


@inner()
def far(board, v, b):
    """Return the bond of v with a block b that is not near."""
    if not board.volumes:
        return 0.0
    p = board.part[v]
    others = 0
    for i in range(board.first[v], board.first[v] + board.length[v]):
        others += board.blocks[i] != p or board.counts[i] > 1
    return -board.price[b] * others


@inner()
def _add_own_net(board, v, bond, near, size):
    """Take off what v itself costs a block: its price for every other block among neighbours."""
    p = board.part[v]
    others = 0
    for i in range(board.first[v], board.first[v] + board.length[v]):
        b = board.blocks[i]
        if b != p or board.counts[i] > 1:
            others += 1
            bond[b] += board.price[b]
    for i in range(size):
        bond[near[i]] -= board.price[near[i]] * others
    return size


@inner()
def _repin(board, u, p, q):
    """Count one vertex of the net of u in block q instead of p."""
    begin = board.first[u]
    end = begin + board.length[u]
    at_p, at_q = -1, -1
    for i in range(begin, end):
        if board.blocks[i] == p:
            at_p = i
        elif board.blocks[i] == q:
            at_q = i
    if board.counts[at_p] == 1:
        if at_q < 0:
            board.blocks[at_p] = q
            return
        board.blocks[at_p], board.counts[at_p] = board.blocks[end - 1], board.counts[end - 1]
        board.length[u] -= 1
        if at_q == end - 1:
            at_q = at_p
    else:
        board.counts[at_p] -= 1
        if at_q < 0:
            board.blocks[end], board.counts[end] = q, 0
            board.length[u] += 1
            at_q = end
    board.counts[at_q] += 1


@inner()
def put(board, v, q):
    """Move v to block q."""
    p, q = np.int64(board.part[v]), np.int64(q)
    board.part[v] = q
    board.weight[p] -= board.vwgt[v]
    board.weight[q] += board.vwgt[v]
    if board.volumes:
        _repin(board, v, p, q)
        for e in range(board.xadj[v], board.xadj[v + 1]):
            _repin(board, np.int64(board.adjncy[e]), p, q)
