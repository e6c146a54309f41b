"""Kernels for arcs read in pieces: deal them to the devices that own their ends, and make rows."""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import mixed
from evener.jit import njit


@njit(cache=True, nogil=True)
def count_arcs(tails, heads, part, both, counts):
    """Add to counts (k,) the number of arcs that leave each block; loops are omitted.

    both: whether every pair stands for two arcs, one in each direction.
    """
    for i in range(tails.size):
        if tails[i] != heads[i]:
            counts[part[tails[i]]] += 1
            if both:
                counts[part[heads[i]]] += 1


@njit(cache=True, nogil=True)
def deal_arcs(tails, heads, weights, part, both, turned, fill, own, other, own_weights):
    """Put each arc behind those of its tail's block: the tail in own, the head in other.

    both: as in count_arcs; the arc in the given direction comes first, the weight of the other one
    is multiplied by `turned`. fill (k,): the next free places. weights and own_weights: empty if
    arcs have no weights.
    """
    weighted = weights.size > 0
    for i in range(tails.size):
        u, v = tails[i], heads[i]
        if u == v:
            continue
        to = fill[part[u]]
        fill[part[u]] = to + 1
        own[to], other[to] = u, v
        if weighted:
            own_weights[to] = weights[i]
        if both:
            to = fill[part[v]]
            fill[part[v]] = to + 1
            own[to], other[to] = v, u
            if weighted:
                own_weights[to] = turned * weights[i]


@njit(cache=True, nogil=True)
def count_rows(own, local, xadj):
    """Add the length of the row of each vertex v to xadj[local[v] + 1]."""
    for i in range(own.size):
        xadj[local[own[i]] + 1] += 1


@njit(cache=True, nogil=True)
def fill_rows(own, other, weights, local, fill, adjncy, adjwgt):
    """Put each arc into the next free place of its row, fill[local[v]]."""
    weighted = weights.size > 0
    for i in range(own.size):
        row = local[own[i]]
        to = fill[row]
        fill[row] = to + 1
        adjncy[to] = other[i]
        if weighted:
            adjwgt[to] = weights[i]


@njit(cache=True, nogil=True)
def mark_others(xadj, adjncy, part, rank, boundary, marks):
    """Set boundary[i] for rows with entries of other blocks, and marks[v] for these entries."""
    for i in range(xadj.size - 1):
        for e in range(xadj[i], xadj[i + 1]):
            if part[adjncy[e]] != rank:
                boundary[i] = True
                marks[adjncy[e]] = 1


@njit(cache=True, nogil=True)
def number_rows(xadj, adjncy, adjwgt, rows, local, offsets, ends, weights):
    """Copy rows in the order `rows`, with entries as local numbers; offsets[0] must be set."""
    weighted = adjwgt.size > 0
    for i in range(rows.size):
        first, to = xadj[rows[i]], np.int64(offsets[i])
        length = xadj[rows[i] + 1] - first
        for e in range(length):
            ends[to + e] = local[adjncy[first + e]]
            if weighted:
                weights[to + e] = adjwgt[first + e]
        offsets[i + 1] = to + length


@njit(cache=True, nogil=True)
def signature(tails, heads, weights):
    """Return a sum modulo 2^64 that is 0 over all arcs of a symmetric graph.

    An arc from the lower to the higher number adds a hash of both numbers and of its weight's bits
    (uint64, or none); the arc in the other direction subtracts it. For other graphs the sum is 0
    with probability 2^-64.
    """
    total = np.uint64(0)
    weighted = weights.size > 0
    for i in range(tails.size):
        low, high = np.uint64(min(tails[i], heads[i])), np.uint64(max(tails[i], heads[i]))
        word = mixed(mixed(low) + high)
        if weighted:
            word = mixed(word + weights[i])
        total = total + word if tails[i] < heads[i] else total - word
    return total
