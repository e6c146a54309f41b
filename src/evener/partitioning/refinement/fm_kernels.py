"""Localized k-way FM: short searches that start at one boundary vertex each [SS11]_.

A search moves the vertex of largest gain, even if it is negative, until no gain is likely any more,
and is rolled back to its best state. The gain of moving v from p to q is price[p] (T - 2 c_p) -
price[q] (T - 2 c_q), where c_b is the weight of v's edges into block b and T that of all its edges.
With equal prices, it is a multiple of the change of the cut; a higher price makes a block's border
more expensive. Searches stay inside a group of blocks, so that groups can be searched in parallel
with exact gains.

`search_all` is the search for any kind of limits. Three functions define the limits: whether a
vertex may leave its block, how full another block would be with it, and how a move changes block
weights. `search` is the version for a single weight per vertex.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.csr_kernels import degree_of, edge_weight_of
from evener.partitioning.levels.heap_kernels import (
    IndexedHeap,
    clear,
    drop,
    push,
    sift_up,
    sink_top,
)

NEVER = -(1 << 60)  # gain of a vertex that no block may take
# Set by hand; benchmarks/constants.py shows what other values give.
MOST_MOVES = 1 << 16  # moves of one search, and vertices that wait in its heap
HUB = 256  # edges; vertices of more are not moved, as each evaluation reads them all
# x patience: steps without a new best point that end a search whose mean gain is not negative.
MOST_IDLE = 20


class WeightLimits(NamedTuple):
    """Limits of block weights (k,), or (k, c) for c weights per vertex.

    low, high: limits at the end; soft_low, soft_high: limits during a search. scale: 1 / targets
    (k, c), the unit of an excess if there are several weights.
    """

    low: np.ndarray
    high: np.ndarray
    soft_low: np.ndarray
    soft_high: np.ndarray
    scale: np.ndarray = np.empty(0)


class BlockState(NamedTuple):
    """Blocks that a search changes in place: part (n,) int32, weight (k,) or (k, c) float64.

    price (k,) int64: price of a block's border. limits: WeightLimits of its weight.
    """

    part: np.ndarray
    weight: np.ndarray
    price: np.ndarray
    limits: WeightLimits


class Marks(NamedTuple):
    """Marks of searches on vertices (n,).

    place int32: index in the heap, -1 outside. lock int8: the round in which the vertex moved.
    active int8: 1 if a search shall begin there. touched int8: 1 around moved vertices.
    """

    place: np.ndarray
    lock: np.ndarray
    active: np.ndarray
    touched: np.ndarray


class StoppingRule(NamedTuple):
    """When a search ends, or does not begin.

    patience: steps without a new best state after which gains are modelled as a random walk: the
    search ends if steps mean^2 > variance + patience [OS10]_. most_lost: price per unit of a
    seed's edge weight that the first move may lose. budget: number of adjacency entries that all
    searches may read. tolerance: excess of weight that is ignored, in the unit of the limits.
    """

    patience: int
    most_lost: float
    budget: int
    tolerance: float = 0.0


class Room(NamedTuple):
    """Memory of a search: its heap, and the moved vertices with their former blocks, in order.

    pull (k,) int64 is zero between uses; touched (k,): the blocks with a nonzero pull.
    """

    heap: IndexedHeap
    moved: np.ndarray
    came_from: np.ndarray
    pull: np.ndarray
    touched: np.ndarray


@njit(cache=True, nogil=True)
def shuffle(values, state):
    """Permute in place, by a xorshift generator that starts at `state` (uint64)."""
    for i in range(values.size - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        j = np.int64(state % np.uint64(i + 1))
        values[i], values[j] = values[j], values[i]


@inner(forceinline=True, error_model="numpy", counted=False)
def _at_border(xadj, adjncy, part, v):
    """Return 1 if v has a neighbour in another block, else 0."""
    for e in range(xadj[v], xadj[v + 1]):
        if part[adjncy[e]] != part[v]:
            return 1
    return 0


@njit(cache=True, nogil=True, error_model="numpy")
def mark_boundary(xadj, adjncy, part, first, last, flag):
    """Flag the vertices of [first, last) that have a neighbour in another block."""
    for v in range(first, last):
        flag[v] = _at_border(xadj, adjncy, part, v)


@njit(cache=True, nogil=True, error_model="numpy")
def mark_boundary_below(xadj, adjncy, part, coarse_flag, coarse_of, first, last, flag):
    """Like mark_boundary, but examine only vertices of flagged coarse vertices."""
    for v in range(first, last):
        flag[v] = _at_border(xadj, adjncy, part, v) if coarse_flag[coarse_of[v]] else 0


@njit(cache=True, nogil=True, error_model="numpy")
def block_borders(xadj, adjncy, adjwgt, part, border):
    """Add up the weight of the edges that leave each block, in border (k,)."""
    unit = adjwgt.size == 0
    for v in range(part.size):
        p = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != p:
                border[p] += 1 if unit else adjwgt[e]


@inner(forceinline=True, error_model="numpy", counted=False)
def outside(weight, low, high):
    """Return by how much a weight is outside its limits."""
    return max(0.0, weight - high) + max(0.0, low - weight)


@inner(forceinline=True, error_model="numpy", counted=False)
def shift_excess(weight, limits, p, q, w):
    """Return by how much the excess of p and q together grows if weight w moves from p to q."""
    low, high = limits.low, limits.high
    return (
        outside(weight[p] - w, low[p], high[p]) - outside(weight[p], low[p], high[p])
        + outside(weight[q] + w, low[q], high[q]) - outside(weight[q], low[q], high[q])
    )  # fmt: skip


@inner(error_model="numpy", counted=False)
def best_move(graph, blocks, group_of, group, v, room, may_leave, fullness_with):
    """Find v's best move within limits and its group; return (gain, block), or block -1 if none.

    Among equal gains, the block that is then least full is chosen.
    """
    part, price, pull, touched = blocks.part, blocks.price, room.pull, room.touched
    unit = graph.adjwgt.size == 0
    p = part[v]
    if not may_leave(graph, blocks, v, p):
        return NEVER, -1
    own, count = 0, 0
    for e in range(graph.xadj[v], graph.xadj[v + 1]):
        q = part[graph.adjncy[e]]
        x = 1 if unit else np.int64(graph.adjwgt[e])
        if q == p:
            own += x
        elif x > 0:
            if pull[q] == 0:
                touched[count] = q
                count += 1
            pull[q] += x
    total = own
    for i in range(count):
        total += pull[touched[i]]
    best, best_gain, best_fill = -1, NEVER, 1e300
    for i in range(count):
        q = touched[i]
        pulled = pull[q]
        pull[q] = 0
        if group >= 0 and group_of[q] != group:
            continue
        gain = -price[q] * (total - 2 * pulled)
        if best >= 0 and gain < best_gain:
            continue
        fill = fullness_with(graph, blocks, v, q)
        if fill == np.inf:
            continue
        if best < 0 or gain > best_gain or fill < best_fill:
            best, best_gain, best_fill = q, gain, fill
    return best_gain + price[p] * (total - 2 * own), best


@inner(error_model="numpy", counted=False)
def search_all(
    graph, blocks, group_of, group, seeds, marks, stamp, rule, room, may_leave, fullness_with, shift
):
    """Search from every seed in turn inside one group (or all blocks, group -1); return the gain.

    Each search is rolled back to its best state in which no block is further outside its limits
    than before. Vertices with lock == stamp have moved in this round. marks.active is cleared at
    seeds that were tried, marks.touched is set around moved vertices. may_leave(graph, blocks, v,
    p): whether v may leave its block. fullness_with(graph, blocks, v, q): weight of q with v
    relative to its limit, infinite above it. shift(graph, blocks, v, p, q): changes block weights,
    and returns by how much both are further outside their limits.
    """
    part, lock = blocks.part, marks.lock
    heap, moved, came_from = room.heap, room.moved, room.came_from
    total, work = 0, 0
    for one in seeds:
        seed = np.int64(one)
        if work > rule.budget:
            break
        if lock[seed] == stamp or (group >= 0 and group_of[part[seed]] != group):
            continue
        if degree_of(graph, seed) > HUB:
            continue
        work += degree_of(graph, seed)
        key, to = best_move(graph, blocks, group_of, group, seed, room, may_leave, fullness_with)
        if to >= 0 or group < 0:  # another group may have room for it
            marks.active[seed] = 0
        if to < 0 or key < -rule.most_lost * edge_weight_of(graph, seed):
            continue
        size = push(heap, 0, seed, key)
        gained, best, n_moved, n_best = 0, 0, 0, 0
        off, best_off = 0.0, 0.0
        steps, sum1, sum2 = 0, 0.0, 0.0
        while size > 0:
            v, key = np.int64(heap.items[0]), heap.keys[0]
            work += degree_of(graph, v)
            gain, to = best_move(graph, blocks, group_of, group, v, room, may_leave, fullness_with)
            if to < 0:
                size = drop(heap, size)
                continue
            if gain < key and sink_top(heap, size, gain):
                continue
            size = drop(heap, size)
            p = part[v]
            off += shift(graph, blocks, v, p, to)
            part[v] = to
            lock[v] = stamp
            moved[n_moved], came_from[n_moved] = v, p
            n_moved += 1
            gained += gain
            if (gained > best and off <= rule.tolerance) or (
                gained == best and off < best_off - rule.tolerance
            ):
                best, n_best, best_off = gained, n_moved, off
                steps, sum1, sum2 = 0, 0.0, 0.0
            else:
                steps += 1
                sum1 += gain
                sum2 += np.float64(gain) * gain
                if _promises_nothing(steps, sum1, sum2, rule):
                    break
            if n_moved >= MOST_MOVES - 1 or work > rule.budget:
                break
            size, read = _update_around(
                graph, blocks, group_of, group, v, p, marks, stamp, room, size, may_leave,
                fullness_with,
            )  # fmt: skip
            work += read
        clear(heap, size)
        for i in range(n_moved - 1, n_best - 1, -1):
            v, p = np.int64(moved[i]), came_from[i]
            shift(graph, blocks, v, part[v], p)
            part[v] = p
            lock[v] = 0  # later searches may move it
        mark_around(graph, moved, n_best, marks.touched)
        total += best
    return total


@inner(forceinline=True, error_model="numpy", counted=False)
def _promises_nothing(steps, sum1, sum2, rule):
    """Return whether a search ends after `steps` moves since its best state.

    sum1, sum2: sums of the gains of these moves, and of the squares of the gains.
    """
    mean = sum1 / steps
    if steps > rule.patience and mean < 0:
        variance = sum2 / steps - mean * mean
        return steps * mean * mean > variance + rule.patience
    return steps > MOST_IDLE * rule.patience


@inner(error_model="numpy", counted=False)
def _update_around(
    graph, blocks, group_of, group, v, p, marks, stamp, room, size, may_leave, fullness_with
):
    """Add the neighbours of v, which has left block p, to the heap, or raise their keys.

    Returns the heap's size, and the number of adjacency entries read. Keys are upper bounds of
    gains: the top vertex is evaluated again before it moves.
    """
    unit, part, price, heap = graph.adjwgt.size == 0, blocks.part, blocks.price, room.heap
    to, read = part[v], 0
    for e in range(graph.xadj[v], graph.xadj[v + 1]):
        u = np.int64(graph.adjncy[e])
        if marks.lock[u] == stamp or (group >= 0 and group_of[part[u]] != group):
            continue
        i = marks.place[u]
        if i < 0:
            if degree_of(graph, u) > HUB:
                continue
            read += degree_of(graph, u)
            gain, target = best_move(
                graph, blocks, group_of, group, u, room, may_leave, fullness_with
            )
            if target >= 0 and size < MOST_MOVES - 1:
                size = push(heap, size, u, gain)
            continue
        home = part[u]
        if home != to:
            x = 1 if unit else np.int64(graph.adjwgt[e])
            heap.keys[i] += 2 * x * (price[to] + (price[p] if home == p else 0))
            sift_up(heap, i)
    return size, read


@inner(error_model="numpy", counted=False)
def mark_around(graph, moved, count, touched):
    """Mark the first `count` vertices of `moved`, and their neighbours."""
    for i in range(count):
        v = moved[i]
        touched[v] = 1
        for e in range(graph.xadj[v], graph.xadj[v + 1]):
            touched[graph.adjncy[e]] = 1


@inner(error_model="numpy")
def room_for(k, place):
    """Return the memory of searches among k blocks."""
    items, keys = np.empty(MOST_MOVES, np.int32), np.empty(MOST_MOVES, np.int64)
    return Room(
        IndexedHeap(items, keys, place), np.empty(MOST_MOVES, np.int32),
        np.empty(MOST_MOVES, np.int32), np.zeros(k, np.int64), np.empty(k, np.int32),
    )  # fmt: skip


@inner(forceinline=True, error_model="numpy", counted=False)
def _may_leave(graph, blocks, v, p):
    return not blocks.weight[p] - graph.vwgt[v] < blocks.limits.soft_low[p]


@inner(forceinline=True, error_model="numpy", counted=False)
def _fullness_with(graph, blocks, v, q):
    after, high = blocks.weight[q] + graph.vwgt[v], blocks.limits.soft_high[q]
    return np.inf if after > high else after / max(high, 1e-300)


@inner(forceinline=True, error_model="numpy", counted=False)
def _shift(graph, blocks, v, p, q):
    w, weight = graph.vwgt[v], blocks.weight
    off = shift_excess(weight, blocks.limits, p, q, w)
    weight[p] -= w
    weight[q] += w
    return off


@njit(cache=True, nogil=True, error_model="numpy")
def search(graph, blocks, group_of, group, seeds, marks, stamp, rule):
    """Call search_all for one weight per vertex."""
    room = room_for(blocks.price.size, marks.place)
    return search_all(
        graph, blocks, group_of, group, seeds, marks, stamp, rule, room, _may_leave,
        _fullness_with, _shift,
    )  # fmt: skip
