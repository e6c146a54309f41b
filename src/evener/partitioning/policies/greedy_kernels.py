"""Places one vertex after another on the device that is best so far; counts messages."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit

LOAD, NEIGHBOURS, COMBINED, INCREASE = 0, 1, 2, 3  # rules of place_by_neighbours; LOAD: none


@njit(cache=True, nogil=True)
def count_messages(xadj, adjncy, part, order, seen, sent, received):
    """Count for each block the vertices of other blocks that its arcs reach, and messages received.

    order (n,): vertices sorted by block. seen (n,) must be -1.
    """
    for i in range(order.size):
        v = order[i]
        p = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            q = part[u]
            if q != p and seen[u] != p:
                seen[u] = p
                sent[p] += 1
                received[q] += 1


@inner()
def _lower(loads, a, b):
    """Return whether device a comes before b: by lower load, then by lower number."""
    return loads[a] < loads[b] or (loads[a] == loads[b] and a < b)


@inner()
def _sift_down(heap, size, loads):
    """Move the first entry of a heap down until the heap is ordered."""
    i, moved = 0, heap[0]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and _lower(loads, heap[child + 1], heap[child]):
            child += 1
        if not _lower(loads, heap[child], moved):
            break
        heap[i] = heap[child]
        i = child
    heap[i] = moved


@inner()
def _bytes_with(costs, counts, n, k, out_degree, in_degree):
    """Return the largest number of bytes that a block may need with one more vertex.

    counts: its vertices, the arcs that leave them, the arcs that reach them. costs: bytes of a
    vertex, an arc, a sent message, a received message. In any partition, the block sends at most
    one message to each vertex and gets at most one message for a vertex from each block.
    """
    vertices, leaving = counts[0] + 1.0, counts[1] + out_degree
    sent = min(leaving, n - vertices)
    received = min(counts[2] + in_degree, (k - 1.0) * vertices)
    return costs[0] * vertices + costs[1] * leaving + costs[2] * sent + costs[3] * received


@njit(cache=True, nogil=True)
def place_by_load(out_degrees, in_degrees, weights, limits, costs, part):
    """Place vertices in file order, each on the device with the least load before placing (PG).

    weights (k,): a device's load is the sum of its out-degrees / weight. limits (k,) [B]: a device
    takes no more vertices once a vertex might not fit. costs (4,): see _bytes_with. Returns the
    first vertex for which no device is left, or -1.
    """
    n, k = out_degrees.size, weights.size
    loads, counts = np.zeros(k), np.zeros((k, 3))
    heap, size = np.arange(k), k
    for v in range(n):
        while size > 0:
            p = heap[0]
            needed = _bytes_with(costs, counts[p], n, k, out_degrees[v], in_degrees[v])
            if needed <= limits[p]:
                break
            size -= 1
            heap[0] = heap[size]
            if size > 0:
                _sift_down(heap, size, loads)
        if size == 0:
            return v
        p = heap[0]
        part[v] = p
        counts[p, 0] += 1
        counts[p, 1] += out_degrees[v]
        counts[p, 2] += in_degrees[v]
        loads[p] = counts[p, 1] / weights[p]
        _sift_down(heap, size, loads)
    return -1


@njit(cache=True, nogil=True)
def place_by_neighbours(out_arcs, in_arcs, rule, weights, limits, costs, part):
    """Place vertices in file order by a rule that depends on where their neighbours are.

    out_arcs, in_arcs: (xadj, adjncy). rule: NEIGHBOURS (LDG): most neighbours x room left;
    COMBINED: least load of arcs and messages after placing; INCREASE: least increase of this load.
    The other arguments are those of place_by_load; part must be -1 on entry.
    """
    (xadj, adjncy), (in_xadj, in_adjncy) = out_arcs, in_arcs
    n, k = xadj.size - 1, weights.size
    counts, messages = np.zeros((k, 3)), np.zeros(k)
    near, room = np.zeros(k), n / weights.sum()
    for v in range(n):
        near[:] = 0
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] >= 0:
                near[part[adjncy[e]]] += 1
        for e in range(in_xadj[v], in_xadj[v + 1]):
            if part[in_adjncy[e]] >= 0:
                near[part[in_adjncy[e]]] += 1
        placed = near.sum()
        out_degree, in_degree = xadj[v + 1] - xadj[v], in_xadj[v + 1] - in_xadj[v]
        chosen, best, least = -1, -np.inf, np.inf
        for p in range(k):
            if _bytes_with(costs, counts[p], n, k, out_degree, in_degree) > limits[p]:
                continue
            load = (counts[p, 1] + messages[p]) / weights[p]
            added = (out_degree + placed - near[p]) / weights[p]
            if rule == NEIGHBOURS:
                score = near[p] * (1 - counts[p, 0] / (room * weights[p]))
            elif rule == COMBINED:
                score = -(load + added)
            else:
                score = -added
            if score > best or (score == best and load < least):
                chosen, best, least = p, score, load
        if chosen < 0:
            return v
        part[v] = chosen
        counts[chosen, 0] += 1
        counts[chosen, 1] += out_degree
        counts[chosen, 2] += in_degree
        messages[chosen] += placed - near[chosen]
    return -1
