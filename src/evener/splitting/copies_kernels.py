"""Moves groups of edges between blocks to reduce copies of vertices, within the limits of blocks.

A group is an edge, or several edges that move together. Each vertex has a table of the blocks that
contain its groups, with the number of groups in each. `improve` moves groups one by one if that
gains; `search` also makes moves that lose, and undoes those that led to no gain: localized FM
[SS11]_ for copies.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.heap_kernels import (
    IndexedHeap,
    clear,
    drop,
    push,
    sift_up,
    sink_top,
)

HAIR = 1e-9  # a smaller gain in shares counts as none
# Key of a move in the heap: so much for a copy, less than half of it for shares, which are below 1.
COPY_KEY, SHARE_KEY = 1000.0, 400.0
SHARE_WORTH = 1e-3  # copies that a gain in shares of 1 is worth where moves of a search are kept
MOST_MOVES = 1 << 14  # of one search, and groups that wait in its heap
MOST_NEAR = 24  # groups of a vertex that are looked at when one of its groups has moved


class EdgeGroups(NamedTuple):
    """Groups of edges and the vertices that they share with other groups.

    The vertices of group g are pins[starts[g]:starts[g + 1]]; the groups at vertex v are
    groups[offsets[v]:offsets[v + 1]]. starts, offsets int64, pins, groups int32; work (groups,)
    float64 [units].
    """

    starts: np.ndarray
    pins: np.ndarray
    offsets: np.ndarray
    groups: np.ndarray
    work: np.ndarray


class Tables(NamedTuple):
    """For each vertex: its blocks, its number of groups in each, and the number of blocks.

    The table of v begins at first[v] of blocks and counts. direct (n,) int64: index into `places`
    at which the positions of blocks in the table of v begin; -1 if the table is short and searched
    linearly.
    """

    first: np.ndarray  # (n + 1,) int64
    blocks: np.ndarray  # int32
    counts: np.ndarray  # int32
    sizes: np.ndarray  # (n,) int32
    direct: np.ndarray  # (n,) int64
    places: np.ndarray  # int32, -1: not in the table


class Limits(NamedTuple):
    """Limits of blocks (k,) float64 [units]: current load, lower limit and upper limit."""

    load: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Near(NamedTuple):
    """Memory for evaluating one group: how many of its vertices are in each block (k,).

    seen (k,) int32: that number. shares (k,) float64: sum of the vertices' shares of groups there.
    Both are zero between evaluations. blocks (k,) int32: the blocks with seen > 0.
    """

    seen: np.ndarray
    shares: np.ndarray
    blocks: np.ndarray


@njit(cache=True, nogil=True)
def fill_tables(groups, part, tables):
    """Count, for each vertex, its groups in each block."""
    tables.places[:] = -1
    for v in range(tables.sizes.size):
        tables.sizes[v] = 0
        for i in range(groups.offsets[v], groups.offsets[v + 1]):
            _add(tables, v, part[groups.groups[i]])


@njit(cache=True, nogil=True)
def list_boundary(groups, tables, found):
    """Fill found with the groups that have a vertex in several blocks; return their number."""
    count = 0
    for g in range(groups.work.size):
        if _is_boundary(groups, tables, g):
            found[count] = g
            count += 1
    return count


@inner()
def _is_boundary(groups, tables, g):
    for i in range(groups.starts[g], groups.starts[g + 1]):
        if tables.sizes[groups.pins[i]] > 1:
            return True
    return False


@inner()
def _find(tables, v, b):
    """Return the entry of block b in the table of v, or -1."""
    first = tables.first[v]
    if tables.direct[v] >= 0:
        place = np.int64(tables.places[tables.direct[v] + b])
        return first + place if place >= 0 else np.int64(-1)
    for i in range(first, first + tables.sizes[v]):
        if tables.blocks[i] == b:
            return i
    return np.int64(-1)


@inner()
def _add(tables, v, b):
    """Count one more group of v in block b; return the number of its groups there."""
    i = _find(tables, v, b)
    if i < 0:
        i = tables.first[v] + tables.sizes[v]
        if tables.direct[v] >= 0:
            tables.places[tables.direct[v] + b] = tables.sizes[v]
        tables.sizes[v] += 1
        tables.blocks[i], tables.counts[i] = b, 0
    tables.counts[i] += 1
    return tables.counts[i]


@inner()
def _take(tables, v, b):
    """Count one group of v less in block b; return the number of its groups there."""
    i = _find(tables, v, b)
    tables.counts[i] -= 1
    left = tables.counts[i]
    if left == 0:
        tables.sizes[v] -= 1
        last = tables.first[v] + tables.sizes[v]
        moved = tables.blocks[last]
        tables.blocks[i], tables.counts[i] = moved, tables.counts[last]
        if tables.direct[v] >= 0:
            tables.places[tables.direct[v] + moved] = i - tables.first[v]
            tables.places[tables.direct[v] + b] = -1
    return left


@inner()
def _best_block(groups, tables, limits, near, g, a):
    """Return the gain in copies, the gain in shares, and the best block for group g of block a.

    Considers only blocks that already contain a vertex of the group; the block is -1 if none has
    space. A share is the fraction of a vertex's groups that are in the block, averaged over the
    vertices of g: among moves with equal gain in copies, it prefers the one that brings groups
    together.
    """
    work = groups.work[g]
    if limits.load[a] - work < limits.low[a]:
        return -1, 0.0, -1
    left, own, count = 0, 0.0, 0
    first, last = groups.starts[g], groups.starts[g + 1]
    for i in range(first, last):
        v = groups.pins[i]
        scale = 1.0 / (groups.offsets[v + 1] - groups.offsets[v])
        for j in range(tables.first[v], tables.first[v] + tables.sizes[v]):
            b, c = tables.blocks[j], tables.counts[j]
            if b == a:
                left += c == 1
                own += (c - 1) * scale
                continue
            if near.seen[b] == 0:
                near.blocks[count] = b
                count += 1
            near.seen[b] += 1
            near.shares[b] += c * scale
    best, most, highest = -1, -1, 0.0
    for i in range(count):
        b = near.blocks[i]
        seen, shares = near.seen[b], near.shares[b]
        near.seen[b], near.shares[b] = 0, 0.0
        better = seen > most or (seen == most and shares > highest)
        if better and limits.load[b] + work <= limits.high[b]:
            best, most, highest = b, seen, shares
    pins = last - first
    return left - pins + most, (highest - own) / max(pins, 1), best


@inner()
def _move(groups, part, tables, limits, changed, g, b, now):
    """Move group g to block b.

    Sets changed[v] = now for vertices whose other groups' gains change.
    """
    a, work = part[g], groups.work[g]
    part[g] = b
    limits.load[a] -= work
    limits.load[b] += work
    for i in range(groups.starts[g], groups.starts[g + 1]):
        v = groups.pins[i]
        left, there = _take(tables, v, a), _add(tables, v, b)
        if left <= 1 or there <= 2:
            changed[v] = now


@inner()
def _stale(groups, changed, g, looked):
    """Return whether a vertex of group g changed since g was last evaluated."""
    for i in range(groups.starts[g], groups.starts[g + 1]):
        if changed[groups.pins[i]] >= looked[g]:
            return True
    return False


@inner()
def near_of(k):
    """Return the memory for evaluating groups, for k blocks."""
    return Near(np.zeros(k, np.int32), np.zeros(k), np.empty(k, np.int32))


@njit(cache=True, nogil=True)
def improve(groups, part, tables, limits, order, changed, looked, now):
    """Move groups if that saves copies, or brings the groups of a vertex together.

    order: groups; each is evaluated once, if one of its vertices has changed since its last
    evaluation. part and tables are updated. changed (n,), looked (groups,) int32: round of the last
    change of a vertex and of the last evaluation of a group; now: this round. Returns the number of
    copies saved and of groups moved.
    """
    near = near_of(limits.load.size)
    saved, moved = 0, 0
    for g in order:
        if not _stale(groups, changed, g, looked):
            continue
        looked[g] = now
        gain, shares, b = _best_block(groups, tables, limits, near, g, part[g])
        if b < 0 or gain < 0 or (gain == 0 and shares <= HAIR):
            continue
        _move(groups, part, tables, limits, changed, g, b, now)
        saved += gain
        moved += 1
    return saved, moved


@njit(cache=True, nogil=True)
def level_out(groups, part, tables, limits, order, least_gain):
    """Move groups out of blocks above their upper limit, and into blocks below their lower limit.

    order: groups; each is evaluated once, and moved if its gain is at least least_gain copies.
    Returns whether all blocks are within their limits afterwards.
    """
    k, n = limits.load.size, tables.sizes.size
    near, changed = near_of(k), np.empty(n, np.int32)
    lacking = Limits(limits.load, limits.low, np.full(k, -1.0))
    full, empty = 0, 0
    for b in range(k):
        full += limits.load[b] > limits.high[b]
        if limits.load[b] < limits.low[b]:
            lacking.high[b] = limits.high[b]
            empty += 1
    for g in order:
        if full == 0 and empty == 0:
            break
        a = part[g]
        was_full = limits.load[a] > limits.high[a]
        if not was_full and empty == 0:
            continue
        to = lacking if empty > 0 else limits
        gain, _, b = _best_block(groups, tables, to, near, g, a)
        if b < 0 and was_full and empty > 0:
            gain, _, b = _best_block(groups, tables, limits, near, g, a)
        if b < 0 or gain < least_gain:
            continue
        was_empty = limits.load[b] < limits.low[b]
        _move(groups, part, tables, limits, changed, g, b, 0)
        full -= was_full and limits.load[a] <= limits.high[a]
        if was_empty and limits.load[b] >= limits.low[b]:
            lacking.high[b] = -1.0
            empty -= 1
    return full == 0 and empty == 0


@njit(cache=True, nogil=True)
def search(groups, part, tables, limits, seeds, patience, budget):
    """Search from each seed in turn, undo moves after its best state; return the copies saved.

    A search ends after `patience` moves without a new best state. Its first move must not add
    copies. budget: largest number of groups that all searches together evaluate.
    """
    k, n = limits.load.size, tables.sizes.size
    near, changed = near_of(k), np.zeros(n, np.int32)
    place, locked = np.full(part.size, -1, np.int32), np.zeros(part.size, np.bool_)
    heap = IndexedHeap(np.empty(MOST_MOVES, np.int32), np.empty(MOST_MOVES, np.int64), place)
    moved, came_from = np.empty(MOST_MOVES, np.int32), np.empty(MOST_MOVES, np.int32)
    saved, looks = 0, 0
    for seed in seeds:
        if looks > budget:
            break
        if locked[seed]:
            continue
        gain, shares, b = _best_block(groups, tables, limits, near, seed, part[seed])
        looks += 1
        if b < 0 or gain < 0:
            continue
        size = push(heap, 0, seed, _key(gain, shares))
        count, kept, idle, won, best, worth, most = 0, 0, 0, 0, 0, 0.0, HAIR
        while size > 0 and idle < patience and count < MOST_MOVES:
            g, key = np.int64(heap.items[0]), heap.keys[0]
            gain, shares, b = _best_block(groups, tables, limits, near, g, part[g])
            looks += 1
            if b < 0:
                size = drop(heap, size)
                continue
            now = _key(gain, shares)
            if now < key and sink_top(heap, size, now):
                continue
            size = drop(heap, size)
            moved[count], came_from[count] = g, part[g]
            count += 1
            locked[g] = True
            _move(groups, part, tables, limits, changed, g, b, count)
            won += gain
            worth += gain + SHARE_WORTH * shares
            idle += 1
            if worth > most:
                most, best, kept, idle = worth, won, count, 0
            size, seen = _look_around(
                groups, part, tables, limits, near, heap, size, locked, g, changed, count
            )
            looks += seen
        clear(heap, size)
        for i in range(count - 1, kept - 1, -1):
            _move(groups, part, tables, limits, changed, moved[i], came_from[i], 0)
            locked[moved[i]] = False
        for i in range(count):
            for j in range(groups.starts[moved[i]], groups.starts[moved[i] + 1]):
                changed[groups.pins[j]] = 0
        saved += best
    return saved


@inner()
def _key(gain, shares):
    return np.int64(COPY_KEY * gain + SHARE_KEY * shares)


@inner()
def _look_around(groups, part, tables, limits, near, heap, size, locked, g, changed, now):
    """Add groups that share a vertex with the moved group g to the heap, or raise their keys.

    Only vertices that `changed` in this step (now) count. For a vertex with many groups, only some
    consecutive groups are evaluated, from an index that varies. Returns the heap's size and the
    number of groups evaluated.
    """
    looks = 0
    for i in range(groups.starts[g], groups.starts[g + 1]):
        v = groups.pins[i]
        if changed[v] != now:
            continue
        first, degree = groups.offsets[v], groups.offsets[v + 1] - groups.offsets[v]
        begin = 0 if degree <= MOST_NEAR else (g * 40503 + now * 9973) % degree
        for j in range(min(degree, MOST_NEAR)):
            h = np.int64(groups.groups[first + (begin + j) % degree])
            if locked[h] or part[h] == part[g]:
                continue
            gain, shares, b = _best_block(groups, tables, limits, near, h, part[h])
            looks += 1
            at = heap.place[h]
            if b < 0 or (at < 0 and size >= MOST_MOVES - 1):
                continue
            key = _key(gain, shares)
            if at < 0:
                size = push(heap, size, h, key)
            elif key > heap.keys[at]:
                heap.keys[at] = key
                sift_up(heap, at)
    return size, looks
