"""Joins stray pieces of blocks to other blocks, and finds moves that disconnect no block."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit

GOLDEN = 0.6180339887498949  # (sqrt(5) - 1) / 2: its multiples mod 1 are spread evenly over [0, 1)
JOIN_ALL, JOIN_FITTING, JOIN_SPARED = 0, 1, 2  # which pieces join_pieces moves


@njit(cache=True, nogil=True)
def join_pieces(graph, n_bytes, limits, blocks, rule, strays, starts, order):
    """Move each stray piece to the block it touches most; blocks where it fits count double.

    order[starts[p]:starts[p + 1]]: the vertices of piece p. A piece that is now its whole block
    stays. rule: JOIN_ALL: move all pieces; JOIN_FITTING: only pieces that fit into the other block;
    JOIN_SPARED: only pieces that fit and whose old block stays heavy enough.
    """
    xadj, adjncy, adjwgt, weights = graph
    low, high, cap, _ = limits
    part, weight, size, memory, _ = blocks
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
                fits = weight[b] + w <= high[b] and memory[b] + m <= cap[b]
                choice = 2.0 * touch[b] if fits else touch[b]
                better = choice > best_touch or (choice == best_touch and b < best)
                if better and (fits or rule == JOIN_ALL):
                    best, best_touch = b, choice
                touch[b] = 0.0
        touch[a] = 0.0
        if best == a or (rule == JOIN_SPARED and weight[a] - w < low[a]):
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
def grow_trees(graph, part, turn, queue, trees):
    """Compute a breadth-first spanning tree of every piece, from its vertex with most inner edges.

    Such a root gives the most leaves; in later turns other roots are used, which give other leaves.
    All leaves of a tree can leave their block together without disconnecting it. Fills parent (n,),
    -1 at a root, and children (n,), their number. queue (n,) is scratch.
    """
    xadj, adjncy, _, _ = graph
    parent, children = trees
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
def can_leave(graph, part, v, trees):
    """Return whether v is a leaf of its block's tree, or could become one.

    v becomes a leaf if all its children are leaves that can get another parent; they then get it.
    """
    xadj, adjncy, _, _ = graph
    parent, children = trees
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
def change_tree(graph, part, v, b, trees):
    """Move leaf v from its block's tree to that of block b.

    Returns its old parent, or a value < 0.
    """
    xadj, adjncy, _, _ = graph
    parent, children = trees
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
