"""Localized k-way FM for vertices of several weights: `fm_kernels.search`, limits by column."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import njit
from evener.partitioning.multiconstraint.multiconstraint_kernels import outside
from evener.partitioning.refinement.fm_kernels import (
    HEAP,
    HUB,
    NEVER,
    drop,
    sift_down,
    sift_up,
)

HAIR = 1e-11  # of a target: what sums in another order may differ by


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _may_leave(loads, v, p, weight, low):
    for i in range(loads.shape[1]):
        if loads[v, i] > 0.0 and weight[p, i] - loads[v, i] < low[p, i]:
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _fullness_with(loads, v, q, weight, high):
    """How full block q is with v, the fullest column; infinite where it has no room."""
    most = 0.0
    for i in range(loads.shape[1]):
        after = weight[q, i] + loads[v, i]
        if loads[v, i] > 0.0 and after > high[q, i]:
            return np.inf
        most = max(most, after / max(high[q, i], 1e-300))
    return most


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _best_move(
    v, xadj, adjncy, adjwgt, loads, part, weight, low, high, price, pull, touched
):  # fmt: skip
    """The block that v gains most by moving to within limits: (gain, block or -1).

    pull (k,) is zero before and after; touched (k,) is scratch. Of equal gains, the block that
    stays emptiest.
    """
    unit = adjwgt.size == 0
    p = part[v]
    if not _may_leave(loads, v, p, weight, low):
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
        pulled = pull[q]
        pull[q] = 0
        gain = -price[q] * (total - 2 * pulled)
        if best >= 0 and gain < best_gain:
            continue
        fill = _fullness_with(loads, v, q, weight, high)
        if fill == np.inf:
            continue
        if best < 0 or gain > best_gain or fill < best_fill:
            best, best_gain, best_fill = q, gain, fill
    return best_gain + price[p] * (total - 2 * own), best


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _shift(loads, v, p, q, weight, low, high, scale):
    """Move v's loads from p to q; how much further off their limits, in targets, both are."""
    off = 0.0
    for i in range(loads.shape[1]):
        w = loads[v, i]
        if w > 0.0:
            off -= outside(weight[p, i], low[p, i], high[p, i]) * scale[p, i]
            off -= outside(weight[q, i], low[q, i], high[q, i]) * scale[q, i]
            weight[p, i] -= w
            weight[q, i] += w
            off += outside(weight[p, i], low[p, i], high[p, i]) * scale[p, i]
            off += outside(weight[q, i], low[q, i], high[q, i]) * scale[q, i]
    return off


@njit(cache=True, nogil=True, error_model="numpy")
def search(
    xadj, adjncy, adjwgt, loads, part, weight, low, high, soft_low, soft_high, scale, price,
    seeds, place, lock, stamp, active, touched_next, patience, slope, most_lost, budget,
):  # fmt: skip
    """Search from every seed in turn; the gain in all. As `fm_kernels.search`, for loads (n, c),
    weight, limits and scale (k, c): one over target; and in one group.
    """
    unit = adjwgt.size == 0
    k, c = weight.shape
    items, keys = np.empty(HEAP, np.int32), np.empty(HEAP, np.int64)
    moved, came_from = np.empty(HEAP, np.int32), np.empty(HEAP, np.int32)
    pull, scratch = np.zeros(k, np.int64), np.empty(k, np.int32)
    total, work = 0, 0
    for one in seeds:
        seed = np.int64(one)
        if work > budget:
            break
        degree = np.int64(xadj[seed + 1]) - np.int64(xadj[seed])
        if lock[seed] == stamp or degree > HUB:
            continue
        work += degree
        key, to = _best_move(
            seed, xadj, adjncy, adjwgt, loads, part, weight, soft_low, soft_high, price, pull,
            scratch,
        )  # fmt: skip
        active[seed] = 0
        if to < 0:
            continue
        edges = degree if unit else np.int64(adjwgt[xadj[seed] : xadj[seed + 1]].sum())
        if key < -most_lost * edges:
            continue
        items[0], keys[0] = seed, key
        place[seed] = 0
        size = 1
        gained, best, n_moved, n_best = 0, 0, 0, 0
        off, best_off = 0.0, 0.0
        steps, sum1, sum2 = 0, 0.0, 0.0
        while size > 0:
            v, key = np.int64(items[0]), keys[0]
            work += np.int64(xadj[v + 1]) - np.int64(xadj[v])
            gain, to = _best_move(
                v, xadj, adjncy, adjwgt, loads, part, weight, soft_low, soft_high, price, pull,
                scratch,
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
            p = part[v]
            off += _shift(loads, v, p, to, weight, low, high, scale)
            part[v] = to
            lock[v] = stamp
            moved[n_moved], came_from[n_moved] = v, p
            n_moved += 1
            gained += gain
            if (gained > best and off <= HAIR) or (gained == best and off < best_off - HAIR):
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
                u = np.int64(adjncy[e])
                if lock[u] == stamp:
                    continue
                i = place[u]
                if i < 0:
                    if xadj[u + 1] - xadj[u] > HUB:
                        continue
                    work += np.int64(xadj[u + 1]) - np.int64(xadj[u])
                    gain, target = _best_move(
                        u, xadj, adjncy, adjwgt, loads, part, weight, soft_low, soft_high, price,
                        pull, scratch,
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
            q = part[v]
            for i in range(c):
                weight[q, i] -= loads[v, i]
                weight[p, i] += loads[v, i]
            part[v] = p
            lock[v] = 0
        for i in range(n_best):
            v = moved[i]
            touched_next[v] = 1
            for e in range(xadj[v], xadj[v + 1]):
                touched_next[adjncy[e]] = 1
        total += best
    return total
