"""Kernels of recursive bisection in one call: for small graphs whose vertices may be hubs.

Each side is grown from a vertex anywhere, best first, and improved by Fiduccia-Mattheyses passes
with exact gains; the best of some tries is divided further.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.initial.bisection_kernels import grow
from evener.partitioning.levels.cluster_kernels import gather
from evener.partitioning.levels.coarsening_kernels import (
    Clusters,
    CoarseVertices,
    contract,
    count_leaders,
    number_clusters,
    project,
)
from evener.partitioning.refinement.fm_kernels import drop, shuffle, sift_down, sift_up

SMALLEST = 40  # vertices of the graph on which sides are grown
GROWTH = 3.0  # heaviest cluster, in mean vertices
HEAVIEST = 0.05  # share of the weight that a cluster may have
LEAST_SHRINKAGE = 0.9
OFF, MOST_OFF = 2, 0.1  # what a half may be off: in mean vertices, and at most a share of it
LARGEST = 2**30  # of seeds
PASSES = 4
PATIENCE, SHARE = 20, 0.05  # moves without a better state that end a pass, and as a share of n


@njit(cache=True, nogil=True)
def split(xadj, adjncy, adjwgt, vwgt, targets, blocks, slack, tries, draws, part):
    """Set part (n,): blocks, in the order `blocks` (k,), near targets (k,) [units].

    Blocks are halved by number, which keeps like ones together. slack: what a half may be off, of
    the smaller one. draws (tries * k,): where sides are grown from, in [0, 1).
    """
    n, k = part.size, blocks.size
    members = np.arange(n)
    waiting = np.empty((k + 1, 4), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = 0, n, 0, k
    size, drawn = 1, 0
    number = np.empty(n, np.int32)
    group = np.full(n, -1, np.int32)  # the first place in `members` of each vertex's group
    while size > 0:
        size -= 1
        first, last, b, c = waiting[size]
        own = members[first:last].copy()
        if c - b == 1 or own.size == 0:
            for v in own:
                part[v] = blocks[b]
            continue
        half = (b + c) // 2
        share = _share(targets, blocks, b, half, c)
        graph = _taken(xadj, adjncy, adjwgt, vwgt, own, first, group, number)
        side = _halves(graph, share, slack, draws[drawn : drawn + tries])
        drawn += tries
        at = middle = first
        for s in range(2):
            for i in range(own.size):
                if side[i] == s:
                    members[at] = own[i]
                    group[own[i]] = middle if s == 1 else first
                    at += 1
            if s == 0:
                middle = at
        waiting[size] = first, middle, b, half
        waiting[size + 1] = middle, last, half, c
        size += 2


@inner()
def _share(targets, blocks, b, half, c):
    """Return the share of the first of two halves of some blocks."""
    first, total = 0.0, 0.0
    for i in range(b, c):
        total += targets[blocks[i]]
        if i < half:
            first += targets[blocks[i]]
    return first / total if total > 0 else 0.5


@inner()
def _taken(xadj, adjncy, adjwgt, vwgt, own, name, group, number):
    """Return the graph of the vertices `own`; their group becomes `name`; number (n,): scratch."""
    room = 0
    for i in range(own.size):
        v = own[i]
        number[v], group[v] = i, name
        room += np.int64(xadj[v + 1]) - np.int64(xadj[v])
    ends, others = np.zeros(own.size + 1, np.uint32), np.empty(room, np.uint32)
    weights = np.empty(room if adjwgt.size > 0 else 0, np.int32)
    q = 0
    for i in range(own.size):
        for e in range(xadj[own[i]], xadj[own[i] + 1]):
            if group[adjncy[e]] == name:
                others[q] = number[adjncy[e]]
                if adjwgt.size > 0:
                    weights[q] = adjwgt[e]
                q += 1
        ends[i + 1] = q
    return ends, others[:q].copy(), weights[:q].copy(), vwgt[own]


@inner()
def _halves(graph, share, slack, draws):
    """Return sides (n,), of which side 0 has about `share` of the weight: shrunk, grown from as
    many vertices of the smallest graph as there are draws, and the best improved on the way back.
    """
    n, total = graph[3].size, graph[3].sum()
    goal = share * total
    room = slack * min(goal, total - goal)
    graphs = [graph]
    coarse_of = [np.empty(0, np.uint32)]
    while graphs[-1][3].size > SMALLEST:
        weight = graphs[-1][3]
        cap = min(GROWTH * total / weight.size, max(HEAVIEST * total, weight.max()))
        smaller, of = _shrunk(graphs[-1], cap, int(draws[0] * LARGEST))
        if smaller[3].size > LEAST_SHRINKAGE * weight.size:
            break
        graphs.append(smaller)
        coarse_of.append(of)
    place = np.full(n, -1, np.int32)
    items, keys = np.empty((2, n + 1), np.int32), np.empty((2, n + 1), np.int64)
    side = _best_grown(graphs[-1], goal, room, draws, place, items, keys)
    for i in range(len(graphs) - 1, -1, -1):
        graph = graphs[i]
        loose = max(room, min(MOST_OFF * goal, OFF * total / graph[3].size))
        improve(graph, goal, loose, side, place, items, keys)
        if i > 0:
            fine = np.empty(coarse_of[i].size, np.int32)
            project(side, coarse_of[i], 0, fine.size, fine)
            side = fine
    return side


@inner()
def _shrunk(graph, cap, seed):
    """Return the graph of clusters of weight up to `cap`, and the cluster (n,) of every vertex."""
    xadj, adjncy, adjwgt, vwgt = graph
    n = vwgt.size
    order = np.arange(n)
    shuffle(order, np.uint64(seed + 1))
    leader, whole = np.empty(n, np.int32), np.zeros(n, np.int32)
    gather(xadj, adjncy, adjwgt, vwgt, whole, cap, order, 1, leader, np.empty(n))
    count = count_leaders(leader, 0, n)
    of, head, following = np.empty(n, np.uint32), np.empty(count, np.int32), np.empty(n, np.int32)
    number_clusters(leader, 0, n, 0, of, head, following)
    found, weights = np.empty(adjncy.size, np.uint32), np.empty(adjncy.size, np.int32)
    degree, heavy = np.empty(count, np.uint32), np.empty(count)
    coarse = CoarseVertices(degree, heavy, np.empty(count, np.int32))
    mark = np.full(count, -1, np.int64)
    clusters = Clusters(of, head, following)
    used = contract(graph, whole, clusters, 0, count, mark, found, weights, coarse)
    ends = np.zeros(count + 1, np.uint32)
    for c in range(count):
        ends[c + 1] = ends[c] + degree[c]
    return (ends, found[:used].copy(), weights[:used].copy(), heavy), of


@inner()
def _best_grown(graph, goal, room, draws, place, items, keys):
    """Return the sides (n,) with the least cut of as many tries as there are draws (tries,)."""
    xadj, adjncy, adjwgt, vwgt = graph
    n = vwgt.size
    room = max(room, min(MOST_OFF * goal, OFF * vwgt.sum() / n))
    best, least, nearest = np.zeros(n, np.int32), np.inf, np.inf
    side = np.empty(n, np.int32)
    for draw in draws:
        side[:] = 1
        start = min(int(draw * n), n - 1)
        grow(
            xadj, adjncy, adjwgt, vwgt, start, goal, goal + room, side, place[:n], items[0],
            keys[0],
        )  # fmt: skip
        off, cut = improve(graph, goal, room, side, place, items, keys)
        if off < nearest or (off == nearest and cut < least):
            best[:], least, nearest = side, cut, off
    return best


@njit(cache=True, nogil=True)
def improve(graph, goal, room, side, place, items, keys):
    """Lower the cut of two sides (n,) in place; returns what side 0 is off, and the cut.

    Side 0 is to weigh `goal`, within `room`. place (n,) all -1, also afterwards; items and keys
    (2, n + 1) are scratch.
    """
    vwgt = graph[3]
    n = side.size
    gain, locked, moved = np.empty(n, np.int64), np.empty(n, np.bool_), np.empty(n, np.int64)
    sizes, patience = np.zeros(2, np.int64), PATIENCE + int(SHARE * n)
    weight = vwgt[side == 0].sum()
    nearest, least = max(abs(weight - goal) - room, 0.0), np.int64(0)
    for _ in range(PASSES):
        least = cut = _begin(graph, side, nearest > 0, gain, locked, place, items, keys, sizes)
        before, before_off = cut, nearest
        count, best = 0, 0
        while count - best <= patience:
            s = _side_to_leave(weight - goal, room, sizes, keys)
            if s < 0:
                break
            v = items[s, 0]
            sizes[s] = drop(items[s], keys[s], place, 0, sizes[s])
            locked[v], moved[count] = True, v
            count += 1
            # Limits are passed for the time being: heavy vertices could not change sides else.
            weight += vwgt[v] if s == 1 else -vwgt[v]
            side[v] = 1 - s
            cut -= gain[v]
            _tell(graph, v, side, gain, locked, place, items, keys, sizes)
            off = max(abs(weight - goal) - room, 0.0)
            if off < nearest or (off == nearest and cut < least):
                best, least, nearest = count, cut, off
        for i in range(best, count):
            v = moved[i]
            weight += vwgt[v] if side[v] == 1 else -vwgt[v]
            side[v] = 1 - side[v]
        place[:] = -1
        if least == before and nearest == before_off:
            break
    return nearest, least


@inner()
def _begin(graph, side, all_move, gain, locked, place, items, keys, sizes):
    """Set every gain, unlock all, and let those at the border, or all, wait; returns the cut."""
    xadj, adjncy, adjwgt, _ = graph
    unit = adjwgt.size == 0
    sizes[:] = 0
    cut = np.int64(0)
    for v in range(side.size):
        locked[v] = False
        outside, inside = np.int64(0), np.int64(0)
        for e in range(xadj[v], xadj[v + 1]):
            x = np.int64(1) if unit else np.int64(adjwgt[e])
            if side[adjncy[e]] == side[v]:
                inside += x
            else:
                outside += x
        gain[v] = outside - inside
        cut += outside
        if outside > 0 or all_move:
            s = side[v]
            items[s, sizes[s]], keys[s, sizes[s]] = v, gain[v]
            sizes[s] += 1
            sift_up(items[s], keys[s], place, sizes[s] - 1)
    return cut // 2


@inner()
def _tell(graph, v, side, gain, locked, place, items, keys, sizes):
    """Keep the gains of the neighbours of v right, which has just moved; they wait from now on."""
    xadj, adjncy, adjwgt, _ = graph
    unit = adjwgt.size == 0
    for e in range(xadj[v], xadj[v + 1]):
        u = adjncy[e]
        x = np.int64(1) if unit else np.int64(adjwgt[e])
        t = side[u]
        old = gain[u]
        gain[u] += -2 * x if t == side[v] else 2 * x
        if locked[u]:
            continue
        i = place[u]
        if i < 0:
            i = sizes[t]
            items[t, i], keys[t, i] = u, gain[u]
            sizes[t] += 1
            sift_up(items[t], keys[t], place, i)
            continue
        keys[t, i] = gain[u]
        if gain[u] > old:
            sift_up(items[t], keys[t], place, i)
        else:
            sift_down(items[t], keys[t], place, i, sizes[t])


@inner()
def _side_to_leave(excess, room, sizes, keys):
    """Return the side of the next move: the one too heavy, or the one that gains most; or -1."""
    if excess > room:
        return 0 if sizes[0] > 0 else -1
    if excess < -room:
        return 1 if sizes[1] > 0 else -1
    if sizes[0] == 0 and sizes[1] == 0:
        return -1
    if sizes[0] == 0:
        return 1
    if sizes[1] == 0:
        return 0
    if keys[0, 0] == keys[1, 0]:
        return 0 if excess > 0 else 1
    return 0 if keys[0, 0] > keys[1, 0] else 1
