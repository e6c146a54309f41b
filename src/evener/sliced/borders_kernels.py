"""Kernels that find the vertices near borders, and make the graphs of groups of blocks.

A cluster is "whole" if it is one vertex of the group's graph; clusters near borders are split into
single vertices. `of` (n_local,) int32 distinguishes them: the cluster of a vertex in a whole
cluster, or ~i for the i-th single vertex of a group. `blocks` (n_local,): the blocks of single
vertices.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit

NOT_HERE = -1  # a cluster that is not in the group
ALL = -1  # in place of a group: all of them


@njit(cache=True, nogil=True)
def mark_near(xadj, adjncy, part, hops, near):
    """Set near to 1 for vertices at a border, and to 2 or more up to `hops` edges away."""
    n = xadj.size - 1
    for v in range(n):
        near[v] = 0
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != part[v]:
                near[v] = 1
                break
    for hop in range(1, hops + 1):
        for v in range(n):
            if near[v] != 0:
                continue
            for e in range(xadj[v], xadj[v + 1]):
                if near[adjncy[e]] == hop:
                    near[v] = hop + 1
                    break


@njit(cache=True, nogil=True)
def count_single(of, near):
    """Count the vertices whose clusters are near borders."""
    count = 0
    for c in of:
        count += near[c] != 0
    return count


@njit(cache=True, nogil=True)
def take_singly(of, near, part, blocks):
    """Set the blocks of the vertices near borders, and set `of` to ~0 for these vertices."""
    for v in range(of.size):
        c = of[v]
        if near[c] != 0:
            of[v] = ~0
            blocks[v] = part[c]


@inner()
def is_wanted(v, of, blocks, group_of, group):
    """Return whether v is a single vertex of the group; group ALL: of any group."""
    return of[v] < 0 and (group == ALL or group_of[blocks[v]] == group)


@njit(cache=True, nogil=True)
def count_entries(rows, of, blocks, group_of, group):
    """Count the single vertices of a group among rows, and their adjacency entries."""
    count, entries = 0, 0
    for i in range(rows.xadj.size - 1):
        if is_wanted(rows.first + i, of, blocks, group_of, group):
            count += 1
            entries += rows.xadj[i + 1] - rows.xadj[i]
    return count, entries


@njit(cache=True, nogil=True)
def take_rows(rows, of, blocks, group_of, group, taken):
    """Copy the rows of a group's single vertices to `taken`.

    Empty arrays of weights remain empty.
    """
    at, entry = 0, 0
    for i in range(rows.xadj.size - 1):
        if not is_wanted(rows.first + i, of, blocks, group_of, group):
            continue
        taken.which[at] = rows.first + i
        if taken.vwgt.size > 0:
            taken.vwgt[at] = rows.vwgt[i]
        for e in range(rows.xadj[i], rows.xadj[i + 1]):
            taken.adjncy[entry] = rows.adjncy[e]
            if taken.adjwgt.size > 0:
                taken.adjwgt[entry] = rows.adjwgt[e]
            entry += 1
        at += 1
        taken.xadj[at] = entry


@njit(cache=True, nogil=True)
def count_borders(rows, of, blocks, whole_part, counts, entries):
    """Add to counts (k, k) the edges of single vertices to vertices of other blocks.

    entries (k,): increased by the number of all edges of each block's single vertices.
    """
    for i in range(rows.which.size):
        own = blocks[rows.which[i]]
        entries[own] += rows.xadj[i + 1] - rows.xadj[i]
        for e in range(rows.xadj[i], rows.xadj[i + 1]):
            u = rows.adjncy[e]
            other = whole_part[of[u]] if of[u] >= 0 else blocks[u]
            if other != own:
                counts[own, other] += 1


@njit(cache=True, nogil=True)
def count_blocks(of, blocks, first, last, counts):
    """Add to counts (k,) the number of single vertices of [first, last) in each block."""
    for v in range(first, last):
        if of[v] < 0:
            counts[blocks[v]] += 1


@njit(cache=True, nogil=True)
def number_in_groups(n, of, blocks, group_of, next_number):
    """Number the single vertices among the first n within their groups, from next_number on."""
    for v in range(n):
        if of[v] < 0:
            g = group_of[blocks[v]]
            of[v] = ~next_number[g]
            next_number[g] += 1


@njit(cache=True, nogil=True)
def put_blocks(n, of, blocks, group_of, group, given):
    """Set the blocks of a group's single vertices among the first n to `given`, in their order."""
    at = 0
    for v in range(n):
        if is_wanted(v, of, blocks, group_of, group):
            blocks[v] = given[at]
            at += 1


@njit(cache=True, nogil=True)
def list_rows(rows, of, blocks, whole_part, group_of, group, degrees, entries, weights):
    """List the edges of a group's single vertices; return the numbers of vertices and of entries.

    An entry is the number of a whole cluster, or clusters + number for a single vertex; neighbours
    outside the group are omitted. Several edges to a cluster are several entries; an edge between
    single vertices is only in the list of the vertex with the lower number.
    """
    n_clusters = whole_part.size
    count, used = 0, 0
    for i in range(rows.which.size):
        v = rows.which[i]
        if group_of[blocks[v]] != group:
            continue
        begin = used
        for e in range(rows.xadj[i], rows.xadj[i + 1]):
            u = rows.adjncy[e]
            c = of[u]
            block = whole_part[c] if c >= 0 else blocks[u]
            if group_of[block] != group or (c < 0 and ~c < ~of[v]):
                continue
            entries[used] = c if c >= 0 else n_clusters + ~c
            if weights.size > 0:
                weights[used] = rows.adjwgt[e]
            used += 1
        degrees[count] = used - begin
        count += 1
    return count, used


@njit(cache=True, nogil=True)
def join_entries(degrees, entries, weights, here, n_whole, joined):
    """Merge equal entries of each row in place and renumber them.

    Returns the number of entries left. here (clusters,): the number of each cluster in the group.
    joined (e,): set to the sums of weights.
    """
    n_clusters = here.size
    at_row = np.full(n_whole, -1, np.int64)
    used, read = 0, 0
    for i in range(degrees.size):
        begin = used
        for _ in range(degrees[i]):
            entry = entries[read]
            weight = weights[read] if weights.size > 0 else 1
            read += 1
            if entry >= n_clusters:
                entries[used] = n_whole + entry - n_clusters
            else:
                c = here[entry]
                if at_row[c] >= begin:
                    joined[at_row[c]] += weight
                    continue
                at_row[c] = used
                entries[used] = c
            joined[used] = weight
            used += 1
        degrees[i] = used - begin
    return used


@njit(cache=True, nogil=True)
def count_degrees(coarse, members, here, degrees, entries, xadj):
    """Fill xadj (n + 1,), zero on entry, with the offsets of a group's adjacency lists.

    members: the group's whole clusters, which come first in its graph. here: the number of each
    cluster in the group, or NOT_HERE. degrees, entries: for each single vertex, the number of its
    listed edges, and their other ends.
    """
    n_whole = members.size
    coarse_xadj, coarse_adjncy, _ = coarse
    for i in range(n_whole):
        c = members[i]
        for e in range(coarse_xadj[c], coarse_xadj[c + 1]):
            xadj[i + 1] += here[coarse_adjncy[e]] != NOT_HERE
    for i in range(degrees.size):
        xadj[n_whole + i + 1] += degrees[i]
    for entry in entries:
        xadj[entry + 1] += 1
    for i in range(xadj.size - 1):
        xadj[i + 1] += xadj[i]


@njit(cache=True, nogil=True)
def write_lists(coarse, members, here, degrees, entries, joined, xadj, adjncy, adjwgt):
    """Write the adjacency lists of a group's graph: whole clusters come first."""
    n_whole = members.size
    coarse_xadj, coarse_adjncy, coarse_adjwgt = coarse
    end = xadj[:-1].copy()
    for i in range(n_whole):
        c = members[i]
        for e in range(coarse_xadj[c], coarse_xadj[c + 1]):
            d = here[coarse_adjncy[e]]
            if d != NOT_HERE:
                adjncy[end[i]], adjwgt[end[i]] = d, coarse_adjwgt[e]
                end[i] += 1
    read = 0
    for i in range(degrees.size):
        v = n_whole + i
        for _ in range(degrees[i]):
            u = entries[read]
            adjncy[end[v]], adjwgt[end[v]] = u, joined[read]
            adjncy[end[u]], adjwgt[end[u]] = v, joined[read]
            end[v] += 1
            end[u] += 1
            read += 1


@njit(cache=True, nogil=True)
def write_blocks(of, whole_part, single_blocks, blocks):
    """Write the blocks of all vertices; `blocks` may be `of` itself."""
    for v in range(of.size):
        blocks[v] = whole_part[of[v]] if of[v] >= 0 else single_blocks[v]


@njit(cache=True, nogil=True)
def find_blocks(of, blocks, n, least, most):
    """Set least and most to the lowest and highest block in each cluster, for n vertices."""
    for v in range(n):
        c, b = of[v], blocks[v]
        least[c] = min(least[c], b)
        most[c] = max(most[c], b)


@njit(cache=True, nogil=True)
def mark_beside(xadj, adjncy, n_whole, beside):
    """Set flags in `beside` for the first n_whole vertices and their neighbours."""
    for v in range(xadj.size - 1):
        beside[v] = v < n_whole
        for e in range(xadj[v], xadj[v + 1]):
            if adjncy[e] < n_whole:
                beside[v] = True
                break
