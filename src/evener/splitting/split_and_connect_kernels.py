"""Fills the adjacency lists of split-and-connect graphs."""

# mypy: ignore-errors

from evener.jit import njit

RING_DEGREE = 3  # edges of a vertex from which its path of clones can be closed


@njit(cache=True, nogil=True)
def find_slots(tails, offsets, edges, slots):
    """Fill slots (m, 2) with each edge's indices in the incidence lists of its tail and head."""
    for v in range(offsets.size - 1):
        for i in range(offsets[v], offsets[v + 1]):
            e = edges[i]
            slots[e, 0 if tails[e] == v else 1] = i


@njit(cache=True, nogil=True)
def count_neighbours(offsets, closed, counts):
    """Fill counts[i + 1] with the number of neighbours of clone i."""
    for v in range(offsets.size - 1):
        first, last = offsets[v], offsets[v + 1]
        is_ring = closed and last - first >= RING_DEGREE
        for i in range(first, last):
            inner = (i > first) + (i < last - 1)
            counts[i + 1] = 1 + (2 if is_ring else inner)


@njit(cache=True, nogil=True)
def connect(offsets, edges, slots, closed, weight, xadj, adjncy, adjwgt):
    """Fill the adjacency lists of the graph of clones.

    The list of a clone contains the other clone of its edge, then its neighbours in the path or
    ring.
    """
    for v in range(offsets.size - 1):
        first, last = offsets[v], offsets[v + 1]
        is_ring = closed and last - first >= RING_DEGREE
        for i in range(first, last):
            at, e = xadj[i], edges[i]
            adjncy[at] = slots[e, 0] + slots[e, 1] - i
            adjwgt[at] = weight
            if i > first or is_ring:
                at += 1
                adjncy[at], adjwgt[at] = i - 1 if i > first else last - 1, 1
            if i < last - 1 or is_ring:
                at += 1
                adjncy[at], adjwgt[at] = i + 1 if i < last - 1 else first, 1


@njit(cache=True, nogil=True)
def list_pairs(offsets, edges, closed, ends):
    """Fill ends (2, p) with the pairs of edges that are consecutive at a vertex."""
    p = 0
    for v in range(offsets.size - 1):
        first, last = offsets[v], offsets[v + 1]
        for i in range(first, last - 1):
            ends[0, p], ends[1, p] = edges[i], edges[i + 1]
            p += 1
        if closed and last - first >= RING_DEGREE:
            ends[0, p], ends[1, p] = edges[last - 1], edges[first]
            p += 1


@njit(cache=True, nogil=True)
def decide(cut, ends, weights, wanted, loads, part):
    """Assign each cut edge to the less full of its two blocks, and add its work to the load."""
    for e in cut:
        b, c = ends[e, 0], ends[e, 1]
        if loads[c] / wanted[c] < loads[b] / wanted[b]:
            b = c
        part[e] = b
        loads[b] += weights[e]
