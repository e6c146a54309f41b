"""Kernels that group blocks: which of them touch, by list, and groups grown along what touches."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import njit


@njit(cache=True, nogil=True)
def list_by_block(part, vertices, starts, listed):
    """List the vertices block by block, each in their order; starts (k + 1,) is zero before."""
    for v in vertices:
        starts[part[v] + 1] += 1
    for b in range(starts.size - 1):
        starts[b + 1] += starts[b]
    place = starts[:-1].copy()
    for v in vertices:
        b = part[v]
        listed[place[b]] = v
        place[b] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def quotient_arcs(
    xadj, adjncy, adjwgt, part, listed, starts, first, last, other, weight, degree
):  # fmt: skip
    """The blocks that blocks [first, last) touch, and by which edge weight; returns their number.

    Seen from the listed vertices alone. other, weight: block after block; degree (k,): how many.
    """
    unit = adjwgt.size == 0
    pull = np.zeros(degree.size, np.int64)
    size = 0
    for p in range(first, last):
        begin = size
        for i in range(starts[p], starts[p + 1]):
            v = listed[i]
            for e in range(xadj[v], xadj[v + 1]):
                q = part[adjncy[e]]
                x = 1 if unit else np.int64(adjwgt[e])
                if q != p and x > 0:
                    if pull[q] == 0:
                        other[size] = q
                        size += 1
                    pull[q] += x
        for i in range(begin, size):
            weight[i] = pull[other[i]]
            pull[other[i]] = 0
        degree[p] = size - begin
    return size


@njit(cache=True, nogil=True)
def group_blocks(starts, other, weight, order, groups, group_of):
    """Grow groups of blocks of about equal boundary, each along its heaviest connections.

    starts (k + 1,), other, weight: the blocks that each one touches. A group begins with the
    first block of `order` that is left, and goes on there where nothing left touches it.
    """
    k = order.size
    share = weight.sum() / groups
    group_of[:] = -1
    pull, front = np.zeros(k, np.int64), np.empty(k, np.int64)
    following = 0
    for g in range(groups):
        filled, members, width = 0.0, 0, 0
        while filled < share or g == groups - 1:
            b = -1
            for i in range(width):
                c = front[i]
                if b < 0 or pull[c] > pull[b] or (pull[c] == pull[b] and c < b):
                    b = c
            while b < 0 and following < k:
                if group_of[order[following]] < 0:
                    b = order[following]
                else:
                    following += 1
            if b < 0:
                break
            own = weight[starts[b] : starts[b + 1]].sum()
            if members > 0 and g < groups - 1 and filled + 0.5 * own > share:
                break
            group_of[b] = g
            filled += own
            members += 1
            kept = 0
            for i in range(width):
                if front[i] != b:
                    front[kept] = front[i]
                    kept += 1
            width = kept
            for i in range(starts[b], starts[b + 1]):
                c = other[i]
                if group_of[c] < 0:
                    if pull[c] == 0:
                        front[width] = c
                        width += 1
                    pull[c] += weight[i]
        for i in range(width):
            pull[front[i]] = 0
