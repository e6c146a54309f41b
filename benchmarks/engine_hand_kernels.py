"""Kernels written by hand for one application each, beside programs in benchmarks/engine.py.

Each has the algorithm of the engine's schedule, but knows its application, its types and that there
is one device. sync: as of evener.running.engine.atomics_kernels. offsets (n + 1,) uint32; ends,
weights (arcs,). Every function but `hand_*` is inlined into these.
"""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import lowest_bit
from evener.jit import inner, njit
from evener.running.engine.atomics_kernels import (
    LINE,
    SUMS,
    TAILS,
    TICKETS,
    VOTES,
    barrier,
    cas,
    chunk_end,
    chunk_start,
    fetch_add,
    fetch_or,
    first_of,
    load,
    load_relaxed,
    store,
)

kernel = njit(nogil=True, cache=True, counted=False, error_model="numpy")
helper = inner(counted=False, error_model="numpy")

DAMPING = np.float32(0.85)
ONE = np.uint64(1)
ARCS_OF_CHUNK = 1 << 14
FAR = np.int32(2**31 - 1)
BUFFER = np.uint64(256)
WORDS_TAKEN = np.uint64(64)
ROUNDS, SAMPLES = 2, 1024
BINS = np.int64(256)
CHUNK = np.uint64(256)
FUSED = 1000
NONE = np.int64(1) << np.int64(62)


@kernel
def hand_pagerank(thread, threads, sync, offsets, ends, ranks, now, then, steps):
    """Ranks (n,) float32 after `steps` steps; now, then (n,) float32: parts that vertices send."""
    n = np.uint64(offsets.size - 1)
    base = np.float32(1.0 - 0.85) / np.float32(n)
    tickets = load(sync, TICKETS)
    for u in range(first_of(thread, threads, n), first_of(thread + 1, threads, n)):
        ranks[u] = np.float32(1.0) / np.float32(n)
        now[u] = ranks[u] / np.float32(max(offsets[u + ONE] - offsets[u], 1))
    barrier(sync, threads)
    chunks = np.int64(ends.size + 2 * n) // ARCS_OF_CHUNK + 1
    for _ in range(steps):
        after, previous = np.uint64(0), np.int64(-1)
        while True:
            chunk = fetch_add(sync, TICKETS, 1) - tickets
            if chunk >= chunks:
                break
            if chunk != previous + 1:
                after = chunk_start(offsets, n, chunk, chunks)
            first, previous = after, chunk
            after = chunk_end(offsets, n, chunk, chunks, first)
            for u in range(first, after):
                j, end = np.uint64(offsets[u]), np.uint64(offsets[u + ONE])
                degree = max(end - j, ONE)
                even, odd = np.float32(0), np.float32(0)
                last = end - ((end - j) & ONE)
                while j < last:
                    even += now[np.uint64(ends[j])]
                    odd += now[np.uint64(ends[j + ONE])]
                    j += ONE + ONE
                if j < end:
                    even += now[np.uint64(ends[j])]
                ranks[u] = base + DAMPING * (even + odd)
                then[u] = ranks[u] / np.float32(degree)
        tickets += chunks + threads
        now, then = then, now
        barrier(sync, threads)


@helper
def appended(buffers, thread, count, queue, sync, tail, base):
    """Append a thread's buffer to a queue; return 0."""
    place = np.uint64(fetch_add(sync, tail, count) - base)
    for i in range(np.uint64(count)):
        queue[place + i] = buffers[np.uint64(thread) * BUFFER + i]
    return np.int64(0)


@helper
def pulled_level(start, end, parents, offsets, ends, bits, next_bits, n):
    """Find parents among the frontier for the vertices of some words; return how many."""
    found = np.int64(0)
    for word in range(start, end):
        active, left, first = np.uint64(0), np.uint64(0), word << np.uint64(6)
        for u in range(first, min(first + np.uint64(64), n)):
            left |= np.uint64(parents[u] < 0) << (u - first)
        while left != 0:
            u = first + lowest_bit(left)
            left &= left - ONE
            for j in range(np.uint64(offsets[u]), np.uint64(offsets[u + ONE])):
                v = np.uint64(ends[j])
                if (bits[v >> np.uint64(6)] >> (v & np.uint64(63))) & ONE != 0:
                    parents[u] = np.int32(v)
                    found += 1
                    active |= ONE << (u & np.uint64(63))
                    break
        next_bits[word] = active
    return found


@kernel
def hand_bfs(thread, threads, sync, offsets, ends, source, parents, queues, bitmaps, buffers):
    """Parents (n,) int32 of a search from `source`; below 0 where it does not reach.

    queues (2, n + 256) uint32, bitmaps (2, words) uint64, buffers (threads x 256,) uint32: work.
    """
    n, words = np.uint64(offsets.size - 1), np.uint64(bitmaps.shape[1])
    queue, then, bits, next_bits = queues[0], queues[1], bitmaps[0], bitmaps[1]
    first_word, end_word = first_of(thread, threads, words), first_of(thread + 1, threads, words)
    for u in range(first_word << np.uint64(6), min(end_word << np.uint64(6), n)):
        parents[u] = -max(np.int32(offsets[u + ONE] - offsets[u]), 1)
    for word in range(first_word, end_word):
        bits[word] = 0
    tail, other_tail = load(sync, TAILS), load(sync, TAILS + LINE)
    total, other_total = load(sync, SUMS), load(sync, SUMS + LINE)
    tickets, slot = load(sync, TICKETS), np.uint64(0)
    barrier(sync, threads)
    length, scouted = np.int64(1), -np.int64(parents[np.uint64(source)])
    barrier(sync, threads)
    if thread == 0:
        parents[np.uint64(source)] = source
        queue[0] = source
    left, count = np.int64(ends.size), np.int64(0)
    barrier(sync, threads)
    while length > 0:
        if scouted > left // 15:
            for i in range(
                first_of(thread, threads, length), first_of(thread + 1, threads, length)
            ):
                u = np.uint64(queue[i])
                if threads == 1:
                    bits[u >> np.uint64(6)] |= ONE << (u & np.uint64(63))
                else:
                    fetch_or(bits, u >> np.uint64(6), ONE << (u & np.uint64(63)))
            barrier(sync, threads)
            before = np.int64(0)
            while length >= before or length > np.int64(n) // 18:
                before = length
                found = np.int64(0)
                while True:
                    at = np.uint64(fetch_add(sync, TICKETS, 1) - tickets) * WORDS_TAKEN
                    if at >= words:
                        break
                    end = min(at + WORDS_TAKEN, words)
                    found += pulled_level(at, end, parents, offsets, ends, bits, next_bits, n)
                fetch_add(sync, SUMS + slot, found)
                barrier(sync, threads)
                length = load(sync, SUMS + slot) - total
                total, other_total = other_total, total + length
                tail, other_tail = other_tail, tail
                slot = LINE - slot
                tickets += np.int64((words + WORDS_TAKEN - ONE) // WORDS_TAKEN) + threads
                bits, next_bits = next_bits, bits
            for word in range(first_word, end_word):
                active = bits[word]
                bits[word] = 0
                while active != 0:
                    u = (word << np.uint64(6)) + lowest_bit(active)
                    active &= active - ONE
                    buffers[np.uint64(thread) * BUFFER + np.uint64(count)] = u
                    count += 1
                    if count == np.int64(BUFFER):
                        count = appended(buffers, thread, count, queue, sync, TAILS + slot, tail)
            count = appended(buffers, thread, count, queue, sync, TAILS + slot, tail)
            barrier(sync, threads)
            total, other_total = other_total, total
            tail, other_tail = other_tail, tail + length
            slot = LINE - slot
            scouted = np.int64(1)
            continue
        left -= scouted
        found = np.int64(0)
        for i in range(first_of(thread, threads, length), first_of(thread + 1, threads, length)):
            u = np.uint64(queue[i])
            for j in range(np.uint64(offsets[u]), np.uint64(offsets[u + ONE])):
                v = np.uint64(ends[j])
                old = parents[v]
                if old < 0 and cas(parents, v, old, np.int32(u)):
                    found -= np.int64(old)
                    buffers[np.uint64(thread) * BUFFER + np.uint64(count)] = v
                    count += 1
                    if count == np.int64(BUFFER):
                        count = appended(buffers, thread, count, then, sync, TAILS + slot, tail)
        count = appended(buffers, thread, count, then, sync, TAILS + slot, tail)
        fetch_add(sync, SUMS + slot, found)
        barrier(sync, threads)
        length, scouted = load(sync, TAILS + slot) - tail, load(sync, SUMS + slot) - total
        tail, other_tail = other_tail, tail + length
        total, other_total = other_total, total + scouted
        slot = LINE - slot
        queue, then = then, queue


@helper
def hooked(u, v, parents):
    """Join the trees of two vertices."""
    one, other = np.uint64(parents[u]), np.uint64(parents[v])
    while one != other:
        high, low = max(one, other), min(one, other)
        above = np.uint64(parents[high])
        if above == low:
            return
        if above == high and cas(parents, high, np.uint32(high), np.uint32(low)):
            return
        one = np.uint64(parents[np.uint64(parents[high])])
        other = np.uint64(parents[low])


@helper
def flattened(parents, first, end):
    """Put vertices directly below their roots."""
    for u in range(first, end):
        while parents[u] != parents[np.uint64(parents[u])]:
            parents[u] = parents[np.uint64(parents[u])]


@kernel
def hand_wcc(thread, threads, sync, offsets, ends, parents, drawn, largest):
    """Roots (n,) uint32 of each vertex's component; drawn (1024,): work; largest (1,): a root."""
    n = np.uint64(offsets.size - 1)
    first, end = first_of(thread, threads, n), first_of(thread + 1, threads, n)
    tickets = load(sync, TICKETS)
    for u in range(first, end):
        parents[u] = u
    barrier(sync, threads)
    for turn in range(ROUNDS):
        for u in range(first, end):
            j = np.uint64(offsets[u]) + np.uint64(turn)
            if j < np.uint64(offsets[u + ONE]):
                hooked(u, np.uint64(ends[j]), parents)
        barrier(sync, threads)
        flattened(parents, first, end)
        barrier(sync, threads)
    if thread == 0:
        commonest_root(parents, n, drawn, largest)
    barrier(sync, threads)
    chunks = np.int64(ends.size) // ARCS_OF_CHUNK + 1
    while True:
        chunk = fetch_add(sync, TICKETS, 1) - tickets
        if chunk >= chunks:
            break
        start = chunk_start(offsets, n, chunk, chunks)
        for u in range(start, chunk_start(offsets, n, chunk + 1, chunks)):
            if parents[u] != largest[0]:
                begin = np.uint64(offsets[u]) + np.uint64(ROUNDS)
                for j in range(begin, np.uint64(offsets[u + ONE])):
                    hooked(u, np.uint64(ends[j]), parents)
    barrier(sync, threads)
    flattened(parents, first, end)


@helper
def commonest_root(parents, n, drawn, largest):
    """Put the commonest root among random vertices into largest[0]."""
    x = np.uint64(88172645463325252)
    for i in range(SAMPLES):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        drawn[i] = parents[x % n]
    most = 0
    for i in range(0, SAMPLES, 16):  # each of 64 candidates is counted
        same = 0
        for k in range(SAMPLES):
            same += drawn[k] == drawn[i]
        if same > most:
            most, largest[0] = same, drawn[i]


@helper
def pushed(bins, pool, following, b, v):
    """Append a vertex to a bucket: its first chunk, next place and size are bins[4 b : 4 b + 3]."""
    at = np.uint64(b & (BINS - 1)) << np.uint64(2)
    place = np.uint64(bins[at + ONE])
    if place & (CHUNK - ONE) == 0:
        chunk = bins[4 * BINS + 1]
        if chunk >= 0:
            bins[4 * BINS + 1] = following[np.uint64(chunk)]
        else:
            chunk = bins[4 * BINS]
            bins[4 * BINS] = chunk + 1
        if bins[at + np.uint64(2)] == 0:
            bins[at] = chunk
        else:
            following[place // CHUNK - ONE] = chunk
        place = np.uint64(chunk) * CHUNK
    pool[place] = v
    bins[at + ONE] = np.int64(place + ONE)
    bins[at + np.uint64(2)] += 1


@helper
def drained(bins, pool, following, b, target, place):
    """Move a bucket's vertices to target[place:]."""
    at = np.uint64(b & (BINS - 1)) << np.uint64(2)
    chunk, left = bins[at], bins[at + np.uint64(2)]
    while left > 0:
        count = min(np.uint64(left), CHUNK)
        for i in range(count):
            target[place + i] = pool[np.uint64(chunk) * CHUNK + i]
        place += count
        left -= np.int64(count)
        after = following[np.uint64(chunk)]
        following[np.uint64(chunk)] = bins[4 * BINS + 1]
        bins[4 * BINS + 1] = chunk
        chunk = after
    bins[at + ONE] = 0
    bins[at + np.uint64(2)] = 0


@helper
def relaxed(u, offsets, ends, weights, distances, delta, bins, pool, following):
    """Send a vertex's distance along its arcs; put those that become nearer into buckets."""
    for j in range(np.uint64(offsets[u]), np.uint64(offsets[u + ONE])):
        v = np.uint64(ends[j])
        new, old = np.int32(distances[u] + weights[j]), distances[v]
        while new < old:
            if cas(distances, v, old, new):
                pushed(bins, pool, following, np.int64(new // delta), v)
                break
            old = load_relaxed(distances, v)


@kernel
def hand_sssp(
    thread, threads, sync, offsets, ends, weights, source, delta, distances, all_bins, pools, work
):
    """Distances (n,) int32 from `source`, FAR where not reached; buckets are delta (int32) wide.

    all_bins (threads, 1026) int64; pools: of each thread (places,) uint32; work: (threads, chunks)
    int64, (threads, 1000) uint32 and (all places,) uint32.
    """
    n, row = np.uint64(offsets.size - 1), np.uint64(thread)
    bins, pool, following, few, frontier = (
        all_bins[row],
        pools[row],
        work[0][row],
        work[1][row],
        work[2],
    )
    for i in range(bins.size):
        bins[i] = 0
    bins[4 * BINS + 1] = -1
    for u in range(first_of(thread, threads, n), first_of(thread + 1, threads, n)):
        distances[u] = FAR
    tail, other_tail = load(sync, TAILS), load(sync, TAILS + LINE)
    tickets, slot = load(sync, TICKETS), np.uint64(0)
    barrier(sync, threads)
    if thread == 0:
        store(sync, VOTES, NONE)
        store(sync, VOTES + LINE, NONE)
        distances[np.uint64(source)] = 0
        frontier[0] = source
    now, length = np.int64(0), np.int64(1)
    barrier(sync, threads)
    while True:
        low = np.int32(now) * delta
        while True:
            at = np.uint64(fetch_add(sync, TICKETS, 1) - tickets) * np.uint64(64)
            if at >= np.uint64(length):
                break
            for i in range(at, min(at + np.uint64(64), np.uint64(length))):
                if distances[np.uint64(frontier[i])] >= low:
                    u = np.uint64(frontier[i])
                    relaxed(u, offsets, ends, weights, distances, delta, bins, pool, following)
        place = (np.uint64(now & (BINS - 1)) << np.uint64(2)) + np.uint64(2)
        while 0 < bins[place] < FUSED:
            size = np.uint64(bins[place])
            drained(bins, pool, following, now, few, np.uint64(0))
            for i in range(size):
                u = np.uint64(few[i])
                relaxed(u, offsets, ends, weights, distances, delta, bins, pool, following)
        tickets += (length + 63) // 64 + threads
        for b in range(now, now + BINS):
            if bins[(np.uint64(b & (BINS - 1)) << np.uint64(2)) + np.uint64(2)] > 0:
                least = load(sync, VOTES + slot)
                while b < least and not cas(sync, VOTES + slot, least, b):
                    least = load(sync, VOTES + slot)
                break
        barrier(sync, threads)
        now = load(sync, VOTES + slot)
        if now == NONE:
            break
        size = bins[(np.uint64(now & (BINS - 1)) << np.uint64(2)) + np.uint64(2)]
        if size > 0:
            begin = np.uint64(fetch_add(sync, TAILS + slot, size) - tail)
            drained(bins, pool, following, now, frontier, begin)
        barrier(sync, threads)
        if thread == 0:
            store(sync, VOTES + slot, NONE)
        length = load(sync, TAILS + slot) - tail
        tail, other_tail = other_tail, tail + length
        slot = LINE - slot
