"""Kernel of localized k-way FM within limits on several weights: see fm.py of this package.

The search is that of refinement/fm_kernels.py; what differs is which moves are allowed, and that
blocks off their limits are compared by the sum over all weights.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.multiconstraint.multiconstraint_kernels import outside
from evener.partitioning.refinement.fm_kernels import (
    HEAP,
    HUB,
    NEVER,
    drop,
    sift_down,
    sift_up,
)

ROUNDING = 1e-11  # of a target: sums in another order differ by no more


class SearchLimits(NamedTuple):
    """Limits on every weight of every block, each array (k, c).

    low, high: what blocks end within, or no further outside than they were; soft_low, soft_high:
    what a search keeps on its way; scale: one over the target, the unit of violations.
    """

    low: np.ndarray
    high: np.ndarray
    soft_low: np.ndarray
    soft_high: np.ndarray
    scale: np.ndarray


class SearchMarks(NamedTuple):
    """Marks of every vertex, each array (n,), kept from round to round.

    place int32: where it stands in the heap, -1 between searches; lock int8: the round in which
    it was moved last; active int8: searches start from it; touched int8: it, or a neighbour, was
    moved for good in this round.
    """

    place: np.ndarray
    lock: np.ndarray
    active: np.ndarray
    touched: np.ndarray


class StopRule(NamedTuple):
    """When searches end.

    A search ends after `patience` moves without gain if their mean gain is below what a random
    walk of their spread would show (times `slope`). It does not begin with a move that loses more
    than most_lost per unit of edge weight. budget: adjacency entries read by all searches.
    """

    patience: int
    slope: float
    most_lost: float
    budget: int


@inner(error_model="numpy", counted=False)
def _may_leave(loads, v, p, weight, low):
    """Whether block p keeps its soft lower limits without v."""
    for i in range(loads.shape[1]):
        if loads[v, i] > 0.0 and weight[p, i] - loads[v, i] < low[p, i]:
            return False
    return True


@inner(error_model="numpy", counted=False)
def _fullness_with(loads, v, q, weight, high):
    """How full block q is with v, in its fullest weight; infinite where v does not fit."""
    most = 0.0
    for i in range(loads.shape[1]):
        after = weight[q, i] + loads[v, i]
        if loads[v, i] > 0.0 and after > high[q, i]:
            return np.inf
        most = max(most, after / max(high[q, i], 1e-300))
    return most


@inner(error_model="numpy", counted=False)
def _best_move(v, graph, loads, part, weight, limits, price, pull, near):
    """Return (gain, block) of v's best move within the soft limits; block -1 where there is none.

    Of equal gains, the block that stays emptiest. pull (k,) is zero before and after; near (k,)
    is scratch.
    """
    xadj, adjncy, adjwgt, _ = graph
    unit = adjwgt.size == 0
    p = part[v]
    if not _may_leave(loads, v, p, weight, limits.soft_low):
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
                near[count] = q
                count += 1
            pull[q] += x
    total = own
    for i in range(count):
        total += pull[near[i]]
    best, best_gain, best_fill = -1, NEVER, 1e300
    for i in range(count):
        q = near[i]
        pulled = pull[q]
        pull[q] = 0
        gain = -price[q] * (total - 2 * pulled)
        if best >= 0 and gain < best_gain:
            continue
        fill = _fullness_with(loads, v, q, weight, limits.soft_high)
        if fill == np.inf:
            continue
        if best < 0 or gain > best_gain or fill < best_fill:
            best, best_gain, best_fill = q, gain, fill
    return best_gain + price[p] * (total - 2 * own), best


@inner(error_model="numpy", counted=False)
def _shift(loads, v, p, q, weight, limits):
    """Move v's loads from p to q; return how much further off their limits both are, in targets."""
    low, high, _, _, scale = limits
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
def search(graph, loads, part, weight, limits, price, seeds, marks, stamp, rule):
    """Search from every seed in turn; return the gain of all searches together.

    loads (n, c): the weights of vertices; weight (k, c): those of blocks; price (k,) int64: what
    an edge at the border of each block counts. stamp: the number of the round. A search moves the
    best vertex of its heap, whatever its gain, and is rolled back to the best point at which no
    block is further outside its limits.
    """
    xadj, adjncy, adjwgt, _ = graph
    place, lock, active, touched = marks
    unit = adjwgt.size == 0
    k, c = weight.shape
    items, keys = np.empty(HEAP, np.int32), np.empty(HEAP, np.int64)
    moved, came_from = np.empty(HEAP, np.int32), np.empty(HEAP, np.int32)
    pull, near = np.zeros(k, np.int64), np.empty(k, np.int32)
    total, work = 0, 0
    for one in seeds:
        seed = np.int64(one)
        if work > rule.budget:
            break
        degree = np.int64(xadj[seed + 1]) - np.int64(xadj[seed])
        if lock[seed] == stamp or degree > HUB:
            continue
        work += degree
        key, to = _best_move(seed, graph, loads, part, weight, limits, price, pull, near)
        active[seed] = 0
        if to < 0:
            continue
        edges = degree if unit else np.int64(adjwgt[xadj[seed] : xadj[seed + 1]].sum())
        if key < -rule.most_lost * edges:
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
            gain, to = _best_move(v, graph, loads, part, weight, limits, price, pull, near)
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
            off += _shift(loads, v, p, to, weight, limits)
            part[v] = to
            lock[v] = stamp
            moved[n_moved], came_from[n_moved] = v, p
            n_moved += 1
            gained += gain
            if (gained > best and off <= ROUNDING) or (
                gained == best and off < best_off - ROUNDING
            ):
                best, n_best, best_off = gained, n_moved, off
                steps, sum1, sum2 = 0, 0.0, 0.0
            else:
                steps += 1
                sum1 += gain
                sum2 += np.float64(gain) * gain
                mean = sum1 / steps
                if steps > rule.patience and mean < 0:
                    spread = sum2 / steps - mean * mean
                    if steps * mean * mean > rule.slope * spread + rule.patience:
                        break
                elif steps > 20 * rule.patience:
                    break
            if n_moved >= HEAP - 1 or work > rule.budget:
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
                        u, graph, loads, part, weight, limits, price, pull, near
                    )
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
            touched[v] = 1
            for e in range(xadj[v], xadj[v + 1]):
                touched[adjncy[e]] = 1
        total += best
    return total
