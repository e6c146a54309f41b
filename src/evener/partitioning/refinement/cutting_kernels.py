"""Kernels that replace the border of two blocks by a minimum cut through a corridor along it.

The corridor's vertices may go to either block; the rest of each block is the source or the sink.
Costs are those of localized FM: an edge between blocks p and q costs its weight x (price[p] +
price[q]). If a minimum cut is too unbalanced, more vertices are tied to the side that is too light
and more flow is sent, as long as the cut is cheaper than the old border [HS18]_.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner, njit
from evener.partitioning.refinement.fm_kernels import HUB, outside
from evener.partitioning.refinement.maxflow_kernels import (
    FREE,
    SINK,
    SOURCE,
    TIED,
    FlowNetwork,
    FlowScratch,
    extreme_cuts,
    send_all,
    tie,
)

MOST_VERTICES = 1 << 17  # of a corridor
MOST_LOOKS = 50  # reads of each arc of a corridor, on average
NEVER_TAKEN = -2  # place in a corridor of vertices that keep their block
TIED_AT_ONCE = 0.25  # share of the weight that the lighter side lacks


class Borders(NamedTuple):
    """Pairs (p,) int64 of neighbouring blocks, lower x k + higher, and the vertices between them.

    The vertices of pair i are vertices[begins[i]:ends[i]]; some may no longer be at that border.
    """

    pairs: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    vertices: np.ndarray


class Corridor(NamedTuple):
    """Vertices around the border of two blocks, and limits of the corridor.

    found (room,) int32: the vertices, breadth first. layer (room,): hops to the border, from 1.
    local (n,): the index of a vertex in found, or -1, or NEVER_TAKEN. weight (2,): weights of both
    sides; most (2,): their limits; shut (2,): whether a vertex did not fit.
    """

    found: np.ndarray
    layer: np.ndarray
    local: np.ndarray
    weight: np.ndarray
    most: np.ndarray
    shut: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def list_borders(xadj, adjncy, part, k, seen, first, last, pair, vertex):
    """List each vertex of [first, last) with each other block next to it.

    pair int64: lower block x k + higher block. vertex int32: the vertex. Both may be empty, to
    count only. Returns the number of entries. seen (k,) int64 must be -1.
    """
    count = 0
    for v in range(first, last):
        p = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            q = part[adjncy[e]]
            if q != p and seen[q] != v:
                seen[q] = v
                if pair.size > 0:
                    pair[count], vertex[count] = np.int64(min(p, q)) * k + max(p, q), v
                count += 1
    return count


@inner(error_model="numpy", counted=False)
def _fill_corridor(graph, part, a, b, border, corridor):
    """Collect vertices of blocks a and b around their border; return their number.

    The search is breadth first from the border on both sides; each side ends at its weight limit,
    or when the corridor is full.
    """
    found, layer, local, shut = corridor.found, corridor.layer, corridor.local, corridor.shut
    count = 0
    corridor.weight[:], shut[:] = 0.0, False
    for near in border:
        v = np.int64(near)
        if (part[v] != a and part[v] != b) or local[v] == NEVER_TAKEN:
            continue
        other = b if part[v] == a else a
        for e in range(graph.xadj[v], graph.xadj[v + 1]):
            if part[graph.adjncy[e]] == other and local[v] < 0:
                count = _take(graph, part, b, v, 1, corridor, count)
    i = 0
    while i < count:
        v, steps = found[i], layer[i]
        p = part[v]
        other = b if p == a else a
        for e in range(graph.xadj[v], graph.xadj[v + 1]):
            u = np.int64(graph.adjncy[e])
            if local[u] >= 0:
                continue
            if part[u] == p:
                reached = steps + 1
            elif part[u] == other and steps == 1:
                reached = 1
            else:
                continue
            count = _take(graph, part, b, u, reached, corridor, count)
        i += 1
        if shut[0] and shut[1]:
            break
    return count


@inner(error_model="numpy", counted=False)
def _take(graph, part, b, v, steps, corridor, count):
    """Add v to the corridor if its side has room; return the corridor's new size."""
    side = 1 if part[v] == b else 0
    if graph.xadj[v + 1] - graph.xadj[v] > HUB or corridor.local[v] == NEVER_TAKEN:
        return count
    w = graph.vwgt[v]
    if corridor.weight[side] + w > corridor.most[side] or count == corridor.found.size:
        corridor.shut[side] = True
        return count
    corridor.weight[side] += w
    corridor.local[v], corridor.found[count], corridor.layer[count] = count, v, steps
    return count + 1


@inner(error_model="numpy")
def _network(graph, part, a, b, price, local, found):
    """Return the corridor as a network (source: block a, sink: block b), and the border's cost."""
    xadj, adjncy, adjwgt = graph.xadj, graph.adjncy, graph.adjwgt
    unit, count = adjwgt.size == 0, found.size
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
    network = FlowNetwork(
        start, np.empty(m, np.int32), np.empty(m, np.int32), np.empty(m, np.int64), supply
    )
    filled = start[:-1].copy()
    return network, _fill_network(graph, part, a, b, price, local, found, network, filled)


@inner(error_model="numpy", counted=False)
def _fill_network(graph, part, a, b, price, local, found, network, filled):
    """Set the arcs and supplies of the network; return the cost of the present border."""
    xadj, adjncy, adjwgt = graph.xadj, graph.adjncy, graph.adjwgt
    _, head, back, room, supply = network
    unit, both, cost = adjwgt.size == 0, price[a] + price[b], np.int64(0)
    for i in range(found.size):
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
    return cost


@inner(error_model="numpy", counted=False)
def _outside(x, total, limits, a, b):
    """Return by how much a and b are outside their limits if a weighs x and both weigh `total`."""
    return outside(x, limits.low[a], limits.high[a]) + outside(
        total - x, limits.low[b], limits.high[b]
    )


@inner(error_model="numpy", counted=False)
def _tie_some(supply, side, vwgt, found, order, wanted, to):
    """Tie vertices that are not on side `to` to it, until those tied weigh `wanted`.

    Takes vertices in `order` for the source, in reverse order for the sink; only FREE ones, which
    cost nothing, if there are any. Returns whether any vertex was left to tie, and the flow that
    tying sends.
    """
    tied, sent, some = 0.0, np.int64(0), False
    last = order.size - 1
    for free in (True, False):
        for at in range(order.size):
            i = order[at] if to == SOURCE else order[last - at]
            if side[i] == to or (free and side[i] != FREE):
                continue
            # One tied to the other side gives all it has, which no sum of many can hold.
            sent = min(sent + tie(supply, i, to), TIED)
            tied += vwgt[found[i]]
            some = True
            if tied >= wanted:
                break
        if some:
            break
    return some, sent


@inner(error_model="numpy", counted=False)
def _deepest_first(part, a, found, order):
    """Fill order (count,): the corridor from deep inside block a to deep inside the other block."""
    filled, count = 0, found.size  # found lies breadth first
    for i in range(count - 1, -1, -1):
        if part[found[i]] == a:
            order[filled] = i
            filled += 1
    for i in range(count):
        if part[found[i]] != a:
            order[filled] = i
            filled += 1


@inner(error_model="numpy", counted=False)
def cheaper_cut(network, cost, vwgt, part, found, pair, limits, side, order, scratch):
    """Find a cut cheaper than `cost` within the limits; return the gain, or 0 if there is none.

    pair: blocks a and b, the weight of a outside the corridor, the weight of a now, and of both
    together. side (count,) int8: the result. order (count,) int32 and scratch are work arrays.
    """
    a, b, fixed, weight, total = pair
    most_outside = _outside(weight, total, limits, a, b)
    lowest = max(limits.low[a], total - limits.high[b])  # that block a may weigh
    highest = min(limits.high[a], total - limits.low[b])
    middle = 0.5 * (lowest + highest)
    _deepest_first(part, a, found, order)
    most_looks = MOST_LOOKS * (network.head.size + found.size)
    flow = np.int64(0)
    while True:
        sent = send_all(network, cost - flow, most_looks, scratch)
        flow += sent
        if sent < 0 or flow >= cost:
            return np.int64(0)
        extreme_cuts(network, scratch.queue, side)
        least, most = fixed, fixed
        for i in range(found.size):
            w = vwgt[found[i]]
            least += w if side[i] == SOURCE else 0.0
            most += w if side[i] != SINK else 0.0
        smaller = abs(least - middle) <= abs(most - middle)
        x = least if smaller else most
        if _outside(x, total, limits, a, b) <= most_outside:
            for i in range(found.size):
                if side[i] == FREE:
                    side[i] = SINK if smaller else SOURCE
            return cost - flow
        to = SOURCE if x < middle else SINK
        lacking = lowest - x if x < middle else x - highest
        some, sent = _tie_some(network.supply, side, vwgt, found, order, TIED_AT_ONCE * lacking, to)
        flow += sent
        if not some:
            return np.int64(0)


@njit(cache=True, nogil=True, error_model="numpy")
def cut_pairs(graph, blocks, reach, borders, first, last, local, gain):
    """Replace the borders of pairs [first, last) in turn; parallel calls must not share a block.

    reach (k,): largest weight of a block's side of a corridor. local (n,) int32 is -1, or
    NEVER_TAKEN, before and after; gain (p,) int64: set to the gain of each pair, in prices.
    """
    part, weight, k = blocks.part, blocks.weight, blocks.weight.size
    room = min(graph.vwgt.size, MOST_VERTICES)
    corridor = Corridor(
        np.empty(room, np.int32), np.empty(room, np.int32), local, np.empty(2), np.empty(2),
        np.empty(2, np.bool_),
    )  # fmt: skip
    for i in range(first, last):
        a, b = borders.pairs[i] // k, borders.pairs[i] % k
        near = min(reach[a], reach[b])
        corridor.most[0], corridor.most[1] = min(near, 0.5 * weight[a]), min(near, 0.5 * weight[b])
        border = borders.vertices[borders.begins[i] : borders.ends[i]]
        count = _fill_corridor(graph, part, a, b, border, corridor)
        found = corridor.found[:count]
        network, cost = _network(graph, part, a, b, blocks.price, local, found)
        fixed = weight[a]
        for j in range(count):
            if part[found[j]] == a:
                fixed -= graph.vwgt[found[j]]
        pair = (a, b, fixed, weight[a], weight[a] + weight[b])
        side, order = np.empty(count, np.int8), np.empty(count, np.int32)
        scratch = FlowScratch(
            np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32),
            np.empty(count, np.int32),
        )  # fmt: skip
        gain[i] = cheaper_cut(
            network, cost, graph.vwgt, part, found, pair, blocks.limits, side, order, scratch
        )
        if gain[i] > 0:
            _assign(graph.vwgt, part, weight, a, b, side, found)
        for j in range(count):
            local[found[j]] = -1


@inner(error_model="numpy", counted=False)
def _assign(vwgt, part, weight, a, b, side, found):
    """Assign the corridor's vertices to the block of their side of the cut."""
    for j in range(found.size):
        v = found[j]
        to = a if side[j] == SOURCE else b
        if to == part[v]:
            continue
        weight[part[v]] -= vwgt[v]
        weight[to] += vwgt[v]
        part[v] = to


@njit(cache=True, nogil=True)
def colour_pairs(pairs, order, k, colour):
    """Give each pair of `order` the lowest colour that no pair with a common block has."""
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
