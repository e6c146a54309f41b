"""The dense schedule on a CUDA device: every vertex reads what its neighbours sent (PageRank).

A template, see hooks_kernels. Pulling is balanced by arcs: Merrill and Garland, Merge-based
Parallel Sparse Matrix-Vector Multiplication (2016). The items of a device's part are its arcs and
the ends of its vertices, each after the arcs of its vertex: vertex u has the items u + offsets[u]
to u + offsets[u + 1], the last of which is its end. Each thread takes as many items as any other,
each block a tile of them. What is begun in one thread or tile and ended in another is combined in
the order of arcs, so that sums are the same in each run and on each device.
"""

# mypy: ignore-errors
import numpy as np
from numba import cuda

from evener.running.engine.device_cuda_kernels import THREADS
from evener.running.engine.hooks_kernels import (
    GOES_BOTH_WAYS,
    HAS_HALT,
    IDENTITY,
    IS_WEIGHTED,
    applied,
    as_value,
    helper,
    initial,
    joined,
    kernel,
    message_of,
    payload_of,
)

# Items of a thread, and of a block. Merrill and Garland, section 5, take 7 for values of 8 bytes.
ITEMS = 7
TILE = THREADS * ITEMS
MOST_BLOCKS = 1024  # of `finish`: as many sums of changes are added up on the CPU


@helper
def least(one, other):
    """Return the smaller of two numbers."""
    return one if one < other else other


@helper
def vertex_at(offsets, low, high, place):
    """Return the vertex, from low to high, to which the item at `place` belongs."""
    while low < high:
        middle = (low + high) >> 1
        if np.int64(offsets[middle + 1]) + middle < place:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def thread_of(offsets, u, first):
    """Return the thread with the first item of a vertex, of a block whose own is at `first`."""
    place = np.int64(offsets[u]) + u - first
    return place // ITEMS if place > 0 else np.int64(0)


@helper
def with_carries(u, arcs, combined, carries):
    """Return the messages of a vertex, combined: of the tiles before that of its end, and of it."""
    whole = as_value(IDENTITY)
    first, last = np.int64(arcs.offsets[u]) + u, np.int64(arcs.offsets[u + 1]) + u
    for tile in range(first // TILE, last // TILE):
        whole = joined(whole, carries[tile])
    return joined(whole, combined[u])


@kernel
def begin(sizes, vertices, values, payloads, parameters):
    """Make the first values and payloads of owned vertices, a thread for each."""
    u = cuda.grid(1)
    if u < sizes.n_owned:
        vertex, degree = vertices.numbers[u], np.int64(vertices.degrees[u])
        value = as_value(initial(vertex, degree, sizes.n_global, parameters))
        values[u] = value
        payloads[u] = payload_of(value, degree, vertex, sizes.n_global, parameters)


@kernel
def pull(sizes, arcs, payloads, combined, carries, parameters):
    """Combine the messages along arcs, a block for each tile.

    combined (n_owned,): of each vertex those in the tile of its end. carries (tiles,): those of the
    vertex that goes on in the next tile.
    """
    messages = cuda.shared.array(TILE, as_value)
    rests = cuda.shared.array(THREADS, as_value)
    bounds = cuda.shared.array(2, np.int64)
    n, thread = np.int64(sizes.n_owned), np.int64(cuda.threadIdx.x)
    offsets = arcs.offsets
    first = np.int64(cuda.blockIdx.x) * TILE
    last = least(first + TILE, n + np.int64(offsets[n]))
    if thread < 2:
        bounds[thread] = vertex_at(offsets, np.int64(0), n, first if thread == 0 else last)
    cuda.syncthreads()
    first_vertex, last_vertex = bounds[0], bounds[1]
    first_arc = first - first_vertex
    for i in range(thread, last - last_vertex - first_arc, THREADS):
        weight = arcs.weights[first_arc + i] if IS_WEIGHTED else np.uint32(1)
        payload = payloads[np.int64(arcs.ends[first_arc + i])]
        messages[i] = as_value(message_of(payload, weight, parameters))
    cuda.syncthreads()
    place = least(first + thread * ITEMS, last)
    count = least(np.int64(ITEMS), last - place)
    begun = vertex_at(offsets, first_vertex, last_vertex, place)
    u, j = begun, place - begun
    rest, ended = as_value(IDENTITY), as_value(IDENTITY)
    for _ in range(count):
        if j < np.int64(offsets[u + 1]):
            rest = joined(rest, messages[j - first_arc])
            j += 1
        else:
            if u == begun:
                ended = rest
            else:
                combined[u] = rest
            rest = as_value(IDENTITY)
            u += 1
    rests[thread] = rest
    cuda.syncthreads()
    if u > begun:
        whole = as_value(IDENTITY)
        for other in range(thread_of(offsets, begun, first), thread):
            whole = joined(whole, rests[other])
        combined[begun] = joined(whole, ended)
    if thread == THREADS - 1:
        whole = as_value(IDENTITY)
        if last_vertex < n:
            for other in range(thread_of(offsets, last_vertex, first), THREADS):
                whole = joined(whole, rests[other])
        carries[cuda.blockIdx.x] = whole


@kernel
def finish(sizes, vertices, into, out, values, payloads, work, step, parameters):
    """Apply what `pull` combined, a vertex a thread; sum the changes of each block's vertices."""
    sums = cuda.shared.array(THREADS, np.float64)
    thread, change = cuda.threadIdx.x, np.float64(0)
    for u in range(cuda.grid(1), sizes.n_owned, cuda.gridsize(1)):
        combined = with_carries(u, into, work.combined, work.carries)
        if GOES_BOTH_WAYS and sizes.is_directed:
            other = with_carries(u, out, work.other_combined, work.other_carries)
            combined = joined(combined, other)
        vertex, degree, n = vertices.numbers[u], np.int64(vertices.degrees[u]), sizes.n_global
        old = values[u]
        new = as_value(applied(old, combined, degree, vertex, n, step, parameters))
        values[u] = new
        payloads[u] = payload_of(new, degree, vertex, n, parameters)
        if HAS_HALT:
            change += abs(np.float64(new) - np.float64(old))
    if HAS_HALT:
        sums[thread] = change
        cuda.syncthreads()
        half = THREADS // 2
        while half > 0:
            if thread < half:
                sums[thread] += sums[thread + half]
            cuda.syncthreads()
            half //= 2
        if thread == 0:
            work.changes[cuda.blockIdx.x] = sums[0]
