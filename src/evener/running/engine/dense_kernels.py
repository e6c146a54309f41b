"""The dense schedule: in each superstep every vertex reads what its neighbours sent (PageRank).

This is a template, see hooks_kernels. Payloads are computed once per vertex and stored in an array,
from which neighbours pull them. Each free thread takes the next chunk of vertices; chunks have
about equal numbers of arcs, and changes are added up by chunk, not by thread.
"""

# mypy: ignore-errors
import numpy as np

from evener.running.engine.atomics_kernels import (
    ABORTED,
    EDGES,
    ENDED,
    LEFT,
    LOGGED,
    MOST_STEPS,
    STEP,
    TICKETS,
    barrier,
    chunk_end,
    chunk_start,
    degree_of,
    fetch_add,
    first_of,
    load,
    number_of,
)
from evener.running.engine.hooks_kernels import (
    GOES_BOTH_WAYS,
    HAS_HALT,
    IDENTITY,
    applied,
    as_value,
    halts,
    helper,
    initial,
    kernel,
    payload_of,
)
from evener.running.engine.near_kernels import (
    AGREED,
    COMPUTED,
    LOOKED,
    MET,
    PACKED,
    PULLED,
    RECEIVED,
    UNPACKED,
    enter,
    has_long_passed,
    is_linked,
    met,
    own_line,
    see_payloads,
    show_payloads,
    spend,
)
from evener.running.engine.pulling_kernels import pulled


@helper
def exchanged(thread, threads, sync, sizes, payloads, links, step, control):
    """Get the payloads of ghosts from the ranks of this computer, before superstep `step`."""
    if links is None:
        return
    row, n_owned = control[LOGGED] + 1, np.uint64(sizes.n_owned)
    sent, ghosts = np.uint64(links.sends.size), np.uint64(sizes.n_local - sizes.n_owned)
    show_payloads(
        links, first_of(thread, threads, sent), first_of(thread + 1, threads, sent), step, payloads
    )
    barrier(sync, threads)
    if thread == 0:
        line = own_line(links.rank) + np.uint64(step & 1)
        links.sync[line] = has_long_passed(links, spend(links, row, PACKED))
        met(links, control)
        spend(links, row, MET)
    barrier(sync, threads)
    first, end = first_of(thread, threads, ghosts), first_of(thread + 1, threads, ghosts)
    see_payloads(links, n_owned + first, n_owned + end, step, payloads)
    barrier(sync, threads)
    if thread == 0:
        spend(links, row, UNPACKED)
        links.log[row, PULLED] = 1
        links.log[row, RECEIVED] = np.int64(ghosts)


@helper
def recorded(links, step, control):
    """Record a superstep of this rank; return whether to return from the kernel, on all ranks."""
    if links is None:
        return False
    row, is_long = control[LOGGED] + 1, control[LOGGED] + 2 == links.log.shape[0]
    spend(links, row, COMPUTED)
    links.log[row, LOOKED] = control[EDGES]
    control[LOGGED] = row
    for rank in range(links.ranks):
        is_long |= links.sync[own_line(rank) + np.uint64(step & 1)] != 0
    return is_long or control[ABORTED] != 0


@helper
def sum_of_ranks(links, row, change, control):
    """Return the sum of all ranks' changes."""
    if links is None:
        return change
    place, total = np.uint64(2), 0.0
    links.sync.view(np.float64)[own_line(links.rank) + place] = change
    met(links, control)
    for rank in range(links.ranks):
        total += links.sync.view(np.float64)[own_line(rank) + place]
    spend(links, row, AGREED)
    return total


@kernel
def run(thread, threads, sync, sizes, vertices, out, into, values, work, control, parameters):
    """Compute supersteps until control[STEP] is control[MOST_STEPS] or the program halts.

    If STEP is -1, values and payloads are computed first, and STEP becomes 0. Between calls, the
    caller must fill in the ghosts' payloads: in work.even if STEP is even, else in work.odd; both
    are one array if the program works in place. With work.links, ranks exchange payloads
    themselves, and the kernel also returns if it takes long. work.changes: changes of each chunk,
    for even and odd steps.
    """
    n, n_owned = sizes.n_global, np.uint64(sizes.n_owned)
    chunks = np.int64(work.changes.shape[1])
    leaving = out if GOES_BOTH_WAYS else into  # both are the same unless it does
    step, last = control[STEP], control[MOST_STEPS]
    if last < 0:
        return
    tickets, links = load(sync, TICKETS), work.links
    if step < 0:
        for u in range(first_of(thread, threads, n_owned), first_of(thread + 1, threads, n_owned)):
            vertex, degree = number_of(vertices, u), degree_of(vertices, leaving, u)
            value = as_value(initial(vertex, degree, n, parameters))
            values[u] = value
            work.even[u] = payload_of(value, degree, vertex, n, parameters)
        step = 0
    if thread == 0:
        enter(links)  # the first values belong to no superstep
    barrier(sync, threads)
    now, then = (work.odd, work.even) if step & 1 else (work.even, work.odd)
    both_ways = GOES_BOTH_WAYS and sizes.is_directed
    edges = np.int64(0)
    halted, is_left = False, False
    while step < last and not halted and not is_left:
        exchanged(thread, threads, sync, sizes, now, links, step, control)
        row, end, previous = np.uint64(step & 1), np.uint64(0), np.int64(-1)
        while True:
            chunk = fetch_add(sync, TICKETS, 1) - tickets
            if chunk >= chunks:
                break
            if chunk != previous + 1:  # else it begins where this thread has ended
                end = chunk_start(into.offsets, n_owned, chunk, chunks)
            first, previous = end, chunk
            end = chunk_end(into.offsets, n_owned, chunk, chunks, first)
            change = 0.0
            for u in range(first, end):
                combined = pulled(as_value(IDENTITY), u, into, now, parameters)
                if both_ways:
                    combined = pulled(combined, u, out, now, parameters)
                vertex, degree = number_of(vertices, u), degree_of(vertices, leaving, u)
                old = values[u]
                new = as_value(applied(old, combined, degree, vertex, n, step, parameters))
                values[u] = new
                then[u] = payload_of(new, degree, vertex, n, parameters)
                if HAS_HALT:
                    change += abs(np.float64(new) - np.float64(old))
            edges += np.int64(into.offsets[end]) - np.int64(into.offsets[first])
            if both_ways:
                edges += np.int64(out.offsets[end]) - np.int64(out.offsets[first])
            work.changes[row, np.uint64(chunk)] = change
        tickets += chunks + threads
        now, then = then, now
        if is_linked(links):
            fetch_add(control, EDGES, edges)
            edges = np.int64(0)
        step += 1
        barrier(sync, threads)
        if is_linked(links):
            if thread == 0:
                control[LEFT] = np.int64(recorded(links, step - 1, control))
            barrier(sync, threads)
            is_left = control[LEFT] != 0
        if HAS_HALT:
            change = 0.0
            for chunk in range(chunks):
                change += work.changes[row, np.uint64(chunk)]
            if is_linked(links):
                if thread == 0:
                    work.changes[row, np.uint64(0)] = sum_of_ranks(
                        links, control[LOGGED], change, control
                    )
                barrier(sync, threads)
                change = work.changes[row, np.uint64(0)]
            halted = halts(change, step, n, parameters)
    fetch_add(control, EDGES, edges)
    if thread == 0:
        control[STEP] = step
        control[ENDED] = np.int64(halted)
