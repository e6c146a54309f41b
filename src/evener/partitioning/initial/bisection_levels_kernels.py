"""Kernels of multilevel bisection: pair vertices until few are left, halve those, come back.

The graphs of all levels lie one after the other in flat arrays.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner, njit
from evener.partitioning.initial.bisection_kernels import grow, hops, refine_sides
from evener.partitioning.levels.coarsening_kernels import (
    Clusters,
    CoarseVertices,
    contract,
    number_clusters,
)
from evener.partitioning.levels.csr_kernels import CSRGraph
from evener.partitioning.refinement.fm_kernels import shuffle

ENOUGH = 40  # vertices: the graph is not shrunk further
MOST_LEVELS = 48
LEAST_SHRINKAGE = 0.85
ROOM = 7  # for the vertices of all levels, in graphs: the sum of a series of LEAST_SHRINKAGE
HEAVIEST = 1.5  # a cluster, in mean weights of the smallest graph's vertices
ALONE = 0.1  # where this share finds no mate, those with a neighbour in common are paired
MANY = 16  # edges; vertices of more count the same
PASSES = 6


@inner(error_model="numpy")
def pair_vertices(xadj, adjncy, adjwgt, vwgt, order, heaviest, leader, waiting):
    """Pair neighbours along heavy edges, light vertices first; returns the number of clusters.

    leader (n,): a cluster's first vertex. Where many find no mate, as leaves of a hub, those whose
    heaviest edge goes to the same vertex are paired; waiting (n + 1,) is scratch.
    """
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
    single = np.empty(alone, np.int32)
    alone = 0
    for i in range(n):
        v = order[i]
        if leader[v] == v and waiting[v] == 1:
            single[alone] = v
            alone += 1
    waiting[:] = -1
    for v in single:
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


@inner()
def light_first(xadj, order, sorted_order):
    """Sort vertices by degree, stable; those of MANY edges and more are alike."""
    starts = np.zeros(MANY + 2, np.int64)
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
def longer(values, room):
    """The same values in an array with room for so many."""
    if room <= values.size:
        return values
    copy = np.empty(max(room, 2 * values.size), values.dtype)
    copy_to(values, copy)
    return copy


@inner(error_model="numpy")
def shrink_all(seed, xs, es, ws, vs, coarse_of, sides, size, at, begins):
    """Pair vertices again and again, until ENOUGH are left or few find a mate.

    Level i has size[i] vertices, from at[i] on in vs, coarse_of and sides, and from at[i] + i on in
    xs; its entries lie in es and ws from begins[i] to begins[i + 1]. Level 0 is given. sides, all 0
    below it, is work. Returns the last level, and es and ws, which may have grown.
    """
    n, total = size[0], vs[: size[0]].sum()
    order, leader = np.empty(n, np.int32), np.empty(n, np.int32)
    waiting, following = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    depth = 0
    while size[depth] > ENOUGH and depth < MOST_LEVELS:
        now, a, first = size[depth], at[depth], begins[depth + 1]
        b = a + now
        es, ws = longer(es, 2 * first - begins[depth]), longer(ws, 2 * first - begins[depth])
        lx, le, lw = (
            xs[a + depth : b + depth + 1],
            es[begins[depth] : first],
            ws[begins[depth] : first],
        )
        for v in range(now):
            order[v] = v
        shuffle(order[:now], seed + np.uint64(depth + 1))
        light_first(lx, order[:now], following)
        heaviest = max(HEAVIEST * total / ENOUGH, 2 * total / now)
        count = pair_vertices(
            lx, le, lw, vs[a:b], order[:now], heaviest, leader[:now], waiting[: now + 1]
        )
        if count > LEAST_SHRINKAGE * now:
            break
        head, mark = np.empty(count, np.int32), np.full(count, -1, np.int64)
        number_clusters(leader[:now], 0, now, 0, coarse_of[a:b], head, following[:now])
        degree = np.empty(count, np.uint32)
        used = contract(
            CSRGraph(lx, le, lw, vs[a:b]), sides[a:b],
            Clusters(coarse_of[a:b], head, following[:now]), 0, count, mark, es[first:], ws[first:],
            CoarseVertices(degree, vs[b : b + count], sides[b : b + count]),
        )  # fmt: skip
        depth += 1
        at[depth], size[depth], begins[depth + 1] = b, count, first + used
        below = xs[b + depth : b + depth + count + 1]
        below[0] = 0
        for v in range(count):
            below[v + 1] = below[v] + degree[v]
    return depth, es, ws


@inner(error_model="numpy")
def first_sides(
    xadj, adjncy, adjwgt, vwgt, goal, slack, seed, tries, sides, gain, place, items, keys, moved
):
    """Grow side 0 from a vertex somewhere, or far out, and refine; keep the best of some tries.

    Returns the weight of side 0. sides (n,) is the output, the last five are scratch.
    """
    n, total = vwgt.size, vwgt.sum()
    room = max(slack * min(goal, total - goal), 0.5 * vwgt.max())
    least, held = np.inf, 0.0
    tried, distance, queue = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for turn in range(tries):
        seed ^= seed << np.uint64(13)
        seed ^= seed >> np.uint64(7)
        seed ^= seed << np.uint64(17)
        start = np.int64(seed % np.uint64(n))
        for _ in range(turn % 3):
            start = np.int64(hops(xadj, adjncy, start, queue, distance))
        tried[:] = 1
        place[:n] = -1
        weight = grow(
            xadj, adjncy, adjwgt, vwgt, start, goal, goal + room, tried, place[:n], items[0],
            keys[0],
        )  # fmt: skip
        cut, weight = refine_sides(
            xadj, adjncy, adjwgt, vwgt, goal - room, goal + room, PASSES, tried, weight, gain,
            place, items, keys, moved,
        )  # fmt: skip
        cost = (cut + 1) * (1 + 10 * max(0.0, abs(weight - goal) - room) / max(total, 1e-300))
        if cost < least:
            least, held = cost, weight
            copy_to(tried, sides)
    return held


@njit(cache=True, nogil=True, error_model="numpy")
def halve(xadj, adjncy, adjwgt, vwgt, share, slack, seed, tries, side):
    """Give side 0 about `share` of the weight, within `slack` of the lighter side's goal or half
    the heaviest vertex, at a low cut, which is returned.

    side (n,) int32 is the output. tries: starts on the smallest graph. seed: uint64, not 0.
    """
    n, m, goal, total = vwgt.size, adjncy.size, share * vwgt.sum(), vwgt.sum()
    xs, vs = np.empty(ROOM * (n + 1), np.uint32), np.empty(ROOM * n)
    es, ws = np.empty(2 * m, np.uint32), np.empty(2 * m, np.int32)
    coarse_of, sides = np.empty(ROOM * n, np.uint32), np.zeros(ROOM * n, np.int32)
    size, at = np.zeros(MOST_LEVELS + 1, np.int64), np.zeros(MOST_LEVELS + 1, np.int64)
    begins = np.zeros(MOST_LEVELS + 2, np.int64)
    copy_to(xadj, xs)
    copy_to(adjncy, es)
    copy_to(vwgt, vs)
    ws[:m] = 1
    copy_to(adjwgt, ws)
    size[0], begins[1] = n, m
    depth, es, ws = shrink_all(seed, xs, es, ws, vs, coarse_of, sides, size, at, begins)
    gain, place, moved = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32)
    items, keys = np.empty((2, n + 1), np.int32), np.empty((2, n + 1), np.int64)
    cut, weight = 0, 0.0
    for level in range(depth, -1, -1):
        a, b, first, last = at[level], at[level] + size[level], begins[level], begins[level + 1]
        lx, lv = xs[a + level : b + level + 1], vs[a:b]
        if level == depth:
            weight = first_sides(
                lx, es[first:last], ws[first:last], lv, goal, slack, seed, tries, sides[a:b], gain,
                place, items, keys, moved,
            )  # fmt: skip
        else:
            for v in range(a, b):
                sides[v] = sides[b + coarse_of[v]]
        room = max(slack * min(goal, total - goal), 0.5 * lv.max())
        cut, weight = refine_sides(
            lx, es[first:last], ws[first:last], lv, goal - room, goal + room, PASSES, sides[a:b],
            weight, gain, place, items, keys, moved,
        )  # fmt: skip
    copy_to(sides[:n], side)
    return cut
