"""Kernels that divide a graph among devices: boundary vertices, local numbers, ghosts, local arcs.

Every vertex has a position. Positions are sorted by block, then interior or boundary, then global
number. So a local number is the vertex's position minus that of the block's first vertex, and the
ghosts of a device, sorted by position, are grouped by owner. A set of ghosts has one bit per
position; the number of a ghost is the number of set bits before its own.
"""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import ONE, count_bits, lowest_bit
from evener.jit import inner, njit

WORD = 64  # bits in a word of a set of positions
SHIFT, MASK = np.uint64(6), np.uint64(WORD - 1)


@njit(cache=True, nogil=True)
def mark_boundary(xadj, adjncy, part, only, both_ends, first, last, boundary):
    """Set boundary[v] to 1 for vertices v in [first, last) with an arc to another block.

    only: the block whose vertices are examined, or -1 for all. both_ends: whether to mark the other
    end as well, because each arc of a directed graph is in only one list. Slices may be processed
    in parallel: they only write ones.
    """
    for v in range(first, last):
        b = part[v]
        if only >= 0 and b != only:
            continue
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != b:
                boundary[v] = 1
                if not both_ends:
                    break
                boundary[adjncy[e]] = 1


@njit(cache=True, nogil=True)
def count_vertices(part, boundary, first, last, counts):
    """Count vertices in [first, last): interior of block b in counts[2b], boundary in 2b + 1."""
    for v in range(first, last):
        counts[2 * part[v] + boundary[v]] += 1


@njit(cache=True, nogil=True)
def place_vertices(part, boundary, first, last, places, order, position):
    """Give the vertices in [first, last) their positions.

    places (2k,): next free positions, indexed like counts in count_vertices. order: the vertex at
    each position; position: the position of each vertex.
    """
    for v in range(first, last):
        group = 2 * part[v] + boundary[v]
        p = places[group]
        places[group] = p + 1
        order[p] = v
        position[v] = p


@njit(cache=True, nogil=True)
def list_offsets(xadj, vertices, offsets):
    """Set offsets (m + 1,): where the arcs of each of m vertices begin if stored without gaps."""
    total = 0
    for i in range(vertices.size):
        offsets[i] = total
        total += xadj[vertices[i] + 1] - xadj[vertices[i]]
    offsets[vertices.size] = total


@njit(cache=True, nogil=True)
def list_degrees(xadj, vertices, degrees):
    """Set degrees[i] to the number of arcs of vertices[i]."""
    for i in range(vertices.size):
        degrees[i] = xadj[vertices[i] + 1] - xadj[vertices[i]]


@njit(cache=True, nogil=True)
def mark_ghosts(xadj, adjncy, position, owned, first, last, bits, used):
    """Set the bits of the positions of other blocks to which owned[first:last] have arcs.

    used: one bit per word of `bits`, set if the word is not zero.
    """
    if first >= last:
        return
    begin = np.uint64(position[owned[0]])
    n_owned = np.uint64(owned.size)
    for i in range(first, last):
        v = owned[i]
        for e in range(xadj[v], xadj[v + 1]):
            p = np.uint64(position[adjncy[e]])
            if p - begin >= n_owned:  # below begin it wraps
                w = p >> SHIFT
                if bits[w] == 0:
                    used[w >> SHIFT] |= ONE << (w & MASK)
                bits[w] |= ONE << (p & MASK)


@njit(cache=True, nogil=True)
def merge_bits(bits, used, ranks):
    """Unite the s sets in the rows of bits (s, words) in the first row; return its number of bits.

    used: bits that mark the words of `bits` that are not zero. Sets ranks[w] to the number of bits
    before word w, for these words only.
    """
    total = 0
    for u in range(used.shape[1]):
        for s in range(1, used.shape[0]):
            used[0, u] |= used[s, u]
        left = used[0, u]
        while left != 0:
            w = WORD * u + np.int64(lowest_bit(left))
            left &= left - ONE
            for s in range(1, bits.shape[0]):
                bits[0, w] |= bits[s, w]
            ranks[w] = total
            total += np.int64(count_bits(bits[0, w]))
    return total


@njit(cache=True, nogil=True)
def list_ghosts(bits, used, order, ghosts):
    """List the vertices at the positions whose bits are set."""
    count = 0
    for u in range(used.size):
        left = used[u]
        while left != 0:
            w = WORD * u + np.int64(lowest_bit(left))
            left &= left - ONE
            word = bits[w]
            while word != 0:
                ghosts[count] = order[WORD * w + np.int64(lowest_bit(word))]
                count += 1
                word &= word - ONE


@njit(cache=True, nogil=True)
def clear_bits(bits, used):
    """Clear the sets (s, words) whose `used` words merge_bits has merged."""
    for u in range(used.shape[1]):
        left = used[0, u]
        while left != 0:
            w = WORD * u + np.int64(lowest_bit(left))
            left &= left - ONE
            for s in range(bits.shape[0]):
                bits[s, w] = 0
        for s in range(used.shape[0]):
            used[s, u] = 0


@njit(cache=True, nogil=True)
def fill_arcs(xadj, adjncy, adjwgt, position, owned, first, last, bits, ranks, offsets, ends,
              weights):  # fmt: skip
    """Copy the arcs of owned[first:last] to their places in `ends`, by local numbers.

    adjwgt and weights are empty if arcs have no weights.
    """
    if first >= last:
        return
    begin = np.uint64(position[owned[0]])
    n_owned = np.uint64(owned.size)
    weighted = adjwgt.size > 0
    for i in range(first, last):
        v = owned[i]
        to = np.int64(offsets[i]) - xadj[v]
        for e in range(xadj[v], xadj[v + 1]):
            p = np.uint64(position[adjncy[e]])
            local = p - begin
            if local >= n_owned:
                before = bits[p >> SHIFT] & ((ONE << (p & MASK)) - ONE)
                local = n_owned + np.uint64(ranks[p >> SHIFT]) + count_bits(before)
            ends[to + e] = local
            if weighted:
                weights[to + e] = adjwgt[e]


@njit(cache=True, nogil=True)
def list_sends(xadj, adjncy, more_xadj, more_adjncy, part, owned, first, last_sent, counts, sent):
    """List the vertices of owned[first:] with an arc in either list to each other block.

    more_xadj may be empty if there is only one list. last_sent (k,) must be -1. If `sent` is empty,
    this counts in counts (k,) the vertices listed for each block; otherwise counts (k,) are the
    places in `sent` for each block's next local number.
    """
    for i in range(first, owned.size):
        v = owned[i]
        own = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            _send(i, part[adjncy[e]], own, last_sent, counts, sent)
        if more_xadj.size > 0:
            for e in range(more_xadj[v], more_xadj[v + 1]):
                _send(i, part[more_adjncy[e]], own, last_sent, counts, sent)


@inner()
def _send(i, block, own, last_sent, counts, sent):
    if block != own and last_sent[block] != i:
        last_sent[block] = i
        if sent.size > 0:
            sent[counts[block]] = i
        counts[block] += 1
