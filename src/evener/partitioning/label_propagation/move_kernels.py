"""Kernels of label propagation: sweeps of moves that gain, swaps between full blocks, and leaps."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.arrays_kernels import copy_to, sort_along
from evener.jit import inner, njit
from evener.partitioning.label_propagation.draining_kernels import (
    drain,
    excess,
    for_its_weight,
    shortage,
    shortens,
)
from evener.partitioning.label_propagation.propagation_kernels import connect, put, wake
from evener.partitioning.levels.csr_kernels import stays

HAIR = 1e-9  # smaller gains count as none
SLOTS = 1 << 16  # pairs of blocks for which a candidate of a swap is kept
HUB = 64  # edges; of candidates with more, what was computed is kept too


@njit(cache=True, nogil=True)
def sweep(state, order, most, slack, loss):
    """Move vertices, in `order`, if that gains, or evens out weights; return the gain.

    most (k,): upper limits on the blocks' weights. slack (n,) int32: see `wake`; only vertices with
    a slack of at most 0 are evaluated, and get a new slack. loss (n,): set for these to the
    estimated loss per weight if they leave their block.
    """
    k = state.weight.size
    bond, near = np.zeros(k), np.empty(k, np.int64)
    missing = shortage(state)
    won = 0.0
    for v in order:
        if slack[v] > 0 or stays(state.fixed, v):
            continue
        p, w = np.int64(state.part[v]), state.vwgt[v]
        size = connect(state, v, bond, near)
        own = bond[p]
        best, highest, emptiest = p, own, state.weight[p] / state.high[p]
        for i in range(1, size):
            b = near[i]
            if bond[b] < highest - HAIR or state.weight[b] + w > most[b]:
                continue
            full = (state.weight[b] + w) / state.high[b]
            if bond[b] <= highest + HAIR and full >= emptiest:
                continue
            grows = shortens(state, p, b, w)
            if grows > 0 and missing + grows > state.filling:
                continue
            best, highest, emptiest = b, bond[b], full
        second = 0.0
        for i in range(size):
            if near[i] != best:
                second = max(second, bond[near[i]])
            bond[near[i]] = 0
        loss[v] = for_its_weight(max(highest - second, 0.0), w)
        if best != p:
            missing += shortens(state, p, best, w)
            won += highest - own
            put(state, v, best)
            wake(state, v, slack)
        # Volumes change by moves that are further away: those of neighbours are only a hint there.
        slack[v] = 1 if state.volumes else max(highest - second, 1.0)
    return won


@njit(cache=True, nogil=True)
def swap(state, order, slack, most):
    """Swap vertices between full blocks if the pair gains; return the gain.

    For every pair of blocks, one candidate is stored: the last vertex that would gain by moving.
    slack (n,) int32: see `wake`; vertices whose slack exceeds `most` are skipped.
    """
    k = state.weight.size
    bond, near, gains = np.zeros(k), np.empty(k, np.int64), np.empty(k)
    other_bond, other_near = np.zeros(k), np.empty(k, np.int64)
    key = np.full(SLOTS, -1, np.int64)
    held, hope = np.empty(SLOTS, np.int64), np.empty(SLOTS)
    # Many may want to change places with one hub, in vain: its edges are looked at once. seen: the
    # hub of a slot, and the exchanges made by then; changed: the last one next to a vertex.
    seen, seen_at = np.full(SLOTS, -1, np.int64), np.empty(SLOTS, np.int64)
    known = np.empty((SLOTS, 3))
    made, changed = 0, np.zeros(state.part.size, np.int64)
    won = 0.0
    for v in order:
        if slack[v] > most or stays(state.fixed, v):
            continue
        p = np.int64(state.part[v])
        size = connect(state, v, bond, near)
        for i in range(size):
            gains[i] = bond[near[i]] - bond[p]
        for i in range(size):
            bond[near[i]] = 0
        done = False
        for i in range(1, size):
            q = near[i]
            there = (q * k + p) % SLOTS
            if key[there] != q * k + p or hope[there] + gains[i] <= HAIR:
                continue
            u = held[there]
            if state.part[u] != q:
                key[there] = -1
                continue
            if not state.volumes and state.xadj[u + 1] - state.xadj[u] >= HUB:
                if seen[there] != u or seen_at[there] < changed[u]:
                    seen[there], seen_at[there] = u, made
                    _look(state, u, p, q, known[there])
                if not _worth_it(state, v, u, gains[i], known[there]):
                    continue
            gain = _exchange(state, v, u, gains[i], other_bond, other_near)
            if gain > 0:
                made += 1
                for w in (v, u):
                    for e in range(state.xadj[w], state.xadj[w + 1]):
                        changed[state.adjncy[e]] = made
                    wake(state, w, slack)
                won += gain
                key[there] = -1
                done = True
                break
        if done:
            continue
        for i in range(1, size):
            q = near[i]
            here = (p * k + q) % SLOTS
            stale = key[here] != p * k + q or state.part[held[here]] != p
            if stale or gains[i] >= hope[here]:
                key[here], held[here], hope[here] = p * k + q, v, gains[i]
    return won


@inner()
def _look(state, u, p, q, known):
    """Set `known` to the weights of u's edges into p and q, and its number of edges into p.

    Only used if the objective is the cut.
    """
    unit = state.adjwgt.size == 0
    known[:] = 0
    for e in range(state.xadj[u], state.xadj[u + 1]):
        b = state.part[state.adjncy[e]]
        x = 1 if unit else state.adjwgt[e]
        if b == p and x != 0:
            known[0] += x
            known[2] += 1
        elif b == q:
            known[1] += x


@inner()
def _worth_it(state, v, u, gain, known):
    """Return whether _exchange would gain, computed from `known` of u; cut only."""
    unit = state.adjwgt.size == 0
    to_p, to_q, edges = known[0], known[1], known[2]
    for e in range(state.xadj[v], state.xadj[v + 1]):
        if state.adjncy[e] == u:
            x = 1 if unit else state.adjwgt[e]
            to_p -= x
            to_q += x
            edges -= x != 0
    return edges > 0 and gain + to_p - to_q > HAIR


@inner()
def _exchange(state, v, u, gain, bond, near):
    """Swap v and u if that satisfies the limits and gains; return the gain, or 0."""
    p, q = np.int64(state.part[v]), np.int64(state.part[u])
    more = state.vwgt[v] - state.vwgt[u]
    if more != 0:
        to, out = state.weight[q] + more, state.weight[p] - more
        if to > state.high[q] or out > state.high[p] or to < state.low[q] or out < state.low[p]:
            return 0.0
    put(state, v, q)
    size = connect(state, u, bond, near)
    both = gain + bond[p] - bond[q]
    for i in range(size):
        bond[near[i]] = 0
    # A block that is not near has no bond of its own: the exchange leaves it as it was.
    known = False
    for i in range(size):
        known = known or near[i] == p
    if known and both > HAIR:
        put(state, u, p)
        return both
    put(state, v, p)
    return 0.0


# Kernels of label propagation, leaps [GMBR24]_: many vertices move at once, some at a loss.
#
# Each vertex proposes to move to the block that it has the heaviest edges to, even at a loss. A
# proposed move is applied if it gains after all moves of higher priority, so that groups move of
# which no vertex would move alone. Blocks may be overloaded meanwhile, and are drained.

# Set by hand; benchmarks/constants.py shows what other values give.
ENOUGH = 8.0  # times the weight that must leave a block: weight of the vertices evaluated for that
PROGRESS = 0.999  # a cut below this share of the least one counts as progress


@njit(cache=True, nogil=True)
def leap(state, rounds, patience, boldness, most):
    """Reduce the cut in place by up to `rounds` leaps, each followed by draining.

    Keeps the best state. Ends after `patience` rounds without progress. boldness: fraction of the
    edge weight to its own block that a proposed move may lose. most (k,): upper limits on the
    blocks' weights.
    """
    n = state.part.size
    proposed, gain, loss = np.empty(n, np.int32), np.empty(n), np.zeros(n)
    accepted, slack = np.zeros(n, np.bool_), np.zeros(n, np.int32)
    away, own = np.zeros(n), np.zeros(n)
    best, least, off = state.part.copy(), np.inf, excess(state)
    idle = 0
    for turn in range(rounds + 1):
        _propose(state, slack, boldness, proposed, gain, loss, own, away)
        cut, now_off = away.sum(), excess(state)
        idle += 1
        if now_off < off or (now_off == off and cut < least):
            if now_off < off or cut < PROGRESS * least:
                idle = 0
            least, off = cut, now_off
            copy_to(state.part, best)
        if idle >= patience or turn == rounds:
            break
        _accept(state, proposed, gain, accepted)
        _carry_out(state, proposed, gain, accepted, most, slack)
        drain(state, loss, own, ENOUGH, slack)
    copy_to(best, state.part)
    state.weight[:] = 0
    for v in range(n):
        state.weight[best[v]] += state.vwgt[v]


@inner()
def _propose(state, slack, boldness, proposed, gain, loss, own, away):
    """Propose for every vertex a move to the other block to which it has the most edge weight.

    Sets proposed (n,): these blocks, -1 if the move would lose more than `boldness` permits; gain
    (n,): gain of each move alone; loss (n,): loss per weight; own, away (n,): weight of the
    vertex's edges to its own block, and to others. slack (n,) int32: 0 or less for vertices whose
    neighbours or block changed; set to 1.
    """
    k = state.weight.size
    bond, near = np.zeros(k), np.empty(k, np.int64)
    for v in range(state.part.size):
        if slack[v] > 0:
            continue
        slack[v] = 1
        size = connect(state, v, bond, near)
        best, highest, outside = -1, -np.inf, 0.0
        for i in range(1, size):
            outside += bond[near[i]]
            if bond[near[i]] > highest:
                best, highest = near[i], bond[near[i]]
        own[v] = bond[near[0]]
        for i in range(size):
            bond[near[i]] = 0
        away[v] = outside
        loss[v] = for_its_weight(own[v] - max(highest, 0.0), state.vwgt[v])
        bold_enough = (
            best >= 0
            and not stays(state.fixed, v)
            and (highest >= own[v] or own[v] - highest < np.floor(boldness * own[v]))
        )
        proposed[v], gain[v] = best if bold_enough else -1, highest - own[v]


@inner()
def _accept(state, proposed, gain, accepted):
    """Accept proposed moves that lose nothing after all neighbours of larger gain have moved.

    accepted (n,): on entry the moves of the previous leap, whose vertices are skipped; set to the
    accepted moves of this leap.
    """
    unit = state.adjwgt.size == 0
    passed_over = accepted.copy()
    for v in range(state.part.size):
        accepted[v] = False
        if proposed[v] < 0 or passed_over[v]:
            continue
        won = 0
        for e in range(state.xadj[v], state.xadj[v + 1]):
            u = state.adjncy[e]
            b = state.part[u]
            if (
                proposed[u] >= 0
                and not passed_over[u]
                and (gain[u] > gain[v] or (gain[u] == gain[v] and u < v))
            ):
                b = proposed[u]
            if b == proposed[v]:
                won += 1 if unit else state.adjwgt[e]
            elif b == state.part[v]:
                won -= 1 if unit else state.adjwgt[e]
        accepted[v] = won >= 0


@inner()
def _carry_out(state, proposed, gain, accepted, most, slack):
    """Make the accepted moves, those of largest gain first, while blocks stay below most (k,).

    accepted (n,) is set to false if the block has no room. slack (n,): lowered for vertices whose
    next proposed move may differ.
    """
    count = 0
    for v in range(accepted.size):
        count += accepted[v]
    movers, lost = np.empty(count, np.int64), np.empty(count)
    i = 0
    for v in range(accepted.size):
        if accepted[v]:
            movers[i], lost[i] = v, -gain[v]
            i += 1
    sort_along(lost, movers)
    for v in movers:
        b = proposed[v]
        if state.weight[b] + state.vwgt[v] > most[b]:
            accepted[v] = False
        else:
            put(state, v, b)
            wake(state, v, slack)
