"""Kernels of recursive bisection: grow one side from a seed; take a side out as its own graph."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit_kernels import njit
from evener.partitioning.fm_kernels import drop, sift_up


@njit(cache=True, nogil=True, error_model="numpy")
def hops(xadj, adjncy, start, queue, distance):
    """Fill distance (n,) with the edges on the way from `start`, -1 where there is no way.

    Returns the vertex that is reached last; queue (n,) is scratch.
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
    """Every vertex in breadth-first order: from those that order[:begin] names, then component by
    component from its first one.
    """
    seen[:] = False
    for i in range(begin):
        seen[order[i]] = True
    tail, head, after = begin, 0, 0
    n = order.size
    while head < n:
        if head == tail:
            while seen[after]:
                after += 1
            order[tail] = after
            seen[after] = True
            tail += 1
        v = order[head]
        head += 1
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if not seen[u]:
                seen[u] = True
                order[tail] = u
                tail += 1


@njit(cache=True, nogil=True, error_model="numpy")
def grow(xadj, adjncy, adjwgt, vwgt, start, goal, most, part, place, items, keys):
    """Turn vertices of side 1 into side 0, the one with the least new cut first, from `start`
    on, until side 0 weighs `goal`; returns its weight, which stays below `most`.

    part (n,) all 1; place (n,) all -1, also afterwards.
    """
    n = part.size
    unit = adjwgt.size == 0
    weight = 0.0
    size = 0
    v = start
    after = 0  # where the search for a next component goes on
    while True:
        if weight + vwgt[v] <= most:
            part[v] = 0
            weight += vwgt[v]
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if part[u] == 0:
                    continue
                x = 1 if unit else np.int64(adjwgt[e])
                if place[u] >= 0:
                    keys[place[u]] += 2 * x
                    sift_up(items, keys, place, place[u])
                elif place[u] == -1:
                    gain = 0
                    for f in range(xadj[u], xadj[u + 1]):
                        y = 1 if unit else np.int64(adjwgt[f])
                        gain += y if part[adjncy[f]] == 0 else -y
                    items[size], keys[size] = u, gain
                    size += 1
                    sift_up(items, keys, place, size - 1)
        else:
            place[v] = -2  # too heavy: not again
        if weight >= goal:
            break
        if size > 0:
            v = items[0]
            size = drop(items, keys, place, 0, size)
        else:
            while after < n and (part[after] == 0 or place[after] == -2):
                after += 1
            if after == n:
                break
            v = after
    place[:] = -1
    return weight


@njit(cache=True, nogil=True, error_model="numpy")
def take_out(xadj, adjncy, adjwgt, part, side, number, sub_xadj, sub_adjncy, sub_adjwgt, members):
    """The graph of the vertices with part == side; returns its adjacency entries.

    number (n,) is scratch; the outputs are large enough. members: the vertices, in order.
    """
    unit = adjwgt.size == 0
    count = 0
    for v in range(part.size):
        if part[v] == side:
            number[v] = count
            members[count] = v
            count += 1
    q = 0
    sub_xadj[0] = 0
    for i in range(count):
        v = members[i]
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if part[u] == side:
                sub_adjncy[q] = number[u]
                if not unit:
                    sub_adjwgt[q] = adjwgt[e]
                q += 1
        sub_xadj[i + 1] = q
    return q
