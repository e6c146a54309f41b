"""The union schedule: the smallest number of a vertex in each connected component (WCC).

A template, see hooks_kernels. Sutton, Ben-Nun and Barak, Optimizing Parallel Graph Connectivity
Computation via Subgraph Sampling (2018), Afforest: trees of vertices are hooked along the first
arcs of each vertex, the largest component so far is found by sampling, and only vertices outside
it look at their other arcs. With ghosts, trees stay as they are after the first superstep, and
labels alone pass between devices.
"""

# mypy: ignore-errors
import numpy as np

from evener.running.engine.atomics_kernels import (
    EDGES,
    ENDED,
    LARGEST,
    MARKED,
    MOST_STEPS,
    STEP,
    TICKETS,
    barrier,
    cas,
    chunk_start,
    fetch_add,
    first_of,
    load,
    load_relaxed,
)
from evener.running.engine.hooks_kernels import as_value, helper, kernel

ROUNDS = 2  # arcs of each vertex that are followed before sampling (the paper's section V)
SAMPLES = 1024
ARCS_OF_CHUNK = 1 << 14
ONE = np.uint64(1)


@helper
def link(u, v, parents):
    """Join the trees of two vertices: the root of larger number below the other."""
    one, other = np.uint64(parents[u]), np.uint64(parents[v])
    while one != other:
        high, low = max(one, other), min(one, other)
        above = np.uint64(parents[high])
        if above == low:
            break
        if above == high and cas(parents, high, np.uint32(high), np.uint32(low)):
            break
        one = np.uint64(parents[np.uint64(parents[high])])
        other = np.uint64(parents[low])


@helper
def compress(parents, first, end):
    """Put vertices directly below their roots."""
    for u in range(first, end):
        while parents[u] != parents[np.uint64(parents[u])]:
            parents[u] = parents[np.uint64(parents[u])]


@helper
def commonest(parents, n, table, counts):
    """Return the commonest parent among SAMPLES random vertices."""
    size = np.uint64(table.size)  # a power of two, twice the samples
    for i in range(size):
        counts[i] = 0
    drawn, best, most = np.uint64(88172645463325252), parents[np.uint64(0)], 0
    for _ in range(SAMPLES):
        drawn ^= drawn << np.uint64(13)
        drawn ^= drawn >> np.uint64(7)
        drawn ^= drawn << np.uint64(17)
        root = parents[drawn % n]
        at = (np.uint64(root) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40) & (size - ONE)
        while counts[at] > 0 and table[at] != root:
            at = (at + ONE) & (size - ONE)
        table[at] = root
        counts[at] += 1
        if counts[at] > most:
            best, most = root, counts[at]
    return best


@helper
def lower(values, u, value):
    """Put the smaller of a value and what another vertex has."""
    old = load_relaxed(values, u)
    while value < old:
        if cas(values, u, old, value):
            break
        old = load_relaxed(values, u)


@kernel
def run(thread, threads, sync, sizes, vertices, out, into, values, work, control, parameters):  # noqa: ARG001
    """Compute one superstep: every component of the local arcs gets its smallest value.

    If STEP is -1, trees are made first, and the values are the vertices' global numbers. Afterwards
    work.marked holds the control[MARKED] ghosts whose values changed.
    """
    n_owned, n_local = np.uint64(sizes.n_owned), np.uint64(sizes.n_local)
    interior = np.uint64(sizes.n_interior)
    step, last = control[STEP], control[MOST_STEPS]
    if last < 0 or max(step, 0) >= last:
        return
    parents = work.parents
    first, end = first_of(thread, threads, n_local), first_of(thread + 1, threads, n_local)
    mine = min(end, n_owned)
    edges = np.int64(0)
    tickets = load(sync, TICKETS)
    barrier(sync, threads)
    if step < 0:
        step = np.int64(0)
        for u in range(first, end):
            parents[u] = u
        barrier(sync, threads)
        for turn in range(ROUNDS):
            for u in range(first, mine):
                j = np.uint64(out.offsets[u]) + np.uint64(turn)
                if j < np.uint64(out.offsets[u + ONE]):
                    link(u, np.uint64(out.ends[j]), parents)
                    edges += 1
            barrier(sync, threads)
            compress(parents, first, end)
            barrier(sync, threads)
        if thread == 0 and n_local > 0:
            control[LARGEST] = commonest(parents, n_local, work.table, work.counts)
        barrier(sync, threads)
        largest = np.uint32(control[LARGEST])
        chunks = np.int64(out.offsets[n_owned]) // ARCS_OF_CHUNK + 1
        while True:
            chunk = fetch_add(sync, TICKETS, 1) - tickets
            if chunk >= chunks:
                break
            start = chunk_start(out.offsets, n_owned, chunk, chunks)
            for u in range(start, chunk_start(out.offsets, n_owned, chunk + 1, chunks)):
                # What leads to a vertex outside, that vertex follows; to a ghost, none else does.
                if parents[u] == largest and u < interior:
                    continue
                begin = np.uint64(out.offsets[u]) + np.uint64(ROUNDS)
                for j in range(begin, np.uint64(out.offsets[u + ONE])):
                    link(u, np.uint64(out.ends[j]), parents)
                    edges += 1
                if sizes.is_directed:
                    for j in range(np.uint64(into.offsets[u]), np.uint64(into.offsets[u + ONE])):
                        link(u, np.uint64(into.ends[j]), parents)
                        edges += 1
        barrier(sync, threads)
        if n_owned == np.uint64(sizes.n_global):
            for u in range(first, end):
                root = parents[u]
                while root != parents[np.uint64(root)]:
                    root = parents[np.uint64(root)]
                values[u] = root
        else:
            compress(parents, first, end)
            for u in range(first, end):
                values[u] = vertices.numbers[u]
                if u >= n_owned:
                    work.sent[u - n_owned] = values[u]
        fetch_add(control, EDGES, edges)
        barrier(sync, threads)
    if n_owned != np.uint64(sizes.n_global):
        for u in range(first, end):
            lower(values, np.uint64(parents[u]), values[u])
        barrier(sync, threads)
        for u in range(first, end):
            value = values[np.uint64(parents[u])]
            if u >= n_owned and value != work.sent[u - n_owned]:
                work.sent[u - n_owned] = value
                work.marked[np.uint64(fetch_add(control, MARKED, 1))] = u
            values[u] = value
        barrier(sync, threads)
    if thread == 0:
        control[STEP], control[ENDED] = step + 1, 1


@kernel
def deliver(sizes, vertices, targets, received, values, work, control, parameters):  # noqa: ARG001
    """Lower the values of owned vertices to what other devices sent; ENDED 0 if any is lower.

    By one thread, before the next superstep. targets (s,): local numbers.
    """
    for i in range(np.uint64(targets.size)):
        u = np.uint64(targets[i])
        if received[i] < values[u]:
            values[u] = as_value(received[i])
            control[ENDED] = 0


@kernel
def take_marked(values, work, control, places, sent):
    """Copy the marked ghosts' local numbers and values; forget the marks. Returns how many."""
    count = control[MARKED]
    for i in range(np.uint64(count)):
        v = np.uint64(work.marked[i])
        places[i], sent[i] = v, values[v]
    control[MARKED] = 0
    return count
