"""Multilevel bisection in one kernel: coarsen by pairing vertices, bisect, refine on all levels.

The graphs of all levels are stored one after the other in flat arrays.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner, njit
from evener.partitioning.initial.bisection_kernels import (
    TwoWayScratch,
    grow,
    hops,
    refine_sides,
)
from evener.partitioning.levels.coarsening_kernels import (
    Clusters,
    CoarseVertices,
    contract,
    number_clusters,
    take_members,
)
from evener.partitioning.levels.csr_kernels import CSRGraph
from evener.partitioning.levels.heap_kernels import IndexedHeap, SideHeaps
from evener.partitioning.refinement.fm_kernels import shuffle

# Set by hand; benchmarks/constants.py shows what other values give.
ENOUGH = 40  # vertices of a graph that is not shrunk further
MOST_LEVELS = 48
LEAST_SHRINKAGE = 0.85  # vertices left after pairing, as a share; with more left it ends
ROOM = 7  # times n: vertices of all levels together, the sum of powers of LEAST_SHRINKAGE
# Times the adjacency entries of the graph: length of the arrays for those of all levels, at first.
# Entries that are never written take no memory, but copying into longer arrays does.
ARC_ROOM = 4
HEAVIEST = 1.5  # weight of a cluster, in mean weights of the smallest graph's vertices
ALONE = 0.1  # share without a mate above which vertices with a common neighbour are paired
MANY = 16  # edges; vertices of more are sorted as if they had as many
OFF_COST = 10  # what a start that is off its limits by all weight costs, in cuts


class LevelArrays(NamedTuple):
    """The graphs of all levels, one after the other, in the layout of `_shrink_all`.

    Level i has size[i] vertices, from start[i] on in vwgt, coarse_of and sides, and from start[i] +
    i on in xadj; its entries are adjncy and adjwgt from first[i] to first[i + 1] - 1.
    """

    xadj: np.ndarray  # uint32: where a vertex's entries begin, counted from first[i]
    adjncy: np.ndarray  # uint32: neighbours, as vertices of the level
    adjwgt: np.ndarray  # int32: weights of edges
    vwgt: np.ndarray  # float64: weights of vertices
    coarse_of: np.ndarray  # uint32: the vertex of the next level that a vertex is in
    sides: np.ndarray  # int32: 0 or 1
    size: np.ndarray  # (MOST_LEVELS + 1,) int64
    start: np.ndarray  # (MOST_LEVELS + 1,) int64
    first: np.ndarray  # (MOST_LEVELS + 2,) int64


@inner(error_model="numpy", counted=False)
def _pair_vertices(graph, order, heaviest, leader, waiting, single):
    """Pair neighbours along heavy edges, in this order; return the number of clusters.

    leader (n,): the first vertex of each vertex's cluster. If many vertices find no partner, such
    as the leaves of a hub, vertices whose heaviest edges lead to the same vertex are paired.
    waiting (n + 1,) and single (n,) are scratch.
    """
    xadj, adjncy, adjwgt, vwgt = graph
    n = order.size
    leader[:] = -1
    alone, count = 0, 0
    for i in range(n):
        v = order[i]
        if leader[v] >= 0:
            continue
        best, most = -1, -1.0
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if leader[u] >= 0 or vwgt[u] + vwgt[v] > heaviest:
                continue
            score = np.float64(adjwgt[e]) / max(vwgt[u], 1e-280)
            if score > most and u != v:
                best, most = np.int64(u), score
        leader[v] = v
        count += 1
        if best >= 0:
            leader[best] = v
            waiting[v] = 0
        else:
            waiting[v] = 1
            alone += 1
    if alone <= ALONE * n:
        return count
    alone = 0
    for i in range(n):
        v = order[i]
        if leader[v] == v and waiting[v] == 1:
            single[alone] = v
            alone += 1
    waiting[:] = -1
    for i in range(alone):
        v = single[i]
        shared, most = n, -1
        for e in range(xadj[v], xadj[v + 1]):
            if adjwgt[e] > most:
                shared, most = np.int64(adjncy[e]), np.int64(adjwgt[e])
        u = waiting[shared]
        if u >= 0 and vwgt[u] + vwgt[v] <= heaviest:
            leader[v] = u
            waiting[shared] = -1
            count -= 1
        else:
            waiting[shared] = v
    return count


@inner(error_model="numpy", counted=False)
def _light_first(xadj, order, sorted_order, starts):
    """Sort vertices by degree, stable; degrees of at least MANY count as equal.

    sorted_order (n,) and starts (MANY + 2,) are scratch.
    """
    starts[:] = 0
    for v in order:
        starts[min(np.int64(xadj[v + 1]) - np.int64(xadj[v]), MANY) + 1] += 1
    for d in range(MANY + 1):
        starts[d + 1] += starts[d]
    for v in order:
        d = min(np.int64(xadj[v + 1]) - np.int64(xadj[v]), MANY)
        sorted_order[starts[d]] = v
        starts[d] += 1
    copy_to(sorted_order[: order.size], order)


@inner()
def _longer(values, room):
    """Return the same values in an array of length `room` or more."""
    if room <= values.size:
        return values
    copy = np.empty(max(room, 2 * values.size), values.dtype)
    copy_to(values, copy)
    return copy


@inner(error_model="numpy", counted=False)
def _total(values):
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


@inner(error_model="numpy")
def _shrink_all(seed, levels):
    """Coarsen by pairing vertices until ENOUGH are left, or until few vertices find a partner.

    Level 0 is given, with all sides 0. Returns the last level, and adjncy and adjwgt, which may
    have grown.
    """
    xadj, adjncy, adjwgt, vwgt, coarse_of, sides, size, start, first = levels
    n, total = size[0], _total(vwgt[: size[0]])
    order, leader, single = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    waiting, following = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    head, mark, degree = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.uint32)
    starts = np.empty(MANY + 2, np.int64)
    depth = 0
    while size[depth] > ENOUGH and depth < MOST_LEVELS:
        now, a, end = size[depth], start[depth], first[depth + 1]
        b = a + now
        adjncy, adjwgt = (
            _longer(adjncy, 2 * end - first[depth]),
            _longer(adjwgt, 2 * end - first[depth]),
        )
        graph = CSRGraph(
            xadj[a + depth : b + depth + 1], adjncy[first[depth] : end], adjwgt[first[depth] : end],
            vwgt[a:b],
        )  # fmt: skip
        for v in range(now):
            order[v] = v
        shuffle(order[:now], seed + np.uint64(depth + 1))
        _light_first(graph.xadj, order[:now], following, starts)
        heaviest = max(HEAVIEST * total / ENOUGH, 2 * total / now)
        count = _pair_vertices(
            graph, order[:now], heaviest, leader[:now], waiting[: now + 1], single
        )
        if count > LEAST_SHRINKAGE * now:
            break
        number_clusters(leader[:now], 0, now, 0, coarse_of[a:b], head[:count], following[:now])
        mark[:count] = -1
        used = contract(
            graph, sides[a:b], Clusters(coarse_of[a:b], head[:count], following[:now]), 0, count,
            mark[:count], adjncy[end:], adjwgt[end:],
            CoarseVertices(degree[:count], vwgt[b : b + count], sides[b : b + count]),
        )  # fmt: skip
        depth += 1
        start[depth], size[depth], first[depth + 1] = b, count, end + used
        below = xadj[b + depth : b + depth + count + 1]
        below[0] = 0
        for v in range(count):
            below[v + 1] = below[v] + degree[v]
    return depth, adjncy, adjwgt


@inner(error_model="numpy", counted=False)
def _first_sides(graph, goal, room, seed, tries, sides, tried, walk, scratch):
    """Grow side 0 from a random vertex, or from one far from it, and refine; keep the best try.

    Returns the weight of side 0, which differs from `goal` by at most `room`. sides (n,) is set to
    the sides; tried (n,) and walk (3, n) are scratch.
    """
    n, total = sides.size, _total(graph.vwgt)
    heaps = scratch.heaps
    heap = IndexedHeap(heaps.items[0], heaps.keys[0], heaps.place[:n])
    least, held = np.inf, 0.0
    begun = walk[2]
    begun[:] = 0
    for turn in range(tries):
        seed ^= seed << np.uint64(13)
        seed ^= seed >> np.uint64(7)
        seed ^= seed << np.uint64(17)
        start = np.int64(seed % np.uint64(n))
        for _ in range(turn % 3):
            start = np.int64(hops(graph.xadj, graph.adjncy, start, walk[0], walk[1]))
        if begun[start] == 1:
            continue  # few vertices are far from others: the same try again
        begun[start] = 1
        tried[:] = 1
        heap.place[:] = -1
        weight = grow(graph, start, goal, goal + room, tried, heap)
        cut, weight = refine_sides(graph, goal - room, goal + room, tried, weight, scratch)
        cost = (cut + 1) * (1 + OFF_COST * max(0.0, abs(weight - goal) - room) / max(total, 1e-300))
        if cost < least:
            least, held = cost, weight
            copy_to(tried, sides)
    return held


@njit(cache=True, nogil=True, error_model="numpy")
def cut_weight(xadj, adjncy, adjwgt, part):
    """Return the weight of the edges between blocks, counted from both ends."""
    unit, total = adjwgt.size == 0, np.int64(0)
    for v in range(part.size):
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != part[v]:
                total += 1 if unit else np.int64(adjwgt[e])
    return total


@inner(error_model="numpy", counted=False)
def _room_for(vwgt, goal, total, slack):
    """Return side 0's permitted deviation: max(slack x lighter side, half the heaviest vertex)."""
    heaviest = 0.0
    for v in range(vwgt.size):
        heaviest = max(heaviest, vwgt[v])
    return max(slack * min(goal, total - goal), 0.5 * heaviest)


class HalvingTree(NamedTuple):
    """A tree of h bisections: for each, the share (h,) of the weight for side 0, and its two sides.

    seed (h,) uint64. below (h, 2): the number of the bisection that divides each side; -(block + 1)
    for a side of one block.
    """

    share: np.ndarray
    seed: np.ndarray
    below: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def halve_again(graph, halves, slack, tries, part):
    """Set part (n,) to the block of every vertex by recursive bisection.

    halves: the whole tree; its first entry bisects the whole graph. Side 0 of a bisection misses
    its goal by at most `slack` x the lighter side's goal, or half the heaviest vertex, whichever is
    larger. tries: number of attempts on the smallest graph of a bisection.
    """
    n = part.size
    members, moved, rank = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.uint32)
    ends = np.zeros((halves.share.size, 2), np.int64)
    for v in range(n):
        members[v], part[v] = v, 0
    ends[0, 1] = n
    levels = _empty_levels(n, graph.adjncy.size)
    for h in range(halves.share.size):  # part holds the number of the half meanwhile
        first, last = ends[h]
        if first == last:
            continue
        _take_piece(graph, part, members[first:last], rank, levels)
        levels = _halve(levels, halves.share[h], slack, halves.seed[h], tries)
        middle, right = first, 0
        for i in range(last - first):
            v, side = members[first + i], levels.sides[i]
            part[v] = halves.below[h, side]
            if side == 0:
                members[middle] = v
                middle += 1
            else:
                moved[right] = v
                right += 1
        copy_to(moved[:right], members[middle:last])
        for s in range(2):
            below = halves.below[h, s]
            if below >= 0:
                ends[below, 0], ends[below, 1] = (first, middle) if s == 0 else (middle, last)
    for v in range(n):
        part[v] = -1 - part[v]


@inner(error_model="numpy")
def _empty_levels(n, m):
    """Return arrays for the levels of a graph of n vertices and m adjacency entries."""
    return LevelArrays(
        np.empty(ROOM * (n + 1), np.uint32), np.empty(ARC_ROOM * m, np.uint32),
        np.empty(ARC_ROOM * m, np.int32), np.empty(ROOM * n), np.empty(ROOM * n, np.uint32),
        np.empty(ROOM * n, np.int32), np.zeros(MOST_LEVELS + 1, np.int64),
        np.zeros(MOST_LEVELS + 1, np.int64), np.zeros(MOST_LEVELS + 2, np.int64),
    )  # fmt: skip


@inner(error_model="numpy")
def _take_piece(graph, part, members, rank, levels):
    """Set level 0 to the subgraph of members: all vertices in the block of `part` of members[0]."""
    n, xadj, adjwgt = members.size, levels.xadj, levels.adjwgt
    for i in range(n):
        v = members[i]
        rank[v], levels.vwgt[i], levels.sides[i] = i, graph.vwgt[v], 0
    used = take_members(graph, part, members, rank, xadj, levels.adjncy, adjwgt)
    if graph.adjwgt.size == 0:
        adjwgt[:used] = 1
    levels.size[0], levels.first[1] = n, used


@inner(error_model="numpy")
def _halve(levels, share, slack, seed, tries):
    """Bisect level 0: side 0 gets about `share` of the weight; return the levels with the sides.

    seed: uint64, not 0. The other arguments are those of `halve_again`.
    """
    n = levels.size[0]
    total = _total(levels.vwgt[:n])
    goal = share * total
    depth, adjncy, adjwgt = _shrink_all(seed, levels)
    xadj, _, _, vwgt, coarse_of, sides, size, start, first = levels
    levels = LevelArrays(xadj, adjncy, adjwgt, vwgt, coarse_of, sides, size, start, first)
    items, keys = np.empty((2, n + 1), np.int32), np.empty((2, n + 1), np.int64)
    heaps = SideHeaps(items, keys, np.zeros(2, np.int64), np.empty(n, np.int32))
    scratch = TwoWayScratch(np.empty(n, np.int64), np.empty(n, np.int32), heaps)
    least = size[depth]
    tried, walk = np.empty(least, np.int32), np.empty((3, least), np.int32)
    _refine_all(levels, depth, goal, total, slack, seed, tries, tried, walk, scratch)
    return levels


@inner(error_model="numpy", counted=False)
def _refine_all(levels, depth, goal, total, slack, seed, tries, tried, walk, scratch):
    """Bisect the smallest graph, and refine the sides on all levels."""
    xadj, adjncy, adjwgt, vwgt, coarse_of, sides, size, start, first = levels
    weight = 0.0
    for level in range(depth, -1, -1):
        a, b, begin, end = start[level], start[level] + size[level], first[level], first[level + 1]
        graph = CSRGraph(
            xadj[a + level : b + level + 1], adjncy[begin:end], adjwgt[begin:end], vwgt[a:b]
        )
        room = _room_for(graph.vwgt, goal, total, slack)
        own = sides[a:b]
        if level == depth:
            first_room = _room_for(graph.vwgt, goal, _total(graph.vwgt), slack)
            weight = _first_sides(graph, goal, first_room, seed, tries, own, tried, walk, scratch)
        else:
            for v in range(a, b):
                sides[v] = sides[b + coarse_of[v]]
        _, weight = refine_sides(graph, goal - room, goal + room, own, weight, scratch)
