"""Kernels of bisection: two-way FM, growing a side from a vertex, extracting a side as a graph."""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.csr_kernels import edge_weight
from evener.partitioning.levels.heap_kernels import (
    SideHeaps,
    drop,
    drop_top,
    lower_key,
    push,
    push_to,
    raise_key,
    sift_up,
)

PASSES = 6  # of two-way FM, at most
LEAST_PATIENCE, MOST_PATIENCE = 30, 200  # moves without a new best point before a pass ends
PATIENT_SHARE = 10  # a pass is patient for n over this many moves, within these limits
MOVED = -2  # place of a vertex that may not move again


class TwoWayScratch(NamedTuple):
    """Memory of two-way FM on graphs of up to n vertices: gain (n,) int64, moved (n,), heaps."""

    gain: np.ndarray
    moved: np.ndarray
    heaps: SideHeaps


@inner(error_model="numpy", counted=False)
def refine_sides(graph, low, high, side, weight, scratch):
    """Reduce the cut between two sides in place, with the weight of side 0 within [low, high].

    Two-way FM [FM82]_. A pass moves every vertex at most once, even at a loss, and is rolled back
    to its best state: least weight outside the limits, then least cut, then nearest to the middle
    of the limits. During a pass, the limits may be exceeded by the heaviest vertex. side (n,).
    weight: weight of side 0. Returns the cut and the weight of side 0.
    """
    gain, moved, heaps = scratch
    n, middle, heaviest = side.size, 0.5 * (low + high), 0.0
    for v in range(n):
        heaviest = max(heaviest, graph.vwgt[v])
    patience = min(max(LEAST_PATIENCE, n // PATIENT_SHARE), MOST_PATIENCE)
    cut = np.int64(0)
    for _ in range(PASSES):
        cut = _begin_pass(graph, side, False, gain, heaps)
        if heaps.size[0] + heaps.size[1] == 0:
            cut = _begin_pass(graph, side, True, gain, heaps)
        off = max(0.0, weight - high, low - weight)
        best_cut, best_off, best_far, n_best = cut, off, abs(weight - middle), 0
        first_cut, first_off = cut, off
        n_moved = 0
        while heaps.size[0] + heaps.size[1] > 0 and n_moved - n_best <= patience:
            s = _side_to_leave(heaps, weight, off, high, middle)
            v = drop_top(heaps, s, MOVED)
            after = weight - graph.vwgt[v] if s == 0 else weight + graph.vwgt[v]
            after_off = max(0.0, after - high, low - after)
            if after_off > off and after_off > heaviest:
                continue
            weight, off = after, after_off
            cut -= gain[v]
            side[v] = 1 - s
            moved[n_moved] = v
            n_moved += 1
            far = abs(weight - middle)
            if off < best_off or (
                off == best_off and (cut < best_cut or (cut == best_cut and far < best_far))
            ):
                best_cut, best_off, best_far, n_best = cut, off, far, n_moved
            _update_neighbours(graph, side, v, s, gain, heaps)
        while n_moved > n_best:
            n_moved -= 1
            v = moved[n_moved]
            weight += graph.vwgt[v] if side[v] == 1 else -graph.vwgt[v]
            side[v] = 1 - side[v]
        cut = best_cut
        if best_off >= first_off and best_cut >= first_cut:
            break
    return cut, weight


@inner(error_model="numpy", counted=False)
def _begin_pass(graph, side, everywhere, gain, heaps):
    """Compute all gains, put vertices at the border (or all vertices) into the heaps.

    Returns the cut.
    """
    cut = np.int64(0)
    heaps.size[:] = 0
    for v in range(side.size):
        across, own = np.int64(0), np.int64(0)
        for e in range(graph.xadj[v], graph.xadj[v + 1]):
            if side[graph.adjncy[e]] == side[v]:
                own += graph.adjwgt[e]
            else:
                across += graph.adjwgt[e]
        gain[v] = across - own
        heaps.place[v] = -1
        cut += across
        if across > 0 or everywhere:
            push_to(heaps, side[v], v, gain[v])
    return cut // 2


@inner(error_model="numpy", counted=False)
def _side_to_leave(heaps, weight, off, high, middle):
    """Return the side that the next vertex leaves: the one too heavy, else that of larger gain."""
    if heaps.size[0] == 0 or heaps.size[1] == 0:
        return 0 if heaps.size[0] > 0 else 1
    if off > 0:
        return 0 if weight > high else 1
    if heaps.keys[0, 0] == heaps.keys[1, 0]:
        return 0 if weight > middle else 1
    return 0 if heaps.keys[0, 0] > heaps.keys[1, 0] else 1


@inner(error_model="numpy", counted=False)
def _update_neighbours(graph, side, v, s, gain, heaps):
    """Update the gains of the neighbours of v, which left side s, and add them to the heaps."""
    for e in range(graph.xadj[v], graph.xadj[v + 1]):
        u = graph.adjncy[e]
        i = heaps.place[u]
        if i == MOVED:
            continue
        t = side[u]
        change = 2 * np.int64(graph.adjwgt[e])
        gain[u] += change if t == s else -change
        if i < 0:
            push_to(heaps, t, u, gain[u])
        elif t == s:
            raise_key(heaps, t, i, gain[u])
        else:
            lower_key(heaps, t, i, gain[u])


@njit(cache=True, nogil=True, error_model="numpy")
def hops(xadj, adjncy, start, queue, distance):
    """Fill distance (n,) with the number of edges from `start`; -1 for unreachable vertices.

    Returns the vertex reached last; queue (n,) is scratch.
    """
    distance[:] = -1
    queue[0] = start
    distance[start] = 0
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if distance[u] < 0:
                distance[u] = distance[v] + 1
                queue[tail] = u
                tail += 1
    return queue[tail - 1]


@njit(cache=True, nogil=True, error_model="numpy")
def breadth_first_order(xadj, adjncy, begin, order, seen):
    """Fill order (n,) with all vertices, breadth first from order[:begin].

    If a component is not reached, its first vertex is the next start.
    """
    seen[:] = False
    for i in range(begin):
        seen[order[i]] = True
    _fill_breadth_first(xadj, adjncy, begin, order, seen)


@njit(cache=True, nogil=True)
def order_beside(xadj, adjncy, order, seen):
    """Fill order with the vertices not yet `seen` (n,), breadth first over these alone."""
    _fill_breadth_first(xadj, adjncy, 0, order, seen)


@njit(cache=True, nogil=True)
def _fill_breadth_first(xadj, adjncy, begin, order, seen):
    """Fill order from `begin` on with vertices not `seen`, breadth first from earlier entries."""
    tail, after = begin, 0
    for head in range(order.size):
        if head == tail:
            while seen[after]:
                after += 1
            order[tail] = after
            seen[after] = True
            tail += 1
        v = order[head]
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if not seen[u]:
                seen[u] = True
                order[tail] = u
                tail += 1


@njit(cache=True, nogil=True, error_model="numpy")
def grow(graph, start, goal, most, part, heap):
    """Move vertices from side 1 to 0: first `start`, then always the one that gives the least cut.

    Ends once side 0 weighs `goal`; its weight does not exceed `most`. Returns this weight. part
    (n,): must be 1 everywhere; heap.place (n,): -1 everywhere, before and after.
    """
    n, place = part.size, heap.place
    weight, size, v = 0.0, 0, np.int64(start)
    after = 0  # where the search for a further component goes on
    while True:
        if weight + graph.vwgt[v] <= most:
            part[v] = 0
            weight += graph.vwgt[v]
            for e in range(graph.xadj[v], graph.xadj[v + 1]):
                u = np.int64(graph.adjncy[e])
                if part[u] == 0:
                    continue
                if place[u] >= 0:
                    heap.keys[place[u]] += 2 * edge_weight(graph, e)
                    sift_up(heap, place[u])
                elif place[u] != MOVED:
                    gain = np.int64(0)
                    for f in range(graph.xadj[u], graph.xadj[u + 1]):
                        x = edge_weight(graph, f)
                        gain += x if part[graph.adjncy[f]] == 0 else -x
                    size = push(heap, size, u, gain)
        else:
            place[v] = MOVED  # too heavy
        if weight >= goal:
            break
        if size > 0:
            v = np.int64(heap.items[0])
            size = drop(heap, size)
        else:
            while after < n and (part[after] == 0 or place[after] == MOVED):
                after += 1
            if after == n:
                break
            v = after
    place[:] = -1
    return weight
