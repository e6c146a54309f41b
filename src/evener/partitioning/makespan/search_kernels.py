"""Kernel that moves vertices to make the slowest block faster, singly and in chains of moves."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.makespan.seconds_kernels import best_move, make_move, powered_by, reprice
from evener.partitioning.refinement.connectivity_kernels import CLOSED, open_table
from evener.partitioning.refinement.fm_kernels import HUB

# Set by hand: no record of what chose them.
FRONTIER = 32  # vertices that a chain of moves chooses from
DEPTH = 64  # moves of the longest chain
KNOWN, WAITING = 1, 2  # flags of vertices at a boundary, and of those in the queue


@inner(forceinline=True, error_model="numpy", counted=False)
def _is_hot(tables, seconds, v, least_seconds):
    """Return whether v is at a boundary and a block that it touches takes least_seconds or more."""
    if tables.xadj[v + 1] - tables.xadj[v] > HUB:
        return False
    if tables.length[v] == CLOSED:
        open_table(tables, v)
    p = tables.part[v]
    first = np.int64(tables.xadj[v])
    touches, found = False, seconds[p] >= least_seconds
    for i in range(first, first + tables.length[v]):
        b = tables.blocks[i]
        touches |= b != p
        found |= seconds[b] >= least_seconds
    return touches and found


@inner(forceinline=True, error_model="numpy", counted=False)
def _least(keys, size):
    """Return the index of the least of the first `size` keys."""
    at = 0
    for i in range(1, size):
        if keys[i] < keys[at]:
            at = i
    return at


@inner(forceinline=True, error_model="numpy", counted=False)
def _with_neighbours(
    tables, model, totals, bounds, v, size, reference, log2_power, least_seconds, scratch
):
    """Add v's neighbours to scratch.front, and the changes by their best moves; return its size.

    Adds only neighbours that touch a slow block, as many as fit behind the first `size` entries.
    """
    front, keys = scratch.front, scratch.keys
    for e in range(tables.xadj[v], tables.xadj[v + 1]):
        u = np.int64(tables.adjncy[e])
        if scratch.lock[u] == 1 or not _is_hot(tables, totals.seconds, u, least_seconds):
            continue
        i = 0
        while i < size and front[i] != u:
            i += 1
        if i == FRONTIER:
            continue
        change, _ = best_move(tables, model, totals, bounds, u, reference, log2_power, scratch)
        front[i], keys[i] = u, change
        size = max(size, i + 1)
    return size


@inner(forceinline=True, error_model="numpy", counted=False)
def _chain(
    tables, model, totals, bounds, v, reference, log2_power, depth, most_lost, least_seconds,
    scratch,
):  # fmt: skip
    """Make up to `depth` moves that begin at v, and undo those after the best state.

    Returns the number of moves that remain: scratch.moved[:number].
    """
    lock, front, keys = scratch.lock, scratch.front, scratch.keys
    moved, came_from = scratch.moved, scratch.came_from
    change, to = best_move(tables, model, totals, bounds, v, reference, log2_power, scratch)
    bold = most_lost * model.second_weight[tables.part[v]]
    if to < 0 or change > bold:
        return 0
    front[0], keys[0] = v, change
    size, n_moved, n_best, gained, best = 1, 0, 0, 0.0, -1e-12
    while n_moved < depth and size > 0:
        i = _least(keys, size)
        if n_moved > 0:
            v, key = front[i], keys[i]
            change, to = best_move(tables, model, totals, bounds, v, reference, log2_power, scratch)
            keys[i] = change
            if to >= 0 and change > key and _least(keys, size) != i:
                continue
        size -= 1
        front[i], keys[i] = front[size], keys[size]
        if to < 0 or gained + change > bold:
            break
        moved[n_moved], came_from[n_moved] = v, tables.part[v]
        n_moved += 1
        change = make_move(tables, model, totals, bounds, v, to, reference, log2_power, scratch)
        gained += change
        lock[v] = 1
        if gained < best:
            best, n_best = gained, n_moved
        if n_moved == depth:
            break
        size = _with_neighbours(
            tables, model, totals, bounds, v, size, reference, log2_power, least_seconds, scratch
        )
    for i in range(n_moved):
        lock[moved[i]] = 0
    while n_moved > n_best:
        n_moved -= 1
        make_move(
            tables, model, totals, bounds, moved[n_moved], came_from[n_moved], reference,
            log2_power, scratch,
        )  # fmt: skip
    return n_best


@njit(cache=True, nogil=True, error_model="numpy", counted=False)
def search(
    tables, model, totals, bounds, log2_power, min_seconds_ratio, depth, most_lost,
    n_queued, most_looks, flag, scratch,
):  # fmt: skip
    """Search from each seed for a smaller sum of second_weight x seconds**(2**log2_power).

    From each seed, it makes a chain of up to `depth` moves: the best move among nearby vertices,
    even at a loss (up to most_lost x its block's second_weight), then the next; moves after the
    best state are undone. Seeds are scratch.queue[:n_queued], then neighbours of moved vertices.
    Skips vertices that touch no block with at least min_seconds_ratio x the longest seconds. flag
    (n,): KNOWN for all vertices that are or were at a boundary, before and after. Ends once
    evaluations have cost most_looks (scratch.looks). Returns the number of moves that remain, and
    this cost.
    """
    queue = scratch.queue
    reference = reprice(tables, model, totals)
    least_seconds = min_seconds_ratio * reference
    for b in range(totals.seconds.size):
        totals.powered[b] = powered_by(
            totals.seconds[b], reference, log2_power, model.second_weight[b]
        )
    for i in range(n_queued):
        flag[queue[i]] = WAITING
    head, kept = 0, 0
    scratch.looks[0] = 0
    while n_queued > 0 and scratch.looks[0] < most_looks:
        v = np.int64(queue[head])
        head = 0 if head + 1 == queue.size else head + 1
        n_queued -= 1
        flag[v] = KNOWN
        if scratch.lock[v] == 1 or not _is_hot(tables, totals.seconds, v, least_seconds):
            continue
        n_moved = _chain(
            tables, model, totals, bounds, v, reference, log2_power, depth, most_lost,
            least_seconds, scratch,
        )  # fmt: skip
        kept += n_moved
        for i in range(n_moved):
            v = scratch.moved[i]
            for e in range(tables.xadj[v], tables.xadj[v + 1]):
                u = tables.adjncy[e]
                if flag[u] != WAITING:
                    flag[u] = WAITING
                    tail = head + n_queued
                    queue[tail if tail < queue.size else tail - queue.size] = u
                    n_queued += 1
    for i in range(n_queued):
        at = head + i
        flag[queue[at if at < queue.size else at - queue.size]] = KNOWN
    return kept, scratch.looks[0]
