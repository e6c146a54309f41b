"""Kernels for several weights per vertex: balancing blocks within all limits, and localized FM.

loads (n, c) are the weights of vertices, weight (k, c) those of blocks. The violation is the sum,
over all blocks and weights outside their limits, of cost (k, c) x (distance from the limit)^2.
Moves only reduce this sum, so every descent ends. Squares of large distances fall fastest, so
weight moves on from block to block until a block has room.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.csr_kernels import stays
from evener.partitioning.levels.heap_kernels import clear, drop, push, sift_up, sink_top
from evener.partitioning.refinement.fm_kernels import outside, room_for, search_all

NOTHING = -1e300  # the worth of no move
LEAST = 1e-13  # of the sum: a move or swap that lowers it by less is a rounding error


class LoadLimits(NamedTuple):
    """Limits on every weight of every block, each array (k, c)."""

    low: np.ndarray
    high: np.ndarray


@inner(forceinline=True, error_model="numpy")
def _rise(b, i, x, weight, limits, cost):
    """Return the change of the violation if weight i of block b changes by x."""
    low, high = limits
    before = outside(weight[b, i], low[b, i], high[b, i])
    after = outside(weight[b, i] + x, low[b, i], high[b, i])
    return cost[b, i] * (after * after - before * before)


@inner(forceinline=True, error_model="numpy")
def change(loads, v, sign, b, weight, limits, cost):
    """Return the change of the violation if block b gets the loads of v x `sign`."""
    total = 0.0
    for i in range(loads.shape[1]):
        x = sign * loads[v, i]
        if x != 0.0:
            total += _rise(b, i, x, weight, limits, cost)
    return total


@njit(cache=True, nogil=True)
def sum_loads(part, loads, weight):
    """Add up the loads of each block, or of each vertex of a coarser graph."""
    weight[:] = 0.0
    for v in range(part.size):
        b = part[v]
        for i in range(loads.shape[1]):
            weight[b, i] += loads[v, i]


@inner(forceinline=True, error_model="numpy")
def is_off(b, weight, limits):
    """Return whether some weight of block b is outside its limits."""
    low, high = limits
    for i in range(weight.shape[1]):
        if weight[b, i] < low[b, i] or weight[b, i] > high[b, i]:
            return True
    return False


@njit(cache=True, nogil=True)
def count_off(weight, limits):
    """Return the number of blocks outside some limit."""
    count = 0
    for b in range(weight.shape[0]):
        if is_off(b, weight, limits):
            count += 1
    return count


@inner(error_model="numpy", counted=False)
def _best_relief(v, graph, loads, part, weight, limits, cost, anywhere, pull, near):
    """Return (worth, block) of the move of v with the largest decrease of violation per added cut.

    The block is -1 if no move reduces the violation. anywhere: try all blocks, not only those next
    to v. pull (k,) is zero before and after; near (k,) is scratch.
    """
    xadj, adjncy, adjwgt, _ = graph
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
                near[count] = q
                count += 1
                pull[q] = 1e-9
            pull[q] += x
    best, worth = -1, NOTHING
    freed = change(loads, v, -1.0, p, weight, limits, cost)
    for i in range(k if anywhere else count):
        q = i if anywhere else near[i]
        if q == p:
            continue
        lowered = -freed - change(loads, v, 1.0, q, weight, limits, cost)
        if lowered <= LEAST:
            continue
        lost = own - pull[q]
        value = lowered / (1.0 + lost) if lost >= 0.0 else lowered * (1.0 - lost)
        if value > worth:
            best, worth = q, value
    for i in range(count):
        pull[near[i]] = 0.0
    return worth, best


@njit(cache=True, nogil=True, error_model="numpy")
def descend(
    graph, loads, part, fixed, weight, limits, goal, cost, seeds, anywhere, most_moves, heap
):  # fmt: skip
    """Move vertices, those of most worth first; return the number of moves.

    Ends if all blocks are within `limits`; if no move of `seeds`, or of neighbours of moved
    vertices, brings blocks nearer to the narrower limits `goal`; or after most_moves. fixed (n,)
    bool, or (0,): vertices that never move.
    """
    xadj, adjncy, _, _ = graph
    items, keys, place = heap
    k, c = weight.shape
    pull, near = np.zeros(k), np.empty(k, np.int64)
    off = count_off(weight, limits)
    size = 0
    if off == 0:
        return 0
    for one in seeds:
        v = np.int64(one)
        if stays(fixed, v):
            continue
        worth, to = _best_relief(v, graph, loads, part, weight, goal, cost, anywhere, pull, near)
        if to >= 0 and place[v] < 0:
            size = push(heap, size, v, worth)
    moves = 0
    while size > 0 and off > 0 and moves < most_moves:
        v = np.int64(items[0])
        worth, to = _best_relief(v, graph, loads, part, weight, goal, cost, anywhere, pull, near)
        if to < 0:
            size = drop(heap, size)
            continue
        if worth < keys[0] and sink_top(heap, size, worth):
            continue
        size = drop(heap, size)
        p = part[v]
        off -= is_off(p, weight, limits) + is_off(to, weight, limits)
        for i in range(c):
            weight[p, i] -= loads[v, i]
            weight[to, i] += loads[v, i]
        off += is_off(p, weight, limits) + is_off(to, weight, limits)
        part[v] = to
        moves += 1
        for e in range(xadj[v], xadj[v + 1]):
            u = np.int64(adjncy[e])
            if stays(fixed, u):
                continue
            worth, target = _best_relief(
                u, graph, loads, part, weight, goal, cost, anywhere, pull, near
            )
            i = place[u]
            if i >= 0:
                if target >= 0 and worth > keys[i]:
                    keys[i] = worth
                    sift_up(heap, i)
            elif target >= 0 and size < items.size:
                size = push(heap, size, u, worth)
    clear(heap, size)
    return moves


@inner(forceinline=True, error_model="numpy")
def _swap_change(loads, u, v, p, q, weight, limits, cost):
    """Return the change of the violation if p gives u to q and gets v."""
    total = 0.0
    for i in range(loads.shape[1]):
        x = loads[v, i] - loads[u, i]
        if x != 0.0:
            total += _rise(p, i, x, weight, limits, cost)
            total += _rise(q, i, -x, weight, limits, cost)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def swap_best(starts, members, p, most, loads, weight, limits, cost, part):
    """Exchange the two vertices, one of block p, that reduce the violation most; return success.

    starts (k + 1,), members (n,): the vertices of each block, updated. About `most` evenly spaced
    vertices of each block are tried, or all if there are fewer.
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
                lowered = _swap_change(loads, members[i], members[j], p, q, weight, limits, cost)
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
def list_members(part, fixed, starts, members):
    """List the movable vertices of each block in members (n,); those of b begin at starts[b].

    starts (k + 1,) is filled too.
    """
    starts[:] = 0
    for v in range(part.size):
        starts[part[v] + 1] += not stays(fixed, v)
    for b in range(starts.size - 1):
        starts[b + 1] += starts[b]
    filled = starts[:-1].copy()
    for v in range(part.size):
        if not stays(fixed, v):
            members[filled[part[v]]] = v
            filled[part[v]] += 1


@inner(error_model="numpy", counted=False)
def _may_leave(graph, blocks, v, p):
    loads, weight, low = graph.vwgt, blocks.weight, blocks.limits.soft_low
    for i in range(loads.shape[1]):
        if loads[v, i] > 0.0 and weight[p, i] - loads[v, i] < low[p, i]:
            return False
    return True


@inner(error_model="numpy", counted=False)
def _fullness_with(graph, blocks, v, q):
    """Return the largest weight / upper limit of block q, with v added, over all columns.

    Infinite if v does not fit.
    """
    loads, weight, high = graph.vwgt, blocks.weight, blocks.limits.soft_high
    most = 0.0
    for i in range(loads.shape[1]):
        after = weight[q, i] + loads[v, i]
        if loads[v, i] > 0.0 and after > high[q, i]:
            return np.inf
        most = max(most, after / max(high[q, i], 1e-300))
    return most


@inner(error_model="numpy", counted=False)
def _shift(graph, blocks, v, p, q):
    """Move v's loads from p to q.

    Returns by how much their excess grows, in units of the targets.
    """
    loads, weight = graph.vwgt, blocks.weight
    low, high, scale = blocks.limits.low, blocks.limits.high, blocks.limits.scale
    off = 0.0
    for i in range(loads.shape[1]):
        w = loads[v, i]
        if w > 0.0:
            off -= outside(weight[p, i], low[p, i], high[p, i]) * scale[p, i]
            off -= outside(weight[q, i], low[q, i], high[q, i]) * scale[q, i]
            weight[p, i] -= w
            weight[q, i] += w
            off += outside(weight[p, i], low[p, i], high[p, i]) * scale[p, i]
            off += outside(weight[q, i], low[q, i], high[q, i]) * scale[q, i]
    return off


@njit(cache=True, nogil=True, error_model="numpy")
def search(graph, blocks, seeds, marks, stamp, rule):
    """Call search_all for one group; graph.vwgt is (n, c), block weights and limits are (k, c)."""
    room, everywhere = room_for(blocks.price.size, marks.place), np.zeros(1, np.int64)
    return search_all(
        graph, blocks, everywhere, -1, seeds, marks, stamp, rule, room, _may_leave,
        _fullness_with, _shift,
    )  # fmt: skip
