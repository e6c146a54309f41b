"""The frontier schedule: in each superstep only vertices whose value changed send (BFS).

A template, see hooks_kernels. A superstep pushes, from each vertex of the frontier along its arcs,
or pulls, to each vertex that is not settled from those of its neighbours that are in the frontier,
as costs less. The frontier is a queue for the former, a bitmap for the latter. Messages may
already arrive in the superstep in which they are sent, which min, max and or allow.
"""

# mypy: ignore-errors
import numpy as np

from evener.running.engine.atomics_kernels import (
    BUFFER,
    DIRECTION,
    EDGES,
    ENDED,
    FLIPPED,
    FORM,
    LEFT,
    LENGTH,
    LINE,
    MARKED,
    MOST_STEPS,
    SCOUTED,
    SHARED,
    SHRANK,
    STEP,
    SUMS,
    TAILS,
    TICKETS,
    barrier,
    cas,
    fetch_add,
    fetch_or,
    first_of,
    load,
    load_relaxed,
    lowest_bit,
)
from evener.running.engine.hooks_kernels import (
    GOES_BOTH_WAYS,
    HAS_SETTLED,
    IDENTITY,
    IS_WEIGHTED,
    TAKES_FIRST,
    applied,
    as_value,
    helper,
    initial,
    is_settled,
    joined,
    kernel,
    message_of,
    payload_of,
)

QUEUE, BITS, ALL = 0, 1, 2  # what the frontier is kept in; ALL: every vertex is in it
PUSH, PULL = 0, 1
# Beamer, Asanovic and Patterson, Direction-optimizing breadth-first search (2012), sections 4 and
# 5: pull when the frontier has more than a share of the arcs that are left, push again when it has
# become smaller than a share of the vertices. Shares: those of the GAP benchmark suite.
ARCS_PER_PULL, VERTICES_PER_PUSH = 15, 18
# Without settled vertices every arc is looked at: pull when a share of all arcs would be pushed.
ALL_ARCS_PER_PULL = 20
TAKEN = np.uint64(64)  # queue entries, or words of the bitmap, that a thread takes at a time
ONE = np.uint64(1)


@helper
def flushed(work, thread, count, queue, sync, slot, base):
    """Append a thread's buffer to a queue; return 0, its new length."""
    place = np.uint64(fetch_add(sync, TAILS + slot, count) - base)
    start = np.uint64(thread) * BUFFER
    for i in range(np.uint64(count)):
        queue[place + i] = work.buffers[start + i]
    return np.int64(0)


@helper
def kept(work, thread, count, u, queue, sync, slot, base):
    """Put a vertex into the thread's buffer; return the buffer's new length."""
    work.buffers[np.uint64(thread) * BUFFER + np.uint64(count)] = u
    count += 1
    return (
        flushed(work, thread, count, queue, sync, slot, base)
        if count == np.int64(BUFFER)
        else count
    )


@helper
def replaced(values, v, old, new, threads):
    """Whether this thread replaced `old` by `new`."""
    if threads == 1:
        values[v] = new
        return True
    return cas(values, v, old, new)


@helper
def is_added(bits, v, n_owned, value, parameters):
    """Whether a changed vertex is to be queued: unless it is, or others see that it is settled.

    Ghosts, which are marked instead, always have a bit: there is room for each of them once.
    """
    if HAS_SETTLED and v < n_owned and is_settled(value, parameters):
        return True
    word, bit = v >> np.uint64(6), ONE << (v & np.uint64(63))
    return (bits[word] & bit) == 0 and (fetch_or(bits, word, bit) & bit) == 0


@helper
def pulls(form, control, scouted, left, length, shrank, sizes, arcs):
    """Whether the next superstep pulls."""
    asked = control[DIRECTION]
    if asked >= 0:
        return asked == PULL
    if form == ALL:
        return True
    if form == BITS:
        return not shrank or length > sizes.n_owned // VERTICES_PER_PUSH
    if HAS_SETTLED:
        return scouted > left // ARCS_PER_PULL
    return scouted > arcs // ALL_ARCS_PER_PULL


@kernel
def run(thread, threads, sync, sizes, vertices, out, into, values, work, control, parameters):
    """Compute supersteps until control[STEP] is control[MOST_STEPS] or the frontier is empty.

    If STEP is -1, the first values of all local vertices are made first, and STEP becomes 0.
    control[DIRECTION]: PUSH or PULL, or -1: as costs less. If control[SHARED] is 1, an empty
    frontier does not end the run. Before PULL with ghosts, their values are to be filled in, and
    `see` is to be called. After PUSH, work.marked holds the
    control[MARKED] ghosts whose values changed.
    """
    n, n_owned, n_local = sizes.n_global, np.uint64(sizes.n_owned), np.uint64(sizes.n_local)
    arcs = np.int64(out.offsets[n_owned])
    words = np.uint64(work.bits.size)
    step, last = control[STEP], control[MOST_STEPS]
    if last < 0:
        return
    tickets, slot = load(sync, TICKETS), np.uint64(0)
    tail, other_tail = load(sync, TAILS), load(sync, TAILS + LINE)
    total, other_total = load(sync, SUMS), load(sync, SUMS + LINE)
    queue, then = work.queue, work.other_queue
    bits, next_bits = work.bits, work.other_bits
    flipped = control[FLIPPED] == 1
    if flipped:
        queue, then = then, queue
        bits, next_bits = next_bits, bits
    first_word, end_word = first_of(thread, threads, words), first_of(thread + 1, threads, words)
    ways = 2 if GOES_BOTH_WAYS and sizes.is_directed else 1
    form, length, scouted = control[FORM], control[LENGTH], control[SCOUTED]
    left, shrank = control[LEFT], control[SHRANK] == 1
    count = np.int64(0)
    edges = np.int64(0)
    barrier(sync, threads)
    if step < 0:
        for word in range(first_word, end_word):
            bits[word] = 0
            next_bits[word] = 0
        found = np.int64(0)
        for u in range(first_of(thread, threads, n_local), first_of(thread + 1, threads, n_local)):
            degree = np.int64(vertices.degrees[u])
            value = initial(vertices.numbers[u], degree, n, parameters)
            values[u] = value
            if value != as_value(IDENTITY) and u < n_owned:
                found += degree
                count = kept(work, thread, count, u, queue, sync, slot, tail)
        count = flushed(work, thread, count, queue, sync, slot, tail)
        fetch_add(sync, SUMS + slot, found)
        barrier(sync, threads)
        length, scouted = load(sync, TAILS + slot) - tail, load(sync, SUMS + slot) - total
        tail, other_tail = other_tail, tail + length
        total, other_total = other_total, total + scouted
        slot = LINE - slot
        form = ALL if length == np.int64(n_local) else QUEUE
        step, left, shrank = np.int64(0), arcs, False
    while (length > 0 or control[SHARED] == 1) and step < last:
        pull = pulls(form, control, scouted, left, length, shrank, sizes, arcs)
        if pull:
            if form == QUEUE:
                share = np.uint64(length)
                for i in range(
                    first_of(thread, threads, share), first_of(thread + 1, threads, share)
                ):
                    u = np.uint64(queue[i])
                    fetch_or(bits, u >> np.uint64(6), ONE << (u & np.uint64(63)))
                barrier(sync, threads)
            found = np.int64(0)
            owned_words = (n_owned + np.uint64(63)) >> np.uint64(6)
            while True:
                at = np.uint64(fetch_add(sync, TICKETS, 1) - tickets) * TAKEN
                if at >= owned_words:
                    break
                for word in range(at, min(at + TAKEN, owned_words)):
                    active = np.uint64(0)
                    start = word << np.uint64(6)
                    for u in range(start, min(start + np.uint64(64), n_owned)):
                        old = values[u]
                        if HAS_SETTLED and is_settled(old, parameters):
                            continue
                        combined = as_value(IDENTITY)
                        for way in range(ways):
                            ends = into.ends if way == 0 else out.ends
                            offsets = into.offsets if way == 0 else out.offsets
                            weights = into.weights if way == 0 else out.weights
                            begin, j = np.uint64(offsets[u]), np.uint64(offsets[u])
                            end = np.uint64(offsets[u + ONE])
                            while j < end:
                                v = np.uint64(ends[j])
                                weight = weights[j] if IS_WEIGHTED else np.uint32(1)
                                j += ONE
                                if (
                                    form == ALL
                                    or (bits[v >> np.uint64(6)] >> (v & np.uint64(63))) & ONE != 0
                                ):
                                    payload = payload_of(
                                        values[v],
                                        np.int64(vertices.degrees[v]),
                                        vertices.numbers[v],
                                        n,
                                        parameters,
                                    )
                                    message = message_of(payload, weight, parameters)
                                    combined = joined(combined, message)
                                    if TAKES_FIRST:
                                        break
                            edges += np.int64(j - begin)
                        if combined != as_value(IDENTITY):
                            degree, vertex = np.int64(vertices.degrees[u]), vertices.numbers[u]
                            new = applied(old, combined, degree, vertex, n, step, parameters)
                            if new != old:
                                values[u] = new
                                found += 1
                                active |= ONE << (u & np.uint64(63))
                    next_bits[word] = active
            fetch_add(sync, SUMS + slot, found)
            barrier(sync, threads)
            before = length
            length = load(sync, SUMS + slot) - total
            total, other_total = other_total, total + length
            other_tail, tail = tail, other_tail
            slot = LINE - slot
            tickets += np.int64((owned_words + TAKEN - ONE) // TAKEN) + threads
            shrank = length < before
            form = np.int64(BITS)
            scouted = np.int64(1)
        else:
            if form == ALL:
                share = n_owned
                for u in range(
                    first_of(thread, threads, share), first_of(thread + 1, threads, share)
                ):
                    queue[u] = u
                barrier(sync, threads)
            if form == BITS:
                for word in range(first_word, end_word):
                    active = bits[word]
                    bits[word] = 0
                    next_bits[word] = 0
                    while active != 0:
                        u = (word << np.uint64(6)) + lowest_bit(active)
                        active &= active - ONE
                        if u < n_owned:
                            count = kept(work, thread, count, u, queue, sync, slot, tail)
                count = flushed(work, thread, count, queue, sync, slot, tail)
                barrier(sync, threads)
                tail, other_tail = other_tail, tail + length
                other_total, total = total, other_total
                slot = LINE - slot
            form = np.int64(QUEUE)
            left -= scouted
            found = np.int64(0)
            while True:
                at = np.uint64(fetch_add(sync, TICKETS, 1) - tickets) * TAKEN
                if at >= np.uint64(length):
                    break
                for i in range(at, min(at + TAKEN, np.uint64(length))):
                    u = np.uint64(queue[i])
                    bits[u >> np.uint64(6)] = 0
                    payload = payload_of(
                        values[u], np.int64(vertices.degrees[u]), vertices.numbers[u], n, parameters
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
                                if replaced(values, v, old, new, threads):
                                    if is_added(next_bits, v, n_owned, new, parameters):
                                        if v < n_owned:
                                            found += degree
                                            count = kept(
                                                work, thread, count, v, then, sync, slot, tail
                                            )
                                        else:
                                            place = fetch_add(control, MARKED, 1)
                                            work.marked[np.uint64(place)] = v
                                    break
                                old = load_relaxed(values, v)
            count = flushed(work, thread, count, then, sync, slot, tail)
            fetch_add(sync, SUMS + slot, found)
            barrier(sync, threads)
            tickets += (length + np.int64(TAKEN) - 1) // np.int64(TAKEN) + threads
            length, scouted = load(sync, TAILS + slot) - tail, load(sync, SUMS + slot) - total
            tail, other_tail = other_tail, tail + length
            total, other_total = other_total, total + scouted
            slot = LINE - slot
        queue, then = then, queue
        bits, next_bits = next_bits, bits
        flipped = not flipped
        step += 1
    fetch_add(control, EDGES, edges)
    if thread == 0:
        control[STEP], control[ENDED] = step, np.int64(length == 0)
        control[FORM], control[LENGTH], control[SCOUTED] = form, length, scouted
        control[LEFT], control[SHRANK], control[FLIPPED] = left, np.int64(shrank), np.int64(flipped)


@kernel
def deliver(sizes, vertices, targets, received, values, work, control, parameters):
    """Apply values that other devices sent for owned vertices; queue those that change.

    After a push, before the next superstep, by one thread. targets (s,): local numbers.
    """
    flipped = control[FLIPPED] == 1
    queue = work.other_queue if flipped else work.queue
    bits = work.other_bits if flipped else work.bits
    for i in range(np.uint64(targets.size)):
        u = np.uint64(targets[i])
        degree, vertex, old = np.int64(vertices.degrees[u]), vertices.numbers[u], values[u]
        step, n = control[STEP], sizes.n_global
        new = applied(old, received[i], degree, vertex, n, step, parameters)
        if new != old:
            values[u] = new
            if is_added(bits, u, np.uint64(sizes.n_owned), new, parameters):
                queue[np.uint64(control[LENGTH])] = u
                control[LENGTH] += 1
                control[SCOUTED] += degree


@kernel
def take_marked(values, work, control, places, sent):
    """Copy the marked ghosts' local numbers and values; forget the marks. Returns how many."""
    bits = work.other_bits if control[FLIPPED] == 1 else work.bits
    count = control[MARKED]
    for i in range(np.uint64(count)):
        v = np.uint64(work.marked[i])
        places[i], sent[i] = v, values[v]
        bits[v >> np.uint64(6)] &= ~(ONE << (v & np.uint64(63)))
    control[MARKED] = 0
    return count


@kernel
def show(sizes, work, control, flags):
    """Set flags (n_local,) uint8 of owned vertices: 1 for those in the frontier."""
    flipped = control[FLIPPED] == 1
    queue = work.other_queue if flipped else work.queue
    bits = work.other_bits if flipped else work.bits
    for u in range(np.uint64(sizes.n_owned)):
        in_bits = (bits[u >> np.uint64(6)] >> (u & np.uint64(63))) & ONE != 0
        flags[u] = control[FORM] == ALL or (control[FORM] == BITS and in_bits)
    if control[FORM] == QUEUE:
        for i in range(np.uint64(control[LENGTH])):
            flags[np.uint64(queue[i])] = 1


@kernel
def see(sizes, work, control, flags):
    """Take from flags (n_local,) uint8, as their owners set them, which ghosts are in it."""
    bits = work.other_bits if control[FLIPPED] == 1 else work.bits
    for v in range(np.uint64(sizes.n_owned), np.uint64(sizes.n_local)):
        bit = ONE << (v & np.uint64(63))
        if flags[v]:
            bits[v >> np.uint64(6)] |= bit
        else:
            bits[v >> np.uint64(6)] &= ~bit
