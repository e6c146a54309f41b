"""Kernels for vertices of several weights: bring blocks within all their limits.

loads (n, c) are a vertex's weights, weight (k, c) a block's. What a block is off its limits
counts squared, times `cost` (k, c): what one of its weights lacks pulls, what it has too much of
pushes, so that weight runs from block to block until it finds room. Moves only ever lower this
sum, so that every descent ends.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.refinement.fm_kernels import drop, sift_down, sift_up

NOTHING = -1e300
LEAST = 1e-13  # a move that lowers the sum by less is none


@inner(forceinline=True, error_model="numpy")
def outside(x, low, high):
    """How far x is outside [low, high]."""
    return max(0.0, x - high) + max(0.0, low - x)


@inner(forceinline=True, error_model="numpy")
def change(loads, v, sign, b, weight, low, high, cost):
    """How the sum changes where block b gets sign * what v weighs."""
    total = 0.0
    for i in range(loads.shape[1]):
        x = sign * loads[v, i]
        if x != 0.0:
            before = outside(weight[b, i], low[b, i], high[b, i])
            after = outside(weight[b, i] + x, low[b, i], high[b, i])
            total += cost[b, i] * (after * after - before * before)
    return total


@njit(cache=True, nogil=True)
def sum_loads(part, loads, weight):
    """Sum the loads of each block, or of each vertex of a smaller graph."""
    weight[:] = 0.0
    for v in range(part.size):
        b = part[v]
        for i in range(loads.shape[1]):
            weight[b, i] += loads[v, i]


@inner(forceinline=True, error_model="numpy")
def is_off(b, weight, low, high):
    """Whether some weight of block b is outside its limits."""
    for i in range(weight.shape[1]):
        if weight[b, i] < low[b, i] or weight[b, i] > high[b, i]:
            return True
    return False


@njit(cache=True, nogil=True)
def count_off(weight, low, high):
    """How many blocks are outside some limit."""
    count = 0
    for b in range(weight.shape[0]):
        if is_off(b, weight, low, high):
            count += 1
    return count


@inner(forceinline=True, error_model="numpy")
def _relief(
    v, xadj, adjncy, adjwgt, loads, part, weight, low, high, cost, anywhere, pull, touched
):  # fmt: skip
    """The block to which v's move lowers the sum most for the cut it costs: (worth, block or -1).

    anywhere: not only blocks next to v. pull (k,) is zero before and after; touched (k,) scratch.
    """
    p = part[v]
    k = pull.size
    unit = adjwgt.size == 0
    own = 0.0
    count = 0
    for e in range(xadj[v], xadj[v + 1]):
        q = part[adjncy[e]]
        x = 1.0 if unit else np.float64(adjwgt[e])
        if q == p:
            own += x
        else:
            if pull[q] == 0.0:
                touched[count] = q
                count += 1
                pull[q] = 1e-9
            pull[q] += x
    best, worth = -1, NOTHING
    freed = change(loads, v, -1.0, p, weight, low, high, cost)
    for i in range(k if anywhere else count):
        q = i if anywhere else touched[i]
        if q == p:
            continue
        lowered = -freed - change(loads, v, 1.0, q, weight, low, high, cost)
        if lowered <= LEAST:
            continue
        lost = own - pull[q]
        value = lowered / (1.0 + lost) if lost >= 0.0 else lowered * (1.0 - lost)
        if value > worth:
            best, worth = q, value
    for i in range(count):
        pull[touched[i]] = 0.0
    return worth, best


@njit(cache=True, nogil=True, error_model="numpy")
def descend(
    xadj, adjncy, adjwgt, loads, part, weight, low, high, inner_low, inner_high, cost, seeds,
    anywhere, most_moves, place, items, keys,
):  # fmt: skip
    """Move vertices, the one of most worth first, until all blocks are within [low, high] or no
    move from `seeds` on brings them nearer to [inner_low, inner_high]; returns the moves made.

    place (n,) is -1 before and after; items, keys (n,) hold the heap.
    """
    k, c = weight.shape
    pull, touched = np.zeros(k), np.empty(k, np.int64)
    off = count_off(weight, low, high)
    size = 0
    if off == 0:
        return 0
    for one in seeds:
        v = np.int64(one)
        worth, to = _relief(
            v, xadj, adjncy, adjwgt, loads, part, weight, inner_low, inner_high, cost, anywhere,
            pull, touched,
        )  # fmt: skip
        if to >= 0 and place[v] < 0:
            items[size], keys[size] = v, worth
            size += 1
            sift_up(items, keys, place, size - 1)
    moves = 0
    while size > 0 and off > 0 and moves < most_moves:
        v = np.int64(items[0])
        worth, to = _relief(
            v, xadj, adjncy, adjwgt, loads, part, weight, inner_low, inner_high, cost, anywhere,
            pull, touched,
        )  # fmt: skip
        if to < 0:
            size = drop(items, keys, place, 0, size)
            continue
        if worth < keys[0] and size > 1:
            runner_up = keys[1]
            if size > 2 and keys[2] > runner_up:
                runner_up = keys[2]
            if worth < runner_up:
                keys[0] = worth
                sift_down(items, keys, place, 0, size)
                continue
        size = drop(items, keys, place, 0, size)
        p = part[v]
        off -= is_off(p, weight, low, high) + is_off(to, weight, low, high)
        for i in range(c):
            weight[p, i] -= loads[v, i]
            weight[to, i] += loads[v, i]
        off += is_off(p, weight, low, high) + is_off(to, weight, low, high)
        part[v] = to
        moves += 1
        for e in range(xadj[v], xadj[v + 1]):
            u = np.int64(adjncy[e])
            worth, target = _relief(
                u, xadj, adjncy, adjwgt, loads, part, weight, inner_low, inner_high, cost,
                anywhere, pull, touched,
            )  # fmt: skip
            i = place[u]
            if i >= 0:
                if target >= 0 and worth > keys[i]:
                    keys[i] = worth
                    sift_up(items, keys, place, i)
            elif target >= 0 and size < items.size:
                items[size], keys[size] = u, worth
                size += 1
                sift_up(items, keys, place, size - 1)
    for i in range(size):
        place[items[i]] = -1
    return moves


@inner(forceinline=True, error_model="numpy")
def _swap_change(loads, u, v, p, q, weight, low, high, cost):
    """How the sum changes where p gives u to q and gets v."""
    total = 0.0
    for i in range(loads.shape[1]):
        x = loads[v, i] - loads[u, i]
        if x != 0.0:
            for side in range(2):
                block = p if side == 0 else q
                y = x if side == 0 else -x
                before = outside(weight[block, i], low[block, i], high[block, i])
                after = outside(weight[block, i] + y, low[block, i], high[block, i])
                total += cost[block, i] * (after * after - before * before)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def swap_best(starts, members, p, most, loads, weight, low, high, cost, part):
    """Exchange the two vertices, one of block p, that lower the sum most; whether any did.

    starts (k + 1,), members (n,): the vertices of each block, kept up. Of each block, at most
    about `most` vertices, evenly spaced, are looked at; where both blocks' are few, all pairs.
    """
    k, c = weight.shape
    best, found_i, found_j, other = -LEAST, -1, -1, -1
    step_p = max(1, (starts[p + 1] - starts[p]) // most)
    for q in range(k):
        if q == p:
            continue
        step_q = max(1, (starts[q + 1] - starts[q]) // most)
        for i in range(starts[p], starts[p + 1], step_p):
            for j in range(starts[q], starts[q + 1], step_q):
                lowered = _swap_change(loads, members[i], members[j], p, q, weight, low, high, cost)
                if lowered < best:
                    best, found_i, found_j, other = lowered, i, j, q
    if other < 0:
        return False
    u, v = members[found_i], members[found_j]
    members[found_i], members[found_j] = v, u
    part[u], part[v] = other, p
    for i in range(c):
        weight[p, i] += loads[v, i] - loads[u, i]
        weight[other, i] += loads[u, i] - loads[v, i]
    return True


@njit(cache=True, nogil=True)
def list_members(part, starts, members):
    """The vertices of each block, in order; starts (k + 1,)."""
    starts[:] = 0
    for v in range(part.size):
        starts[part[v] + 1] += 1
    for b in range(starts.size - 1):
        starts[b + 1] += starts[b]
    filled = starts[:-1].copy()
    for v in range(part.size):
        members[filled[part[v]]] = v
        filled[part[v]] += 1
