"""Moves weight between blocks along the quotient graph, boundary vertices of best gain first.

The trick: only vertices with a neighbour in another block can move at little cost, so one scan
lists them and everything after works on that list, extended by the neighbours of what moves.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.heap_kernels import drop_first, push, with_room
from evener.partitioning.repair.connecting_kernels import can_leave, change_tree


@njit(cache=True, nogil=True)
def block_totals(part, weights, n_bytes, weight, size, memory):
    """Sum weights, vertices and bytes of each block."""
    weight[:] = 0.0
    size[:] = 0
    memory[:] = 0.0
    for v in range(part.size):
        b = part[v]
        weight[b] += weights[v]
        size[b] += 1
        memory[b] += n_bytes[v]


@njit(cache=True, nogil=True)
def list_boundary(xadj, adjncy, part, listed, boundary):
    """List the vertices with a neighbour in another block; returns how many."""
    count = 0
    for v in range(part.size):
        b = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != b:
                boundary[count] = v
                listed[v] = True
                count += 1
                break
    return count


@inner()
def arc_of(starts, other, a, b):
    """Index of arc a -> b in the quotient graph, by bisection; -1 where there is none."""
    first, last = starts[a], starts[a + 1]
    while first < last:
        middle = (first + last) >> 1
        if other[middle] < b:
            first = middle + 1
        else:
            last = middle
    return first if first < starts[a + 1] and other[first] == b else -1


@njit(cache=True, nogil=True)
def seeds_of_arcs(
    xadj, adjncy, adjwgt, part, boundary, n_boundary, starts, other, flow, touch, seed_starts,
    seeds, gains,
):  # fmt: skip
    """List for every arc with flow the vertices of its block that touch the other one, with gains.

    Call with an empty `seeds` first: it then counts into seed_starts (p + 1,). touch (k,) float64
    scratch of zeros, left so. One pass over the edges gives the gains of all arcs at once.
    """
    counting = seeds.size == 0
    fill = seed_starts[:-1].copy()
    weighted = adjwgt.size > 0
    gives = np.zeros(starts.size - 1, np.bool_)
    for a in range(gives.size):
        for arc in range(starts[a], starts[a + 1]):
            gives[a] |= flow[arc] > 0.0
    if counting:
        seed_starts[:] = 0
    for i in range(n_boundary):
        v = boundary[i]
        a = part[v]
        if not gives[a]:
            continue
        inside = 0.0
        for e in range(xadj[v], xadj[v + 1]):
            b = part[adjncy[e]]
            w = adjwgt[e] if weighted else 1.0
            if a == b:
                inside += w
            else:
                touch[b] += w + 1e-300  # an edge that weighs nothing touches, too
        for e in range(xadj[v], xadj[v + 1]):
            b = part[adjncy[e]]
            if touch[b] == 0.0:
                continue
            arc = arc_of(starts, other, a, b)
            if arc >= 0 and flow[arc] > 0.0:
                if counting:
                    seed_starts[arc + 1] += 1
                else:
                    seeds[fill[arc]] = v
                    gains[fill[arc]] = touch[b] - inside
                    fill[arc] += 1
            touch[b] = 0.0
    if counting:
        for arc in range(other.size):
            seed_starts[arc + 1] += seed_starts[arc]


@inner()
def gain_of(xadj, adjncy, adjwgt, part, v, a, b):
    """Cut weight saved by moving v from block a to b, and whether v touches b."""
    gain = 0.0
    touches = False
    weighted = adjwgt.size > 0
    for e in range(xadj[v], xadj[v + 1]):
        c = part[adjncy[e]]
        w = adjwgt[e] if weighted else 1.0
        if c == b:
            gain += w
            touches = True
        elif c == a:
            gain -= w
    return gain, touches


@inner()
def violation(weight, memory, low, high, cap, scale):
    """How far a block is outside its contract, relative to its target [1]."""
    off = max(low - weight, weight - high)
    over = (memory - cap) / cap if cap < np.inf else 0.0
    return max(off, 0.0) / scale + max(over, 0.0)


@inner()
def relieves(a, b, w, m, weight, memory, low, high, caps, scale):
    """Whether moving weight w and m bytes from a to b brings both nearer to their contract."""
    now = violation(weight[a], memory[a], low[a], high[a], caps[a], scale[a])
    now += violation(weight[b], memory[b], low[b], high[b], caps[b], scale[b])
    then = violation(weight[a] - w, memory[a] - m, low[a], high[a], caps[a], scale[a])
    then += violation(weight[b] + w, memory[b] + m, low[b], high[b], caps[b], scale[b])
    return then < now - 1e-12


@njit(cache=True, nogil=True)
def carry_out(
    xadj, adjncy, adjwgt, weights, n_bytes, low, high, caps, scale, arcs, block_of_arc, other, flow,
    seed_starts, seeds, seed_gains, floor, worst_gain, connected, part, weight, size, memory,
    listed, boundary, n_boundary, known, gains, stale, clock, parent, children,
):  # fmt: skip
    """Move vertices along each of `arcs` until its flow is used up; returns (boundary, moved).

    floor (k,): no block shrinks below this in one call. worst_gain: moves that cost more cut are
    left undone. known (n,) int64, gains (n,) float64: gains[u] is u's gain along the arc in work
    where known[u] says so; kept up to date edge by edge, so that a hub is not scanned again for
    each neighbour that moves. stale (n,) bool, false at first: a neighbour moved since the seeds
    were listed. clock (1,): the last stamp of `known`. parent, children (n,): the blocks' trees, as
    grow_trees leaves them; only leaves move if `connected`. boundary and listed grow with
    what comes to touch another block.
    """
    moved = 0
    weighted = adjwgt.size > 0
    capacity = 1024
    keys = np.empty(capacity, np.float64)
    ages = np.empty(capacity, np.int64)
    items = np.empty(capacity, np.int64)
    for arc in arcs:
        a, b = block_of_arc[arc], other[arc]
        left = flow[arc]
        count = 0
        age = 0
        clock[0] += 3
        guessed = clock[0]
        exact, refused = guessed + 1, guessed + 2
        for i in range(seed_starts[arc], seed_starts[arc + 1]):
            v = seeds[i]
            if part[v] != a:
                continue
            known[v] = guessed if stale[v] else exact
            gains[v] = seed_gains[i]
            keys, ages, items = with_room(keys, ages, items, count)
            count = push(keys, ages, items, count, gains[v], age, v)
            age += 1
        tolerance = 1e-9 * scale[b]
        while count > 0 and left > tolerance and size[a] > 1:
            key, v = keys[0], items[0]
            count = drop_first(keys, ages, items, count)
            if part[v] != a or key != gains[v] or known[v] == refused:
                continue  # moved or changed since: where it changed it was pushed again
            if known[v] == guessed:
                known[v] = exact
                gains[v], touches = gain_of(xadj, adjncy, adjwgt, part, v, a, b)
                if not touches:
                    known[v] = refused
                elif gains[v] != key:
                    count = push(keys, ages, items, count, gains[v], age, v)
                    age += 1
                    continue
            if known[v] == refused:
                continue
            if key < worst_gain:
                break
            w, m = weights[v], n_bytes[v]
            if weight[a] - w < floor[a]:
                continue
            if w == 0.0 and key <= 0.0 and memory[a] <= caps[a]:
                continue  # costs cut and helps nobody
            if w > left + tolerance or memory[b] + m > caps[b]:
                if not relieves(a, b, w, m, weight, memory, low, high, caps, scale):
                    continue
            freed = -1
            if connected:
                if not can_leave(xadj, adjncy, part, v, parent, children):
                    known[v] = refused  # until it becomes a leaf
                    continue
                freed = change_tree(xadj, adjncy, part, v, b, parent, children)
            part[v] = b
            weight[a] -= w
            weight[b] += w
            memory[a] -= m
            memory[b] += m
            size[a] -= 1
            size[b] += 1
            left -= w
            moved += 1
            if not listed[v]:
                listed[v] = True
                boundary[n_boundary] = v
                n_boundary += 1
            stale[v] = True
            if freed >= 0 and children[freed] == 0 and known[freed] == refused:
                known[freed] = guessed  # a leaf now: may be asked again, its gain computed anew
                gains[freed] = np.inf
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                stale[u] = True
                if not listed[u]:
                    listed[u] = True
                    boundary[n_boundary] = u
                    n_boundary += 1
                if part[u] != a or known[u] == refused:
                    continue
                if (known[u] == guessed or known[u] == exact) and gains[u] < np.inf:
                    gains[u] += 2.0 * (adjwgt[e] if weighted else 1.0)
                else:
                    known[u] = exact
                    gains[u], touches = gain_of(xadj, adjncy, adjwgt, part, u, a, b)
                keys, ages, items = with_room(keys, ages, items, count)
                count = push(keys, ages, items, count, gains[u], age, u)
                age += 1
        flow[arc] = left
    return n_boundary, moved
