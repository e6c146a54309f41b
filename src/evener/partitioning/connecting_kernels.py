"""Finds the connected pieces of blocks."""

# mypy: ignore-errors
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
def touch_of_piece(xadj, adjncy, adjwgt, part, members, touch):
    """Add to touch[b] the edge weight between the piece's vertices and block b."""
    weighted = adjwgt.size > 0
    for i in range(members.size):
        v = members[i]
        for e in range(xadj[v], xadj[v + 1]):
            touch[part[adjncy[e]]] += adjwgt[e] if weighted else 1.0
