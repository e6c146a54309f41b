"""Kernels of localized k-way FM: short searches that start at one boundary vertex each.

The gain of moving v from p to q is price[p] (T - 2 c_p) - price[q] (T - 2 c_q), where c_b is the
weight of v's edges into block b and T that of all: with equal prices a multiple of the cut's
change; a higher price makes a block's border dearer. Searches stay inside a group of blocks, so
that groups can be searched side by side with exact gains.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import njit

NEVER = -(1 << 60)
HEAP = 1 << 16
HUB = 256  # edges from which on a vertex stays where it is: weighing it costs too much


@njit(cache=True, nogil=True)
def shuffle(values, state):
    """Permute in place, by a generator of its own (xorshift) that starts at `state` uint64."""
    for i in range(values.size - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        j = np.int64(state % np.uint64(i + 1))
        values[i], values[j] = values[j], values[i]


@njit(cache=True, nogil=True, error_model="numpy")
def mark_boundary(xadj, adjncy, part, first, last, flag):
    """Flag the vertices of [first, last) that have a neighbour in another block."""
    for v in range(first, last):
        block = part[v]
        outside = 0
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != block:
                outside = 1
                break
        flag[v] = outside


@njit(cache=True, nogil=True, error_model="numpy")
def mark_boundary_below(xadj, adjncy, part, coarse_flag, coarse_of, first, last, flag):
    """As mark_boundary, where only members of flagged clusters can be at a boundary."""
    for v in range(first, last):
        outside = 0
        if coarse_flag[coarse_of[v]]:
            block = part[v]
            for e in range(xadj[v], xadj[v + 1]):
                if part[adjncy[e]] != block:
                    outside = 1
                    break
        flag[v] = outside


@njit(cache=True, nogil=True, error_model="numpy")
def block_borders(xadj, adjncy, adjwgt, part, border):
    """Add up the weight of the edges that leave each block (k,)."""
    unit = adjwgt.size == 0
    for v in range(part.size):
        p = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != p:
                border[p] += 1 if unit else adjwgt[e]


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def sift_up(items, keys, place, i):
    """Move entry i of the heap to where its key belongs, towards the top."""
    v, key = items[i], keys[i]
    while i > 0:
        parent = (i - 1) >> 1
        if keys[parent] >= key:
            break
        items[i], keys[i] = items[parent], keys[parent]
        place[items[i]] = i
        i = parent
    items[i], keys[i] = v, key
    place[v] = i


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def sift_down(items, keys, place, i, size):
    """Move entry i of the heap to where its key belongs, away from the top."""
    v, key = items[i], keys[i]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        items[i], keys[i] = items[child], keys[child]
        place[items[i]] = i
        i = child
    items[i], keys[i] = v, key
    place[v] = i


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def drop(items, keys, place, i, size):
    """Take entry i out of the heap; returns the new size."""
    place[items[i]] = -1
    size -= 1
    if i < size:
        old = keys[i]
        items[i], keys[i] = items[size], keys[size]
        place[items[i]] = i
        if keys[i] > old:
            sift_up(items, keys, place, i)
        else:
            sift_down(items, keys, place, i, size)
    return size


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _best_move(
    v, xadj, adjncy, adjwgt, vwgt, part, weight, high, low, price, group_of, group, pull, touched
):
    """The block that v gains most by moving to, within limits and group: (gain, block or -1).

    pull (k,) is zero before and after; touched (k,) is scratch. Of equal gains, the block that
    stays emptiest.
    """
    unit = adjwgt.size == 0
    p = part[v]
    w = vwgt[v]
    if weight[p] - w < low[p]:
        return NEVER, -1
    own = 0
    count = 0
    for e in range(xadj[v], xadj[v + 1]):
        q = part[adjncy[e]]
        x = 1 if unit else np.int64(adjwgt[e])
        if q == p:
            own += x
        elif x > 0:
            if pull[q] == 0:
                touched[count] = q
                count += 1
            pull[q] += x
    total = own
    for i in range(count):
        total += pull[touched[i]]
    best, best_gain, best_fill = -1, NEVER, 1e300
    for i in range(count):
        q = touched[i]
        c = pull[q]
        pull[q] = 0
        if group >= 0 and group_of[q] != group:
            continue
        gain = -price[q] * (total - 2 * c)
        if best >= 0 and gain < best_gain:
            continue
        after = weight[q] + w
        if after > high[q]:
            continue
        fill = after / max(high[q], 1e-300)
        if best < 0 or gain > best_gain or fill < best_fill:
            best, best_gain, best_fill = q, gain, fill
    return best_gain + price[p] * (total - 2 * own), best


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _edge_weight(xadj, adjwgt, v):
    if adjwgt.size == 0:
        return np.int64(xadj[v + 1]) - np.int64(xadj[v])
    return np.int64(adjwgt[xadj[v] : xadj[v + 1]].sum())


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _outside(weight, low, high):
    return max(0.0, weight - high) + max(0.0, low - weight)


@njit(cache=True, nogil=True, error_model="numpy")
def search(
    xadj, adjncy, adjwgt, vwgt, part, weight, low, high, soft_low, soft_high, price, group_of,
    group, seeds, place, lock, stamp, active, touched_next, patience, slope, most_lost, budget,
):  # fmt: skip
    """Search from every seed in turn inside one group (or everywhere, group -1); the gain in all.

    A search moves the best vertex of its heap, whatever its gain, until gains stop to promise
    any (`patience` steps, then a random walk's slope), and is rolled back to its best point at
    which no block is further outside [low, high] than before. soft_low and soft_high (k,) bound
    it on the way. place (n,) is -1, lock (n,) != stamp where free; active (n,) is cleared where a
    seed was tried, touched_next (n,) set around what moved. A search is not begun where its first
    move would lose more than most_lost times the seed's edge weight, in prices. After looking at
    `budget` adjacency entries it ends; seeds that are left stay active.
    """
    unit = adjwgt.size == 0
    k = price.size
    items, keys = np.empty(HEAP, np.int32), np.empty(HEAP, np.int64)
    moved, came_from = np.empty(HEAP, np.int32), np.empty(HEAP, np.int32)
    pull, scratch = np.zeros(k, np.int64), np.empty(k, np.int32)
    total, work = 0, 0
    for seed in seeds:
        if work > budget:
            break
        if lock[seed] == stamp or (group >= 0 and group_of[part[seed]] != group):
            continue
        if xadj[seed + 1] - xadj[seed] > HUB:
            continue
        work += np.int64(xadj[seed + 1]) - np.int64(xadj[seed])
        key, to = _best_move(
            seed, xadj, adjncy, adjwgt, vwgt, part, weight, soft_high, soft_low, price, group_of,
            group, pull, scratch,
        )  # fmt: skip
        if to < 0:
            if group < 0:
                active[seed] = 0
            continue
        active[seed] = 0
        if key < -most_lost * _edge_weight(xadj, adjwgt, seed):
            continue
        items[0], keys[0] = seed, key
        place[seed] = 0
        size = 1
        gained, best, n_moved, n_best = 0, 0, 0, 0
        off, best_off = 0.0, 0.0
        steps, sum1, sum2 = 0, 0.0, 0.0
        while size > 0:
            v, key = items[0], keys[0]
            work += np.int64(xadj[v + 1]) - np.int64(xadj[v])
            gain, to = _best_move(
                v, xadj, adjncy, adjwgt, vwgt, part, weight, soft_high, soft_low, price, group_of,
                group, pull, scratch,
            )  # fmt: skip
            if to < 0:
                size = drop(items, keys, place, 0, size)
                continue
            if gain < key and size > 1:
                runner_up = keys[1]
                if size > 2 and keys[2] > runner_up:
                    runner_up = keys[2]
                if gain < runner_up:
                    keys[0] = gain
                    sift_down(items, keys, place, 0, size)
                    continue
            size = drop(items, keys, place, 0, size)
            p, w = part[v], vwgt[v]
            off += (
                _outside(weight[p] - w, low[p], high[p]) - _outside(weight[p], low[p], high[p])
                + _outside(weight[to] + w, low[to], high[to])
                - _outside(weight[to], low[to], high[to])
            )  # fmt: skip
            part[v] = to
            weight[p] -= w
            weight[to] += w
            lock[v] = stamp
            moved[n_moved], came_from[n_moved] = v, p
            n_moved += 1
            gained += gain
            if (gained > best and off <= 0) or (gained == best and off < 0 and off < best_off):
                best, n_best, best_off = gained, n_moved, off
                steps, sum1, sum2 = 0, 0.0, 0.0
            else:
                steps += 1
                sum1 += gain
                sum2 += np.float64(gain) * gain
                mean = sum1 / steps
                if steps > patience and mean < 0:
                    spread = sum2 / steps - mean * mean
                    if steps * mean * mean > slope * spread + patience:
                        break
                elif steps > 20 * patience:
                    break
            if n_moved >= HEAP - 1 or work > budget:
                break
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if lock[u] == stamp or (group >= 0 and group_of[part[u]] != group):
                    continue
                i = place[u]
                if i < 0:
                    if xadj[u + 1] - xadj[u] > HUB:
                        continue
                    work += np.int64(xadj[u + 1]) - np.int64(xadj[u])
                    gain, target = _best_move(
                        u, xadj, adjncy, adjwgt, vwgt, part, weight, soft_high, soft_low, price,
                        group_of, group, pull, scratch,
                    )  # fmt: skip
                    if target >= 0 and size < HEAP - 1:
                        items[size], keys[size] = u, gain
                        size += 1
                        sift_up(items, keys, place, size - 1)
                    continue
                # Keys need only be upper bounds: the top one is evaluated before it counts.
                home = part[u]
                if home != to:
                    x = 1 if unit else np.int64(adjwgt[e])
                    keys[i] += 2 * x * (price[to] + (price[p] if home == p else 0))
                    sift_up(items, keys, place, i)
        for i in range(size):
            place[items[i]] = -1
        while n_moved > n_best:  # vertices rolled back may be moved by later searches
            n_moved -= 1
            v, p = moved[n_moved], came_from[n_moved]
            q, w = part[v], vwgt[v]
            weight[q] -= w
            weight[p] += w
            part[v] = p
            lock[v] = 0
        for i in range(n_best):
            v = moved[i]
            touched_next[v] = 1
            for e in range(xadj[v], xadj[v + 1]):
                touched_next[adjncy[e]] = 1
        total += best
    return total
