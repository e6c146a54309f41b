"""Kernels that cut pairs of blocks anew: a minimum cut through a corridor along their border.

The corridor's vertices may go to either block, what is left of the blocks is the source and the
sink. Costs are those of localized FM: an edge between blocks p and q costs its weight times
price[p] + price[q]. Where a minimum cut is too uneven, more vertices are tied to the side that is
too light and the flow goes on, as long as the cut is cheaper than the old border [HS18]_.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner, njit
from evener.partitioning.refinement.fm_kernels import HUB
from evener.partitioning.refinement.maxflow_kernels import (
    FREE,
    SINK,
    SOURCE,
    extreme_cuts,
    send_all,
    tie,
)

MOST_VERTICES = 1 << 17  # of a corridor
MOST_LOOKS = 50  # at each arc of a corridor
TIED_AT_ONCE = 0.25  # of the weight that the lighter side lacks


@njit(cache=True, nogil=True, error_model="numpy")
def count_borders(xadj, adjncy, part, seen, first, last):
    """How often a vertex of [first, last) is next to another block; seen (k,) int64 is -1."""
    count = 0
    for v in range(first, last):
        p = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            q = part[adjncy[e]]
            if q != p and seen[q] != v:
                seen[q] = v
                count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def list_borders(xadj, adjncy, part, k, seen, first, last, pair, vertex):
    """For each vertex and block next to it: the number of the pair, lower block * k + higher."""
    count = 0
    for v in range(first, last):
        p = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            q = part[adjncy[e]]
            if q != p and seen[q] != v:
                seen[q] = v
                pair[count] = np.int64(min(p, q)) * k + max(p, q)
                vertex[count] = v
                count += 1


@inner(error_model="numpy")
def _corridor(xadj, adjncy, vwgt, part, a, b, border, caps, local, found, layer):
    """Collect vertices of blocks a and b around their border; their number.

    Breadth first from the border on both sides, each until it weighs caps (2,) or found is full.
    found takes them, local (n,) their places, -1 before; layer: steps to the border, from 1.
    """
    count, full = 0, np.zeros(2)
    shut = np.zeros(2, np.bool_)
    for near in border:
        v = np.int64(near)
        if part[v] != a and part[v] != b:
            continue
        other = b if part[v] == a else a
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] == other and local[v] < 0:
                count = _take(
                    xadj, vwgt, part, b, v, 1, caps, full, shut, local, found, layer, count
                )
    i = 0
    while i < count:
        v, steps = found[i], layer[i]
        p = part[v]
        other = b if p == a else a
        for e in range(xadj[v], xadj[v + 1]):
            u = np.int64(adjncy[e])
            if local[u] >= 0:
                continue
            if part[u] == p:
                reached = steps + 1
            elif part[u] == other and steps == 1:
                reached = 1
            else:
                continue
            count = _take(
                xadj, vwgt, part, b, u, reached, caps, full, shut, local, found, layer, count
            )
        i += 1
        if shut[0] and shut[1]:
            break
    return count


@inner(error_model="numpy")
def _take(xadj, vwgt, part, b, v, steps, caps, full, shut, local, found, layer, count):
    """Add v to the corridor where its side has room; the corridor's new size."""
    side = 1 if part[v] == b else 0
    if xadj[v + 1] - xadj[v] > HUB:
        return count
    if full[side] + vwgt[v] > caps[side] or count == found.size:
        shut[side] = True
        return count
    full[side] += vwgt[v]
    local[v], found[count], layer[count] = count, v, steps
    return count + 1


@inner(error_model="numpy")
def _network(xadj, adjncy, adjwgt, part, a, b, price, local, found, count):
    """The corridor as a network, as maxflow_kernels has it, and what its present border costs.

    Block a is the source, b the sink: (start, head, back, room, supply, cost).
    """
    unit = adjwgt.size == 0
    start, supply = np.zeros(count + 1, np.int32), np.zeros(count, np.int64)
    for i in range(count):
        v = found[i]
        for e in range(xadj[v], xadj[v + 1]):
            j = local[adjncy[e]] if part[adjncy[e]] == a or part[adjncy[e]] == b else -1
            if j >= 0 and (unit or adjwgt[e] > 0):
                start[i + 1] += 1
    for i in range(count):
        start[i + 1] += start[i]
    m = start[count]
    head, back = np.empty(m, np.int32), np.empty(m, np.int32)
    room = np.empty(m, np.int64)
    filled = start[:-1].copy()
    both = price[a] + price[b]
    cost = 0
    for i in range(count):
        v = found[i]
        own = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            w = np.int64(1) if unit else np.int64(adjwgt[e])
            if w <= 0:
                continue
            u = adjncy[e]
            q = part[u]
            if q != a and q != b:
                supply[i] += w * (price[b] - price[a])
                continue
            j = local[u]
            if j < 0:
                supply[i] += w * both if q == a else -w * both
            elif j > i:
                x, y = filled[i], filled[j]
                filled[i] += 1
                filled[j] += 1
                head[x], back[x], room[x] = j, y, w * both
                head[y], back[y], room[y] = i, x, w * both
                if q != own:
                    cost += w * both
        if own == a:
            cost += max(np.int64(0), -supply[i])
        else:
            cost += max(np.int64(0), supply[i])
    return start, head, back, room, supply, cost


@inner(error_model="numpy")
def _outside(x, total, low, high, a, b):
    """How far outside their limits the blocks are where a weighs x of both's total."""
    y = total - x
    return (
        max(0.0, x - high[a]) + max(0.0, low[a] - x) + max(0.0, y - high[b]) + max(0.0, low[b] - y)
    )


@inner(error_model="numpy")
def _tie_some(supply, side, vwgt, found, order, wanted, to):
    """Tie vertices of the other side to `to`, in this order, until they weigh `wanted`.

    Free ones, which cost nothing, where there are any. Returns whether any was left to tie, and
    what that sends.
    """
    tied, sent, some = 0.0, np.int64(0), False
    for free in (True, False):
        for i in order:
            if side[i] == to or (free and side[i] != FREE):
                continue
            sent += tie(supply, i, to)
            tied += vwgt[found[i]]
            some = True
            if tied >= wanted:
                break
        if some:
            break
    return some, sent


@inner(error_model="numpy")
def _deepest_first(part, a, found, count):
    """The corridor from far inside block a to far inside the other; it lies breadth first."""
    order = np.empty(count, np.int32)
    filled = 0
    for i in range(count - 1, -1, -1):
        if part[found[i]] == a:
            order[filled] = i
            filled += 1
    for i in range(count):
        if part[found[i]] != a:
            order[filled] = i
            filled += 1
    return order


@inner(error_model="numpy")
def _cut(
    start, head, back, room, supply, cost, vwgt, part, found, count, fixed, total, low, high, a, b,
    most_outside, side,
):  # fmt: skip
    """Find a cut cheaper than `cost` that keeps to the limits; its gain, 0 where there is none.

    side (count,) int8: where a vertex is then. fixed: what block a weighs outside the corridor.
    """
    far, queue = np.empty(count, np.int32), np.empty(count, np.int32)
    current, path = np.empty(count, np.int32), np.empty(count + 1, np.int32)
    # What block a may weigh.
    lowest, highest = max(low[a], total - high[b]), min(high[a], total - low[b])
    middle = 0.5 * (lowest + highest)
    order = _deepest_first(part, a, found, count)
    most_looks = MOST_LOOKS * (head.size + count)
    flow = np.int64(0)
    while True:
        sent = send_all(
            start, head, back, room, supply, cost - flow, most_looks, far, queue, current, path
        )
        flow += sent
        if sent < 0 or flow >= cost:
            return 0
        extreme_cuts(start, head, back, room, supply, queue, side)
        least, most = fixed, fixed
        for i in range(count):
            w = vwgt[found[i]]
            least += w if side[i] == SOURCE else 0.0
            most += w if side[i] != SINK else 0.0
        smaller = abs(least - middle) <= abs(most - middle)
        x = least if smaller else most
        if _outside(x, total, low, high, a, b) <= most_outside:
            for i in range(count):
                if side[i] == FREE:
                    side[i] = SINK if smaller else SOURCE
            return cost - flow
        if x < middle:
            some, sent = _tie_some(
                supply, side, vwgt, found, order, TIED_AT_ONCE * (lowest - x), SOURCE
            )
        else:
            some, sent = _tie_some(
                supply, side, vwgt, found, order[::-1], TIED_AT_ONCE * (x - highest), SINK
            )
        flow += sent
        if not some:
            return 0


@njit(cache=True, nogil=True, error_model="numpy")
def cut_pairs(
    xadj, adjncy, adjwgt, vwgt, part, weight, low, high, price, reach, k, pairs, begins, ends,
    vertices,
    first, last, local, gain,
):  # fmt: skip
    """Cut pairs[first:last] anew, each in turn; their blocks are no other call's.

    pairs (p,): lower block * k + higher; vertices[begins[i]:ends[i]] are at the border of pair
    i, or were. reach (k,): what a block's side of a corridor may weigh. local (n,) int32 is -1
    before and after; gain (p,) int64, in prices.
    """
    room = min(vwgt.size, MOST_VERTICES)
    found, layer = np.empty(room, np.int32), np.empty(room, np.int32)
    caps = np.empty(2)
    for i in range(first, last):
        a, b = pairs[i] // k, pairs[i] % k
        near = min(reach[a], reach[b])
        caps[0], caps[1] = min(near, 0.5 * weight[a]), min(near, 0.5 * weight[b])
        count = _corridor(
            xadj, adjncy, vwgt, part, a, b, vertices[begins[i] : ends[i]], caps, local, found,
            layer,
        )  # fmt: skip
        start, head, back, room, supply, cost = _network(
            xadj, adjncy, adjwgt, part, a, b, price, local, found, count
        )
        fixed = weight[a]
        for j in range(count):
            if part[found[j]] == a:
                fixed -= vwgt[found[j]]
        total = weight[a] + weight[b]
        side = np.empty(count, np.int8)
        gain[i] = _cut(
            start, head, back, room, supply, cost, vwgt, part, found, count, fixed, total, low,
            high, a, b, _outside(weight[a], total, low, high, a, b), side,
        )  # fmt: skip
        if gain[i] > 0:
            _assign(vwgt, part, weight, a, b, side, found, count)
        for j in range(count):
            local[found[j]] = -1


@inner(error_model="numpy")
def _assign(vwgt, part, weight, a, b, side, found, count):
    """Give the corridor's vertices to the blocks of their side of the cut."""
    for j in range(count):
        v = found[j]
        to = a if side[j] == SOURCE else b
        if to == part[v]:
            continue
        weight[part[v]] -= vwgt[v]
        weight[to] += vwgt[v]
        part[v] = to


@njit(cache=True, nogil=True)
def colour_pairs(pairs, order, k, colour):
    """Give each pair of `order` the first colour that no pair with one of its blocks has."""
    used = [np.zeros(8, np.bool_) for _ in range(k)]
    for i in order:
        a, b = pairs[i] // k, pairs[i] % k
        c = 0
        while (c < used[a].size and used[a][c]) or (c < used[b].size and used[b][c]):
            c += 1
        colour[i] = c
        for block in (a, b):
            if c >= used[block].size:
                longer = np.zeros(2 * c, np.bool_)
                copy_to(used[block], longer)
                used[block] = longer
            used[block][c] = True
