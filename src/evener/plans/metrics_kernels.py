"""Measures a partition in one pass over the edges, and simulates the messages between its blocks.

The quotient graph is computed without hashing: boundary vertices are visited block by block, with
one stamp and one counter for each other block, which are reset from the list of blocks touched.

Messages are flows that share ports and links fairly, until each has arrived. Rates are max-min
fair: all rates rise until a resource is full; its flows then keep their rates, and the other rates
rise further. Each round finds, in two passes over the flows, all resources that limit their flows
before any other resource does; few rounds are needed.
"""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import sort_along
from evener.jit import njit


@njit(cache=True, nogil=True)
def group_boundary(xadj, adjncy, part, starts, order, found):
    """Set order[starts[b]:starts[b + 1]] to the boundary vertices of block b, ascending.

    A boundary vertex has a neighbour in another block. found (n,) is scratch.
    """
    count = 0
    for v in range(part.size):
        b = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != b:
                found[count] = v
                count += 1
                starts[b + 1] += 1
                break
    for b in range(starts.size - 1):
        starts[b + 1] += starts[b]
    fill = starts[:-1].copy()
    for i in range(count):
        v = found[i]
        order[fill[part[v]]] = v
        fill[part[v]] += 1


@njit(cache=True, nogil=True)
def quotient(xadj, adjncy, adjwgt, part, starts, order, pair_starts, other, sent, cut):
    """Fill the rows of the quotient graph; return its number of entries, even if too many to fit.

    Row b, other[pair_starts[b]:pair_starts[b + 1]], lists the blocks that b touches, ascending;
    sent counts b's vertices with a neighbour there, cut sums the edge weights between the two.
    adjwgt may be empty: every edge weighs 1. starts, order: the results of group_boundary.
    """
    k = starts.size - 1
    weighted = adjwgt.size > 0
    stamp = np.full(k, -1, np.int64)
    count = np.zeros(k, np.int64)
    total = np.zeros(k, np.float64)
    touched, nothing = np.empty(k, np.int64), np.empty(0, np.int64)
    size = 0
    for b in range(k):
        pair_starts[b] = size
        n_touched = 0
        for i in range(starts[b], starts[b + 1]):
            v = order[i]
            for e in range(xadj[v], xadj[v + 1]):
                c = part[adjncy[e]]
                if c == b:
                    continue
                if stamp[c] != v:
                    stamp[c] = v
                    if count[c] == 0:
                        touched[n_touched] = c
                        n_touched += 1
                    count[c] += 1
                total[c] += adjwgt[e] if weighted else 1.0
        sort_along(touched[:n_touched], nothing)
        for i in range(n_touched):
            c = touched[i]
            if size < other.size:
                other[size] = c
                sent[size] = count[c]
                cut[size] = total[c]
            size += 1
            count[c] = 0
            total[c] = 0.0
    pair_starts[k] = size
    return size


@njit(cache=True, nogil=True)
def count_by_block(part, count):
    """Add to count[b] the number of vertices of block b."""
    for v in range(part.size):
        count[part[v]] += 1


@njit(cache=True, nogil=True)
def sum_by_block(part, values, total):
    """Add to total[b] the values of the vertices of block b."""
    for v in range(part.size):
        total[part[v]] += values[v]


@njit(cache=True, nogil=True)
def sum_boundary(xadj, adjncy, part, values, total):
    """Add to total[b] the values of the vertices of block b with a neighbour elsewhere."""
    for v in range(part.size):
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != part[v]:
                total[part[v]] += values[v]
                break


@njit(cache=True, nogil=True)
def block_components(xadj, adjncy, part, leader, count):
    """Add to count[b] the number of connected pieces of block b; leader (n,) is scratch.

    Union-find with the smaller vertex as leader, in one sweep over the edges: it reads memory in
    order, unlike a search from vertex to vertex.
    """
    for v in range(part.size):
        leader[v] = v
        b = part[v]
        count[b] += 1
        root = v
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if u >= v:  # lists ascend, and each edge is met from its larger end
                break
            if part[u] != b:
                continue
            while leader[u] != u:
                leader[u] = leader[leader[u]]
                u = leader[u]
            if u == root:
                continue
            count[b] -= 1
            if u < root:
                leader[root] = u
                root = u
            else:
                leader[u] = root


@njit(cache=True, nogil=True)
def share_rates(active, starts, uses, costs, room, load, pending, stop, rate):
    """Set rate[i] [values/s] of the active flows i.

    Flow i needs costs[j] > 0 seconds per value of the resources uses[j], starts[i] <= j <
    starts[i + 1]; a resource is full when rate x cost, summed over its flows, is 1. room, load,
    pending, stop: scratch, one per resource.
    """
    room[:], load[:], pending[:] = 1.0, 0.0, 0
    for i in active:
        rate[i] = -1.0
        for j in range(starts[i], starts[i + 1]):
            load[uses[j]] += costs[j]
            pending[uses[j]] += 1
    left = active.size
    while left > 0:
        for r in range(stop.size):
            stop[r] = room[r] / load[r] if pending[r] > 0 else np.inf
        # Below zero: one of its flows stops elsewhere, sooner.
        for i in active:
            if rate[i] < 0:
                least = np.inf
                for j in range(starts[i], starts[i + 1]):
                    least = min(least, abs(stop[uses[j]]))
                for j in range(starts[i], starts[i + 1]):
                    if stop[uses[j]] > least:
                        stop[uses[j]] *= -1.0
        for i in active:
            if rate[i] < 0:
                for j in range(starts[i], starts[i + 1]):
                    if stop[uses[j]] >= 0:
                        rate[i] = stop[uses[j]]
                if rate[i] >= 0:
                    left -= 1
                    for j in range(starts[i], starts[i + 1]):
                        r = uses[j]
                        room[r] = max(room[r] - rate[i] * costs[j], 0.0)
                        load[r] = max(load[r] - costs[j], 1e-300)
                        pending[r] -= 1


@njit(cache=True, nogil=True)
def finish_flows(release, values, starts, uses, costs, size, step, done):
    """Set done[i] [s]: the end of flow i, which has values[i] > 0 and begins at release[i].

    size: number of resources. Rates change when flows begin or end, but at most once in `step`
    seconds: flows that begin within a step begin at its start, and the bandwidth of flows that end
    within a step is unused until its end. Rates of flows with extreme costs may be infinite or
    zero.
    """
    n = release.size
    order, left, rate, needs = np.argsort(release), values.copy(), np.empty(n), np.empty(n)
    room, load, stop = np.empty(size), np.empty(size), np.empty(size)
    pending, active = np.empty(size, np.int64), np.empty(n, np.int64)
    n_active, begun, now = 0, 0, 0.0
    while begun < n or n_active > 0:
        if n_active == 0:
            now = max(now, release[order[begun]])
        while begun < n and release[order[begun]] <= now + step:
            active[n_active] = order[begun]
            n_active, begun = n_active + 1, begun + 1
        share_rates(active[:n_active], starts, uses, costs, room, load, pending, stop, rate)
        first = np.inf
        for i in active[:n_active]:
            needs[i] = left[i] / rate[i] if rate[i] > 0 else np.inf
            first = min(first, needs[i])
        lasts = max(first, step)
        if begun < n:
            lasts = min(lasts, release[order[begun]] - now)
        kept = 0
        for i in active[:n_active]:
            if needs[i] <= lasts * (1 + 1e-12):
                done[i] = max(now + needs[i], release[i])
            else:
                left[i] -= rate[i] * lasts
                active[kept] = i
                kept += 1
        n_active, now = kept, now + lasts
