"""The union schedule on a CUDA device: the smallest number in each connected component (WCC).

This is a template, see hooks_kernels. Trees of vertices are hooked along all arcs by atomic
operations, the root with the larger number below the other: Sutton, Ben-Nun and Barak, Optimizing
Parallel Graph Connectivity Computation via Subgraph Sampling (2018), section IV. This is done first
for a few arcs of each vertex, with trees flattened in between, then for all arcs. After the first
superstep trees do not change: only labels are exchanged between devices.
"""

# mypy: ignore-errors
import numpy as np
from numba import cuda

from evener.running.engine.hooks_kernels import as_value, helper, kernel

MARKED = 0  # place in `work.counts` (COUNTS,) int64: ghosts that `collect` found
COUNTS = 1
SAMPLED = 2  # arcs of each vertex that are hooked before all are: as section V of that paper
ARCS = 32  # arcs of a thread of `hook`: as many steps as a search among 2^32 vertices takes


@helper
def link(u, v, parents):
    """Join the trees of two vertices.

    Recent writes of other threads need not be visible: an older parent is still an ancestor of the
    vertex, and `cas` sees the newest value.
    """
    one, other = np.int64(parents[u]), np.int64(parents[v])
    while one != other:
        high, low = (one, other) if one > other else (other, one)
        found = np.int64(cuda.atomic.cas(parents, high, np.uint32(high), np.uint32(low)))
        if found == high or found == low:
            break
        one, other = found, np.int64(parents[low])


@kernel
def begin(sizes, vertices, values, work):
    """Make each local vertex the root of a tree, with its own number as value.

    One thread per vertex.
    """
    v = np.int64(cuda.grid(1))
    if v < sizes.n_local:
        work.parents[v] = v
        values[v] = vertices.numbers[v]
        if v >= sizes.n_owned:
            work.sent[v - sizes.n_owned] = values[v]


@kernel
def hook_one(which, sizes, arcs, work):
    """Join trees along arc number `which` (from 0) of each vertex that has this arc.

    One thread per vertex.
    """
    u = np.int64(cuda.grid(1))
    if u < sizes.n_owned:
        j = np.int64(arcs.offsets[u]) + which
        if j < np.int64(arcs.offsets[u + 1]):
            link(u, np.int64(arcs.ends[j]), work.parents)


@kernel
def hook(sizes, arcs, work):
    """Join trees along arcs.

    Each thread processes equally many arcs; it finds the vertex of its first arc by binary search.
    """
    n, threads = np.int64(sizes.n_owned), np.int64(cuda.gridsize(1))
    total, thread = np.int64(arcs.offsets[n]), np.int64(cuda.grid(1))
    j, end = total * thread // threads, total * (thread + 1) // threads
    low, high = np.int64(0), n
    while low < high:
        middle = (low + high) >> 1
        if np.int64(arcs.offsets[middle + 1]) <= j:
            low = middle + 1
        else:
            high = middle
    while j < end:
        while np.int64(arcs.offsets[low + 1]) <= j:
            low += 1
        link(low, np.int64(arcs.ends[j]), work.parents)
        j += 1


@kernel
def compress(sizes, work):
    """Put each vertex directly below its root."""
    v = np.int64(cuda.grid(1))
    if v < sizes.n_local:
        root = np.int64(work.parents[v])
        parent = np.int64(work.parents[root])
        while parent != root:
            root, parent = parent, np.int64(work.parents[parent])
        work.parents[v] = root


@kernel
def lower(sizes, values, work):
    """Give the root of each tree the smallest value in it."""
    v = np.int64(cuda.grid(1))
    if v < sizes.n_local:
        root, value = np.int64(work.parents[v]), values[v]
        if value < values[root]:
            cuda.atomic.min(values, root, value)


@kernel
def spread(sizes, values, work):
    """Give each vertex the value of its root."""
    v = np.int64(cuda.grid(1))
    if v < sizes.n_local:
        values[v] = values[np.int64(work.parents[v])]


@kernel
def collect(sizes, values, work, places, sent):
    """List the ghosts whose values changed since the last call, with the values.

    One thread per ghost.
    """
    ghost = np.int64(cuda.grid(1))
    if ghost < sizes.n_local - sizes.n_owned:
        v = sizes.n_owned + ghost
        if values[v] != work.sent[ghost]:
            work.sent[ghost] = values[v]
            place = cuda.atomic.add(work.counts, MARKED, 1)
            places[place] = v
            sent[place] = values[v]


@kernel
def receive(count, values, work, targets, received):
    """Lower the values of own vertices to those sent by another device; count those that fall.

    targets, received (count,): local numbers and values.
    """
    i = np.int64(cuda.grid(1))
    if i < count and received[i] < values[np.int64(targets[i])]:
        values[np.int64(targets[i])] = as_value(received[i])
        cuda.atomic.add(work.counts, MARKED, 1)
