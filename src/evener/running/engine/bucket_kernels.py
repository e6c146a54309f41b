"""The bucket schedule: vertices are handled by rising priority of their values (SSSP).

A template, see hooks_kernels. Meyer and Sanders, Delta-stepping: a parallelizable shortest path
algorithm (2003); each thread has its own buckets, and empties small ones itself before it meets
the others, as in the GAP benchmark suite (Zhang et al., Optimizing Ordered Graph Algorithms with
GraphIt, 2020). One superstep lasts until no vertex of this device is left to handle.

A thread's buckets are lists of chunks of one pool. BINS buckets are kept: priorities that lie
further apart share one, which costs time alone. Vertices for which the pool has no room are noted
in a bitmap and put into buckets when these are empty.
"""

# mypy: ignore-errors
import numpy as np

from evener.running.engine.atomics_kernels import (
    EDGES,
    ENDED,
    FAILED,
    LINE,
    MARKED,
    MISSED,
    MOST_STEPS,
    STEP,
    TAILS,
    TICKETS,
    VOTES,
    barrier,
    cas,
    fetch_add,
    fetch_or,
    first_of,
    load,
    load_relaxed,
    lowest_bit,
    store,
)
from evener.running.engine.hooks_kernels import (
    GOES_BOTH_WAYS,
    HAS_SETTLED,
    IDENTITY,
    IS_WEIGHTED,
    applied,
    as_value,
    bucket_of,
    helper,
    initial,
    is_settled,
    kernel,
    message_of,
    payload_of,
)

BINS = np.int64(256)  # a power of two; more than the largest weight / delta + 2 in usual cases
CHUNK = np.uint64(256)  # entries, a power of two
FUSED = 1000  # a thread empties its bucket itself below this (the GAP benchmark suite)
TAKEN = np.uint64(64)  # vertices of the shared frontier that a thread takes at a time
NONE = np.int64(1) << np.int64(62)  # a priority above all others
ONE = np.uint64(1)
# Places in a thread's row of work.bins: of bucket b, from 4 b on, its first chunk, where the next
# entry goes, and how many there are; after all buckets, the first unused chunk, and the first that
# was given back, or -1.
END, SIZE = np.uint64(1), np.uint64(2)
UNUSED, BACK = np.uint64(4 * BINS), np.uint64(4 * BINS + 1)


@helper
def is_put(bins, pool, following, priority, v):
    """Append a vertex to the bucket of a priority: whether there was room."""
    at = np.uint64(priority & (BINS - 1)) << np.uint64(2)
    place = np.uint64(bins[at + END])
    if place & (CHUNK - ONE) == 0:  # its last chunk is full, or it has none
        chunk = bins[BACK]
        if chunk >= 0:
            bins[BACK] = following[np.uint64(chunk)]
        else:
            chunk = bins[UNUSED]
            if chunk == following.size:
                return False
            bins[UNUSED] = chunk + 1
        if bins[at + SIZE] == 0:
            bins[at] = chunk
        else:
            following[place // CHUNK - ONE] = chunk
        place = np.uint64(chunk) * CHUNK
    pool[place] = v
    bins[at + END] = np.int64(place + ONE)
    bins[at + SIZE] += 1
    return True


@helper
def emptied(bins, pool, following, priority, target, place):
    """Move a bucket's vertices to target[place:]; give its chunks back."""
    at = np.uint64(priority & (BINS - 1)) << np.uint64(2)
    chunk, left = bins[at], bins[at + SIZE]
    while left > 0:
        start = np.uint64(chunk) * CHUNK
        count = min(np.uint64(left), CHUNK)
        for i in range(count):
            target[place + i] = pool[start + i]
        place += count
        left -= np.int64(count)
        after = following[np.uint64(chunk)]
        following[np.uint64(chunk)] = bins[BACK]
        bins[BACK] = chunk
        chunk = after
    bins[at + END] = 0
    bins[at + SIZE] = 0


@helper
def is_new(bits, v):
    """Set a bit: whether it was not set."""
    bit = ONE << (v & np.uint64(63))
    return (fetch_or(bits, v >> np.uint64(6), bit) & bit) == 0


@helper
def put(bins, pool, following, bits, control, priority, v):
    """Append a vertex to its bucket, or note that it is missed."""
    if not is_put(bins, pool, following, priority, v) and is_new(bits, v):
        fetch_add(control, MISSED, 1)


@helper
def nearest(bins, priority):
    """Return the first priority from here on whose bucket has vertices, or NONE."""
    for further in range(BINS):
        if bins[(np.uint64((priority + further) & (BINS - 1)) << np.uint64(2)) + SIZE] > 0:
            return priority + further
    return NONE


@helper
def agreed(sync, slot, vote, threads):
    """Vote for the next priority: the least vote of all, after a barrier."""
    while True:
        least = load(sync, VOTES + slot)
        if vote >= least or cas(sync, VOTES + slot, least, vote):
            break
    barrier(sync, threads)
    return load(sync, VOTES + slot)


@kernel
def run(thread, threads, sync, sizes, vertices, out, into, values, work, control, parameters):
    """Compute one superstep: handle vertices until none is left.

    If STEP is -1, the first values of all local vertices are made first. Else the control[MISSED]
    vertices of the bitmap are to be handled. Afterwards work.marked holds the control[MARKED]
    ghosts whose values changed. control[FAILED]: 1 if a message was of a lower bucket.
    """
    n, n_owned, n_local = sizes.n_global, np.uint64(sizes.n_owned), np.uint64(sizes.n_local)
    step, last = control[STEP], control[MOST_STEPS]
    if last < 0 or max(step, 0) >= last:
        return
    row = np.uint64(thread)
    bins, pool, following = work.bins[row], work.pools[row], work.following[row]
    few, frontier, bits = work.few[row], work.frontier, work.bits
    words = np.uint64(bits.size)
    first_word, end_word = first_of(thread, threads, words), first_of(thread + 1, threads, words)
    ways = 2 if GOES_BOTH_WAYS and sizes.is_directed else 1
    tickets, slot = load(sync, TICKETS), np.uint64(0)
    tail, other_tail = load(sync, TAILS), load(sync, TAILS + LINE)
    edges = np.int64(0)
    vote = NONE
    barrier(sync, threads)
    if thread == 0:
        store(sync, VOTES, NONE)
        store(sync, VOTES + LINE, NONE)
    if step < 0:
        step = np.int64(0)
        for i in range(np.uint64(bins.size)):
            bins[i] = 0
        bins[BACK] = -1
        for word in range(first_word, end_word):
            bits[word] = 0
        barrier(sync, threads)
        for u in range(first_of(thread, threads, n_local), first_of(thread + 1, threads, n_local)):
            value = initial(vertices.numbers[u], np.int64(vertices.degrees[u]), n, parameters)
            values[u] = value
            if value != as_value(IDENTITY) and u < n_owned:
                priority = np.int64(bucket_of(value, parameters))
                vote = min(vote, priority)
                put(bins, pool, following, bits, control, priority, u)
    else:
        barrier(sync, threads)
    while True:
        now = agreed(sync, slot, vote, threads)
        if now == NONE:
            if load(control, MISSED) == 0:
                break
            barrier(sync, threads)  # all have seen that some are missed
            if thread == 0:
                control[MISSED] = 0
            vote = NONE
            barrier(sync, threads)
            for word in range(first_word, end_word):
                missed = bits[word]
                while missed != 0:
                    u = (word << np.uint64(6)) + lowest_bit(missed)
                    missed &= missed - ONE
                    if u < n_owned:
                        bits[word] &= ~(ONE << (u & np.uint64(63)))
                        priority = np.int64(bucket_of(values[u], parameters))
                        vote = min(vote, priority)
                        put(bins, pool, following, bits, control, priority, u)
            slot = LINE - slot
            tail, other_tail = other_tail, tail
            barrier(sync, threads)
            if thread == 0:
                store(sync, VOTES + LINE - slot, NONE)
            continue
        size = bins[(np.uint64(now & (BINS - 1)) << np.uint64(2)) + SIZE]
        if size > 0:
            place = np.uint64(fetch_add(sync, TAILS + slot, size) - tail)
            emptied(bins, pool, following, now, frontier, place)
        barrier(sync, threads)
        if thread == 0:
            store(sync, VOTES + slot, NONE)
        length = load(sync, TAILS + slot) - tail
        tail, other_tail = other_tail, tail + length
        slot = LINE - slot
        shares = (length + np.int64(TAKEN) - 1) // np.int64(TAKEN)
        is_shared, at, end = True, np.uint64(0), np.uint64(0)
        while True:
            if at == end:
                if is_shared:
                    at = np.uint64(fetch_add(sync, TICKETS, 1) - tickets) * TAKEN
                    end = min(at + TAKEN, np.uint64(length))
                    is_shared = at < end
                if not is_shared:
                    size = bins[(np.uint64(now & (BINS - 1)) << np.uint64(2)) + SIZE]
                    if size == 0 or size >= FUSED:
                        break
                    emptied(bins, pool, following, now, few, np.uint64(0))
                    at, end = np.uint64(0), np.uint64(size)
            u = np.uint64(frontier[at]) if is_shared else np.uint64(few[at])
            at += ONE
            value = values[u]
            if np.int64(bucket_of(value, parameters)) < now:
                continue  # handled before, in a lower bucket
            payload = payload_of(
                value, np.int64(vertices.degrees[u]), vertices.numbers[u], n, parameters
            )
            for way in range(ways):
                ends = out.ends if way == 0 else into.ends
                offsets = out.offsets if way == 0 else into.offsets
                weights = out.weights if way == 0 else into.weights
                edges += np.int64(offsets[u + ONE]) - np.int64(offsets[u])
                for j in range(np.uint64(offsets[u]), np.uint64(offsets[u + ONE])):
                    v = np.uint64(ends[j])
                    old = values[v]
                    if HAS_SETTLED and is_settled(old, parameters):
                        continue
                    weight = weights[j] if IS_WEIGHTED else np.uint32(1)
                    message = message_of(payload, weight, parameters)
                    while True:
                        degree, vertex = np.int64(vertices.degrees[v]), vertices.numbers[v]
                        new = applied(old, message, degree, vertex, n, step, parameters)
                        if new == old:
                            break
                        if threads == 1:
                            values[v] = new
                        elif not cas(values, v, old, new):
                            old = load_relaxed(values, v)
                            continue
                        if v < n_owned:
                            priority = np.int64(bucket_of(new, parameters))
                            if priority < now:
                                control[FAILED] = 1
                            put(bins, pool, following, bits, control, priority, v)
                        elif is_new(bits, v):
                            work.marked[np.uint64(fetch_add(control, MARKED, 1))] = v
                        break
        tickets += shares + threads
        vote = nearest(bins, now)
    fetch_add(control, EDGES, edges)
    barrier(sync, threads)
    if thread == 0:
        control[STEP], control[ENDED] = step + 1, 1


@kernel
def deliver(sizes, vertices, targets, received, values, work, control, parameters):
    """Apply values that other devices sent for owned vertices; note those that change.

    By one thread, before the next superstep; ENDED becomes 0 if any changes. targets (s,): local
    numbers.
    """
    for i in range(np.uint64(targets.size)):
        u = np.uint64(targets[i])
        degree, vertex, old = np.int64(vertices.degrees[u]), vertices.numbers[u], values[u]
        step, n = control[STEP], sizes.n_global
        new = applied(old, received[i], degree, vertex, n, step, parameters)
        if new != old:
            values[u] = new
            control[ENDED] = 0
            if is_new(work.bits, u):
                control[MISSED] += 1


@kernel
def take_marked(values, work, control, places, sent):
    """Copy the marked ghosts' local numbers and values; forget the marks. Returns how many."""
    count = control[MARKED]
    for i in range(np.uint64(count)):
        v = np.uint64(work.marked[i])
        places[i], sent[i] = v, values[v]
        work.bits[v >> np.uint64(6)] &= ~(ONE << (v & np.uint64(63)))
    control[MARKED] = 0
    return count
