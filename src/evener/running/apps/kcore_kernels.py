"""Core numbers on one device, with its threads: removal by ascending degree, then lower estimates.

Each vertex has an estimate that is never below its core number. Estimates are core numbers once
every vertex with estimate e has at least e neighbours whose estimates are at least e [MPM13]_.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit
from evener.running.engine.atomics_kernels import (
    SUMS,
    barrier,
    cas,
    fetch_add,
    fetch_or,
    first_of,
    load,
    load_relaxed,
)

ONE = np.uint64(1)
STACK_END = np.uint32(0xFFFFFFFF)  # end of a stack of vertices


@njit(cache=True, nogil=True, counted=False)
def peel(thread, threads, sync, offsets, ends, n_owned, left, following, values):
    """Set own vertices' values to the core numbers if ghosts are never removed [KM17]_.

    For k = 0, 1, ...: vertices with at most k remaining neighbours are removed, until there are
    none. values: at first the number of neighbours. left (m,) uint32: scratch for each thread's
    remaining vertices. following (m,) uint32: links of stacks, one for each thread.
    """
    start = first_of(thread, threads, n_owned)
    count = first_of(thread + 1, threads, n_owned) - start
    for i in range(count):
        left[start + i] = start + i
    removed, level = np.int64(0), np.int32(0)
    base = load(sync, SUMS)
    barrier(sync, threads)
    while True:
        top, kept, before = STACK_END, np.uint64(0), removed
        for i in range(count):
            u = np.uint64(left[start + i])
            value = load_relaxed(values, u)
            if value > level:
                left[start + kept] = u
                kept += ONE
            elif value == level:
                following[u], top = top, np.uint32(u)
                removed += 1
        count = kept
        barrier(sync, threads)  # from here on vertices fall to this level
        while top != STACK_END:
            v = np.uint64(top)
            top = following[v]
            for j in range(np.uint64(offsets[v]), np.uint64(offsets[v + ONE])):
                u = np.uint64(ends[j])
                if u >= n_owned or load_relaxed(values, u) <= level:
                    continue
                was = fetch_add(values, u, np.int32(-1))
                if was == level + 1:
                    following[u], top = top, np.uint32(u)
                    removed += 1
                elif was <= level:
                    fetch_add(values, u, np.int32(1))
        fetch_add(sync, SUMS, removed - before)
        barrier(sync, threads)
        if load(sync, SUMS) - base == n_owned:
            return
        level += 1
        barrier(sync, threads)  # all have read the sum before it is added to


@inner(counted=False)
def supported(v, offsets, ends, values, tally):
    """Return the largest h <= values[v] such that h neighbours have h or more; and arcs read.

    tally: zeros before and after; it needs as many entries as the largest value, plus one.
    """
    own = load_relaxed(values, v)
    first, end = np.uint64(offsets[v]), np.uint64(offsets[v + ONE])
    enough, j = np.int64(0), first
    while enough < own and j < end:
        enough += load_relaxed(values, np.uint64(ends[j])) >= own
        j += ONE
    if enough >= own:
        return own, j - first
    for j in range(first, end):
        tally[np.uint64(min(load_relaxed(values, np.uint64(ends[j])), own))] += 1
    found, h = np.int64(tally[np.uint64(own)]), own
    while found < h:
        h -= 1
        found += tally[np.uint64(h)]
    for k in range(np.uint64(own) + ONE):
        tally[k] = 0
    return h, end - first


@njit(cache=True, nogil=True, counted=False)
def lower(thread, threads, offsets, ends, bounds, flags, following, values, tallies, looked_at):
    """Lower estimates of own vertices until each is supported; ghosts' values do not change.

    bounds: first and end of the vertices to examine first, and the number of own vertices. flags
    (m,) int32: zeros before and after; 1 for vertices in a stack. following: as in peel. tallies
    (threads, largest value + 1): zeros. looked_at (threads,): set to the number of arcs read.
    """
    first_asked, n_asked, n_owned = bounds[0], bounds[1] - bounds[0], np.uint64(bounds[2])
    top, later, edges = STACK_END, STACK_END, np.int64(0)  # this round's stack and the next one's
    share = range(first_of(thread, threads, n_asked), first_of(thread + 1, threads, n_asked))
    for i in share:
        u = np.uint64(first_asked) + i
        if fetch_or(flags, u, np.int32(1)) == 0:
            following[u], top = top, np.uint32(u)
    while top != STACK_END:
        v = np.uint64(top)
        top = following[v]
        if top == STACK_END:
            top, later = later, STACK_END
        fetch_add(flags, v, np.int32(-1))  # from here on a neighbour that falls asks again
        while True:
            new, seen = supported(v, offsets, ends, values, tallies[thread])
            edges += np.int64(seen)
            old = load_relaxed(values, v)
            if new >= old:
                break
            if not cas(values, v, old, new):
                continue
            for j in range(np.uint64(offsets[v]), np.uint64(offsets[v + ONE])):
                u = np.uint64(ends[j])
                if u < n_owned and new < load_relaxed(values, u) <= old:
                    if fetch_or(flags, u, np.int32(1)) == 0:
                        following[u], later = later, np.uint32(u)
            if threads == 1:
                break
            # A neighbour that fell meanwhile may not have asked v, whose value was still higher.
        if top == STACK_END:
            top, later = later, STACK_END
    looked_at[thread] = edges
