"""Multilevel bisection in one kernel: pair vertices until few are left, halve those, refine back.

The graphs of all levels lie one after the other in flat arrays.
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
)
from evener.partitioning.levels.csr_kernels import CSRGraph
from evener.partitioning.refinement.fm_kernels import shuffle
from evener.partitioning.refinement.indexed_heap_kernels import IndexedHeap, SideHeaps

ENOUGH = 40  # vertices of a graph that is not shrunk further
MOST_LEVELS = 48
LEAST_SHRINKAGE = 0.85  # vertices left after pairing, as a share; with more left it ends
ROOM = 7  # times n: vertices of all levels together, the sum of powers of LEAST_SHRINKAGE
HEAVIEST = 1.5  # weight of a cluster, in mean weights of the smallest graph's vertices
ALONE = 0.1  # share without a mate above which vertices with a common neighbour are paired
MANY = 16  # edges; vertices of more are sorted as if they had as many
OFF_COST = 10  # what a start that is off its limits by all weight costs, in cuts


class Levels(NamedTuple):
    """The graphs of all levels, as `_shrink_all` lays them out, and their sides."""

    xs: np.ndarray
    es: np.ndarray
    ws: np.ndarray
    vs: np.ndarray
    coarse_of: np.ndarray
    sides: np.ndarray
    size: np.ndarray
    at: np.ndarray
    begins: np.ndarray


@inner(error_model="numpy", counted=False)
def _pair_vertices(graph, order, heaviest, leader, waiting, single):
    """Pair neighbours along heavy edges, in this order; return the number of clusters.

    leader (n,): the first vertex of a cluster. Where many find no mate, as leaves of a hub do,
    those whose heaviest edges lead to the same vertex are paired; waiting (n + 1,) and single (n,)
    are memory.
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
    """Sort vertices by degree, stable; those of MANY edges and more count as equal.

    sorted_order (n,) and starts (MANY + 2,) are memory.
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
    """Return the same values in an array with room for so many."""
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
def _shrink_all(seed, xs, es, ws, vs, coarse_of, sides, size, at, begins):
    """Pair vertices again and again, until ENOUGH are left or few find a mate.

    Level i has size[i] vertices, from at[i] on in vs, coarse_of and sides, and from at[i] + i on in
    xs; its entries lie in es and ws from begins[i] to begins[i + 1]. Level 0 is given. sides: all 0
    on the levels below. Returns the last level, and es and ws, which may have grown.
    """
    n, total = size[0], _total(vs[: size[0]])
    order, leader, single = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    waiting, following = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    head, mark, degree = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.uint32)
    starts = np.empty(MANY + 2, np.int64)
    depth = 0
    while size[depth] > ENOUGH and depth < MOST_LEVELS:
        now, a, first = size[depth], at[depth], begins[depth + 1]
        b = a + now
        es, ws = _longer(es, 2 * first - begins[depth]), _longer(ws, 2 * first - begins[depth])
        graph = CSRGraph(
            xs[a + depth : b + depth + 1], es[begins[depth] : first], ws[begins[depth] : first],
            vs[a:b],
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
            mark[:count], es[first:], ws[first:],
            CoarseVertices(degree[:count], vs[b : b + count], sides[b : b + count]),
        )  # fmt: skip
        depth += 1
        at[depth], size[depth], begins[depth + 1] = b, count, first + used
        below = xs[b + depth : b + depth + count + 1]
        below[0] = 0
        for v in range(count):
            below[v + 1] = below[v] + degree[v]
    return depth, es, ws


@inner(error_model="numpy", counted=False)
def _first_sides(graph, goal, room, seed, tries, sides, tried, walk, scratch):
    """Grow side 0 from a random vertex, or from one far from it, and refine; keep the best try.

    Returns the weight of side 0, which is to be `goal`, off by `room` at most. sides (n,) receives
    the sides; tried (n,) and walk (2, n) are memory.
    """
    n, total = sides.size, _total(graph.vwgt)
    heaps = scratch.heaps
    heap = IndexedHeap(heaps.items[0], heaps.keys[0], heaps.place[:n])
    least, held = np.inf, 0.0
    for turn in range(tries):
        seed ^= seed << np.uint64(13)
        seed ^= seed >> np.uint64(7)
        seed ^= seed << np.uint64(17)
        start = np.int64(seed % np.uint64(n))
        for _ in range(turn % 3):
            start = np.int64(hops(graph.xadj, graph.adjncy, start, walk[0], walk[1]))
        tried[:] = 1
        heap.place[:] = -1
        weight = grow(graph, start, goal, goal + room, tried, heap)
        cut, weight = refine_sides(graph, goal - room, goal + room, tried, weight, scratch)
        cost = (cut + 1) * (1 + OFF_COST * max(0.0, abs(weight - goal) - room) / max(total, 1e-300))
        if cost < least:
            least, held = cost, weight
            copy_to(tried, sides)
    return held


@inner(error_model="numpy", counted=False)
def _room_for(vwgt, goal, total, slack):
    """Return what side 0 may be off its goal: slack of the lighter side, or half a vertex."""
    heaviest = 0.0
    for v in range(vwgt.size):
        heaviest = max(heaviest, vwgt[v])
    return max(slack * min(goal, total - goal), 0.5 * heaviest)


@njit(cache=True, nogil=True, error_model="numpy")
def halve(graph, share, slack, seed, tries, side):
    """Set side (n,) int32 so that side 0 has about `share` of the weight; return the cut.

    Side 0 is off by `slack` of the lighter side's goal, or by half the heaviest vertex, at most.
    tries: starts on the smallest graph. seed: uint64, not 0.
    """
    vwgt = graph.vwgt
    n, m, total = vwgt.size, graph.adjncy.size, _total(vwgt)
    goal = share * total
    xs, vs = np.empty(ROOM * (n + 1), np.uint32), np.empty(ROOM * n)
    es, ws = np.empty(2 * m, np.uint32), np.empty(2 * m, np.int32)
    coarse_of, sides = np.empty(ROOM * n, np.uint32), np.zeros(ROOM * n, np.int32)
    size, at = np.zeros(MOST_LEVELS + 1, np.int64), np.zeros(MOST_LEVELS + 1, np.int64)
    begins = np.zeros(MOST_LEVELS + 2, np.int64)
    copy_to(graph.xadj, xs)
    copy_to(graph.adjncy, es)
    copy_to(vwgt, vs)
    ws[:m] = 1
    copy_to(graph.adjwgt, ws)
    size[0], begins[1] = n, m
    depth, es, ws = _shrink_all(seed, xs, es, ws, vs, coarse_of, sides, size, at, begins)
    items, keys = np.empty((2, n + 1), np.int32), np.empty((2, n + 1), np.int64)
    heaps = SideHeaps(items, keys, np.zeros(2, np.int64), np.empty(n, np.int32))
    scratch = TwoWayScratch(np.empty(n, np.int64), np.empty(n, np.int32), heaps)
    least = size[depth]
    tried, walk = np.empty(least, np.int32), np.empty((2, least), np.int32)
    levels = Levels(xs, es, ws, vs, coarse_of, sides, size, at, begins)
    cut = _refine_all(levels, depth, goal, total, slack, seed, tries, tried, walk, scratch)
    copy_to(sides[:n], side)
    return cut


@inner(error_model="numpy", counted=False)
def _refine_all(levels, depth, goal, total, slack, seed, tries, tried, walk, scratch):
    """Halve the smallest graph, and refine its sides on all levels; return the cut."""
    xs, es, ws, vs, coarse_of, sides, size, at, begins = levels
    cut, weight = np.int64(0), 0.0
    for level in range(depth, -1, -1):
        a, b, first, last = at[level], at[level] + size[level], begins[level], begins[level + 1]
        graph = CSRGraph(xs[a + level : b + level + 1], es[first:last], ws[first:last], vs[a:b])
        room = _room_for(graph.vwgt, goal, total, slack)
        own = sides[a:b]
        if level == depth:
            first_room = _room_for(graph.vwgt, goal, _total(graph.vwgt), slack)
            weight = _first_sides(graph, goal, first_room, seed, tries, own, tried, walk, scratch)
        else:
            for v in range(a, b):
                sides[v] = sides[b + coarse_of[v]]
        cut, weight = refine_sides(graph, goal - room, goal + room, own, weight, scratch)
    return cut
