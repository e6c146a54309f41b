"""Which blocks touch, and the ways along which weight goes from those with too much to others."""

# mypy: ignore-errors

import numpy as np

from evener.jit import inner, njit

NO_PATH = -1


@njit(cache=True, nogil=True)
def mark_pairs(xadj, adjncy, part, boundary, n_boundary, touches):
    """touches[a, b] becomes true where blocks a and b share an edge."""
    for i in range(n_boundary):
        v = boundary[i]
        a = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            b = part[adjncy[e]]
            if a != b:
                touches[a, b] = True


@njit(cache=True, nogil=True)
def pair_keys(xadj, adjncy, part, boundary, n_boundary, k, keys):
    """As mark_pairs for many blocks: one key a * k + b for each cut edge's end; returns the count.

    Call with an empty `keys` to count only.
    """
    count = 0
    for i in range(n_boundary):
        v = boundary[i]
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
    """Breadth-first search from `source` to the nearest block with wanted > 0, or NO_PATH.

    parent_arc[b] is the arc that led to b; wanted[source] is not looked at. Blocks with
    may_pass false end a path but are not passed through.
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
    """Send every excess to the nearest deficit or room, every deficit asks the nearest spare.

    order: blocks, most violated first. flow[arc] (p,) [units] is what arc's row block gives to
    other[arc]. excess, deficit, room and spare (k,) are used up. stuck[b] becomes true where a
    block finds no partner along the quotient graph.
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


# Greedy moves of boundary vertices that lower the cut and keep every contract.


@njit(cache=True, nogil=True)
def smooth(
    xadj, adjncy, adjwgt, weights, n_bytes, low, high, caps, passes, part, weight, size, memory,
    listed, boundary, n_boundary,
):  # fmt: skip
    """Move each boundary vertex to the touching block that saves most cut, if all limits allow it.

    Sweeps the boundary until nothing moves, `passes` times at most. Returns how many moved.
    """
    k = low.size
    weighted = adjwgt.size > 0
    touch = np.zeros(k, np.float64)
    moved = 0
    for _ in range(passes):
        before = moved
        i = 0
        while i < n_boundary:
            v = boundary[i]
            i += 1
            a = part[v]
            w, m = weights[v], n_bytes[v]
            if size[a] == 1 or weight[a] - w < low[a]:
                continue
            for e in range(xadj[v], xadj[v + 1]):
                touch[part[adjncy[e]]] += adjwgt[e] if weighted else 1.0
            best, best_touch = a, touch[a]
            for e in range(xadj[v], xadj[v + 1]):
                b = part[adjncy[e]]
                fits = weight[b] + w <= high[b] and memory[b] + m <= caps[b]
                if touch[b] > best_touch and fits:
                    best, best_touch = b, touch[b]
            for e in range(xadj[v], xadj[v + 1]):
                touch[part[adjncy[e]]] = 0.0
            if best == a:
                continue
            part[v] = best
            weight[a] -= w
            weight[best] += w
            memory[a] -= m
            memory[best] += m
            size[a] -= 1
            size[best] += 1
            moved += 1
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if not listed[u]:
                    listed[u] = True
                    boundary[n_boundary] = u
                    n_boundary += 1
        if moved == before:
            break
    return moved
