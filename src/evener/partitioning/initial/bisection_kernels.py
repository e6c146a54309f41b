"""Kernels of recursive bisection: grow one side from a seed; take a side out as its own graph."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import njit
from evener.partitioning.refinement.fm_kernels import drop, sift_down, sift_up

# Kernel of two-way FM: vertices change sides one by one, the best first, back to the best point.
#
# Gains are whole numbers: the weight of a vertex's edges across less that of those at home.

LEAST_PATIENCE, MOST_PATIENCE = 30, 200  # moves without a new best point before a pass ends


@njit(cache=True, nogil=True, error_model="numpy")
def refine_sides(
    xadj, adjncy, adjwgt, vwgt, low, high, passes, side, weight, gain, place, items, keys, moved,
):  # fmt: skip
    """Lower the cut between two sides in place, side 0 within [low, high].

    A pass moves every vertex once at most, at any loss, and is undone back to its best point:
    that of least weight outside, then least cut, then nearest to the middle. On its way it may
    stray from the limits by the heaviest vertex. side (n,); weight: of side 0 at the start. gain
    (n,) int64, place (n,) int32, items and keys (2, n) and moved (n,) are scratch. Returns the
    cut and the weight of side 0.
    """
    n = side.size
    middle, heaviest = 0.5 * (low + high), vwgt.max()
    patience = min(max(LEAST_PATIENCE, n // 10), MOST_PATIENCE)
    cut = 0
    for _ in range(passes):
        cut, size0, size1 = 0, 0, 0
        everywhere = False
        while True:  # those at the border; all, where there is none
            cut = 0
            for v in range(n):
                across, own = 0, 0
                for e in range(xadj[v], xadj[v + 1]):
                    if side[adjncy[e]] == side[v]:
                        own += adjwgt[e]
                    else:
                        across += adjwgt[e]
                gain[v] = across - own
                place[v] = -1
                cut += across
                if across > 0 or everywhere:
                    if side[v] == 0:
                        items[0, size0], keys[0, size0] = v, gain[v]
                        size0 += 1
                        sift_up(items[0], keys[0], place, size0 - 1)
                    else:
                        items[1, size1], keys[1, size1] = v, gain[v]
                        size1 += 1
                        sift_up(items[1], keys[1], place, size1 - 1)
            if size0 + size1 > 0 or everywhere:
                break
            everywhere = True
        cut //= 2
        off = max(0.0, weight - high, low - weight)
        best_cut, best_off, best_far, n_best = cut, off, abs(weight - middle), 0
        first_cut, first_off = cut, off
        n_moved = 0
        while size0 + size1 > 0 and n_moved - n_best <= patience:
            # Who may move, and from where it gains most; from where there is too much, if at all.
            if size0 > 0 and size1 > 0:
                if off > 0:
                    s = 0 if weight > high else 1
                elif keys[0, 0] == keys[1, 0]:
                    s = 0 if weight > middle else 1
                else:
                    s = 0 if keys[0, 0] > keys[1, 0] else 1
            else:
                s = 0 if size0 > 0 else 1
            v = items[s, 0]
            if s == 0:
                size0 = drop(items[0], keys[0], place, 0, size0)
                after = weight - vwgt[v]
            else:
                size1 = drop(items[1], keys[1], place, 0, size1)
                after = weight + vwgt[v]
            place[v] = -2
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
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if place[u] == -2:
                    continue
                t = side[u]
                change = 2 * np.int64(adjwgt[e])
                gain[u] += change if t == s else -change
                i = place[u]
                if i < 0:
                    if t == 0:
                        items[0, size0], keys[0, size0] = u, gain[u]
                        size0 += 1
                        sift_up(items[0], keys[0], place, size0 - 1)
                    else:
                        items[1, size1], keys[1, size1] = u, gain[u]
                        size1 += 1
                        sift_up(items[1], keys[1], place, size1 - 1)
                    continue
                keys[t, i] = gain[u]
                if t == s:
                    sift_up(items[t], keys[t], place, i)
                else:
                    sift_down(items[t], keys[t], place, i, size0 if t == 0 else size1)
        while n_moved > n_best:
            n_moved -= 1
            v = moved[n_moved]
            weight += vwgt[v] if side[v] == 1 else -vwgt[v]
            side[v] = 1 - side[v]
        cut = best_cut
        if best_off >= first_off and best_cut >= first_cut:
            break
    return cut, weight


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
