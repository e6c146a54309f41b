"""Kernels of coarsening: clusters of vertices become the vertices of a smaller graph.

Vertices are processed in slices [first, last), which threads share; a cluster never crosses a
slice. Indices are unsigned, which saves a check for negative values. An empty `adjwgt` means that
all edges weigh 1.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import njit

RATED = 64  # max. neighbouring clusters that a vertex compares
TOGETHER = 128  # rows whose memory reads are issued together


class Clusters(NamedTuple):
    """Clusters of a level's vertices as linked lists.

    coarse_of (n,) uint32: the cluster of each vertex. head (clusters,) int32: the first member of a
    cluster in its list. following (n,) int32: the next member, negative for the last.
    """

    coarse_of: np.ndarray
    head: np.ndarray
    following: np.ndarray


class CoarseVertices(NamedTuple):
    """The vertices of the coarser level: degree (n,) uint32, vwgt (n,) float64, part (n,) int32."""

    degree: np.ndarray
    vwgt: np.ndarray
    part: np.ndarray


@njit(cache=True, nogil=True)
def rank_vertices(order, xadj, first, last, rank, degree):
    """Invert order[first:last], and store the degrees of these vertices in this order."""
    for i in range(first, last):
        v = order[i]
        rank[v] = i
        degree[i] = xadj[v + 1] - xadj[v]


@njit(cache=True, nogil=True)
def is_own_order(order):
    """Return whether order (n,) is 0, 1, ..., n - 1."""
    for i in range(order.size):
        if order[i] != i:
            return False
    return True


@njit(cache=True, nogil=True)
def gather(values, order, first, last, found):
    """Copy values[order[first:last]] to found[first:last]."""
    for i in range(first, last):
        found[i] = values[order[i]]


@njit(cache=True, nogil=True)
def scatter(values, order, first, last, placed):
    """Copy values[first:last] to placed[order[first:last]]."""
    for i in range(first, last):
        placed[order[i]] = values[i]


@njit(cache=True, nogil=True, error_model="numpy")
def permute_rows(xadj, adjncy, adjwgt, order, rank, first, last, new_xadj, new_adjncy, new_adjwgt):
    """Copy rows order[first:last] of a graph, renumbered by rank, to their new places.

    The rows may lie anywhere in memory: the first entries of TOGETHER rows are read first, so that
    waits for memory overlap. The number returned only prevents the compiler from removing these
    reads.
    """
    weighted = adjwgt.size > 0
    begins = np.empty(TOGETHER, np.int64)
    read = np.int64(0)
    for row in range(first, last, TOGETHER):
        count = min(TOGETHER, last - row)
        for i in range(count):
            begins[i] = xadj[order[row + i]]
        for i in range(count):
            if begins[i] < adjncy.size:  # rows at the end may be empty
                read ^= adjncy[begins[i]]
        for i in range(count):
            shift = begins[i] - np.int64(new_xadj[row + i])
            for q in range(np.int64(new_xadj[row + i]), np.int64(new_xadj[row + i + 1])):
                new_adjncy[q] = adjncy[q + shift]
                if weighted:
                    new_adjwgt[q] = adjwgt[q + shift]
        for q in range(new_xadj[row], new_xadj[row + count]):
            new_adjncy[q] = rank[new_adjncy[q]]
    return read


@njit(cache=True, nogil=True, error_model="numpy")
def cluster(xadj, adjncy, adjwgt, vwgt, part, caps, first, last, leader, weight):
    """Join vertices [first, last) of the same block to clusters, greedily.

    A vertex joins the cluster with the largest (edge weight)^2 / (cluster weight). leader (n,): the
    first vertex of each vertex's cluster, negative before the call. weight (n,): on entry each
    vertex's own weight; on return the weight of a cluster at its leader. caps (k,), or (1,) for all
    blocks: the largest weight of a cluster.
    """
    unit = adjwgt.size == 0
    rated = np.empty(RATED, np.int32)
    rating = np.empty(RATED, np.int64)
    for v in range(first, last):
        if leader[v] >= 0:
            continue
        block = part[v]
        n_rated = 0
        cap = caps[block] if caps.size > 1 else caps[0]
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if u < first or u >= last or part[u] != block:
                continue
            c = leader[u]
            if c < 0:
                c = np.int32(u)
            w = 1 if unit else adjwgt[e]
            known = False
            for q in range(n_rated):
                if rated[q] == c:
                    rating[q] += w
                    known = True
                    break
            if not known and n_rated < RATED:
                rated[n_rated], rating[n_rated] = c, w
                n_rated += 1
        best, best_score = -1, -1.0  # edges of weight 0 count, after all others
        room = cap - vwgt[v]
        for q in range(n_rated):
            c = np.uint32(rated[q])
            if weight[c] > room:
                continue
            score = np.float64(rating[q]) * rating[q] / max(weight[c], 1e-280)
            if score > best_score:
                best, best_score = np.int64(c), score
        if best < 0:
            leader[v] = v
        else:
            leader[best] = best
            leader[v] = best
            weight[best] += vwgt[v]


@njit(cache=True, nogil=True)
def count_leaders(leader, first, last):
    """Return the number of clusters that the vertices [first, last) form."""
    count = 0
    for v in range(first, last):
        count += leader[v] == v
    return count


@njit(cache=True, nogil=True)
def number_clusters(leader, first, last, number, coarse_of, head, following):
    """Number the clusters of vertices [first, last) from `number` on, in their leaders' order.

    Links the members in head (clusters,) and following (n,), which ends with -1, and sets coarse_of
    (n,).
    """
    for v in range(first, last):
        if leader[v] == v:
            coarse_of[v] = number
            head[number] = -1
            number += 1
    for v in range(last - 1, first - 1, -1):
        c = coarse_of[leader[v]]
        coarse_of[v] = c
        following[v] = head[c]
        head[c] = v


@njit(cache=True, nogil=True)
def entries_of(xadj, head, following, first, last):
    """Return the number of adjacency entries of the members of clusters [first, last)."""
    total = 0
    for c in range(first, last):
        v = head[c]
        while v >= 0:
            total += np.int64(xadj[v + 1]) - np.int64(xadj[v])
            v = following[v]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def contract(level, part, clusters, first, last, mark, found, found_weight, coarse):
    """Merge the rows of the members of clusters [first, last); return the number of entries.

    mark (clusters,): must be -1 everywhere. found, found_weight: set to the neighbours of each
    cluster and the edge weights, row after row.
    """
    xadj, adjncy, adjwgt, vwgt = level
    coarse_of, head, following = clusters
    degree, coarse_vwgt, coarse_part = coarse
    unit = adjwgt.size == 0
    q = 0
    for c in range(first, last):
        start = q
        v = head[c]
        coarse_part[c] = part[v]
        total = 0.0
        while v >= 0:
            total += vwgt[v]
            for e in range(xadj[v], xadj[v + 1]):
                d = coarse_of[adjncy[e]]
                if d == c:
                    continue
                w = 1 if unit else adjwgt[e]
                at = mark[d]
                if at >= start:
                    found_weight[at] += w
                else:
                    mark[d] = q
                    found[q], found_weight[q] = d, w
                    q += 1
            v = following[v]
        coarse_vwgt[c] = total
        degree[c] = q - start
    return q


@njit(cache=True, nogil=True, error_model="numpy")
def middles(points, vwgt, coarse_of, found):
    """Set `found` (d, clusters), 0 before, to the weighted means of the members' points (d, n).

    Clusters of weight 0 get the unweighted mean.
    """
    mass = np.zeros(found.shape[1])
    for v in range(vwgt.size):
        c, weight = coarse_of[v], max(vwgt[v], 1e-300)
        mass[c] += weight
        for i in range(found.shape[0]):
            found[i, c] += weight * points[i, v]
    for i in range(found.shape[0]):
        for c in range(mass.size):
            found[i, c] /= mass[c]


@njit(cache=True, nogil=True)
def project(coarse_part, coarse_of, first, last, part):
    """Give the vertices [first, last) the blocks of their clusters."""
    for v in range(first, last):
        part[v] = coarse_part[coarse_of[v]]


@njit(cache=True, nogil=True)
def take_members(graph, part, members, rank, sub_xadj, sub_adjncy, sub_adjwgt):
    """Copy the subgraph of `members`, all vertices of one block; return its adjacency entries.

    rank (n,): index of every member among the members. The time is linear in the members' edges.
    """
    xadj, adjncy, adjwgt, _ = graph
    weighted = adjwgt.size > 0
    used = 0
    sub_xadj[0] = 0
    for i in range(members.size):
        v = members[i]
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if part[u] == part[v]:
                sub_adjncy[used] = rank[u]
                if weighted:
                    sub_adjwgt[used] = adjwgt[e]
                used += 1
        sub_xadj[i + 1] = used
    return used
