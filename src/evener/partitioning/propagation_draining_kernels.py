"""Kernels of label propagation, draining: vertices leave blocks that are too heavy, and enter those
that are too light, at the least loss.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit_kernels import inner, njit
from evener.partitioning.heap_kernels import drop_first, push
from evener.partitioning.propagation_kernels import connect, far, put

HAIR = 1e-9  # losses that differ by less are the same
LOOKS = 4  # at a vertex, in the mean; then losses are taken as they are


@inner()
def shortage(board):
    """Return the weight that all blocks together are short of `low`."""
    total = 0.0
    for b in range(board.weight.size):
        total += max(0.0, board.low[b] - board.weight[b])
    return total


@inner()
def shortens(board, p, q, w):
    """Return by how much the shortage grows when weight w leaves p for q."""
    left = max(0.0, board.low[p] - board.weight[p] + w) - max(0.0, board.low[p] - board.weight[p])
    came = max(0.0, board.low[q] - board.weight[q]) - max(0.0, board.low[q] - board.weight[q] - w)
    return left - came


@inner()
def excess(board):
    """Return the weight above `high`, and that missing below `low` more than what fills it up."""
    over = 0.0
    for b in range(board.weight.size):
        over += max(0.0, board.weight[b] - board.high[b])
    return over + max(0.0, shortage(board) - board.filling)


@njit(cache=True, nogil=True)
def drain(board, hint, woken):
    """Bring blocks within their limits, as far as their vertices allow.

    hint (n,): about what vertices lose by leaving their block, zeros where unknown; they are
    looked at in this order first. woken (n,) int8: set for those whose gains changed.
    """
    over, n = False, board.part.size
    for b in range(board.weight.size):
        over = over or board.weight[b] > board.high[b]
    if over:
        leaving = np.empty(n, np.int64)
        size = 0
        for v in range(n):
            if _may_leave(board, v, True):
                leaving[size] = v
                size += 1
        _move_least(board, leaving[:size], hint, -1, True, woken)
    if shortage(board) > board.filling:
        _feed_by_neighbours(board, hint, woken)
        if shortage(board) > board.filling:
            _move_least(board, np.arange(n), hint, -1, False, woken)


@inner()
def _feed_by_neighbours(board, hint, woken):
    """Let every block below `low` take from among its neighbours what they lose least by."""
    n, k = board.part.size, board.weight.size
    first = np.zeros(k + 1, np.int64)
    for v in range(n):
        first[board.part[v] + 1] += 1
    for b in range(k):
        first[b + 1] += first[b]
    members, end = np.empty(n, np.int64), first[:k].copy()
    for v in range(n):
        b = board.part[v]
        members[end[b]] = v
        end[b] += 1
    seen, around = np.full(n, -1, np.int64), np.empty(n, np.int64)
    for b in range(k):
        if board.weight[b] >= board.low[b] or shortage(board) <= board.filling:
            continue
        size = 0
        for i in range(first[b], end[b]):
            if board.part[members[i]] != b:
                continue
            for e in range(board.xadj[members[i]], board.xadj[members[i] + 1]):
                u = board.adjncy[e]
                if seen[u] != b and board.part[u] != b:
                    seen[u] = b
                    around[size] = u
                    size += 1
        _move_least(board, around[:size], hint, b, False, woken)


@inner()
def _may_leave(board, v, over):
    """Whether v's block can spare it: as it is too heavy, or as it stays at `low` or more."""
    p, w = board.part[v], board.vwgt[v]
    if over:
        return w > 0 and board.weight[p] > board.high[p]
    return w > 0 and board.weight[p] - w >= board.low[p]


@inner()
def _move_least(board, candidates, hint, to, over, woken):
    """Move the candidates that lose least for their weight until blocks hold, or none fits; to
    block `to` alone, until that holds, if it is not -1.
    """
    k = board.weight.size
    bond, near = np.zeros(k), np.empty(k, np.int64)
    room = candidates.size
    keys, ages, items = np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64)
    size = 0
    for v in candidates:
        if _may_leave(board, v, over):
            size = push(keys, ages, items, size, -hint[v], v, v)
    missing, looks, most = shortage(board), 0, LOOKS * size
    while size > 0 and (over or missing > board.filling):
        if to >= 0 and board.weight[to] >= board.low[to]:
            break
        hoped, v = -keys[0], items[0]
        size = drop_first(keys, ages, items, size)
        if not _may_leave(board, v, over):
            continue
        q, lost = _way_out(board, v, to, over, bond, near)
        if q < 0:
            continue
        looks += 1
        if looks < most and size > 0 and lost > hoped + HAIR and -lost < keys[0]:
            size = push(keys, ages, items, size, -lost, v, v)
            continue
        missing += shortens(board, np.int64(board.part[v]), q, board.vwgt[v])
        put(board, v, q)
        for e in range(board.xadj[v], board.xadj[v + 1]):
            woken[board.adjncy[e]] = 1
        woken[v] = 1


@inner()
def _way_out(board, v, to, over, bond, near):
    """Return the block to which v moves at the least loss, or -1, and that loss for its weight.

    It goes to block `to`, if that is not -1, else to any with room; without `over`, below `low`.
    """
    p, w = board.part[v], board.vwgt[v]
    size = connect(board, v, bond, near)
    best, highest, emptiest = -1, -np.inf, np.inf
    for i in range(1, size):
        b = near[i]
        if bond[b] < highest or board.weight[b] + w > board.high[b] or (to >= 0 and b != to):
            continue
        if not over and board.weight[b] >= board.low[b]:
            continue
        full = board.weight[b] / board.high[b]
        if bond[b] > highest or full < emptiest:
            best, highest, emptiest = b, bond[b], full
    own = bond[p]
    for i in range(size):
        bond[near[i]] = 0
    if best < 0:
        for b in range(board.weight.size):
            if board.weight[b] + w > board.high[b] or b == p or (to >= 0 and b != to):
                continue
            if not over and board.weight[b] >= board.low[b]:
                continue
            full = board.weight[b] / board.high[b]
            if full < emptiest:
                best, emptiest = b, full
        if best < 0:
            return -1, np.inf
        highest = far(board, v, best)
    lost = own - highest
    return best, lost / w if lost > 0 else lost * w
