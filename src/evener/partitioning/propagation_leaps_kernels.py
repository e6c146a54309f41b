"""Kernels of label propagation, leaps [GMBR24]_: many vertices move at once, some at a loss.

A vertex wishes to go where it is bound most, though it may lose by that. Wishes are heard if they
gain once all greater wishes have come true, so that whole groups move that no vertex alone would
begin to. Blocks may be overloaded for the time being, and are drained.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np
from numba import njit

from evener.partitioning.propagation_draining_kernels import drain, excess
from evener.partitioning.propagation_kernels import connect, cut_twice, put

PROGRESS = 0.999  # of the least cut: less is progress


@njit(cache=True, nogil=True)
def leap(board, rounds, patience, boldness, most):
    """Lower the cut in place by up to `rounds` leaps, each drained; the best state is kept.

    They end after `patience` rounds without progress. boldness: the share of its bond with its
    own block that a vertex may be ready to lose. most (k,): no block grows above it.
    """
    n = board.part.size
    wish, gain, loss = np.empty(n, np.int32), np.empty(n), np.zeros(n)
    rests, ignored = np.zeros(n, np.bool_), np.empty(n, np.int8)
    best, least, off = board.part.copy(), cut_twice(board), excess(board)
    idle = 0
    for _ in range(rounds):
        _make_wishes(board, rests, boldness, wish, gain, loss)
        _hear(board, wish, gain, rests)
        _fulfil(board, wish, gain, rests, most)
        drain(board, loss, ignored)
        cut, now_off = cut_twice(board), excess(board)
        idle += 1
        if now_off < off or (now_off == off and cut < least):
            if now_off < off or cut < PROGRESS * least:
                idle = 0
            best[:], least, off = board.part, cut, now_off
        if idle >= patience:
            break
    board.part[:] = best
    board.weight[:] = 0
    for v in range(n):
        board.weight[best[v]] += board.vwgt[v]


@njit(cache=True, nogil=True)
def _make_wishes(board, rests, boldness, wish, gain, loss):
    """Set wish (n,), the block each vertex is bound to most besides its own, and gain (n,), what
    going there alone would win; -1 for those that rest, as they moved last, or would lose more
    than they dare. loss (n,): the loss for its weight, for those that do not rest.
    """
    k = board.weight.size
    bond, near = np.zeros(k), np.empty(k, np.int64)
    for v in range(board.part.size):
        wish[v] = -1
        if rests[v]:
            continue
        size = connect(board, v, bond, near)
        best, highest = -1, -np.inf
        for i in range(1, size):
            if bond[near[i]] > highest:
                best, highest = near[i], bond[near[i]]
        own = bond[near[0]]
        for i in range(size):
            bond[near[i]] = 0
        lost = own - max(highest, 0.0)
        loss[v] = lost / max(board.vwgt[v], 1e-300) if lost > 0 else lost * board.vwgt[v]
        if best >= 0 and (highest >= own or own - highest < np.floor(boldness * own)):
            wish[v], gain[v] = best, highest - own


@njit(cache=True, nogil=True)
def _hear(board, wish, gain, heard):
    """Set heard (n,): those who do not lose if neighbours whose wish gains more have theirs."""
    unit = board.adjwgt.size == 0
    for v in range(board.part.size):
        heard[v] = False
        if wish[v] < 0:
            continue
        won = 0
        for e in range(board.xadj[v], board.xadj[v + 1]):
            u = board.adjncy[e]
            b = board.part[u]
            if wish[u] >= 0 and (gain[u] > gain[v] or (gain[u] == gain[v] and u < v)):
                b = wish[u]
            if b == wish[v]:
                won += 1 if unit else board.adjwgt[e]
            elif b == board.part[v]:
                won -= 1 if unit else board.adjwgt[e]
        heard[v] = won >= 0


@njit(cache=True, nogil=True)
def _fulfil(board, wish, gain, heard, most):
    """Move those heard, the greatest gains first, while blocks stay below most (k,); those whom
    their block has no room for are not heard.
    """
    who = np.flatnonzero(heard)
    for i in np.argsort(-gain[who], kind="mergesort"):
        v, b = who[i], wish[who[i]]
        if board.weight[b] + board.vwgt[v] > most[b]:
            heard[v] = False
        else:
            put(board, v, b)
