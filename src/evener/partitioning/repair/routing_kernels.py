"""Finds which blocks touch, and the paths for weight from blocks with too much to others."""

# mypy: ignore-errors

import numpy as np

from evener.jit import inner, njit

NO_PATH = -1


@njit(cache=True, nogil=True)
def mark_pairs(graph, part, border, touches):
    """Set touches[a, b] (k, k) where blocks a and b share an edge; border: the vertices to scan."""
    xadj, adjncy, _, _ = graph
    for v in border:
        a = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            b = part[adjncy[e]]
            if a != b:
                touches[a, b] = True


@njit(cache=True, nogil=True)
def pair_keys(graph, part, border, k, keys):
    """List a key a * k + b for each cut edge from block a to b; returns the count.

    As mark_pairs, for more blocks than a (k, k) table has room for. Call with an empty `keys` to
    count only.
    """
    xadj, adjncy, _, _ = graph
    count = 0
    for v in border:
        a = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            b = part[adjncy[e]]
            if a != b:
                if keys.size > 0:
                    keys[count] = np.int64(a) * k + b
                count += 1
    return count


@inner()
def nearest(starts, other, source, wanted, may_pass, parent_arc, parent, seen, queue, stamp):
    """Return the block with wanted > 0 nearest to `source` by breadth-first search, or NO_PATH.

    parent_arc[b] becomes the arc that led to b, parent[b] the block before it. The source itself
    does not count. A path may end in a block with may_pass false, but not lead through it.
    seen (k,), whose entries of this search equal `stamp`, and queue (k,) are scratch.
    """
    queue[0] = source
    seen[source] = stamp
    head, tail = 0, 1
    while head < tail:
        a = queue[head]
        head += 1
        if a != source and not may_pass[a]:
            continue
        for arc in range(starts[a], starts[a + 1]):
            b = other[arc]
            if seen[b] != stamp:
                seen[b] = stamp
                parent_arc[b] = arc
                parent[b] = a
                if wanted[b] > 0.0:
                    return b
                queue[tail] = b
                tail += 1
    return NO_PATH


@njit(cache=True, nogil=True)
def route(starts, other, reverse, order, excess, deficit, room, spare, may_pass, flow, stuck):
    """Route weight [units] from excess to deficit or room, then from spare to what deficit is left.

    Each block, in `order`, takes the nearest partner. excess: what a block must give; deficit:
    what it must get; room: what it may get; spare: what it may give; all (k,), and used up. The
    quotient graph is starts (k + 1,), other (p,); reverse (p,): each arc's opposite. flow (p,)
    receives what is to move along each arc; stuck[b] becomes true where b finds no partner.
    """
    k = starts.size - 1
    parent_arc = np.empty(k, np.int64)
    parent = np.empty(k, np.int64)
    seen = np.full(k, -1, np.int64)
    queue = np.empty(k, np.int64)
    stamp = 0
    for s in order:
        while excess[s] > 0.0:
            stamp += 1
            t = nearest(starts, other, s, deficit, may_pass, parent_arc, parent, seen, queue, stamp)
            sink = deficit
            if t == NO_PATH:
                stamp += 1
                t = nearest(
                    starts, other, s, room, may_pass, parent_arc, parent, seen, queue, stamp
                )
                sink = room
            if t == NO_PATH:
                stuck[s] = True
                break
            amount = min(excess[s], sink[t])
            excess[s] -= amount
            sink[t] -= amount
            b = t
            while b != s:
                flow[parent_arc[b]] += amount
                b = parent[b]
    for t in order:
        while deficit[t] > 0.0:
            stamp += 1
            s = nearest(starts, other, t, spare, may_pass, parent_arc, parent, seen, queue, stamp)
            if s == NO_PATH:
                stuck[t] = True
                break
            amount = min(deficit[t], spare[s])
            deficit[t] -= amount
            spare[s] -= amount
            b = s
            while b != t:
                flow[reverse[parent_arc[b]]] += amount
                b = parent[b]
    for arc in range(other.size):
        back = reverse[arc]
        common = min(flow[arc], flow[back])
        flow[arc] -= common
        flow[back] -= common
