"""Clusters of vertices, found in one pass over edges; and edges assigned by blocks of vertices."""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit
from evener.splitting.placing_kernels import emptiest, fits, holds, lacking, take


@njit(cache=True, nogil=True)
def cluster(tails, heads, degrees, most, clusters, volumes):
    """Move one end of each edge to the other end's cluster, toward the larger volume [Mayer22]_.

    clusters (n,) int64: initially every vertex is a cluster. volumes (n,) int64: sum of the degrees
    of a cluster's vertices; no volume may exceed `most`. Vertices change cluster one at a time.
    Returns the number of edges whose ends were in one cluster after their processing.
    """
    inside = 0
    for e in range(tails.size):
        u, v = tails[e], heads[e]
        a, b = clusters[u], clusters[v]
        inside += a == b
        if a == b or volumes[a] > most or volumes[b] > most:
            continue
        if volumes[a] - degrees[u] > volumes[b] - degrees[v]:  # v is the one to move
            u, a, b = v, b, a
        if volumes[b] + degrees[u] <= most:
            volumes[b] += degrees[u]
            volumes[a] -= degrees[u]
            clusters[u] = b
            inside += 1
    return inside


@njit(cache=True, nogil=True, counted=False)
def place_inside(tails, heads, works, homes, blocks, part):
    """Put each edge into the common home (n,) of its ends.

    part is -1 if the homes differ or are full.
    """
    lack = lacking(blocks)
    for e in range(tails.size):
        u, v, b = tails[e], heads[e], homes[tails[e]]
        part[e] = -1
        if homes[v] == b and fits(blocks, b, works[e], lack):
            lack = take(blocks, u, v, b, works[e], lack)
            part[e] = b


@njit(cache=True, nogil=True, counted=False)
def place_between(tails, heads, works, homes, degrees, volumes, blocks, part):
    """Put each edge without a block, part[e] < 0, into the home of one of its ends.

    Chooses the home with the higher score among those that are not full. A home scores 1 + (share
    of the other end in the sum of both degrees) for each end that it holds, plus the share of its
    cluster in the volumes (n,) of both clusters [Mayer22]_. If both homes are full, the edge is put
    into the emptiest block.
    """
    lack = lacking(blocks)
    for e in range(tails.size):
        if part[e] >= 0:
            continue
        u, v, work = tails[e], heads[e], works[e]
        share = degrees[u] / (degrees[u] + degrees[v])
        weight = volumes[u] / (volumes[u] + volumes[v])
        best, most = np.int64(-1), -1.0
        for w in (u, v):
            b = np.int64(homes[w])
            if not fits(blocks, b, work, lack):
                continue
            score = weight if w == u else 1.0 - weight
            score += (2.0 - share) * holds(blocks.held, u, b)
            score += (1.0 + share) * holds(blocks.held, v, b)
            if score > most:
                best, most = b, score
        if best < 0:
            best = emptiest(blocks, work, lack)
        lack = take(blocks, u, v, best, work, lack)
        part[e] = best


@njit(cache=True, nogil=True)
def place_vertices(xadj, adjncy, order, strength, power, targets, homes, loads):
    """Put each vertex, in this order, where it adds least to the cost of cut edges and of loads.

    homes (n,) int32: initially -1. loads (k,): sum of the degrees of each block's vertices. A
    vertex of degree d costs d minus the number of its neighbours in the block, plus strength x
    target x the increase of (load / target)^power.
    """
    k = targets.size
    near = np.zeros(k, np.int64)
    for v in order:
        first, last = xadj[v], xadj[v + 1]
        for i in range(first, last):
            if homes[adjncy[i]] >= 0:
                near[homes[adjncy[i]]] += 1
        best, least = np.int64(0), np.inf
        for b in range(k):
            now = loads[b] / targets[b]
            then = (loads[b] + last - first) / targets[b]
            cost = strength * targets[b] * (then**power - now**power) - near[b]
            if cost < least:
                best, least = np.int64(b), cost
        near[:] = 0
        homes[v] = best
        loads[best] += last - first


@njit(cache=True, nogil=True)
def pack(sizes, targets, loads, homes):
    """Put each size, in order, into the block whose load / target is least after adding it."""
    for i in range(sizes.size):
        best, least = np.int64(0), np.inf
        for b in range(targets.size):
            then = (loads[b] + sizes[i]) / targets[b]
            if then < least:
                best, least = np.int64(b), then
        loads[best] += sizes[i]
        homes[i] = best
