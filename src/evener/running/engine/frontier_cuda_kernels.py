"""The frontier and bucket schedules on a CUDA device: vertices whose value changed send (BFS).

This is a template, see hooks_kernels. A superstep pushes or pulls, then settles. `push` and `pull`
combine messages in `work.inbox`, by atomic min, max and or, and set the bits of vertices with
messages in `work.touched`; they do not change values. `settle` applies the messages and queues the
vertices that changed: they are the next frontier, which is also stored in `work.bits`. So the
values after each superstep do not depend on the order of threads.

With buckets, vertices that changed wait in `work.bits` until their bucket is the lowest: Meyer and
Sanders, Delta-stepping (2003), in rounds of all vertices in the bucket. With few vertices in a
bucket, most of the device would be idle, so several buckets are processed at a time; the fewer
vertices there were, the more buckets.

Vertices have one of three classes by their numbers of arcs, and each class has its part of the
queue: one thread, warp or block processes a vertex (Merrill, Garland and Grimshaw, Scalable GPU
Graph Traversal, 2012, section 5).
"""

# mypy: ignore-errors
import numpy as np
from numba import cuda

from evener.running.engine.device_cuda_kernels import THREADS, WARP
from evener.running.engine.hooks_kernels import (
    GOES_BOTH_WAYS,
    HAS_BUCKETS,
    HAS_SETTLED,
    IDENTITY,
    IS_WEIGHTED,
    NO_PRIORITY,
    TAKES_FIRST,
    applied,
    as_value,
    bucket_of,
    changes,
    helper,
    initial,
    is_settled,
    join_at,
    joined,
    kernel,
    message_of,
    payload_of,
)

# Places in `work.counts` (COUNTS,) int64. The first three: vertices queued of each class. DEGREES:
# arcs leaving these; ARCS: arcs that pushing from them looks at. EDGES: arcs looked at until now.
# FAILED: 1 if a message was of a lower bucket, 2 if one is no number of a bucket. MARKED: ghosts
# that `collect` found. NOW: the bucket up to which vertices are taken; NEXT: the lowest of those
# that wait, or NONE. WIDTH: buckets taken at a time; PEAK: the most vertices that were queued in a
# round of these.
CLASSES = 3
DEGREES, ARCS, EDGES, FAILED, MARKED, NOW, NEXT, WIDTH, PEAK = range(CLASSES, CLASSES + 9)
COUNTS = CLASSES + 9
# WIDTH doubles, up to WIDEST, where PEAK is below FEW; it is halved where PEAK is above MANY.
FEW, MANY, WIDEST = 1 << 11, 1 << 14, 1 << 40
NONE = 2**62
BITS, SHIFT = 32, 5  # of a word; v >> SHIFT is the word of vertex v
ONE = np.uint32(1)


@helper
def arcs_at(u, sizes, out, into):
    """Return the number of arcs along which a vertex sends."""
    count = np.int64(out.offsets[u + 1]) - np.int64(out.offsets[u])
    if GOES_BOTH_WAYS and sizes.is_directed:
        count += np.int64(into.offsets[u + 1]) - np.int64(into.offsets[u])
    return count


@helper
def class_of(arcs):
    """Return the class of a vertex with this number of arcs."""
    if arcs < WARP:
        return 0
    return 1 if arcs < THREADS else 2


@helper
def first_bit(bits):
    """Return the index of the lowest set bit."""
    return np.int64(cuda.ffs(bits)) - 1


@helper
def is_marked(bits, v):
    """Return whether the bit of a vertex is set."""
    return (bits[v >> SHIFT] >> np.uint32(v & (BITS - 1))) & ONE != 0


@helper
def is_new(bits, v):
    """Set the bit of a vertex; return whether it was not set before."""
    bit = ONE << np.uint32(v & (BITS - 1))
    return (cuda.atomic.or_(bits, v >> SHIFT, bit) & bit) == 0


@helper
def in_bucket(waiting, word, values, work, parameters):
    """Return the bits of a word whose vertices are in the current bucket or below.

    Also updates the number of the next bucket.
    """
    taken, nearest = np.uint32(0), np.int64(NONE)
    while waiting != 0:
        bit = first_bit(waiting)
        waiting &= waiting - ONE
        bucket = bucket_of(values[word * BITS + bit], parameters)
        if bucket == NO_PRIORITY:
            work.counts[FAILED] = 2
        if bucket <= work.counts[NOW]:
            taken |= ONE << np.uint32(bit)
        else:
            nearest = bucket if bucket < nearest else nearest
    if nearest < NONE:
        cuda.atomic.min(work.counts, NEXT, nearest)
    return taken


@helper
def queue_bits(active, word, sizes, vertices, out, into, work):
    """Queue the vertices whose bits are set in a word. All threads of a block must call this."""
    totals = cuda.shared.array(5, np.int64)
    thread = cuda.threadIdx.x
    if thread < 5:
        totals[thread] = 0
    cuda.syncthreads()
    small, medium, large = np.int64(0), np.int64(0), np.int64(0)
    degrees, arcs = np.int64(0), np.int64(0)
    if active != 0:
        left = active
        while left != 0:
            u = word * BITS + first_bit(left)
            left &= left - ONE
            degrees += np.int64(vertices.degrees[u])
            count = arcs_at(u, sizes, out, into)
            arcs += count
            small += class_of(count) == 0
            medium += class_of(count) == 1
            large += class_of(count) == 2
        small = cuda.atomic.add(totals, 0, small)
        medium = cuda.atomic.add(totals, 1, medium)
        large = cuda.atomic.add(totals, 2, large)
        cuda.atomic.add(totals, DEGREES, degrees)
        cuda.atomic.add(totals, ARCS, arcs)
    cuda.syncthreads()
    if thread < 5 and totals[thread] > 0:
        before = cuda.atomic.add(work.counts, thread, totals[thread])
        if thread < CLASSES:
            totals[thread] = work.starts[thread] + before
    cuda.syncthreads()
    while active != 0:
        u = word * BITS + first_bit(active)
        active &= active - ONE
        kind = class_of(arcs_at(u, sizes, out, into))
        if kind == 0:
            work.queue[totals[0] + small] = u
            small += 1
        elif kind == 1:
            work.queue[totals[1] + medium] = u
            medium += 1
        else:
            work.queue[totals[2] + large] = u
            large += 1


@kernel
def begin(sizes, vertices, out, into, values, work, parameters):
    """Compute the initial values of all local vertices and the first frontier.

    One thread per word.
    """
    word = np.int64(cuda.grid(1))
    active = np.uint32(0)
    if word == 0:
        work.steps[0] = 0
    for v in range(word * BITS, word * BITS + BITS):
        if v >= sizes.n_local:
            break
        degree = np.int64(vertices.degrees[v])
        value = as_value(initial(vertices.numbers[v], degree, sizes.n_global, parameters))
        values[v] = value
        work.inbox[v] = as_value(IDENTITY)
        if v >= sizes.n_owned:
            work.marks[v - sizes.n_owned] = 0
        elif value != as_value(IDENTITY):
            active |= ONE << np.uint32(v & (BITS - 1))
    if word * BITS < sizes.n_local:
        work.touched[word] = 0
        work.bits[word] = np.uint32(0) if HAS_BUCKETS else active
    queue_bits(active, word, sizes, vertices, out, into, work)


@kernel
def turn(is_push, work):
    """Begin a push or pull: the queued vertices send, and a new queue is started.

    Empty buckets are skipped: the lowest buckets with vertices come next. Called by one thread.
    """
    if cuda.grid(1) > 0:
        return
    counts, total = work.counts, np.int64(0)
    for kind in range(CLASSES):
        work.lengths[kind] = counts[kind]
        total += counts[kind]
        counts[kind] = 0
    if is_push:
        counts[EDGES] += counts[ARCS]
    counts[PEAK] = max(counts[PEAK], total)
    if total == 0 and counts[NEXT] < NONE:
        if counts[PEAK] < FEW:
            counts[WIDTH] = min(2 * counts[WIDTH], WIDEST)
        elif counts[PEAK] > MANY:
            counts[WIDTH] = max(counts[WIDTH] // 2, 1)
        counts[NOW], counts[PEAK] = counts[NEXT] + counts[WIDTH] - 1, 0
    counts[DEGREES], counts[ARCS], counts[NEXT] = 0, 0, NONE


@kernel
def push(group, kind, sizes, vertices, out, into, values, work, parameters):
    """Send from the queued vertices of a class, with `group` threads per vertex."""
    place, step = np.int64(cuda.grid(1)), work.steps[0]
    first, length, lane = work.starts[kind], work.lengths[kind], place % group
    for item in range(place // group, length, np.int64(cuda.gridsize(1)) // group):
        u, n = np.int64(work.queue[first + item]), sizes.n_global
        value, degree = values[u], np.int64(vertices.degrees[u])
        payload = payload_of(value, degree, vertices.numbers[u], n, parameters)
        for way in range(2 if GOES_BOTH_WAYS and sizes.is_directed else 1):
            ends = out.ends if way == 0 else into.ends
            offsets = out.offsets if way == 0 else into.offsets
            weights = out.weights if way == 0 else into.weights
            for j in range(np.int64(offsets[u]) + lane, np.int64(offsets[u + 1]), group):
                v = np.int64(ends[j])
                old = values[v]
                if HAS_SETTLED and is_settled(old, parameters):
                    continue
                weight = weights[j] if IS_WEIGHTED else np.uint32(1)
                message = as_value(message_of(payload, weight, parameters))
                degree, vertex = np.int64(vertices.degrees[v]), vertices.numbers[v]
                new = as_value(applied(old, message, degree, vertex, n, step, parameters))
                if changes(old, new):
                    if bucket_of(new, parameters) < bucket_of(value, parameters):
                        work.counts[FAILED] = 1
                    join_at(work.inbox, v, message)
                    if not is_marked(work.touched, v):
                        is_new(work.touched, v)


@kernel
def pull(group, first, length, sizes, vertices, out, into, values, work, parameters):
    """Combine what the frontier sends to the vertices work.order[first : first + length].

    Uses `group` threads per vertex; settled vertices are skipped.
    """
    parts = cuda.shared.array(THREADS, as_value)
    looked = cuda.shared.array(1, np.int64)
    thread = np.int64(cuda.threadIdx.x)
    place = np.int64(cuda.grid(1))
    item, lane, n = place // group, place % group, sizes.n_global
    combined, edges, u = as_value(IDENTITY), np.int64(0), np.int64(0)
    is_asked = item < length
    if is_asked:
        u = np.int64(work.order[first + item])
        is_asked = not (HAS_SETTLED and is_settled(values[u], parameters))
    if is_asked:
        for way in range(2 if GOES_BOTH_WAYS and sizes.is_directed else 1):
            ends = into.ends if way == 0 else out.ends
            offsets = into.offsets if way == 0 else out.offsets
            weights = into.weights if way == 0 else out.weights
            for j in range(np.int64(offsets[u]) + lane, np.int64(offsets[u + 1]), group):
                edges += 1
                v = np.int64(ends[j])
                if is_marked(work.bits, v):
                    weight = weights[j] if IS_WEIGHTED else np.uint32(1)
                    degree, vertex = np.int64(vertices.degrees[v]), vertices.numbers[v]
                    payload = payload_of(values[v], degree, vertex, n, parameters)
                    combined = joined(combined, as_value(message_of(payload, weight, parameters)))
                    if TAKES_FIRST:
                        break
    parts[thread] = combined
    if thread == 0:
        looked[0] = 0
    cuda.syncthreads()
    if edges > 0:
        cuda.atomic.add(looked, 0, edges)
    half = group // 2
    while half > 0:
        if lane < half:
            parts[thread] = joined(parts[thread], parts[thread + half])
        cuda.syncthreads()
        half //= 2
    if is_asked and lane == 0 and parts[thread] != as_value(IDENTITY):
        work.inbox[u] = parts[thread]
        is_new(work.touched, u)
    cuda.syncthreads()
    if thread == 0 and looked[0] > 0:
        cuda.atomic.add(work.counts, EDGES, looked[0])


@kernel
def settle(sizes, vertices, out, into, values, work, parameters):
    """Apply the messages of a superstep and make the next frontier, a thread for a word of bits."""
    word, step = np.int64(cuda.grid(1)), work.steps[0]
    active, n = np.uint32(0), sizes.n_global
    if word * BITS < sizes.n_local:
        touched = work.touched[word]
        if touched != 0:
            work.touched[word] = 0
        while touched != 0:
            bit = first_bit(touched)
            touched &= touched - ONE
            v = word * BITS + bit
            message, old = work.inbox[v], values[v]
            work.inbox[v] = as_value(IDENTITY)
            degree, vertex = np.int64(vertices.degrees[v]), vertices.numbers[v]
            new = as_value(applied(old, message, degree, vertex, n, step, parameters))
            if changes(old, new):
                values[v] = new
                if v < sizes.n_owned:
                    active |= ONE << np.uint32(bit)
                else:
                    work.marks[v - sizes.n_owned] = 1
        if HAS_BUCKETS:
            waiting = work.bits[word] | active
            active = in_bucket(waiting, word, values, work, parameters)
            work.bits[word] = waiting & ~active
        else:
            work.bits[word] = active
    queue_bits(active, word, sizes, vertices, out, into, work)


@kernel
def collect(sizes, values, work, places, sent):
    """List the ghosts that changed, with their values, one thread per ghost; clear the marks."""
    ghost = np.int64(cuda.grid(1))
    if ghost < sizes.n_local - sizes.n_owned and work.marks[ghost]:
        work.marks[ghost] = 0
        place = cuda.atomic.add(work.counts, MARKED, 1)
        places[place] = sizes.n_owned + ghost
        sent[place] = values[sizes.n_owned + ghost]


@kernel
def receive(count, sizes, vertices, out, into, values, work, targets, received, parameters):
    """Join values that another device sent with own vertices, each once; queue those that change.

    Calls no `applied`: the sender did. targets, received (count,): local numbers and values.
    """
    i = np.int64(cuda.grid(1))
    if i < count:
        u = np.int64(targets[i])
        old = values[u]
        new = joined(old, received[i])
        if changes(old, new):
            values[u] = new
            is_added = is_new(work.bits, u)
            if HAS_BUCKETS:
                cuda.atomic.min(work.counts, NEXT, bucket_of(new, parameters))
            elif is_added:
                arcs = arcs_at(u, sizes, out, into)
                kind = class_of(arcs)
                place = work.starts[kind] + cuda.atomic.add(work.counts, kind, 1)
                work.queue[place] = u
                cuda.atomic.add(work.counts, DEGREES, np.int64(vertices.degrees[u]))
                cuda.atomic.add(work.counts, ARCS, arcs)


@kernel
def show(sizes, work, flags):
    """Set flags (n_local,) uint8 of own vertices: 1 for vertices in the frontier."""
    u = np.int64(cuda.grid(1))
    if u < sizes.n_owned:
        flags[u] = is_marked(work.bits, u)


@kernel
def see(sizes, work, flags):
    """Read from flags (n_local,) uint8, set by their owners, which ghosts are in the frontier."""
    v = sizes.n_owned + np.int64(cuda.grid(1))
    if v < sizes.n_local:
        bit = ONE << np.uint32(v & (BITS - 1))
        if flags[v]:
            cuda.atomic.or_(work.bits, v >> SHIFT, bit)
        else:
            cuda.atomic.and_(work.bits, v >> SHIFT, ~bit)
