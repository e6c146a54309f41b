"""The frontier schedule: in each superstep only vertices whose value changed send (BFS).

This is a template, see hooks_kernels. A superstep either pushes, from each vertex of the frontier
along its arcs, or pulls, to each unsettled vertex from its neighbours in the frontier, whichever
costs less. Pushes read the frontier from a queue, pulls from a bitmap. Messages may arrive already
in the superstep in which they are sent, which min, max and or permit.
"""

# mypy: ignore-errors
import numpy as np

from evener.running.engine.atomics_kernels import (
    ABORTED,
    BUFFER,
    DIRECTION,
    EDGES,
    ENDED,
    FLIPPED,
    FORM,
    LEFT,
    LENGTH,
    LOGGED,
    MARKED,
    MOST_STEPS,
    ONE,
    SCOUTED,
    SHARED,
    SHRANK,
    STEP,
    SUMS,
    TAILS,
    TICKETS,
    TOTALS,
    Part,
    Team,
    barrier,
    bit_of,
    counts_after,
    counts_at,
    degree_of,
    fetch_add,
    flushed,
    is_newly_set,
    is_set,
    kept,
    load,
    number_of,
    share_of,
    tickets_for,
)
from evener.running.engine.fronts_kernels import (
    ALL,
    BITS,
    PULL,
    PUSH,
    QUEUE,
    Front,
    fill_bits,
    lists_of,
    pulls_next,
    put_into_bits,
    put_into_queue,
)
from evener.running.engine.hooks_kernels import (
    HAS_SETTLED,
    IDENTITY,
    as_value,
    changes,
    helper,
    initial,
    is_settled,
    joined,
    kernel,
    message_of,
)
from evener.running.engine.near_kernels import (
    COMPUTED,
    LOOKED,
    MET,
    PACKED,
    PULLED,
    RECEIVED,
    UNPACKED,
    came,
    enter,
    is_linked,
    is_sent,
    met,
    must_return,
    see_front,
    show_front,
    spend,
    sum_totals,
)
from evener.running.engine.pulled_front_kernels import FINDS_SENDERS, pulled_word
from evener.running.engine.pushing_kernels import payload_from, received, ways_of, weight_of

TAKEN = np.uint64(64)  # queue entries, or words of the bitmap, that a thread takes at a time


@helper
def is_added(bits, v, n_owned, value, parameters):
    """Return whether a changed vertex must be queued or, if it is a ghost, marked.

    A vertex whose bit is set already is not added again. Settled own vertices need no bit.
    """
    if HAS_SETTLED and v < n_owned and is_settled(value, parameters):
        return True
    return is_newly_set(bits, v)


@helper
def arcs_from(u, part):
    """Return the number of arcs that leave an own vertex, from offsets that are read anyway."""
    offsets = part.out.offsets
    return np.int64(offsets[u + ONE]) - np.int64(offsets[u])


@helper
def pulls(front, asked, sizes, arcs):
    """Return whether the next superstep pulls. asked: control[DIRECTION]."""
    if asked >= 0:
        return asked == PULL
    if front.form == ALL:
        return True
    return pulls_next(
        front.form == BITS, front.shrank, front.length, np.int64(sizes.n_owned), front.scouted,
        front.left, arcs, HAS_SETTLED,
    )  # fmt: skip


@helper
def first_front(team, part, values, work, lists, counts, arcs, parameters):
    """Compute the first values of all local vertices; return the frontier and the new counts."""
    n, n_owned = part.sizes.n_global, np.uint64(part.sizes.n_owned)
    first, end = share_of(team, lists.bits.size)
    for word in range(first, end):
        lists.bits[word] = 0
        lists.next_bits[word] = 0
    count, found = np.int64(0), np.int64(0)
    first, end = share_of(team, part.sizes.n_local)
    for u in range(first, end):
        degree = degree_of(part.vertices, part.out, u)
        value = initial(number_of(part.vertices, u), degree, n, parameters)
        values[u] = value
        if value != as_value(IDENTITY) and u < n_owned:
            found += degree
            count = kept(team, work.buffers, count, u, lists.queue, counts)
    flushed(team, work.buffers, count, lists.queue, counts)
    fetch_add(team.sync, SUMS + counts.slot, found)
    barrier(team.sync, team.threads)
    length = load(team.sync, TAILS + counts.slot) - counts.tail
    scouted = load(team.sync, SUMS + counts.slot) - counts.total
    form = np.int64(ALL if length == part.sizes.n_local else QUEUE)
    return Front(form, length, scouted, arcs, False), counts_after(counts, 0, length, scouted)


@helper
def pulled(team, part, values, work, lists, front, counts, step, parameters):
    """Do a superstep that pulls.

    Returns the next frontier, the counts, and the number of arcs read.
    """
    if front.form == QUEUE:
        put_into_bits(team, lists, front.length)
    elif FINDS_SENDERS and front.form == ALL:
        fill_bits(team, lists)
    words = (np.uint64(part.sizes.n_owned) + np.uint64(63)) >> np.uint64(6)
    found, edges = np.int64(0), np.int64(0)
    senders = work.buffers[np.uint64(team.thread) * BUFFER :]
    while True:
        at = np.uint64(fetch_add(team.sync, TICKETS, 1) - counts.tickets) * TAKEN
        if at >= words:
            break
        for word in range(at, min(at + TAKEN, words)):
            is_all = front.form == ALL
            changed, looked = pulled_word(
                word, part, values, lists, senders, is_all, step, parameters
            )
            found += changed
            edges += looked
    fetch_add(team.sync, SUMS + counts.slot, found)
    barrier(team.sync, team.threads)
    length = load(team.sync, SUMS + counts.slot) - counts.total
    tickets = tickets_for(words, TAKEN, team.threads)
    after = Front(np.int64(BITS), length, np.int64(1), front.left, length < front.length)
    return after, counts_after(counts, tickets, 0, length), edges


@helper
def pushed_from(u, team, part, values, work, lists, counts, count, control, step, parameters):
    """Push from one vertex.

    Returns the new number of vertices in the buffer, the number of arcs that leave new vertices,
    and the number of arcs read.
    """
    n_owned, found, edges = np.uint64(part.sizes.n_owned), np.int64(0), np.int64(0)
    payload = payload_from(u, values[u], part, parameters)
    for way in range(ways_of(part)):
        arcs = part.out if way == 0 else part.into
        first, end = np.uint64(arcs.offsets[u]), np.uint64(arcs.offsets[u + ONE])
        edges += np.int64(end - first)
        for j in range(first, end):
            v = np.uint64(arcs.ends[j])
            message = message_of(payload, weight_of(arcs, j), parameters)
            changed, new = received(v, message, values, team.threads, part, step, parameters)
            if changed and is_added(lists.next_bits, v, n_owned, new, parameters):
                if v < n_owned:
                    found += arcs_from(v, part)
                    count = kept(team, work.buffers, count, v, lists.then, counts)
                else:
                    work.marked[np.uint64(fetch_add(control, MARKED, 1))] = v
    return count, found, edges


@helper
def pushed(team, part, values, work, lists, front, counts, control, step, parameters):
    """Do a superstep that pushes.

    Returns the next frontier, the counts, and the number of arcs read.
    """
    if front.form != QUEUE:
        counts = put_into_queue(team, part, work, lists, front, counts)
    length = np.uint64(front.length)
    count, found, edges = np.int64(0), np.int64(0), np.int64(0)
    while True:
        at = np.uint64(fetch_add(team.sync, TICKETS, 1) - counts.tickets) * TAKEN
        if at >= length:
            break
        for i in range(at, min(at + TAKEN, length)):
            u = np.uint64(lists.queue[i])
            lists.bits[u >> np.uint64(6)] = 0
            count, scouted, looked = pushed_from(
                u, team, part, values, work, lists, counts, count, control, step, parameters
            )
            found += scouted
            edges += looked
    flushed(team, work.buffers, count, lists.then, counts)
    fetch_add(team.sync, SUMS + counts.slot, found)
    barrier(team.sync, team.threads)
    queued = load(team.sync, TAILS + counts.slot) - counts.tail
    scouted = load(team.sync, SUMS + counts.slot) - counts.total
    after = Front(np.int64(QUEUE), queued, scouted, front.left - front.scouted, front.shrank)
    tickets = tickets_for(length, TAKEN, team.threads)
    return after, counts_after(counts, tickets, queued, scouted), edges


@helper
def take_in(first, end, targets, found, part, values, lists, control, parameters):
    """Join found[first:end] with own vertices targets[first:end]; queue those that change.

    Calls no `applied`: the senders did.
    """
    n_owned = np.uint64(part.sizes.n_owned)
    for i in range(np.uint64(first), np.uint64(end)):
        u = np.uint64(targets[i])
        old = values[u]
        new = joined(old, found[i])
        if changes(old, new):
            values[u] = new
            if is_added(lists.bits, u, n_owned, new, parameters):
                lists.queue[np.uint64(control[LENGTH])] = u
                control[LENGTH] += 1
                control[SCOUTED] += arcs_from(u, part)


@helper
def seen_front(team, part, values, links, lists, front, control):
    """Exchange frontiers with the ranks of this computer, before a superstep that pulls.

    Returns the frontier, whose bits and values of ghosts are now those at their owners.
    """
    if links is None:
        return front
    n_owned = np.uint64(part.sizes.n_owned)
    row, word = control[LOGGED] + 1, n_owned >> np.uint64(6)
    if front.form == QUEUE:
        put_into_bits(team, lists, front.length)
    elif front.form == ALL:
        fill_bits(team, lists)
    first, end = share_of(team, links.sends.size)
    show_front(links, first, end, lists.bits, values)
    barrier(team.sync, team.threads)
    if team.thread == 0:
        spend(links, row, PACKED)
        met(links, control)
        spend(links, row, MET)
    barrier(team.sync, team.threads)
    n_local = np.uint64(part.sizes.n_local)
    first, end = share_of(team, ((n_local + np.uint64(63)) >> np.uint64(6)) - word)
    see_front(links, word + first, word + end, n_owned, n_local, lists.bits, values)
    barrier(team.sync, team.threads)
    if team.thread == 0:
        spend(links, row, UNPACKED)
        links.log[row, PULLED] = 1
        links.log[row, RECEIVED] += np.int64(n_local - n_owned)
    form = np.int64(BITS if front.form == QUEUE else front.form)
    return Front(form, front.length, front.scouted, front.left, front.shrank)


@helper
def exchanged(team, part, values, links, marked, lists, front, edges, control, parameters):
    """Exchange with the ranks of this computer after a superstep; return the new frontier.

    Sets control[DIRECTION] for the next superstep, the same on all ranks.
    """
    if links is None:
        return front
    before = control[TOTALS]
    fetch_add(control, EDGES, edges)
    barrier(team.sync, team.threads)
    if team.thread == 0:
        row, is_sum = control[LOGGED] + 1, True
        control[LENGTH], control[SCOUTED] = front.length, front.scouted
        if control[DIRECTION] == PULL:
            spend(links, row, COMPUTED)
            links.log[row, LOOKED] = control[EDGES]
        else:
            is_sum = is_sent(links, row, marked, lists.bits, values, control)
            for rank in range(links.ranks * is_sum):
                first, end = came(links, row, rank)
                take_in(
                    first, end, links.places, links.values, part, values, lists, control, parameters
                )
        if is_sum:
            sum_totals(links, row, front.left, control)
        control[DIRECTION] = direction_of_ranks(before, part.sizes.n_global, control)
        control[LOGGED] = row
        end_if_aborted(control)
    barrier(team.sync, team.threads)
    return Front(front.form, control[LENGTH], control[SCOUTED], front.left, front.shrank)


@helper
def agreed(team, part, links, front, control):
    """Add up the first frontiers of the ranks of this computer; choose the first direction."""
    if links is None:
        return
    if team.thread == 0:
        enter(links)  # the first values belong to no superstep
        control[LENGTH], control[SCOUTED] = front.length, front.scouted
        sum_totals(links, control[LOGGED] + 1, front.left, control)
        control[DIRECTION] = direction_of_ranks(np.int64(0), part.sizes.n_global, control)
        end_if_aborted(control)
    barrier(team.sync, team.threads)


@helper
def direction_of_ranks(before, n, control):
    """Return the direction of the next superstep of all ranks.

    before: number of active vertices in the last superstep; n: number of vertices of the graph.
    """
    length, scouted = control[TOTALS], control[TOTALS + ONE]
    left = control[TOTALS + ONE + ONE]
    pulled = control[DIRECTION] == PULL
    is_pull = pulls_next(
        pulled, length < before, length, np.int64(n), scouted, left, scouted + left, HAS_SETTLED
    )
    return np.int64(PULL if is_pull else PUSH)


@helper
def end_if_aborted(control):
    """End the run if a wait was ended. One thread decides: ABORTED may be set at any time."""
    if control[ABORTED] != 0:
        control[TOTALS] = 0


@kernel
def run(thread, threads, sync, sizes, vertices, out, into, values, work, control, parameters):
    """Compute supersteps until control[STEP] is control[MOST_STEPS] or the frontier is empty.

    If STEP is -1, the first values of all local vertices are computed first, and STEP becomes 0.
    control[DIRECTION]: PUSH, PULL, or -1 for whichever costs less. If control[SHARED] is 1, an
    empty frontier does not end the run. Before PULL with ghosts, the caller must fill in the
    ghosts' values and call `see`. After PUSH, work.marked contains the control[MARKED] ghosts whose
    values changed. With work.links and a direction of 0 or above, ranks exchange these values and
    choose directions themselves.
    """
    team, part = Team(thread, threads, sync), Part(sizes, vertices, out, into)
    arcs = np.int64(out.offsets[np.uint64(sizes.n_owned)])
    step, last = control[STEP], control[MOST_STEPS]
    if last < 0:
        return
    counts, is_flipped, edges = counts_at(sync), control[FLIPPED] == 1, np.int64(0)
    lists = lists_of(work, is_flipped)
    front = Front(
        control[FORM], control[LENGTH], control[SCOUTED], control[LEFT], control[SHRANK] == 1
    )
    links = work.links
    is_near = is_linked(links) and control[DIRECTION] >= 0
    if is_near and thread == 0:
        enter(links)
    barrier(sync, threads)
    if step < 0:
        front, counts = first_front(team, part, values, work, lists, counts, arcs, parameters)
        step = np.int64(0)
        if is_near:
            agreed(team, part, links, front, control)
    while (front.length > 0 or control[SHARED] == 1) and step < last:
        if is_near and control[TOTALS] == 0:
            break
        if pulls(front, control[DIRECTION], sizes, arcs):
            if is_near:
                front = seen_front(team, part, values, links, lists, front, control)
            front, counts, looked = pulled(
                team, part, values, work, lists, front, counts, step, parameters
            )
        else:
            front, counts, looked = pushed(
                team, part, values, work, lists, front, counts, control, step, parameters
            )
        edges += looked
        is_flipped = not is_flipped
        lists = lists_of(work, is_flipped)
        step += 1
        if is_near:
            front = exchanged(
                team, part, values, links, work.marked, lists, front, edges, control, parameters
            )
            edges = np.int64(0)
            if must_return(links, control):
                break
    fetch_add(control, EDGES, edges)
    if thread == 0:
        control[STEP], control[ENDED] = step, np.int64(front.length == 0)
        control[FORM], control[LENGTH], control[SCOUTED] = front.form, front.length, front.scouted
        control[LEFT], control[SHRANK] = front.left, np.int64(front.shrank)
        control[FLIPPED] = np.int64(is_flipped)


@kernel
def deliver(sizes, vertices, out, targets, received_values, values, work, control, parameters):
    """Join values that other devices sent with own vertices; queue those that change.

    One thread calls this after a push, before the next superstep. targets (s,): local numbers.
    """
    part, lists = Part(sizes, vertices, out, out), lists_of(work, control[FLIPPED] == 1)
    size = np.int64(targets.size)
    take_in(0, size, targets, received_values, part, values, lists, control, parameters)


@kernel
def take_marked(values, work, control, places, sent):
    """Copy the marked ghosts' local numbers and values; clear the marks. Returns their number."""
    bits, count = lists_of(work, control[FLIPPED] == 1).bits, control[MARKED]
    for i in range(np.uint64(count)):
        v = np.uint64(work.marked[i])
        places[i], sent[i] = v, values[v]
        bits[v >> np.uint64(6)] &= ~bit_of(v)
    control[MARKED] = 0
    return count


@kernel
def show(sizes, work, control, flags):
    """Set flags (n_local,) uint8 of own vertices: 1 for vertices in the frontier."""
    lists, form = lists_of(work, control[FLIPPED] == 1), control[FORM]
    for u in range(np.uint64(sizes.n_owned)):
        flags[u] = form == ALL or (form == BITS and is_set(lists.bits, u))
    if form == QUEUE:
        for i in range(np.uint64(control[LENGTH])):
            flags[np.uint64(lists.queue[i])] = 1


@kernel
def see(sizes, work, control, flags):
    """Read from flags (n_local,) uint8, set by their owners, which ghosts are in the frontier."""
    bits = lists_of(work, control[FLIPPED] == 1).bits
    for v in range(np.uint64(sizes.n_owned), np.uint64(sizes.n_local)):
        if flags[v]:
            bits[v >> np.uint64(6)] |= bit_of(v)
        else:
            bits[v >> np.uint64(6)] &= ~bit_of(v)
