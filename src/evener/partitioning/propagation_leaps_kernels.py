"""Kernels of label propagation, leaps [GMBR24]_: many vertices move at once, some at a loss.

A vertex wishes to go where it is bound most, though it may lose by that. Wishes are heard if they
gain once all greater wishes have come true, so that whole groups move that no vertex alone would
begin to. Blocks may be overloaded for the time being, and are drained.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.arrays_kernels import copy_to, sort_along
from evener.jit_kernels import inner, njit
from evener.partitioning.propagation_draining_kernels import drain, excess, for_its_weight
from evener.partitioning.propagation_kernels import connect, put

ENOUGH = 8.0  # times the weight that is to leave a block, what is looked at for it
PROGRESS = 0.999  # of the least cut: less is progress


@njit(cache=True, nogil=True)
def leap(board, rounds, patience, boldness, most):
    """Lower the cut in place by up to `rounds` leaps, each drained; the best state is kept.

    They end after `patience` rounds without progress. boldness: the share of its bond with its
    own block that a vertex may be ready to lose. most (k,): no block grows above it.
    """
    n = board.part.size
    wish, gain, loss = np.empty(n, np.int32), np.empty(n), np.zeros(n)
    rests, stale = np.zeros(n, np.bool_), np.ones(n, np.int8)
    away, own = np.zeros(n), np.zeros(n)
    best, least, off = board.part.copy(), np.inf, excess(board)
    idle = 0
    for turn in range(rounds + 1):
        _make_wishes(board, stale, boldness, wish, gain, loss, own, away)
        cut, now_off = away.sum(), excess(board)
        idle += 1
        if now_off < off or (now_off == off and cut < least):
            if now_off < off or cut < PROGRESS * least:
                idle = 0
            least, off = cut, now_off
            copy_to(board.part, best)
        if idle >= patience or turn == rounds:
            break
        _hear(board, wish, gain, rests)
        _fulfil(board, wish, gain, rests, most, stale)
        drain(board, loss, own, ENOUGH, stale)
    copy_to(best, board.part)
    board.weight[:] = 0
    for v in range(n):
        board.weight[best[v]] += board.vwgt[v]


@inner()
def _make_wishes(board, stale, boldness, wish, gain, loss, own, away):
    """Set wish (n,), the block each vertex is bound to most besides its own, and gain (n,), what
    going there alone would win; -1 for those that would lose more than they dare. loss (n,): the
    loss for its weight; own, away (n,): the weight of its edges to its block, and to others.

    stale (n,) int8: the vertices whose neighbours or block changed; zeros afterwards.
    """
    k = board.weight.size
    bond, near = np.zeros(k), np.empty(k, np.int64)
    for v in range(board.part.size):
        if not stale[v]:
            continue
        stale[v] = 0
        size = connect(board, v, bond, near)
        best, highest, outside = -1, -np.inf, 0.0
        for i in range(1, size):
            outside += bond[near[i]]
            if bond[near[i]] > highest:
                best, highest = near[i], bond[near[i]]
        own[v] = bond[near[0]]
        for i in range(size):
            bond[near[i]] = 0
        away[v] = outside
        loss[v] = for_its_weight(own[v] - max(highest, 0.0), board.vwgt[v])
        daring = best >= 0 and (highest >= own[v] or own[v] - highest < np.floor(boldness * own[v]))
        wish[v], gain[v] = best if daring else -1, highest - own[v]


@inner()
def _hear(board, wish, gain, heard):
    """Set heard (n,): those who do not lose if neighbours whose wish gains more have theirs; those
    heard last rest, and wish nothing.
    """
    unit = board.adjwgt.size == 0
    rested = heard.copy()
    for v in range(board.part.size):
        heard[v] = False
        if wish[v] < 0 or rested[v]:
            continue
        won = 0
        for e in range(board.xadj[v], board.xadj[v + 1]):
            u = board.adjncy[e]
            b = board.part[u]
            if (
                wish[u] >= 0
                and not rested[u]
                and (gain[u] > gain[v] or (gain[u] == gain[v] and u < v))
            ):
                b = wish[u]
            if b == wish[v]:
                won += 1 if unit else board.adjwgt[e]
            elif b == board.part[v]:
                won -= 1 if unit else board.adjwgt[e]
        heard[v] = won >= 0


@inner()
def _fulfil(board, wish, gain, heard, most, stale):
    """Move those heard, the greatest gains first, while blocks stay below most (k,); those whom
    their block has no room for are not heard. stale (n,): set for those whose wish may change.
    """
    count = 0
    for v in range(heard.size):
        count += heard[v]
    who, lost = np.empty(count, np.int64), np.empty(count)
    i = 0
    for v in range(heard.size):
        if heard[v]:
            who[i], lost[i] = v, -gain[v]
            i += 1
    sort_along(lost, who)
    for v in who:
        b = wish[v]
        if board.weight[b] + board.vwgt[v] > most[b]:
            heard[v] = False
        else:
            put(board, v, b)
            stale[v] = 1
            for e in range(board.xadj[v], board.xadj[v + 1]):
                stale[board.adjncy[e]] = 1
