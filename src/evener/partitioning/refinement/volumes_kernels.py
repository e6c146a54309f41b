"""Kernels of refinement for volumes: searches that reduce what blocks send, counted exactly."""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.heap_kernels import (
    IndexedHeap,
    clear,
    drop,
    push,
    sift_down,
    sift_up,
    sink_top,
)
from evener.partitioning.refinement.connectivity_kernels import move, open_table
from evener.partitioning.refinement.fm_kernels import (
    HUB,
    MOST_MOVES,
    NEVER,
    mark_around,
    shift_excess,
)

LEAST_GAIN = 1e-9  # of the largest volume: a search that gains less is rolled back
ROUNDING = 1e-12  # gains that fall by less have not fallen
LEAST_WORTH = 0.1  # seeds next to no block of this worth (see Gains) are skipped
MOST_LOST = 0.15  # loss permitted for the first move of a search
PATIENCE = 10  # a search ends after this many moves without a new best state


class VolumeGoal(NamedTuple):
    """What searches minimise.

    power: exponent of the volumes, whose sum is minimised. edge: cost of a unit of cut, in values
    of the block that sends most. highest: volume that no further block may exceed. keep_total: 1 if
    the total volume may not rise.
    """

    power: float
    edge: float
    highest: int
    keep_total: int


class Gains(NamedTuple):
    """Data from which gains are computed, for blocks (k,).

    worth: gain if a block sends one value less: (volume / largest volume)^(power - 1). slot int32
    is -1 between uses; gain is scratch.
    """

    worth: np.ndarray
    slot: np.ndarray
    gain: np.ndarray


@inner(error_model="numpy", counted=False)
def best_move(tables, v, w, weight, limits, edge, gains):
    """Find the best move of v, which has weight w; return (gain, block), or block -1 if none."""
    worth, slot, gain = gains
    p = tables.part[v]
    if weight[p] - w < limits.soft_low[p]:
        return np.float64(NEVER), -1
    open_table(tables, v)
    first = np.int64(tables.xadj[v])
    distinct = tables.length[v]
    fitting, home = 0, 0
    for i in range(first, first + distinct):
        q = tables.blocks[i]
        if q == p:
            home = 1
        elif weight[q] + w <= limits.soft_high[q]:
            slot[q] = fitting
            gain[fitting] = 0.0
            fitting += 1
    if fitting == 0:
        return np.float64(NEVER), -1
    unit = tables.adjwgt.size == 0
    common = worth[p] * (distinct - home)
    for e in range(first, tables.xadj[v + 1]):
        u = np.int64(tables.adjncy[e])
        open_table(tables, u)
        r = tables.part[u]
        x = edge if unit else edge * tables.adjwgt[e]
        common -= worth[r]  # u would have to send to a block that it does not send to ...
        known = False
        start = np.int64(tables.xadj[u])
        for i in range(start, start + tables.length[u]):
            b = tables.blocks[i]
            if b == p:
                if r != p and tables.counts[i] == 1:
                    common += worth[r]
            elif slot[b] >= 0:
                gain[slot[b]] += worth[r]  # ... unless it sends there already
                known |= b == r
        if r == p:
            common -= x
        elif slot[r] >= 0:
            gain[slot[r]] += x if known else x + worth[r]  # ... or lies there
    best, most = -1, np.float64(NEVER)
    for i in range(first, first + distinct):
        q = tables.blocks[i]
        if q == p or slot[q] < 0:
            continue
        total = common + gain[slot[q]] - worth[q] * (distinct - 1)
        slot[q] = -1
        if best < 0 or total > most:
            best, most = q, total
    return most, best


@inner(error_model="numpy", counted=False)
def _edges_won(tables, v, q):
    """Return by how much the cut falls if v moves to block q."""
    p = tables.part[v]
    won = 0
    for e in range(tables.xadj[v], tables.xadj[v + 1]):
        x = 1 if tables.adjwgt.size == 0 else np.int64(tables.adjwgt[e])
        r = tables.part[tables.adjncy[e]]
        won += x if r == q else (-x if r == p else 0)
    return won


@inner(error_model="numpy", counted=False)
def _settle(tables, size, scale, power, worth, highest):
    """Update the worth of blocks that a move changed.

    Returns (gain, values saved, increase of the number of blocks above `highest`).
    """
    won, total, over = 0.0, 0, 0
    for i in range(size):
        b = tables.changed[i]
        by = tables.change[b]
        tables.change[b] = 0
        now = tables.volumes[b]
        over += np.int64(now > highest) - np.int64(now - by > highest)
        before, after = (now - by) / scale, now / scale
        won -= scale / power * (after**power - before**power)
        worth[b] = after ** (power - 1)
        total += by
    return won, -total, over


@njit(cache=True, nogil=True, error_model="numpy")
def search(tables, vwgt, weight, limits, goal, seeds, marks, stamp):
    """Search from every seed for a smaller sum of volumes**power; return the total gain.

    Like the search of fm_kernels: vertices move in the order of their gains, even at a loss, and
    moves after the best state are undone. In that state no block is further outside its limits than
    before, no block sends more than goal.highest unless it did before, and with keep_total the
    total volume has not grown.
    """
    k = tables.volumes.size
    heap = IndexedHeap(
        np.empty(MOST_MOVES, np.int32), np.empty(MOST_MOVES, np.float64), marks.place
    )
    moved, came_from = np.empty(MOST_MOVES, np.int32), np.empty(MOST_MOVES, np.int32)
    gains = Gains(np.empty(k), np.full(k, -1, np.int32), np.empty(k))
    return _search(
        tables, vwgt, weight, limits, goal, seeds, marks, stamp, heap, moved, came_from, gains
    )


@inner(error_model="numpy", counted=False)
def _search(tables, vwgt, weight, limits, goal, seeds, marks, stamp, heap, moved, came_from, gains):
    lock, worth = marks.lock, gains.worth
    largest = np.int64(1)
    for b in range(worth.size):
        largest = max(largest, tables.volumes[b])
    scale = np.float64(largest)
    for b in range(worth.size):
        worth[b] = (tables.volumes[b] / scale) ** (goal.power - 1)
    total = 0.0
    for one in seeds:
        seed = np.int64(one)
        if lock[seed] == stamp or tables.xadj[seed + 1] - tables.xadj[seed] > HUB:
            continue
        if _most_worth(tables, seed, worth) < LEAST_WORTH:
            continue
        key, to = best_move(tables, seed, vwgt[seed], weight, limits, goal.edge, gains)
        if to < 0 or key < -MOST_LOST:
            continue
        size, n_moved, n_best, steps = push(heap, 0, seed, key), 0, 0, 0
        gained, best = 0.0, LEAST_GAIN
        off, saved, over = 0.0, 0, 0
        while size > 0 and steps < PATIENCE and n_moved < MOST_MOVES - 1:
            v, key = np.int64(heap.items[0]), heap.keys[0]
            w = vwgt[v]
            gain, to = best_move(tables, v, w, weight, limits, goal.edge, gains)
            if to >= 0 and gain < key - ROUNDING and sink_top(heap, size, gain):
                continue
            size = drop(heap, size)
            if to < 0:
                continue
            p = tables.part[v]
            off += shift_excess(weight, limits, p, to, w)
            gained += goal.edge * _edges_won(tables, v, to)
            changed = move(tables, v, to)
            won, less, more = _settle(tables, changed, scale, goal.power, worth, goal.highest)
            gained += won
            saved += less
            over += more
            weight[p] -= w
            weight[to] += w
            lock[v] = stamp
            moved[n_moved], came_from[n_moved] = v, p
            n_moved += 1
            steps += 1
            if gained > best and off <= 0 and over <= 0 and (saved >= 0 or not goal.keep_total):
                best, n_best, steps = gained, n_moved, 0
            size = _update_around(
                tables, vwgt, weight, limits, goal.edge, v, marks, stamp, heap, size, gains
            )
        clear(heap, size)
        while n_moved > n_best:  # vertices rolled back may be moved by later searches
            n_moved -= 1
            v, p = np.int64(moved[n_moved]), np.int64(came_from[n_moved])
            q, w = tables.part[v], vwgt[v]
            changed = move(tables, v, p)
            _settle(tables, changed, scale, goal.power, worth, goal.highest)
            weight[q] -= w
            weight[p] += w
            lock[v] = 0
        mark_around(tables, moved, n_best, marks.active)
        if n_best > 0:
            total += best
    return total


@inner(forceinline=True, error_model="numpy", counted=False)
def _most_worth(tables, v, worth):
    """Return the largest worth among the blocks of v and of its neighbours."""
    most = worth[tables.part[v]]
    for e in range(tables.xadj[v], tables.xadj[v + 1]):
        most = max(most, worth[tables.part[tables.adjncy[e]]])
    return most


@inner(error_model="numpy", counted=False)
def _update_around(tables, vwgt, weight, limits, edge, v, marks, stamp, heap, size, gains):
    """Add the neighbours of v to the heap, with new keys; return the heap's size."""
    for e in range(tables.xadj[v], tables.xadj[v + 1]):
        u = np.int64(tables.adjncy[e])
        if marks.lock[u] == stamp or tables.xadj[u + 1] - tables.xadj[u] > HUB:
            continue
        gain, target = best_move(tables, u, vwgt[u], weight, limits, edge, gains)
        if target < 0:
            continue
        i = marks.place[u]
        if i < 0:
            if size < MOST_MOVES - 1:
                size = push(heap, size, u, gain)
            continue
        rises = gain > heap.keys[i]
        heap.keys[i] = gain
        if rises:
            sift_up(heap, i)
        else:
            sift_down(heap, i, size)
    return size
