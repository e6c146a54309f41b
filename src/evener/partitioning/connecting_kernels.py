"""Finds the connected pieces of blocks, joins them, and tells what takes a block apart."""

# mypy: ignore-errors
import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def label_pieces(xadj, adjncy, part, queue, label, open_ended):
    """Number the pieces in order of their smallest vertex; returns how many.

    open_ended[p] becomes true where piece p has an edge to another block: where it does not, it
    is a whole component of the graph.
    """
    label[:] = -1
    count = 0
    for start in range(part.size):
        if label[start] >= 0:
            continue
        b = part[start]
        label[start] = count
        queue[0] = start
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if part[u] != b:
                    open_ended[count] = True
                elif label[u] < 0:
                    label[u] = count
                    queue[tail] = u
                    tail += 1
        count += 1
    return count


@njit(cache=True, nogil=True)
def join_pieces(
    xadj, adjncy, adjwgt, weights, n_bytes, high, caps, strays, starts, order, part, weight, size,
    memory,
):  # fmt: skip
    """Hand each stray piece to the block it touches most, those where it fits counting double.

    order[starts[p]:starts[p + 1]]: the vertices of piece p. A piece that is all of its block by
    now stays.
    """
    weighted = adjwgt.size > 0
    touch = np.zeros(high.size, np.float64)
    for p in strays:
        members = order[starts[p] : starts[p + 1]]
        a = part[members[0]]
        if members.size == size[a]:
            continue
        w, m = 0.0, 0.0
        for v in members:
            w += weights[v]
            m += n_bytes[v]
            for e in range(xadj[v], xadj[v + 1]):
                touch[part[adjncy[e]]] += adjwgt[e] if weighted else 1.0
        best, best_touch = a, 0.0
        for v in members:
            for e in range(xadj[v], xadj[v + 1]):
                b = part[adjncy[e]]
                if b == a or touch[b] == 0.0:
                    continue
                fits = weight[b] + w <= high[b] and memory[b] + m <= caps[b]
                choice = 2.0 * touch[b] if fits else touch[b]
                if choice > best_touch or (choice == best_touch and b < best):
                    best, best_touch = b, choice
                touch[b] = 0.0
        touch[a] = 0.0
        if best == a:
            continue
        for v in members:
            part[v] = best
        weight[a] -= w
        weight[best] += w
        memory[a] -= m
        memory[best] += m
        size[a] -= members.size
        size[best] += members.size


@njit(cache=True, nogil=True)
def stays_connected(xadj, adjncy, part, v, a, seen, stamp, queue, edges_left):
    """Whether block a stays in one piece when v leaves, judged within a bounded search.

    It visits queue.size vertices at most, and as many edges as edges_left[0] allows, which it
    uses up; a block for which that is not enough counts as taken apart.
    """
    edges_left[0] -= xadj[v + 1] - xadj[v]
    if edges_left[0] < 0:
        return False
    first = -1
    wanted = 0
    for e in range(xadj[v], xadj[v + 1]):
        u = adjncy[e]
        if part[u] == a:
            wanted += 1
            first = u
    if wanted <= 1:
        return True
    seen[v] = stamp
    seen[first] = stamp
    queue[0] = first
    head, tail = 0, 1
    # Neighbours of v carry the stamp's negative until they are met.
    for e in range(xadj[v], xadj[v + 1]):
        u = adjncy[e]
        if part[u] == a and u != first:
            seen[u] = -stamp
    found = 1
    while head < tail:
        x = queue[head]
        head += 1
        edges_left[0] -= xadj[x + 1] - xadj[x]
        if edges_left[0] < 0:
            return False
        for e in range(xadj[x], xadj[x + 1]):
            u = adjncy[e]
            if part[u] != a or seen[u] == stamp:
                continue
            if seen[u] == -stamp:
                found += 1
                if found == wanted:
                    return True
            seen[u] = stamp
            if tail == queue.size:
                return False
            queue[tail] = u
            tail += 1
    return False
