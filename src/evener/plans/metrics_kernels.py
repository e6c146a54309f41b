"""Measures a partition in one pass over the edges.

Boundary vertices are visited block by block, so that one stamp and one counter for each other
block, reset from the list of blocks touched, give the sparse quotient graph without hashing.
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
    adjwgt may be empty: every edge weighs 1. starts, order: as of group_boundary.
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
def entries_by_block(part, xadj, count):
    """Add to count[b] the number of adjacency entries of the vertices of block b."""
    for v in range(part.size):
        count[part[v]] += xadj[v + 1] - xadj[v]


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
