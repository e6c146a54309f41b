"""Checks and sorts a CSR graph in linear time.

If every adjacency list is in ascending order, then visiting the vertices u in ascending order meets
the entries of each list v in their order. So one pointer into each list suffices to check symmetry,
weights included, without sorting, hashing or a copy of the graph.
"""

# mypy: ignore-errors
from evener.arrays_kernels import insert_sorted, sort_along
from evener.jit import inner, njit

OK, OUT_OF_RANGE, LOOP, DUPLICATE, ASYMMETRIC, WEIGHT = 0, 1, 2, 3, 4, 5
SHORT = 48  # entries up to which a list is sorted by insertion alone


@njit(cache=True, nogil=True)
def first_unsorted(xadj, adjncy):
    """Return the first vertex whose list is not strictly ascending, or -1."""
    for v in range(xadj.size - 1):
        for e in range(xadj[v] + 1, xadj[v + 1]):
            if adjncy[e] <= adjncy[e - 1]:
                return v
    return -1


@njit(cache=True, nogil=True)
def check_entries(xadj, adjncy, where):
    """Find the first neighbour out of range or equal to its vertex; where = (vertex, neighbour)."""
    n = xadj.size - 1
    for v in range(n):
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if u < 0 or u >= n:
                where[0], where[1] = v, u
                return OUT_OF_RANGE
            if u == v:
                where[0], where[1] = v, u
                return LOOP
    return OK


@njit(cache=True, nogil=True)
def sort_lists(xadj, adjncy, order):
    """Sort each list in place; unless `order` is empty, store each entry's old index in it."""
    keep = order.size > 0
    for e in range(order.size):
        order[e] = e
    for v in range(xadj.size - 1):
        first, last = xadj[v], xadj[v + 1]
        if last - first <= SHORT:
            insert_sorted(adjncy, order, first, last)
        else:
            sort_along(adjncy[first:last], order[first:last] if keep else order)


@njit(cache=True, nogil=True)
def check_duplicates(xadj, adjncy, where):
    """Find the first neighbour that a sorted list contains twice; where = (vertex, neighbour)."""
    for v in range(xadj.size - 1):
        for e in range(xadj[v] + 1, xadj[v + 1]):
            if adjncy[e] == adjncy[e - 1]:
                where[0], where[1] = v, adjncy[e]
                return DUPLICATE
    return OK


@njit(cache=True, nogil=True)
def check_symmetry(xadj, adjncy, adjwgt, pointer, where):
    """Check that strictly ascending lists are symmetric; adjwgt may be empty.

    pointer (n,): scratch. Returns OK, or the error's code with where = (vertex, neighbour).
    """
    n = xadj.size - 1
    weighted = adjwgt.size > 0
    for v in range(n):
        pointer[v] = xadj[v]
    for v in range(n):
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            f = pointer[u]
            if f >= xadj[u + 1] or adjncy[f] > v:
                where[0], where[1] = v, u
                return ASYMMETRIC
            if adjncy[f] < v:
                where[0], where[1] = u, adjncy[f]
                return ASYMMETRIC
            if weighted and adjwgt[f] != adjwgt[e]:
                where[0], where[1] = v, u
                return WEIGHT
            pointer[u] = f + 1
    for v in range(n):
        if pointer[v] < xadj[v + 1]:
            where[0], where[1] = v, adjncy[pointer[v]]
            return ASYMMETRIC
    return OK


@njit(cache=True, nogil=True)
def components(xadj, adjncy, queue, label):
    """Number the connected components in order of their smallest vertex; return their number."""
    return number_connected(xadj, adjncy, None, queue, label, None)


@njit(cache=True, nogil=True)
def block_pieces(xadj, adjncy, part, queue, label, has_cut):
    """Number the connected pieces of blocks in order of their smallest vertex; return their number.

    has_cut[p]: set to true if piece p has an edge to another block; otherwise the piece is a whole
    component of the graph. queue (n,): scratch.
    """
    return number_connected(xadj, adjncy, part, queue, label, has_cut)


@inner()
def number_connected(xadj, adjncy, part, queue, label, has_cut):
    """Number the parts that edges inside blocks connect.

    If part and has_cut are None, all edges connect; Numba compiles each of the two cases
    separately, without the branch on None.
    """
    label[:] = -1
    count = 0
    for start in range(label.size):
        if label[start] >= 0:
            continue
        label[start] = count
        queue[0] = start
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if part is not None:
                    if part[u] != part[start]:
                        has_cut[count] = True
                        continue
                if label[u] < 0:
                    label[u] = count
                    queue[tail] = u
                    tail += 1
        count += 1
    return count


@njit(cache=True, nogil=True)
def count_pairs(u, v, both, xadj):
    """Set xadj to the CSR offsets of lists of u, and of v if `both`, without loops."""
    for i in range(u.size):
        if u[i] != v[i]:
            xadj[u[i] + 1] += 1
            if both:
                xadj[v[i] + 1] += 1
    for i in range(xadj.size - 1):
        xadj[i + 1] += xadj[i]


@njit(cache=True, nogil=True)
def fill_pairs(u, v, both, fill, adjncy, origin):
    """Write every pair to the list of u, and to that of v if `both`; `fill` starts as xadj.

    origin: gets the number of the pair of each entry, unless it is empty.
    """
    keep = origin.size > 0
    for i in range(u.size):
        a, b = u[i], v[i]
        if a == b:
            continue
        adjncy[fill[a]] = b
        if keep:
            origin[fill[a]] = i
        fill[a] += 1
        if both:
            adjncy[fill[b]] = a
            if keep:
                origin[fill[b]] = i
            fill[b] += 1


@njit(cache=True, nogil=True)
def reverse_lists(xadj, adjncy, fill, reversed_adjncy, origin):
    """Write every entry to the list of its other end; the resulting lists are ascending.

    fill (n,) starts as the offsets of the reversed lists. origin: gets the old index of each entry,
    unless it is empty.
    """
    keep = origin.size > 0
    for v in range(xadj.size - 1):
        for e in range(xadj[v], xadj[v + 1]):
            place = fill[adjncy[e]]
            reversed_adjncy[place] = v
            if keep:
                origin[place] = e
            fill[adjncy[e]] = place + 1


@njit(cache=True, nogil=True)
def merge_lists(first, second, xadj, adjncy, weights):
    """Merge the ascending lists of each vertex in two graphs; the weights of equal entries add up.

    first, second: (xadj, adjncy, weights), weights empty if there are none. xadj (n + 1,) receives
    the offsets; adjncy and weights have room for the entries of both graphs. Returns the number of
    merged entries.
    """
    offsets, ends, given = first
    other_offsets, other_ends, other_given = second
    weighted = weights.size > 0
    out = 0
    for v in range(xadj.size - 1):
        xadj[v] = out
        e, f = offsets[v], other_offsets[v]
        last, other_last = offsets[v + 1], other_offsets[v + 1]
        while e < last or f < other_last:
            here = e < last and (f >= other_last or ends[e] <= other_ends[f])
            there = f < other_last and (e >= last or other_ends[f] <= ends[e])
            adjncy[out] = ends[e] if here else other_ends[f]
            if weighted:
                weights[out] = 0
                if here:
                    weights[out] += given[e]
                if there:
                    weights[out] += other_given[f]
            if here:
                e += 1
            if there:
                f += 1
            out += 1
    xadj[xadj.size - 1] = out
    return out


@njit(cache=True, nogil=True)
def drop_duplicates(xadj, adjncy, weights, kept):
    """Keep the first of equal neighbours in sorted lists, in place; drop the others' weights.

    kept (n + 1,) gets the new xadj. Returns the number of dropped entries.
    """
    weighted = weights.size > 0
    out = 0
    for v in range(xadj.size - 1):
        kept[v] = out
        for e in range(xadj[v], xadj[v + 1]):
            if e > xadj[v] and adjncy[e] == adjncy[e - 1]:
                continue
            # Reading ahead of writing: e >= out always, and e - 1 was either kept or equal.
            adjncy[out] = adjncy[e]
            if weighted:
                weights[out] = weights[e]
            out += 1
    kept[xadj.size - 1] = out
    return xadj[xadj.size - 1] - out
