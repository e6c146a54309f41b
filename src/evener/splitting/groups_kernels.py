"""Groups of edges: which groups to join, and the lists of the joined groups."""

# mypy: ignore-errors

import numpy as np

from evener.jit import njit

WINDOW = 6  # groups before and after one, in the list of a vertex, with which it may be joined


@njit(cache=True, nogil=True)
def join(groups, part, most, order, cluster):
    """Fill cluster (groups,) int32 with the joined group of each group; return their number.

    Each group, in `order`, joins the group with the largest score: each shared vertex counts 1 /
    (number of its groups, at most 2 WINDOW + 1), and the sum is divided by the work of both. No
    joined group exceeds `most` units of work, and groups of different blocks are not joined.
    """
    count = groups.work.size
    work, single = groups.work.copy(), np.ones(count, np.bool_)
    score, near = np.zeros(count, np.float32), np.empty(count, np.int32)
    places = _places(groups)
    for g in range(count):
        cluster[g] = g
    for g in order:
        if not single[g]:
            continue
        size = 0
        for i in range(groups.starts[g], groups.starts[g + 1]):
            v = groups.pins[i]
            first, last = groups.offsets[v], groups.offsets[v + 1]
            weight = np.float32(1.0 / min(last - first, 2 * WINDOW + 1))
            here = first + places[i]
            for j in range(max(first, here - WINDOW), min(last, here + WINDOW + 1)):
                h = groups.groups[j]
                if h == g or part[h] != part[g]:
                    continue
                c = cluster[h]
                if score[c] == 0:
                    near[size] = c
                    size += 1
                score[c] += weight
        best, highest = -1, 0.0
        for i in range(size):
            c = near[i]
            both = work[c] + work[g]
            if c != g and both <= most and score[c] > highest * both:
                best, highest = c, score[c] / both if both > 0 else np.inf
            score[c] = 0
        if best >= 0:
            cluster[g] = best
            work[best] += groups.work[g]
            single[g], single[best] = False, False
    return _number(cluster)


@njit(cache=True, nogil=True)
def _places(groups):
    """Return, for each entry of pins, the position of its group in the list of its vertex."""
    filled = groups.starts[:-1].copy()
    places = np.empty(groups.pins.size, np.int32)
    for v in range(groups.offsets.size - 1):
        for j in range(groups.offsets[v], groups.offsets[v + 1]):
            g = groups.groups[j]
            places[filled[g]] = j - groups.offsets[v]
            filled[g] += 1
    return places


@njit(cache=True, nogil=True)
def _number(cluster):
    """Number clusters from 0, in the order of the groups that name them; return the count."""
    number, count = np.empty(cluster.size, np.int32), 0
    for g in range(cluster.size):
        if cluster[g] == g:
            number[g] = count
            count += 1
    for g in range(cluster.size):
        cluster[g] = number[cluster[g]]
    return count


@njit(cache=True, nogil=True)
def joined_lists(groups, cluster, count, offsets, listed):
    """Fill offsets and listed with the joined groups at each vertex that has two or more.

    offsets (n + 1,) int64 and listed (pins,) int32 are as large as the lists before joining;
    returns the number of vertices left.
    """
    seen = np.full(count, -1, np.int64)
    n, end = 0, 0
    offsets[0] = 0
    for v in range(groups.offsets.size - 1):
        begin = end
        for j in range(groups.offsets[v], groups.offsets[v + 1]):
            c = cluster[groups.groups[j]]
            if seen[c] != v:
                seen[c] = v
                listed[end] = c
                end += 1
        if end - begin < 2:
            end = begin  # a vertex of one group is never copied
        else:
            n += 1
            offsets[n] = end
    return n


@njit(cache=True, nogil=True)
def turn(offsets, listed, starts, pins):
    """Fill starts (groups + 1,) int64 and pins with the vertices of each group, ascending."""
    starts[:] = 0
    for g in listed:
        starts[g + 1] += 1
    for g in range(starts.size - 1):
        starts[g + 1] += starts[g]
    filled = starts[:-1].copy()
    for v in range(offsets.size - 1):
        for j in range(offsets[v], offsets[v + 1]):
            g = listed[j]
            pins[filled[g]] = v
            filled[g] += 1
