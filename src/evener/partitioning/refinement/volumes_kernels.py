"""Kernels of refinement for volumes: searches that lower what blocks send, on a Ledger's books."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.refinement.connectivity_kernels import move, open_table
from evener.partitioning.refinement.fm_kernels import (
    HEAP,
    HUB,
    NEVER,
    drop,
    sift_down,
    sift_up,
)


@inner(error_model="numpy")
def best_move(ledger, v, w, weight, low, high, worth, edge, slot, gain):
    """The block that v of weight w had best move to, within limits: (gain, block or -1).

    worth (k,): what a value less to send from a block gains; edge: what a unit of cut less does.
    slot (k,) is -1 before and after; gain (k,) is scratch.
    """
    p = ledger.part[v]
    if weight[p] - w < low[p]:
        return np.float64(NEVER), -1
    open_table(ledger, v)
    first = np.int64(ledger.xadj[v])
    distinct = ledger.length[v]
    fitting, home = 0, 0
    for i in range(first, first + distinct):
        q = ledger.blocks[i]
        if q == p:
            home = 1
        elif weight[q] + w <= high[q]:
            slot[q] = fitting
            gain[fitting] = 0.0
            fitting += 1
    if fitting == 0:
        return np.float64(NEVER), -1
    unit = ledger.adjwgt.size == 0
    common = worth[p] * (distinct - home)
    for e in range(first, ledger.xadj[v + 1]):
        u = np.int64(ledger.adjncy[e])
        open_table(ledger, u)
        r = ledger.part[u]
        x = edge if unit else edge * ledger.adjwgt[e]
        common -= worth[r]  # u would have to send to a block that it does not send to ...
        known = False
        start = np.int64(ledger.xadj[u])
        for i in range(start, start + ledger.length[u]):
            b = ledger.blocks[i]
            if b == p:
                if r != p and ledger.counts[i] == 1:
                    common += worth[r]
            elif slot[b] >= 0:
                gain[slot[b]] += worth[r]  # ... unless it sends there already
                known |= b == r
        if r == p:
            common -= x
        elif slot[r] >= 0:
            gain[slot[r]] += x if known else x + worth[r]  # ... or lies there
    best, most = -1, np.float64(NEVER)
    for i in range(first, first + distinct):
        q = ledger.blocks[i]
        if q == p or slot[q] < 0:
            continue
        total = common + gain[slot[q]] - worth[q] * (distinct - 1)
        slot[q] = -1
        if best < 0 or total > most:
            best, most = q, total
    return most, best


@inner(forceinline=True, error_model="numpy")
def _outside(weight, low, high):
    return max(0.0, weight - high) + max(0.0, low - weight)


@inner(error_model="numpy")
def _edges_won(ledger, v, q):
    """How much less is cut if v goes to block q."""
    p = ledger.part[v]
    won = 0
    for e in range(ledger.xadj[v], ledger.xadj[v + 1]):
        x = 1 if ledger.adjwgt.size == 0 else np.int64(ledger.adjwgt[e])
        r = ledger.part[ledger.adjncy[e]]
        won += x if r == q else (-x if r == p else 0)
    return won


@inner(forceinline=True, error_model="numpy")
def _settle(ledger, size, scale, power, worth, highest):
    """Price the blocks that a move changed anew: (what it won, volumes won, more blocks over)."""
    won, total, over = 0.0, 0, 0
    for i in range(size):
        b = ledger.changed[i]
        by = ledger.change[b]
        ledger.change[b] = 0
        now = ledger.volumes[b]
        over += np.int64(now > highest) - np.int64(now - by > highest)
        before, after = (now - by) / scale, now / scale
        won -= scale / power * (after**power - before**power)
        worth[b] = after ** (power - 1)
        total += by
    return won, -total, over


@njit(cache=True, nogil=True, error_model="numpy")
def search(
    ledger, vwgt, weight, low, high, soft_low, soft_high, power, edge, highest, keep_total,
    least_worth, most_lost, seeds, place, lock, stamp, touched, patience,
):  # fmt: skip
    """Search from every seed in turn for less sum of volumes**power; what was won in all.

    As the search of fm_kernels: vertices move in the order of their gain, even at a loss, until
    `patience` moves won nothing, and those after the best point are taken back. At that point no
    block is further outside [low, high] than before, none sends more than `highest`, and with
    keep_total all together send no more than before. Seeds at which no block's worth (a volume's
    share of the largest, to power - 1) reaches least_worth are passed over, and those whose first
    move would lose more than most_lost.
    """
    k = ledger.volumes.size
    items, keys = np.empty(HEAP, np.int32), np.empty(HEAP, np.float64)
    moved, came_from = np.empty(HEAP, np.int32), np.empty(HEAP, np.int32)
    slot, gains, worth = np.full(k, -1, np.int32), np.empty(k), np.empty(k)
    scale = np.float64(max(1, ledger.volumes.max()))
    for b in range(k):
        worth[b] = (ledger.volumes[b] / scale) ** (power - 1)
    total = 0.0
    for seed in seeds:
        if lock[seed] == stamp or ledger.xadj[seed + 1] - ledger.xadj[seed] > HUB:
            continue
        most = worth[ledger.part[seed]]
        for e in range(ledger.xadj[seed], ledger.xadj[seed + 1]):
            most = max(most, worth[ledger.part[ledger.adjncy[e]]])
        if most < least_worth:
            continue
        v = np.int64(seed)
        key, to = best_move(
            ledger, v, vwgt[v], weight, soft_low, soft_high, worth, edge, slot, gains
        )
        if to < 0 or key < -most_lost:
            continue
        items[0], keys[0] = seed, key
        place[seed] = 0
        size, n_moved, n_best, steps = 1, 0, 0, 0
        gained, best = 0.0, 1e-9
        off, saved, over = 0.0, 0, 0
        while size > 0 and steps < patience and n_moved < HEAP - 1:
            v, key = np.int64(items[0]), keys[0]
            w = vwgt[v]
            gain, to = best_move(
                ledger, v, w, weight, soft_low, soft_high, worth, edge, slot, gains
            )
            if to >= 0 and gain < key - 1e-12 and size > 1:
                runner_up = keys[1]
                if size > 2 and keys[2] > runner_up:
                    runner_up = keys[2]
                if gain < runner_up:
                    keys[0] = gain
                    sift_down(items, keys, place, 0, size)
                    continue
            size = drop(items, keys, place, 0, size)
            if to < 0:
                continue
            p = ledger.part[v]
            off += (
                _outside(weight[p] - w, low[p], high[p]) - _outside(weight[p], low[p], high[p])
                + _outside(weight[to] + w, low[to], high[to])
                - _outside(weight[to], low[to], high[to])
            )  # fmt: skip
            gained += edge * _edges_won(ledger, v, to)
            changed = move(ledger, v, to)
            won, less, more = _settle(ledger, changed, scale, power, worth, highest)
            gained += won
            saved += less
            over += more
            weight[p] -= w
            weight[to] += w
            lock[v] = stamp
            moved[n_moved], came_from[n_moved] = v, p
            n_moved += 1
            steps += 1
            if gained > best and off <= 0 and over <= 0 and (saved >= 0 or not keep_total):
                best, n_best, steps = gained, n_moved, 0
            for e in range(ledger.xadj[v], ledger.xadj[v + 1]):
                u = np.int64(ledger.adjncy[e])
                if lock[u] == stamp or ledger.xadj[u + 1] - ledger.xadj[u] > HUB:
                    continue
                gain, target = best_move(
                    ledger, u, vwgt[u], weight, soft_low, soft_high, worth, edge, slot, gains
                )
                i = place[u]
                if target < 0:
                    continue
                if i < 0:
                    if size < HEAP - 1:
                        items[size], keys[size] = u, gain
                        size += 1
                        sift_up(items, keys, place, size - 1)
                elif gain > keys[i]:
                    keys[i] = gain
                    sift_up(items, keys, place, i)
                else:
                    keys[i] = gain
                    sift_down(items, keys, place, i, size)
        for i in range(size):
            place[items[i]] = -1
        while n_moved > n_best:  # vertices taken back may be moved by later searches
            n_moved -= 1
            v, p = np.int64(moved[n_moved]), np.int64(came_from[n_moved])
            q, w = ledger.part[v], vwgt[v]
            changed = move(ledger, v, p)
            _settle(ledger, changed, scale, power, worth, highest)
            weight[q] -= w
            weight[p] += w
            lock[v] = 0
        for i in range(n_best):
            v = moved[i]
            touched[v] = 1
            for e in range(ledger.xadj[v], ledger.xadj[v + 1]):
                touched[ledger.adjncy[e]] = 1
        if n_best > 0:
            total += best
    return total
