"""The bucket schedule: vertices are processed by ascending priority of their values (SSSP).

This is a template, see hooks_kernels. Source: Meyer and Sanders, Delta-stepping: a parallelizable
shortest path algorithm (2003). Each thread has its own buckets, and empties small ones itself
before it synchronises with other threads, as in the GAP benchmark suite (Zhang et al., Optimizing
Ordered Graph Algorithms with GraphIt, 2020). One superstep lasts until all buckets of this device
are empty.

If a thread's buckets have no room for a vertex, the vertex is noted in a bitmap ("missed") and put
into a bucket when the buckets are empty.
"""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import lowest_bit
from evener.running.engine.atomics_kernels import (
    EDGES,
    ENDED,
    FAILED,
    LINE,
    LOGGED,
    MARKED,
    MISSED,
    MOST_STEPS,
    ONE,
    STEP,
    TAILS,
    TICKETS,
    TOTALS,
    VOTES,
    Part,
    Team,
    barrier,
    bit_of,
    cas,
    counts_after,
    counts_at,
    degree_of,
    fetch_add,
    is_newly_set,
    load,
    number_of,
    share_of,
    store,
    tickets_for,
)
from evener.running.engine.buckets_kernels import (
    BACK,
    NONE,
    Buckets,
    emptied,
    is_put,
    nearest,
    size_of,
)
from evener.running.engine.hooks_kernels import (
    IDENTITY,
    NO_PRIORITY,
    as_value,
    bucket_of,
    changes,
    helper,
    initial,
    joined,
    kernel,
    message_of,
)
from evener.running.engine.near_kernels import came, enter, is_linked, is_sent, least_vote
from evener.running.engine.pushing_kernels import payload_from, received, ways_of, weight_of

FUSED = 1000  # a thread empties its bucket itself below this (the GAP benchmark suite)
TAKEN = np.uint64(64)  # vertices of the shared frontier that a thread takes at a time
# Ranks exchange after so many buckets, or once one has looked at so many arcs, some 40 us of work:
# on meshes the former, on Kronecker graphs the latter, after each bucket.
WINDOW, ARCS_OF_WINDOW = 32, 16384


@helper
def put(buckets, control, priority, v):
    """Append a vertex to its bucket, or note it as missed if there is no room."""
    if priority == NO_PRIORITY:
        control[FAILED] = 2
    if not is_put(buckets, priority, v) and is_newly_set(buckets.bits, v):
        fetch_add(control, MISSED, 1)


@helper
def agreed(team, slot, vote):
    """Vote for the next priority; return the least vote of all threads, after a barrier."""
    while True:
        least = load(team.sync, VOTES + slot)
        if vote >= least or cas(team.sync, VOTES + slot, least, vote):
            break
    barrier(team.sync, team.threads)
    return load(team.sync, VOTES + slot)


@helper
def first_vote(team, part, values, buckets, control, parameters):
    """Compute the first values of all local vertices; return the vote for the first priority."""
    for i in range(np.uint64(buckets.bins.size)):
        buckets.bins[i] = 0
    buckets.bins[BACK] = -1
    first, end = share_of(team, buckets.bits.size)
    for word in range(first, end):
        buckets.bits[word] = 0
    barrier(team.sync, team.threads)
    n, n_owned, vote = part.sizes.n_global, np.uint64(part.sizes.n_owned), NONE
    first, end = share_of(team, part.sizes.n_local)
    for u in range(first, end):
        degree = degree_of(part.vertices, part.out, u)
        value = initial(number_of(part.vertices, u), degree, n, parameters)
        values[u] = value
        if value != as_value(IDENTITY) and u < n_owned:
            priority = bucket_of(value, parameters)
            vote = min(vote, priority)
            put(buckets, control, priority, u)
    return vote


@helper
def vote_of_missed(team, n_owned, values, buckets, control, counts, parameters):
    """Put the missed vertices into empty buckets; return the vote for the next priority."""
    barrier(team.sync, team.threads)  # all have seen that some are missed
    if team.thread == 0:
        control[MISSED] = 0
    vote = NONE
    barrier(team.sync, team.threads)
    first, end = share_of(team, buckets.bits.size)
    for word in range(first, end):
        missed = buckets.bits[word]
        while missed != 0:
            u = (word << np.uint64(6)) + lowest_bit(missed)
            missed &= missed - ONE
            if u < n_owned:
                buckets.bits[word] &= ~bit_of(u)
                priority = bucket_of(values[u], parameters)
                vote = min(vote, priority)
                put(buckets, control, priority, u)
    barrier(team.sync, team.threads)
    if team.thread == 0:
        store(team.sync, VOTES + counts.slot, NONE)
    return vote


@helper
def shared_length(team, buckets, now, frontier, counts):
    """Move all threads' vertices of a priority to the shared frontier; return their number."""
    size = size_of(buckets, now)
    if size > 0:
        place = fetch_add(team.sync, TAILS + counts.slot, size) - counts.tail
        emptied(buckets, now, frontier, np.uint64(place))
    barrier(team.sync, team.threads)
    if team.thread == 0:
        store(team.sync, VOTES + counts.slot, NONE)
    return load(team.sync, TAILS + counts.slot) - counts.tail


@helper
def taken(team, buckets, now, length, counts, is_shared):
    """Return the range of vertices to process next, and whether they are in the shared frontier.

    Vertices of the shared frontier come first; then those in the thread's own bucket, while they
    are few. An empty range means that none are left.
    """
    if is_shared:
        at = np.uint64(fetch_add(team.sync, TICKETS, 1) - counts.tickets) * TAKEN
        end = min(at + TAKEN, np.uint64(length))
        if at < end:
            return at, end, True
    size = size_of(buckets, now)
    if size >= FUSED:
        size = np.int64(0)
    if size > 0:
        emptied(buckets, now, buckets.few, np.uint64(0))
    return np.uint64(0), np.uint64(size), False


@helper
def sent_from(u, value, team, part, values, marked, buckets, now, control, step, parameters):
    """Send a vertex's value along its arcs, and put vertices that change into buckets.

    Returns the number of arcs read.
    """
    n_owned, edges = np.uint64(part.sizes.n_owned), np.int64(0)
    payload = payload_from(u, value, part, parameters)
    for way in range(ways_of(part)):
        arcs = part.out if way == 0 else part.into
        j, end = np.uint64(arcs.offsets[u]), np.uint64(arcs.offsets[u + ONE])
        edges += np.int64(end - j)
        while j < end:
            v = np.uint64(arcs.ends[j])
            message = message_of(payload, weight_of(arcs, j), parameters)
            j += ONE
            changed, new = received(v, message, values, team.threads, part, step, parameters)
            if changed and v < n_owned:
                priority = bucket_of(new, parameters)
                if priority < now:
                    control[FAILED] = 1
                put(buckets, control, priority, v)
            elif changed and is_newly_set(buckets.bits, v):
                marked[np.uint64(fetch_add(control, MARKED, 1))] = v
    return edges


@helper
def handled(team, part, values, work, buckets, now, length, counts, control, step, parameters):
    """Process the vertices of a priority, shared and own ones; return the number of arcs read."""
    at, end, edges, is_shared = np.uint64(0), np.uint64(0), np.int64(0), True
    while True:
        if at == end:
            at, end, is_shared = taken(team, buckets, now, length, counts, is_shared)
            if at == end:
                return edges
        u = np.uint64(work.frontier[at]) if is_shared else np.uint64(buckets.few[at])
        at += ONE
        value = values[u]
        # Shared ones of lower buckets have been handled there; what is own was put here since.
        if not is_shared or bucket_of(value, parameters) >= now:
            edges += sent_from(
                u, value, team, part, values, work.marked, buckets, now, control, step, parameters
            )


@helper
def take_in(first, end, targets, found, values, buckets, control, parameters):
    """Join found[first:end] with own vertices targets[first:end]; return the least priority.

    Calls no `applied`: the senders did.
    """
    vote = NONE
    for i in range(np.uint64(first), np.uint64(end)):
        u = np.uint64(targets[i])
        old = values[u]
        new = joined(old, found[i])
        if changes(old, new):
            values[u] = new
            priority = bucket_of(new, parameters)
            vote = min(vote, priority)
            put(buckets, control, priority, u)
    return vote


@helper
def agreed_by_ranks(team, values, links, marked, buckets, vote, control, parameters):
    """Exchange with the ranks of this computer; return the least priority that any of them has."""
    if links is None:
        return vote
    row, least, places, found = 1, NONE, links.places, links.values
    barrier(team.sync, team.threads)  # all have seen whether any are missed
    if team.thread == 0:
        if is_sent(links, row, marked, buckets.bits, values, control):
            for rank in range(links.ranks):
                first, end = came(links, row, rank)
                theirs = take_in(first, end, places, found, values, buckets, control, parameters)
                vote = min(vote, theirs)
            least = least_vote(links, row, vote, NONE, control)
        control[TOTALS], control[LOGGED] = least, row
    barrier(team.sync, team.threads)
    return control[TOTALS]


@kernel
def run(thread, threads, sync, sizes, vertices, out, into, values, work, control, parameters):
    """Compute one superstep: process vertices until none is left.

    If STEP is -1, the first values of all local vertices are computed first. Otherwise the
    control[MISSED] vertices in the bitmap are processed. Afterwards work.marked contains the
    control[MARKED] ghosts whose values changed. control[FAILED]: 1 if a message was for a lower
    bucket; 2 if a priority was not a valid bucket number. With work.links, the superstep lasts
    until no rank of the computer has a vertex left: ranks exchange after WINDOW buckets or
    ARCS_OF_WINDOW arcs.
    """
    step, last = control[STEP], control[MOST_STEPS]
    if last < 0 or max(step, 0) >= last:
        return
    team, part, row = (
        Team(thread, threads, sync),
        Part(sizes, vertices, out, into),
        np.uint64(thread),
    )
    buckets = Buckets(
        work.bins[row], work.pools[row], work.following[row], work.few[row], work.bits
    )
    counts, vote, end, enough = counts_at(sync), NONE, np.int64(-1), np.int64(0)
    links = work.links
    barrier(sync, threads)
    if thread == 0:
        enter(links)
        store(sync, VOTES, NONE)
        store(sync, VOTES + LINE, NONE)
    if step < 0:
        vote = first_vote(team, part, values, buckets, control, parameters)
        step = np.int64(0)
    else:
        barrier(sync, threads)
    while True:
        now = agreed(team, counts.slot, vote)
        if now == NONE and load(control, MISSED) > 0:
            n_owned = np.uint64(sizes.n_owned)
            vote = vote_of_missed(team, n_owned, values, buckets, control, counts, parameters)
            counts = counts_after(counts, 0, 0, 0)
            continue
        if is_linked(links) and (now >= end or load(control, EDGES) >= enough):
            now = agreed_by_ranks(
                team, values, links, work.marked, buckets, now, control, parameters
            )
            end, enough = now + WINDOW, load(control, EDGES) + ARCS_OF_WINDOW
        if now == NONE:
            break
        length = shared_length(team, buckets, now, work.frontier, counts)
        edges = handled(
            team, part, values, work, buckets, now, length, counts, control, step, parameters
        )
        fetch_add(control, EDGES, edges)
        counts = counts_after(counts, tickets_for(length, TAKEN, threads), length, 0)
        vote = nearest(buckets, now)
    barrier(sync, threads)
    if thread == 0:
        control[STEP], control[ENDED] = step + 1, 1


@kernel
def deliver(sizes, vertices, out, targets, received_values, values, work, control, parameters):  # noqa: ARG001
    """Join values that other devices sent with own vertices; mark as missed those that change.

    One thread calls this before the next superstep. control[ENDED] becomes 0 if any value changes.
    targets (s,): local numbers.
    """
    for i in range(np.uint64(targets.size)):
        u = np.uint64(targets[i])
        old = values[u]
        new = joined(old, received_values[i])
        if changes(old, new):
            values[u] = new
            control[ENDED] = 0
            if is_newly_set(work.bits, u):
                control[MISSED] += 1


@kernel
def take_marked(values, work, control, places, sent):
    """Copy the marked ghosts' local numbers and values; clear the marks. Returns their number."""
    count = control[MARKED]
    for i in range(np.uint64(count)):
        v = np.uint64(work.marked[i])
        places[i], sent[i] = v, values[v]
        work.bits[v >> np.uint64(6)] &= ~bit_of(v)
    control[MARKED] = 0
    return count
