"""The dense schedule on a CUDA device: every vertex reads what its neighbours sent (PageRank).

This is a template, see hooks_kernels. Arcs are in parts, see row_blocks_kernels: a block of threads
reads the messages of a part; then one thread, or a warp if the vertex has many, combines the
messages to a vertex. The order in which messages are combined depends only on the arcs, so that
sums are the same in each run and on each device.
"""

# mypy: ignore-errors
import numpy as np
from numba import cuda

from evener.running.engine.device_cuda_kernels import THREADS, WARP
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

ITEMS = 8  # messages of a thread
ROOM = THREADS * ITEMS  # of a part
MANY = ROOM // WARP  # vertices of a part with WARP messages, at most
MOST_BLOCKS = 1024  # of `finish`: as many sums of changes are added up on the CPU


@helper
def join_halves(rests, thread, lane, width):
    """Combine rests (THREADS,) within groups of `width` threads, into the first of each group.

    lane: the thread's index in its group. All threads of the block must call this.
    """
    cuda.syncthreads()
    half = width // 2
    while half > 0:
        if lane < half:
            rests[thread] = joined(rests[thread], rests[thread + half])
        cuda.syncthreads()
        half //= 2


@kernel
def begin(sizes, vertices, values, payloads, steps, parameters):
    """Compute the initial values and payloads of own vertices, one thread per vertex."""
    u = cuda.grid(1)
    if u == 0:
        steps[0] = 0
    if u < sizes.n_owned:
        vertex, degree = vertices.numbers[u], np.int64(vertices.degrees[u])
        value = as_value(initial(vertex, degree, sizes.n_global, parameters))
        values[u] = value
        payloads[u] = payload_of(value, degree, vertex, sizes.n_global, parameters)


@kernel
def pull(n_parts, arcs, parts, payloads, combined, parameters):
    """Combine the messages along arcs, one block of threads per part.

    combined (n_owned,): set for vertices whose arcs are in one part; for pieces of a vertex,
    parts.carries is set.
    """
    messages = cuda.shared.array(ROOM, as_value)
    rests = cuda.shared.array(THREADS, as_value)
    many = cuda.shared.array(MANY, np.int64)  # vertices with many messages
    n_many = cuda.shared.array(1, np.int64)
    b, thread = cuda.blockIdx.x, cuda.threadIdx.x
    if b >= n_parts:
        return
    if thread == 0:
        n_many[0] = 0
    first, last = np.int64(parts.rows[b]), np.int64(parts.rows[b + 1])
    base = np.int64(parts.places[b])
    count = np.int64(parts.places[b + 1]) - base
    if count > 0:  # without conditions between loads, so that all are under way together
        ends = cuda.local.array(ITEMS, np.int64)
        here = cuda.local.array(ITEMS, as_value)
        for k in range(ITEMS):
            ends[k] = np.int64(arcs.ends[base + min(thread + k * THREADS, count - 1)])
        for k in range(ITEMS):
            i = base + min(thread + k * THREADS, count - 1)
            weight = arcs.weights[i] if IS_WEIGHTED else np.uint32(1)
            here[k] = as_value(message_of(payloads[ends[k]], weight, parameters))
        for k in range(ITEMS):
            if thread + k * THREADS < count:
                messages[thread + k * THREADS] = here[k]
    cuda.syncthreads()
    rest = as_value(IDENTITY)
    if count < np.int64(arcs.offsets[first + 1]) - np.int64(arcs.offsets[first]):
        for i in range(thread, count, THREADS):
            rest = joined(rest, messages[i])
        rests[thread] = rest
        join_halves(rests, thread, thread, THREADS)
        if thread == 0:
            parts.carries[b] = rests[0]
        return
    u = first + thread
    if u < last:
        begun, end = np.int64(arcs.offsets[u]) - base, np.int64(arcs.offsets[u + 1]) - base
        if end - begun < WARP:
            for i in range(begun, end):
                rest = joined(rest, messages[i])
            combined[u] = rest
        else:
            many[cuda.atomic.add(n_many, 0, 1)] = thread
    cuda.syncthreads()
    lane = thread % WARP
    for k in range(thread // WARP, n_many[0] + thread // WARP, THREADS // WARP):
        rest = as_value(IDENTITY)
        if k < n_many[0]:
            u = first + many[k]
            end = np.int64(arcs.offsets[u + 1]) - base
            for i in range(np.int64(arcs.offsets[u]) - base + lane, end, WARP):
                rest = joined(rest, messages[i])
        rests[thread] = rest
        join_halves(rests, thread, lane, WARP)
        if k < n_many[0] and lane == 0:
            combined[u] = rests[thread]


@kernel
def join_pieces(n_long, arcs, parts, combined):
    """Combine the pieces of vertices whose arcs are in several parts, one block per vertex."""
    rests = cuda.shared.array(THREADS, as_value)
    i, thread = cuda.blockIdx.x, cuda.threadIdx.x
    if i >= n_long:
        return
    u, first = np.int64(parts.long[i, 0]), np.int64(parts.long[i, 1])
    arcs_of_u = np.int64(arcs.offsets[u + 1]) - np.int64(arcs.offsets[u])
    rest = as_value(IDENTITY)
    for b in range(first + thread, first + (arcs_of_u + ROOM - 1) // ROOM, THREADS):
        rest = joined(rest, parts.carries[b])
    rests[thread] = rest
    join_halves(rests, thread, thread, THREADS)
    if thread == 0:
        combined[u] = rests[0]


@kernel
def finish(sizes, vertices, values, payloads, work, parameters):
    """Apply the results of `pull`, one thread per vertex.

    Adds up the changes of each block's vertices.
    """
    sums = cuda.shared.array(THREADS, np.float64)
    thread, change, step = cuda.threadIdx.x, np.float64(0), work.steps[0]
    for u in range(cuda.grid(1), sizes.n_owned, cuda.gridsize(1)):
        combined = work.combined[u]
        if GOES_BOTH_WAYS and sizes.is_directed:
            combined = joined(combined, work.other_combined[u])
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
