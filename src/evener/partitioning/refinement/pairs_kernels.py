"""Neighbouring blocks: groups and pairs of blocks, and pairwise FM near a common border.

Groups, and pairs that share no block, are refined in parallel. Parallel searches change different
vertices and block weights; about vertices of other blocks, a search only reads that they are in
none of its own.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.heap_kernels import (
    SideHeaps,
    drop_top,
    lower_key,
    push_to,
    raise_key,
)
from evener.partitioning.refinement.fm_kernels import outside


@njit(cache=True, nogil=True)
def list_by_block(part, vertices, starts, listed):
    """List the vertices by block, in their order within a block; starts (k + 1,) must be zero."""
    for v in vertices:
        starts[part[v] + 1] += 1
    for b in range(starts.size - 1):
        starts[b + 1] += starts[b]
    place = starts[:-1].copy()
    for v in vertices:
        b = part[v]
        listed[place[b]] = v
        place[b] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def quotient_arcs(
    xadj, adjncy, adjwgt, part, listed, starts, first, last, other, weight, degree
):  # fmt: skip
    """List the neighbours of blocks [first, last) with the edge weights; return their number.

    Only edges of the listed vertices count. other, weight: the neighbours, block after block;
    degree (k,): the number of neighbours.
    """
    unit = adjwgt.size == 0
    pull = np.zeros(degree.size, np.int64)
    size = 0
    for p in range(first, last):
        begin = size
        for i in range(starts[p], starts[p + 1]):
            v = listed[i]
            for e in range(xadj[v], xadj[v + 1]):
                q = part[adjncy[e]]
                x = 1 if unit else np.int64(adjwgt[e])
                if q != p and x > 0:
                    if pull[q] == 0:
                        other[size] = q
                        size += 1
                    pull[q] += x
        for i in range(begin, size):
            weight[i] = pull[other[i]]
            pull[other[i]] = 0
        degree[p] = size - begin
    return size


@njit(cache=True, nogil=True)
def group_blocks(starts, other, weight, order, groups, group_of):
    """Grow groups of blocks with about equal boundaries, each along its heaviest connections.

    starts (k + 1,), other, weight: the neighbours of each block. A group begins with the first
    remaining block of `order`, and continues with the next one if no remaining block is its
    neighbour.
    """
    k = order.size
    share = weight.sum() / groups
    group_of[:] = -1
    pull, front = np.zeros(k, np.int64), np.empty(k, np.int64)
    following = 0
    for g in range(groups):
        filled, members, width = 0.0, 0, 0
        while filled < share or g == groups - 1:
            b = -1
            for i in range(width):
                c = front[i]
                if b < 0 or pull[c] > pull[b] or (pull[c] == pull[b] and c < b):
                    b = c
            while b < 0 and following < k:
                if group_of[order[following]] < 0:
                    b = order[following]
                else:
                    following += 1
            if b < 0:
                break
            own = weight[starts[b] : starts[b + 1]].sum()
            if members > 0 and g < groups - 1 and filled + 0.5 * own > share:
                break
            group_of[b] = g
            filled += own
            members += 1
            kept = 0
            for i in range(width):
                if front[i] != b:
                    front[kept] = front[i]
                    kept += 1
            width = kept
            for i in range(starts[b], starts[b + 1]):
                c = other[i]
                if group_of[c] < 0:
                    if pull[c] == 0:
                        front[width] = c
                        width += 1
                    pull[c] += weight[i]
        for i in range(width):
            pull[front[i]] = 0


OUT, MOVED = -1, -2  # place of vertices that are in no heap


@njit(cache=True, nogil=True, error_model="numpy")
def border_keys(xadj, adjncy, adjwgt, part, vertices, k, keys, weights):
    """List the edges from the given vertices in a block p to blocks q > p; return their number.

    keys: p k + q of each edge; weights: edge weights.
    """
    unit = adjwgt.size == 0
    count = 0
    for v in vertices:
        p = np.int64(part[v])
        for e in range(xadj[v], xadj[v + 1]):
            q = part[adjncy[e]]
            if p < q:
                keys[count] = p * k + q
                weights[count] = 1 if unit else adjwgt[e]
                count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def near_border(xadj, adjncy, part, a, b, members_a, members_b, depth, seen, found):
    """List vertices of a and b within `depth` hops of their common border; return their number.

    Lists at most found.size vertices. members_a, members_b: vertices that may be at the border;
    seen (n,) int8 is 0 before and after.
    """
    count = 0
    for members in (members_a, members_b):
        for v in members:
            p = part[v]
            if seen[v] or (p != a and p != b) or count == found.size:
                continue
            for e in range(xadj[v], xadj[v + 1]):
                q = part[adjncy[e]]
                if q != p and (q == a or q == b):
                    seen[v] = 1
                    found[count] = v
                    count += 1
                    break
    first = 0
    for _ in range(depth):
        last = count
        for i in range(first, last):
            v = found[i]
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                q = part[u]
                if (q == a or q == b) and not seen[u] and count < found.size:
                    seen[u] = 1
                    found[count] = u
                    count += 1
        first = last
    for i in range(count):
        seen[found[i]] = 0
    return count


@inner(error_model="numpy", counted=False)
def _search(graph, part, a, b, weight, limits, found, backwards, patience, heaps, moved):
    """Move vertices between a and b, largest gain first, each at most once.

    Ends after `patience` moves without a new best state. Returns the number of moves up to the best
    state, the number of all moves, and the gain and the excess of weight in the best state.
    """
    unit = graph.adjwgt.size == 0
    total, (low, high) = found.size, limits
    place, keys = heaps.place, heaps.keys
    heaps.size[:] = 0
    for i in range(total):
        v = found[total - 1 - i] if backwards else found[i]
        gain = 0
        for e in range(graph.xadj[v], graph.xadj[v + 1]):
            q = part[graph.adjncy[e]]
            if q == a or q == b:
                x = 1 if unit else np.int64(graph.adjwgt[e])
                gain += -x if q == part[v] else x
        push_to(heaps, 0 if part[v] == a else 1, v, gain)
    off = outside(weight[a], low[a], high[a]) + outside(weight[b], low[b], high[b])
    gained, best, best_off, n_moved, n_best = 0, 0, off, 0, 0
    while heaps.size[0] + heaps.size[1] > 0 and n_moved - n_best <= patience:
        side, chosen_off = -1, 0.0
        for s in range(2):
            if heaps.size[s] == 0:
                continue
            p, q = (a, b) if s == 0 else (b, a)
            w = graph.vwgt[heaps.items[s, 0]]
            after = outside(weight[p] - w, low[p], high[p])
            after += outside(weight[q] + w, low[q], high[q])
            if after <= off and (side < 0 or keys[s, 0] > keys[side, 0]):
                side, chosen_off = s, after
        if side < 0:  # neither of the first may move; the next ones may be lighter
            for s in range(2):
                if heaps.size[s] > 0:
                    drop_top(heaps, s, OUT)
            continue
        p, q = (a, b) if side == 0 else (b, a)
        gain = keys[side, 0]
        v = drop_top(heaps, side, MOVED)
        _flip(graph.vwgt, part, a, b, weight, v)
        off = chosen_off
        gained += gain
        moved[n_moved] = v
        n_moved += 1
        if off < best_off or gained > best:
            best, best_off, n_best = gained, off, n_moved
        for e in range(graph.xadj[v], graph.xadj[v + 1]):
            u = graph.adjncy[e]
            r, i = part[u], place[u]
            if (r != a and r != b) or i < 0:
                continue
            x = 1 if unit else np.int64(graph.adjwgt[e])
            s = 0 if r == a else 1
            if r == q:
                lower_key(heaps, s, i, keys[s, i] - 2 * x)
            else:
                raise_key(heaps, s, i, keys[s, i] + 2 * x)
    for v in found:
        place[v] = OUT
    return n_best, n_moved, best, best_off


@inner(forceinline=True, error_model="numpy", counted=False)
def _flip(vwgt, part, a, b, weight, v):
    """Move v to the other block of the pair."""
    p = part[v]
    q = b if p == a else a
    part[v] = q
    weight[p] -= vwgt[v]
    weight[q] += vwgt[v]


@njit(cache=True, nogil=True, error_model="numpy")
def refine_pair(graph, part, a, b, weight, limits, found, patience, place):
    """Refine two blocks by two searches, from either end of `found`; return the better gain.

    part (n,) and weight (k,) change; limits: low and high (k,); place (n,) is -1 before and after.
    Balance has priority: the total excess of both blocks never grows, and a larger cut is accepted
    only if the excess falls.
    """
    moved = np.empty((2, found.size), np.int32)
    items, keys = np.empty((2, found.size), np.int32), np.empty((2, found.size), np.int64)
    heaps = SideHeaps(items, keys, np.zeros(2, np.int64), place)
    kept, gain, off = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2)
    before_a, before_b = weight[a], weight[b]
    for turn in range(2):
        kept[turn], n_moved, gain[turn], off[turn] = _search(
            graph, part, a, b, weight, limits, found, turn == 1, patience, heaps, moved[turn]
        )
        for i in range(n_moved):
            _flip(graph.vwgt, part, a, b, weight, moved[turn, i])
        weight[a], weight[b] = before_a, before_b
    better = 1 if off[1] < off[0] or (off[1] == off[0] and gain[1] > gain[0]) else 0
    for i in range(kept[better]):
        _flip(graph.vwgt, part, a, b, weight, moved[better, i])
    return gain[better]
