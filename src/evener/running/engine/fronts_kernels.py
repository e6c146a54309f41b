"""The frontier of vertices, stored by the frontier schedule as queue, bitmap, or all vertices.

`pulls_next` is the only rule by which a superstep pushes or pulls, except that a device alone pulls
while all its vertices are in the frontier.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import lowest_bit
from evener.jit import inner
from evener.running.engine.atomics_kernels import (
    ONE,
    barrier,
    bit_of,
    counts_after,
    fetch_or,
    flushed,
    kept,
    share_of,
)

QUEUE, BITS, ALL = 0, 1, 2  # what the frontier is kept in; ALL: every vertex is in it
PUSH, PULL = 0, 1
# Beamer, Asanovic and Patterson, Direction-optimizing breadth-first search (2012), sections 4 and
# 5: pull when the frontier has more than a share of the arcs that are left, push again when it has
# become smaller than a share of the vertices. Shares: those of the GAP benchmark suite.
ARCS_PER_PULL, VERTICES_PER_PUSH = 15, 18
# Without settled vertices every arc is looked at: pull when a share of all arcs would be pushed.
ALL_ARCS_PER_PULL = 20


@inner(counted=False, error_model="numpy")
def pulls_next(pulled, shrank, length, n, scouted, left, arcs, has_settled):
    """Return whether the next superstep pulls; of one device, or of all devices of a run.

    pulled: whether the last superstep did. shrank, length: whether the frontier became smaller, and
    its number of vertices, of n. scouted: number of arcs that leave the frontier; left: that leave
    unsettled vertices; arcs: of all arcs. has_settled: whether the program knows settled vertices.
    """
    if pulled:
        return not shrank or length > n // VERTICES_PER_PUSH
    return scouted > (left // ARCS_PER_PULL if has_settled else arcs // ALL_ARCS_PER_PULL)


class Front(NamedTuple):
    """The frontier, known to all threads.

    The fields have the meaning of the same fields of `control`.
    """

    form: int
    length: int
    scouted: int
    left: int
    shrank: bool


class FrontLists(NamedTuple):
    """Queues and bitmaps of the frontier and of the next one."""

    queue: np.ndarray
    then: np.ndarray
    bits: np.ndarray
    next_bits: np.ndarray


@inner(counted=False, error_model="numpy")
def lists_of(work, is_flipped):
    """Return the queues and bitmaps of `work`; is_flipped: the current and the next swapped."""
    if is_flipped:
        return FrontLists(work.other_queue, work.queue, work.other_bits, work.bits)
    return FrontLists(work.queue, work.other_queue, work.bits, work.other_bits)


@inner(counted=False, error_model="numpy")
def put_into_bits(team, lists, length):
    """Set the bits of the queue's vertices."""
    first, end = share_of(team, length)
    for i in range(first, end):
        u = np.uint64(lists.queue[i])
        if team.threads == 1:  # in one step among threads it takes a third of a small search
            lists.bits[u >> np.uint64(6)] |= bit_of(u)
        else:
            fetch_or(lists.bits, u >> np.uint64(6), bit_of(u))
    barrier(team.sync, team.threads)


@inner(counted=False, error_model="numpy")
def fill_bits(team, lists):
    """Set the bits of all vertices."""
    first, end = share_of(team, lists.bits.size)
    for word in range(first, end):
        lists.bits[word] = ~np.uint64(0)
    barrier(team.sync, team.threads)


@inner(counted=False, error_model="numpy")
def put_into_queue(team, part, work, lists, front, counts):
    """Queue the vertices of a frontier that is not stored as a queue; return the new counts."""
    n_owned, count = np.uint64(part.sizes.n_owned), np.int64(0)
    if front.form == ALL:
        first, end = share_of(team, n_owned)
        for u in range(first, end):
            lists.queue[u] = u
        barrier(team.sync, team.threads)
        return counts
    first, end = share_of(team, lists.bits.size)
    for word in range(first, end):
        active = lists.bits[word]
        lists.bits[word] = 0
        lists.next_bits[word] = 0
        while active != 0:
            u = (word << np.uint64(6)) + lowest_bit(active)
            active &= active - ONE
            if u < n_owned:
                count = kept(team, work.buffers, count, u, lists.queue, counts)
    flushed(team, work.buffers, count, lists.queue, counts)
    barrier(team.sync, team.threads)
    return counts_after(counts, 0, front.length, 0)
