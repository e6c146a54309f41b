"""The union schedule: the smallest number of a vertex in each connected component (WCC).

This is a template, see hooks_kernels. Source: Sutton, Ben-Nun and Barak, Optimizing Parallel Graph
Connectivity Computation via Subgraph Sampling (2018), Afforest. Trees of vertices are hooked along
the first arcs of each vertex, the largest component so far is found by sampling, and only vertices
outside it examine their other arcs.

Ranks of one computer hook the same trees, in shared memory, in one superstep. Otherwise each device
has its own trees, which do not change after the first superstep: only labels are exchanged between
devices.
"""

# mypy: ignore-errors
import numpy as np

from evener.running.engine.atomics_kernels import (
    EDGES,
    ENDED,
    LARGEST,
    LOGGED,
    MARKED,
    MOST_STEPS,
    ONE,
    SHARED,
    STEP,
    TICKETS,
    Part,
    Team,
    barrier,
    cas,
    chunk_start,
    fetch_add,
    load,
    load_relaxed,
    number_of,
    share_of,
)
from evener.running.engine.hooks_kernels import as_value, helper, kernel
from evener.running.engine.near_kernels import COMPUTED, MET, enter, is_linked, met, own_line, spend

ROUNDS = 2  # arcs of each vertex that are followed before sampling (the paper's section V)
SAMPLES = 1024
ARCS_OF_CHUNK = 1 << 14
ROW = 1  # of the log: one superstep


@helper
def link(u, v, parents):
    """Join the trees of two vertices: the root with the larger number goes below the other."""
    one, other = np.uint64(parents[u]), np.uint64(parents[v])
    while one != other:
        high, low = max(one, other), min(one, other)
        above = np.uint64(parents[high])
        if above == low:
            break
        if above == high and cas(parents, high, np.uint32(high), np.uint32(low)):
            break
        one = np.uint64(parents[np.uint64(parents[high])])
        other = np.uint64(parents[low])


@helper
def compress(parents, first, end):
    """Put vertices directly below their roots."""
    for u in range(first, end):
        while parents[u] != parents[np.uint64(parents[u])]:
            parents[u] = parents[np.uint64(parents[u])]


@helper
def commonest(parents, n, table, counts):
    """Return the most frequent parent among SAMPLES random vertices."""
    size = np.uint64(table.size)  # a power of two, twice the samples
    for i in range(size):
        counts[i] = 0
    drawn, best, most = np.uint64(88172645463325252), parents[np.uint64(0)], 0
    for _ in range(SAMPLES):
        drawn ^= drawn << np.uint64(13)
        drawn ^= drawn >> np.uint64(7)
        drawn ^= drawn << np.uint64(17)
        root = parents[drawn % n]
        at = (np.uint64(root) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40) & (size - ONE)
        while counts[at] > 0 and table[at] != root:
            at = (at + ONE) & (size - ONE)
        table[at] = root
        counts[at] += 1
        if counts[at] > most:
            best, most = root, counts[at]
    return best


@helper
def lower(values, u, value):
    """Lower the value of u to the given value, if that is smaller."""
    old = load_relaxed(values, u)
    while value < old:
        if cas(values, u, old, value):
            break
        old = load_relaxed(values, u)


@helper
def place_of(u, part, links):
    """Return u's index in `parents`: its global number if ranks share trees, else the local one."""
    if links is None:
        return np.uint64(u)
    return np.uint64(part.vertices.numbers[u])


@helper
def share_of_trees(team, part, links):
    """Return a thread's range of `parents`; of shared ones, a rank has as many as own vertices."""
    if links is None:
        return share_of(team, part.sizes.n_local)
    begin = np.uint64(links.begins[links.rank])
    first, end = share_of(team, np.uint64(links.begins[links.rank + 1]) - begin)
    return begin + first, begin + end


@helper
def meet(team, links, control):
    """Wait for the other threads, and for the other ranks if they share the trees."""
    barrier(team.sync, team.threads)
    if links is None:
        return
    if team.thread == 0:
        spend(links, ROW, COMPUTED)
        met(links, control)
        spend(links, ROW, MET)
    barrier(team.sync, team.threads)


@helper
def follow_first_arcs(team, part, parents, links, control):
    """Join each own vertex's tree with those of its first neighbours.

    Returns the number of arcs read.
    """
    out, edges = part.out, np.int64(0)
    first, end = share_of(team, part.sizes.n_owned)
    first_of_trees, end_of_trees = share_of_trees(team, part, links)
    for turn in range(ROUNDS):
        for u in range(first, end):
            j = np.uint64(out.offsets[u]) + np.uint64(turn)
            if j < np.uint64(out.offsets[u + ONE]):
                link(place_of(u, part, links), place_of(out.ends[j], part, links), parents)
                edges += 1
        meet(team, links, control)
        compress(parents, first_of_trees, end_of_trees)
        meet(team, links, control)
    return edges


@helper
def largest_tree(team, work, control):
    """Return the root of the probably largest tree, the same on all ranks that share trees."""
    links, parents = work.links, work.parents
    if team.thread == 0 and is_first(links) and parents.size > 0:
        control[LARGEST] = commonest(parents, np.uint64(parents.size), work.table, work.counts)
        write_for_ranks(links, control[LARGEST])
    meet(team, links, control)
    return np.uint32(number_of_first(links, control[LARGEST]))


@helper
def is_first(links):
    """Return whether this is the first rank, or shares no trees."""
    if links is None:
        return True
    return links.rank == 0


@helper
def write_for_ranks(links, number):
    """Write a number for the ranks that share trees with this one, the first."""
    if links is None:
        return
    links.sync[own_line(0)] = number


@helper
def number_of_first(links, own):
    """Return the number that the first rank wrote; `own` if this rank shares no trees."""
    if links is None:
        return own
    return links.sync[own_line(0)]


@helper
def follow_arcs(u, arcs, skipped, part, links, parents):
    """Join u's tree with those of all but its first `skipped` neighbours; return their number."""
    first, end = np.uint64(arcs.offsets[u]) + skipped, np.uint64(arcs.offsets[u + ONE])
    for j in range(first, end):
        link(place_of(u, part, links), place_of(arcs.ends[j], part, links), parents)
    return np.int64(max(first, end) - first)


@helper
def follow_other_arcs(team, part, work, largest, tickets):
    """Join trees along the other arcs that may still join two; return the number of arcs read."""
    out, parents, links, edges = part.out, work.parents, work.links, np.int64(0)
    n_owned, interior = np.uint64(part.sizes.n_owned), np.uint64(part.sizes.n_interior)
    chunks = np.int64(out.offsets[n_owned]) // ARCS_OF_CHUNK + 1
    while True:
        chunk = fetch_add(team.sync, TICKETS, 1) - tickets
        if chunk >= chunks:
            return edges
        start = chunk_start(out.offsets, n_owned, chunk, chunks)
        for u in range(start, chunk_start(out.offsets, n_owned, chunk + 1, chunks)):
            # What leads to a vertex outside, that vertex follows, also in the part of another rank
            # that shares the trees; to a ghost, else, none else does.
            is_known = u < interior or is_linked(links)
            if is_known and parents[place_of(u, part, links)] == largest:
                continue
            edges += follow_arcs(u, out, np.uint64(ROUNDS), part, links, parents)
            if part.sizes.is_directed:
                edges += follow_arcs(u, part.into, np.uint64(0), part, links, parents)


@helper
def make_trees(team, part, work, control):
    """Put all connected vertices into one tree; return the number of arcs read."""
    parents, links = work.parents, work.links
    tickets = load(team.sync, TICKETS)
    barrier(team.sync, team.threads)
    first, end = share_of_trees(team, part, links)
    for u in range(first, end):
        parents[u] = u
    meet(team, links, control)
    edges = follow_first_arcs(team, part, parents, links, control)
    largest = largest_tree(team, work, control)
    edges += follow_other_arcs(team, part, work, largest, tickets)
    meet(team, links, control)
    return edges


@helper
def first_values(team, part, values, work, is_shared):
    """Set values to the roots if trees contain all vertices, else to the vertices' numbers."""
    parents, links, n_owned = work.parents, work.links, np.uint64(part.sizes.n_owned)
    if not is_shared:
        first, end = share_of(team, n_owned)
        for u in range(first, end):
            root = parents[place_of(u, part, links)]
            while root != parents[np.uint64(root)]:
                root = parents[np.uint64(root)]
            values[u] = root
        return
    first, end = share_of(team, part.sizes.n_local)
    compress(parents, first, end)
    for u in range(first, end):
        values[u] = number_of(part.vertices, u)
        if u >= n_owned:
            work.sent[u - n_owned] = values[u]


@helper
def lower_roots(team, part, values, work):
    """Set the value of each root to the smallest of its tree."""
    first, end = share_of(team, part.sizes.n_local)
    for u in range(first, end):
        lower(values, np.uint64(work.parents[u]), values[u])
    barrier(team.sync, team.threads)


@helper
def spread_roots(team, part, values, work, control):
    """Set values to those of the roots; mark ghosts whose values differ from those sent last."""
    n_owned = np.uint64(part.sizes.n_owned)
    first, end = share_of(team, part.sizes.n_local)
    for u in range(first, end):
        value = values[np.uint64(work.parents[u])]
        if u >= n_owned and value != work.sent[u - n_owned]:
            work.sent[u - n_owned] = value
            work.marked[np.uint64(fetch_add(control, MARKED, 1))] = u
        values[u] = value
    barrier(team.sync, team.threads)


@kernel
def run(thread, threads, sync, sizes, vertices, out, into, values, work, control, parameters):  # noqa: ARG001
    """Compute one superstep: every component of the local arcs gets its smallest value.

    If STEP is -1, trees are made first, and the values are the vertices' global numbers. With
    work.links, trees contain the vertices of all ranks, and this is the only superstep. If
    `deliver` has lowered a root since the last superstep, the root's component gets the new value.
    Afterwards work.marked contains the control[MARKED] ghosts whose values changed.
    """
    step, last = control[STEP], control[MOST_STEPS]
    if last < 0 or max(step, 0) >= last:
        return
    team, part = Team(thread, threads, sync), Part(sizes, vertices, out, into)
    links, is_lower = work.links, control[ENDED] == 0
    is_shared = control[SHARED] == 1 and not is_linked(links)
    if thread == 0:
        enter(links)
    barrier(sync, threads)
    if step < 0:
        step = np.int64(0)
        fetch_add(control, EDGES, make_trees(team, part, work, control))
        first_values(team, part, values, work, is_shared)
        barrier(sync, threads)
        if is_shared:
            lower_roots(team, part, values, work)
    if is_shared and is_lower:
        spread_roots(team, part, values, work, control)
    if thread == 0:
        control[STEP], control[ENDED] = step + 1, 1
        if is_linked(links):
            spend(links, ROW, COMPUTED)
            control[LOGGED] = ROW


@kernel
def deliver(sizes, vertices, out, targets, received, values, work, control, parameters):  # noqa: ARG001
    """Lower the roots of own vertices to the values sent by other devices.

    Sets ENDED to 0 if any value falls. One thread calls this before the next superstep. targets
    (s,): local numbers.
    """
    for i in range(np.uint64(targets.size)):
        root = np.uint64(work.parents[np.uint64(targets[i])])  # trees are flat
        if received[i] < values[root]:
            values[root] = as_value(received[i])
            control[ENDED] = 0


@kernel
def take_marked(values, work, control, places, sent):
    """Copy the marked ghosts' local numbers and values; clear the marks. Returns their number."""
    count = control[MARKED]
    for i in range(np.uint64(count)):
        v = np.uint64(work.marked[i])
        places[i], sent[i] = v, values[v]
    control[MARKED] = 0
    return count
