"""Kernels of pairwise FM: two blocks, the vertices near their common border, everything exact.

Pairs that share no block touch different vertices and different weights, so they may run side by
side: whatever else they read of each other's vertices is only that those lie in neither block.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.refinement.fm_kernels import drop, sift_down, sift_up

OUT, MOVED = -1, -2  # what `place` says of vertices that are in no heap


@njit(cache=True, nogil=True, error_model="numpy")
def border_keys(xadj, adjncy, adjwgt, part, vertices, k, keys, weights):
    """List every edge between blocks p < q that one of the vertices has at p: p k + q and its
    weight; returns how many."""
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
    """List the vertices of blocks a and b within `depth` steps of their common border, as far as
    there is room; returns how many. members: those that may be at the border; seen (n,) int8 is
    0 before and after.
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


@inner(forceinline=True, error_model="numpy")
def _outside(weight, low, high):
    return max(0.0, weight - high) + max(0.0, low - weight)


@inner(error_model="numpy")
def _search(
    xadj, adjncy, adjwgt, vwgt, part, a, b, weight, low, high, found, backwards, patience, place,
    moved,
):  # fmt: skip
    """Move vertices between a and b, best gain first, each once, until `patience` moves brought
    nothing; returns the moves up to the best point, all moves, the gain and the imbalance there.
    """
    unit = adjwgt.size == 0
    total = found.size
    items, keys = np.empty((2, total), np.int32), np.empty((2, total), np.int64)
    size = np.zeros(2, np.int64)
    for i in range(total):
        v = found[total - 1 - i] if backwards else found[i]
        gain = 0
        s = 0 if part[v] == a else 1
        for e in range(xadj[v], xadj[v + 1]):
            q = part[adjncy[e]]
            if q == a or q == b:
                x = 1 if unit else np.int64(adjwgt[e])
                gain += -x if q == part[v] else x
        items[s, size[s]], keys[s, size[s]] = v, gain
        size[s] += 1
        sift_up(items[s], keys[s], place, size[s] - 1)
    off = _outside(weight[a], low[a], high[a]) + _outside(weight[b], low[b], high[b])
    gained, best, best_off, n_moved, n_best = 0, 0, off, 0, 0
    while size[0] + size[1] > 0 and n_moved - n_best <= patience:
        side, chosen_off = -1, 0.0
        for s in range(2):
            if size[s] == 0:
                continue
            p, q = (a, b) if s == 0 else (b, a)
            w = vwgt[items[s, 0]]
            after = _outside(weight[p] - w, low[p], high[p])
            after += _outside(weight[q] + w, low[q], high[q])
            if after <= off and (side < 0 or keys[s, 0] > keys[side, 0]):
                side, chosen_off = s, after
        if side < 0:  # neither best one may move: they are out, the next may be lighter
            for s in range(2):
                if size[s] > 0:
                    v = items[s, 0]
                    size[s] = drop(items[s], keys[s], place, 0, size[s])
                    place[v] = OUT
            continue
        p, q = (a, b) if side == 0 else (b, a)
        v, gain = items[side, 0], keys[side, 0]
        size[side] = drop(items[side], keys[side], place, 0, size[side])
        place[v] = MOVED
        part[v] = q
        weight[p] -= vwgt[v]
        weight[q] += vwgt[v]
        off = chosen_off
        gained += gain
        moved[n_moved] = v
        n_moved += 1
        if off < best_off or gained > best:
            best, best_off, n_best = gained, off, n_moved
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            r = part[u]
            if (r != a and r != b) or place[u] < 0:
                continue
            x = 1 if unit else np.int64(adjwgt[e])
            s = 0 if r == a else 1
            if r == q:
                keys[s, place[u]] -= 2 * x
                sift_down(items[s], keys[s], place, place[u], size[s])
            else:
                keys[s, place[u]] += 2 * x
                sift_up(items[s], keys[s], place, place[u])
    for v in found:
        place[v] = OUT
    return n_best, n_moved, best, best_off


@inner(forceinline=True, error_model="numpy")
def _flip(vwgt, part, a, b, weight, v):
    p = part[v]
    q = b if p == a else a
    part[v] = q
    weight[p] -= vwgt[v]
    weight[q] += vwgt[v]


@njit(cache=True, nogil=True, error_model="numpy")
def refine_pair(xadj, adjncy, adjwgt, vwgt, part, a, b, weight, low, high, found, patience, place):
    """Search twice, from either end of `found`, and keep the better result; returns its gain.

    part (n,) and weight (k,) change; place (n,) is -1 before and after. Balance comes first: no
    result leaves a and b together further outside [low, high], and a loss of cut only makes up
    for less of it.
    """
    moved = np.empty((2, found.size), np.int32)
    kept = np.zeros(2, np.int64)
    gain = np.zeros(2, np.int64)
    off = np.zeros(2)
    before_a, before_b = weight[a], weight[b]
    for turn in range(2):
        kept[turn], n_moved, gain[turn], off[turn] = _search(
            xadj, adjncy, adjwgt, vwgt, part, a, b, weight, low, high, found, turn == 1,
            patience, place, moved[turn],
        )  # fmt: skip
        for i in range(n_moved):
            _flip(vwgt, part, a, b, weight, moved[turn, i])
        weight[a], weight[b] = before_a, before_b
    better = 1 if off[1] < off[0] or (off[1] == off[0] and gain[1] > gain[0]) else 0
    for i in range(kept[better]):
        _flip(vwgt, part, a, b, weight, moved[better, i])
    return gain[better]
