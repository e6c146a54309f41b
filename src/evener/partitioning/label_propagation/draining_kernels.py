"""Draining: vertices leave blocks that are too heavy, and enter blocks that are too light.

The vertex that loses least by its move goes first.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.label_propagation.propagation_kernels import connect, far, put, wake
from evener.partitioning.levels.csr_kernels import stays
from evener.partitioning.levels.heap_kernels import drop_first, push_aged

TINY = 1e-300
HAIR = 1e-9  # losses that differ by less count as equal
NEVER, STALE = -2, -1  # in place of a vertex's target block: none sought yet; to be sought again
# Set by hand; benchmarks/constants.py shows what other values give.
LOOKS = 4  # mean re-evaluations per vertex before stale losses are accepted


@inner()
def shortage(state):
    """Return the total weight that blocks lack to reach `low`."""
    total = 0.0
    for b in range(state.weight.size):
        total += max(0.0, state.low[b] - state.weight[b])
    return total


@inner()
def shortens(state, p, q, w):
    """Return by how much the shortage grows when weight w moves from p to q."""
    left = max(0.0, state.low[p] - state.weight[p] + w) - max(0.0, state.low[p] - state.weight[p])
    came = max(0.0, state.low[q] - state.weight[q]) - max(0.0, state.low[q] - state.weight[q] - w)
    return left - came


@inner()
def excess(state):
    """Return the weight above `high`, plus the shortage as far as it exceeds state.filling."""
    over = 0.0
    for b in range(state.weight.size):
        over += max(0.0, state.weight[b] - state.high[b])
    return over + max(0.0, shortage(state) - state.filling)


@njit(cache=True, nogil=True)
def drain(state, loss, own, enough, slack):
    """Move vertices until blocks are within their limits, as far as the vertices permit.

    loss (n,): estimated loss per weight of each vertex if it leaves its block; own (n,): weight of
    its edges into its block; zeros if unknown. Vertices are first evaluated in the order of these
    losses; computed losses are written back. enough: for each block, vertices of `enough` times the
    weight that must leave are evaluated first. slack (n,) int32: see `wake`; lowered for vertices
    whose gains changed.
    """
    n = state.part.size
    found, hope = np.empty(n, np.int32), np.empty(n)
    if _count_heavy(state) > 0:
        leaving = np.empty(n, np.int64)
        size = 0
        for v in range(n):
            if _may_leave(state, v, True):
                leaving[size], hope[v] = v, loss[v]
                size += 1
        _move_least(state, leaving[:size], hope, -1, True, enough, found, slack)
        for v in leaving[:size]:
            loss[v] = hope[v]
    if shortage(state) > state.filling:
        _feed_by_neighbours(state, own, hope, found, slack)
        if shortage(state) > state.filling:
            hope[:] = loss
            _move_least(state, np.arange(n), hope, -1, False, np.inf, found, slack)


@inner()
def _feed_by_neighbours(state, own, hope, found, slack):
    """Let every block below `low` take the neighbouring vertices that lose least."""
    n, k, unit = state.part.size, state.weight.size, state.adjwgt.size == 0
    first = np.zeros(k + 1, np.int64)
    for v in range(n):
        first[state.part[v] + 1] += 1
    for b in range(k):
        first[b + 1] += first[b]
    members, end = np.empty(n, np.int64), first[:k].copy()
    for v in range(n):
        b = state.part[v]
        members[end[b]] = v
        end[b] += 1
    seen, around, tied = np.full(n, -1, np.int64), np.empty(n, np.int64), np.empty(n)
    for b in range(k):
        if state.weight[b] >= state.low[b] or shortage(state) <= state.filling:
            continue
        size = 0
        for i in range(first[b], end[b]):
            if state.part[members[i]] != b:
                continue
            for e in range(state.xadj[members[i]], state.xadj[members[i] + 1]):
                u = state.adjncy[e]
                if state.part[u] == b:
                    continue
                if seen[u] != b:
                    seen[u], tied[u] = b, 0.0
                    around[size] = u
                    size += 1
                tied[u] += 1 if unit else state.adjwgt[e]
        for u in around[:size]:
            hope[u] = for_its_weight(own[u] - tied[u], state.vwgt[u])
        _move_least(state, around[:size], hope, b, False, np.inf, found, slack)


@inner()
def for_its_weight(lost, w):
    """Return a loss divided by the weight w moved; a gain (negative loss) is multiplied by w."""
    return lost / max(w, TINY) if lost > 0 else lost * w


@inner()
def _may_leave(state, v, over):
    """Return whether v may leave its block.

    With `over`, the block must be too heavy; without, it must stay at or above `low`.
    """
    p, w = state.part[v], state.vwgt[v]
    if stays(state.fixed, v):
        return False
    if over:
        return w > 0 and state.weight[p] > state.high[p]
    return w > 0 and state.weight[p] - w >= state.low[p]


@inner()
def _move_least(state, candidates, hope, to, over, enough, found, slack):
    """Move the candidates that lose least per weight, until blocks satisfy limits or none can move.

    to: the only destination, until it reaches its limit; -1 for any block. over: whether to drain
    blocks that are too heavy, instead of filling those that are too light. hope (n,): estimated
    loss per weight of the candidates, replaced by computed losses. found (n,): the destination
    computed for a vertex, used as long as that block has room and no neighbour of the vertex has
    moved. For a block that is too heavy, candidates are first evaluated up to a total weight of
    `enough` x the weight that must leave; the others follow if these do not suffice.
    """
    k = state.weight.size
    bond, near = np.zeros(k), np.empty(k, np.int64)
    room = candidates.size
    keys, ages, items = np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64)
    aside, put_aside, seen = np.empty(room, np.int64), 0, np.zeros(k)
    size = 0
    for v in candidates:
        if _may_leave(state, v, over):
            size = push_aged(keys, ages, items, size, -hope[v], v, v)
            found[v] = NEVER
    missing, looks, most = shortage(state), 0, LOOKS * size
    heavy, emptiest = _count_heavy(state), _emptiest(state)
    while heavy > 0 if over else missing > state.filling:
        if to >= 0 and state.weight[to] >= state.low[to]:
            break
        if size == 0:
            if put_aside == 0:
                break
            for v in aside[:put_aside]:
                size = push_aged(keys, ages, items, size, -hope[v], v, v)
            put_aside = 0
            seen[:] = 0
        v = items[0]
        size = drop_first(keys, ages, items, size)
        if not _may_leave(state, v, over):
            continue
        p, q = np.int64(state.part[v]), np.int64(found[v])
        if q == NEVER and over:
            if seen[p] > enough * (state.weight[p] - state.high[p]):
                aside[put_aside] = v
                put_aside += 1
                continue
            seen[p] += state.vwgt[v]
        if q < 0 or not _takes(state, q, state.vwgt[v], over):
            hoped = hope[v]
            q, hope[v] = _way_out(state, v, to, over, emptiest, bond, near)
            if q < 0:
                hope[v] = hoped
                continue
            looks += 1
            if looks < most and size > 0 and hope[v] > hoped + HAIR and -hope[v] < keys[0]:
                size = push_aged(keys, ages, items, size, -hope[v], v, v)
                found[v] = q
                continue
        missing += shortens(state, p, q, state.vwgt[v])
        put(state, v, q)
        seen[p] -= state.vwgt[v]
        heavy -= state.weight[p] <= state.high[p]
        emptiest = _emptiest(state) if emptiest == q else _emptier(state, emptiest, p)
        wake(state, v, slack)
        for e in range(state.xadj[v], state.xadj[v + 1]):
            if found[state.adjncy[e]] >= 0:
                found[state.adjncy[e]] = STALE


@inner()
def _count_heavy(state):
    """Return the number of blocks that are too heavy."""
    count = 0
    for b in range(state.weight.size):
        count += state.weight[b] > state.high[b]
    return count


@inner()
def _emptier(state, b, p):
    """Return the less full of two blocks, b if they are equally full."""
    return p if state.weight[p] / state.high[p] < state.weight[b] / state.high[b] else b


@inner()
def _emptiest(state):
    """Return the block that is least full."""
    best = np.int64(0)
    for b in range(1, state.weight.size):
        best = _emptier(state, best, np.int64(b))
    return best


@inner()
def _takes(state, b, w, over):
    """Return whether block b takes weight w: it has room and, without `over`, is below `low`."""
    return state.weight[b] + w <= state.high[b] and (over or state.weight[b] < state.low[b])


@inner()
def _way_out(state, v, to, over, emptiest, bond, near):
    """Return the block to which v moves at the least loss, or -1, and the loss per weight.

    to: the only destination permitted, or -1 for any block that takes v.
    """
    p, w = np.int64(state.part[v]), state.vwgt[v]
    size = connect(state, v, bond, near)
    best, highest, least = np.int64(-1), -np.inf, np.inf
    for i in range(1, size):
        b = near[i]
        if bond[b] < highest or (to >= 0 and b != to) or not _takes(state, b, w, over):
            continue
        full = state.weight[b] / state.high[b]
        if bond[b] > highest or full < least:
            best, highest, least = b, bond[b], full
    own = bond[p]
    for i in range(size):
        bond[near[i]] = 0
    if best < 0:
        best = _far_block(state, p, w, to, over, emptiest)
        if best < 0:
            return best, np.inf
        highest = far(state, v, best)
    return best, for_its_weight(own - highest, w)


@inner()
def _far_block(state, p, w, to, over, emptiest):
    """Return the least full block other than p that takes weight w, or -1."""
    b = np.int64(to) if to >= 0 else emptiest
    if b != p and _takes(state, b, w, over):
        return b
    best, least = np.int64(-1), np.inf
    if to >= 0:
        return best
    for b in range(state.weight.size):
        if b != p and _takes(state, b, w, over):
            full = state.weight[b] / state.high[b]
            if full < least:
                best, least = np.int64(b), full
    return best
