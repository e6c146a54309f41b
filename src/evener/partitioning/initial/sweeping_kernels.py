"""Kernels of sweeping: bisect pieces along the front that cuts the fewest edges."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit

MOST_FRONTS = 4096  # places along a direction at which a piece may be cut
LEAST_FRONTS = 64
VERTICES_PER_FRONT = 4


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_all(graph, share, below, places, slack, part, chosen):
    """Bisect the graph by the tree (see HalvingTree); fill part (n,) with blocks.

    places (d, n) float32: positions of the vertices along each direction. slack: permitted
    deviation of a side's weight from its target, as a fraction of the smaller target. chosen
    (nodes,): set to the direction of each front.
    """
    n = graph.vwgt.size
    order, other = np.arange(n).astype(np.int32), np.empty(n, np.int32)
    bucket, rank = np.empty(n, np.int32), np.empty(n, np.int32)
    ends = np.empty((2, graph.adjncy.size // 2), np.int32)
    lengths = np.empty(graph.adjncy.size // 2, np.int32)
    piece = np.zeros(n, np.int32)
    begin, end = np.zeros(share.size, np.int64), np.zeros(share.size, np.int64)
    end[0] = n
    weight, cut = np.empty(MOST_FRONTS), np.empty(MOST_FRONTS, np.int64)
    for node in range(share.size):
        own = order[begin[node] : end[node]]
        m = _edges_inside(graph, piece, node, own, rank, ends, lengths)
        direction, front, rest, mirrored = _best_front(
            graph.vwgt, own, ends[:, :m], lengths[:m], places, share[node], slack, bucket, weight,
            cut,
        )  # fmt: skip
        _fill_buckets(own, places[direction], fronts_of(own.size), bucket)
        chosen[node] = direction
        taken = 0.0
        low, high = 0, 0
        for i in range(own.size):
            v = own[i]
            before = bucket[i] < front
            if bucket[i] == front and taken < rest:
                # Half of a vertex decides, so that the sum of weights comes nearest.
                before = taken + 0.5 * graph.vwgt[v] <= rest
                taken += graph.vwgt[v]
            if before != mirrored:
                own[low] = v
                low += 1
            else:
                other[high] = v
                high += 1
        own[low:] = other[:high]
        for s in range(2):
            first, last = (0, low) if s == 0 else (low, own.size)
            child = below[node, s]
            for i in range(first, last):
                piece[own[i]] = child
                if child < 0:
                    part[own[i]] = -1 - child
            if child >= 0:
                begin[child], end[child] = begin[node] + first, begin[node] + last


@inner(error_model="numpy", counted=False)
def fronts_of(size):
    """Return the number of buckets for a piece of `size` vertices."""
    return min(MOST_FRONTS, max(LEAST_FRONTS, size // VERTICES_PER_FRONT))


@inner(error_model="numpy", counted=False)
def _edges_inside(graph, piece, node, own, rank, ends, lengths):
    """List the edges within the piece `node`, which has the vertices `own`; return their number.

    ends (2, m) is filled with positions in `own`, lengths (m,) with edge weights; rank (n,) is
    scratch. Each direction reads this list: it is half as long as the rows of the graph, and
    contains only this piece.
    """
    xadj, adjncy, adjwgt, _ = graph
    unit = adjwgt.size == 0
    for i in range(own.size):
        rank[own[i]] = i
    m = 0
    for i in range(own.size):
        v = own[i]
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if u > v and piece[u] == node:
                ends[0, m], ends[1, m] = i, rank[u]
                lengths[m] = 1 if unit else adjwgt[e]
                m += 1
    return m


@inner(error_model="numpy", counted=False)
def _fill_buckets(own, place, count, bucket):
    """Fill bucket with the bucket of each vertex of `own` by position.

    Returns whether positions differ.
    """
    low, high = np.inf, -np.inf
    for i in range(own.size):
        low, high = min(low, place[own[i]]), max(high, place[own[i]])
    if not high > low:
        bucket[: own.size] = 0
        return False
    scale = count / (high - low)
    for i in range(own.size):
        bucket[i] = min(np.int64((place[own[i]] - low) * scale), count - 1)
    return True


@inner(error_model="numpy", counted=False)
def _best_front(vwgt, own, ends, lengths, places, share, slack, bucket, weight, cut):
    """Return the direction of the best front of `own`, its bucket, and the weight before it there.

    Vertices of this weight in the bucket lie before the front. The last value returned is whether
    side 0 lies behind it.
    """
    count = fronts_of(own.size)
    total = 0.0
    for i in range(own.size):
        total += vwgt[own[i]]
    best, most_off = np.inf, np.inf
    direction, front, rest, mirrored = 0, 0, share * total, False
    for d in range(len(places)):
        if not _fill_buckets(own, places[d], count, bucket):
            continue
        weight[:count] = 0.0
        cut[:count] = 0
        for i in range(own.size):
            weight[bucket[i]] += vwgt[own[i]]
        for e in range(lengths.size):
            a, b = bucket[ends[0, e]], bucket[ends[1, e]]
            cut[min(a, b)] += lengths[e]
            cut[max(a, b)] -= lengths[e]
        for side in range(2):
            wanted = share * total if side == 0 else (1.0 - share) * total
            most = slack * min(wanted, total - wanted)
            before, crossing = 0.0, 0
            for b in range(count):
                after, behind = before + weight[b], crossing + cut[b]
                if weight[b] > 0.0 and after >= wanted - most:
                    # A front after this bucket, or, where the bucket is heavy, inside it.
                    inside = after > wanted + most
                    cost = max(behind, crossing) + 1 if inside else behind
                    off = 0.0 if inside else abs(after - wanted)
                    if cost < best or (cost == best and off < most_off):
                        best, most_off = cost, off
                        direction, front, mirrored = d, b, side == 1
                        rest = wanted - before if inside else np.inf
                    if inside:
                        break
                before, crossing = after, behind
    return direction, front, rest, mirrored
