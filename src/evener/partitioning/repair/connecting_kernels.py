"""Finds the connected pieces of blocks, joins them, and tells what takes a block apart."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit

GOLDEN = 0.6180339887498949


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
    xadj, adjncy, adjwgt, weights, n_bytes, low, high, caps, care, strays, starts, order,
    part, weight, size, memory,
):  # fmt: skip
    """Hand each stray piece to the block it touches most, those where it fits counting double.

    order[starts[p]:starts[p + 1]]: the vertices of piece p. A piece that is all of its block by
    now stays; so does, with care 1, one that fits nowhere and, with care 2, also one without
    which its block would be too light.
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
                better = choice > best_touch or (choice == best_touch and b < best)
                if better and (fits or care == 0):
                    best, best_touch = b, choice
                touch[b] = 0.0
        touch[a] = 0.0
        if best == a or (care == 2 and weight[a] - w < low[a]):
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
def grow_trees(xadj, adjncy, part, turn, queue, parent, children):
    """Span every piece by a tree, breadth first from its vertex of most edges inside the block,
    which gives most leaves; in later turns from another, which gives other leaves.

    parent (n,): -1 at a root; children (n,): how many name a vertex their parent. The leaves of
    a tree can leave their block, all together, without taking it apart.
    """
    n = part.size
    inside = np.zeros(n, np.int64)
    for v in range(n):
        for e in range(xadj[v], xadj[v + 1]):
            inside[v] += part[adjncy[e]] == part[v]
    parent[:] = -2  # not reached yet
    children[:] = 0
    for start in range(n):
        if parent[start] != -2:
            continue
        # Once through the piece for its root, marked -3; once more from there.
        root = start
        queue[0] = start
        parent[start] = -3
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            if inside[v] > inside[root]:
                root = v
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if part[u] == part[v] and parent[u] == -2:
                    parent[u] = -3
                    queue[tail] = u
                    tail += 1
        if turn > 0:
            root = queue[np.int64(tail * ((turn * GOLDEN) % 1.0))]
        parent[root] = -1
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if part[u] == part[v] and parent[u] == -3:
                    parent[u] = v
                    children[v] += 1
                    queue[tail] = u
                    tail += 1


@inner()
def can_leave(xadj, adjncy, part, v, parent, children):
    """Whether v is a leaf of its block's tree, or becomes one when its leaves hang elsewhere."""
    if children[v] == 0:
        return True
    if parent[v] < 0:
        return False
    a = part[v]
    for e in range(xadj[v], xadj[v + 1]):
        u = adjncy[e]
        if part[u] != a or parent[u] != v:
            continue
        if children[u] > 0:
            return False
        hung = False
        for f in range(xadj[u], xadj[u + 1]):
            x = adjncy[f]
            if part[x] == a and x != v:  # u has no children: x cannot hang from it
                parent[u] = x
                children[x] += 1
                children[v] -= 1
                hung = True
                break
        if not hung:
            return False
    return children[v] == 0


@inner()
def change_tree(xadj, adjncy, part, v, b, parent, children):
    """Take the leaf v out of its block's tree and hang it into that of block b; returns the
    parent it had, or a negative number.
    """
    before = parent[v]
    if before >= 0:
        children[before] -= 1
    parent[v] = -1
    for e in range(xadj[v], xadj[v + 1]):
        u = adjncy[e]
        if part[u] == b:
            parent[v] = u
            children[u] += 1
            break
    return before
