"""Kernels of diffused blocks: every vertex knows the loads of the few blocks near it."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import njit

MOST = 5  # blocks of which a vertex keeps the load
DUST = np.float32(0.05)  # of the largest load at a vertex: what is less is forgotten


@njit(cache=True, nogil=True, error_model="numpy")
def shares(xadj, adjwgt, moves, share):
    """What reaches a vertex (n,) over an edge of weight 1, a step, where `moves` leaves in all;
    0 where its edges weigh nothing."""
    for v in range(share.size):
        weight = np.float32(xadj[v + 1] - xadj[v])
        if adjwgt.size > 0:
            weight = np.float32(0.0)
            for e in range(xadj[v], xadj[v + 1]):
                weight += np.float32(adjwgt[e])
        share[v] = moves / weight if weight > 0 else np.float32(0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def layers(xadj, adjncy, part, steps, layer, queue):
    """The distance of every vertex (n,) from the nearest border, 0 at it; `steps` where it is as
    far or farther: loads of other blocks are not there before. queue (n,) is scratch.
    """
    head, tail = 0, 0
    for v in range(part.size):
        layer[v] = steps
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != part[v]:
                layer[v] = 0
                queue[tail] = v
                tail += 1
                break
    while head < tail:
        v = queue[head]
        head += 1
        if layer[v] + 1 >= steps:
            break
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if layer[u] == steps and part[u] == part[v]:
                layer[u] = layer[v] + 1
                queue[tail] = u
                tail += 1


@njit(cache=True, nogil=True, error_model="numpy")
def start(part, block, load, count):
    """Load 1 of its own block on every vertex."""
    for v in range(part.size):
        block[v, 0], load[v, 0], count[v] = part[v], np.float32(1.0), 1


@njit(cache=True, nogil=True, error_model="numpy")
def spread(
    xadj, adjncy, adjwgt, stay, share, layer, step, first, last, block, load, count, pool, near,
    next_block, next_load, next_count,
):  # fmt: skip
    """Replace the loads of vertices [first, last) by `stay` times their own and the rest from
    their neighbours, by edge weight; those farther from a border than `step` keep what they have.

    share, layer (n,): of `shares` and `layers`. block, load (n, MOST) and count (n,): what
    vertices hold, before and after. pool (k,) is zero before and after; near (k,) is scratch.
    """
    unit = adjwgt.size == 0
    for v in range(first, last):
        if layer[v] > step:
            continue
        found = 0
        own = stay if share[v] > 0 else np.float32(1.0)
        for i in range(count[v]):
            b = block[v, i]
            near[found] = b
            found += 1
            pool[b] = own * load[v, i]
        if share[v] > 0:
            for e in range(xadj[v], xadj[v + 1]):
                x = share[v] if unit else share[v] * np.float32(adjwgt[e])
                if x == 0:
                    continue
                u = adjncy[e]
                for i in range(count[u]):
                    b = block[u, i]
                    if pool[b] == 0:
                        near[found] = b
                        found += 1
                    pool[b] += x * load[u, i]
        next_count[v] = _keep_largest(pool, near, found, next_block[v], next_load[v])


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _keep_largest(pool, near, found, block, load):
    """Move up to MOST loads that count from the pool to one vertex; returns their number."""
    largest = np.float32(0.0)
    for i in range(found):
        largest = max(largest, pool[near[i]])
    kept = 0
    for i in range(found):
        b = near[i]
        x = pool[b]
        pool[b] = np.float32(0.0)
        if x < DUST * largest:
            continue
        if kept < MOST:
            block[kept], load[kept] = b, x
            kept += 1
            continue
        least = 0
        for j in range(1, MOST):
            if load[j] < load[least]:
                least = j
        if x > load[least]:
            block[least], load[least] = b, x
    return kept


@njit(cache=True, nogil=True, error_model="numpy")
def assign(vwgt, block, load, count, scale, part, weight):
    """Give every vertex to the block with the largest load times scale (k,); adds up weight (k,).

    Of equal ones to the block with the lowest number.
    """
    weight[:] = 0.0
    for v in range(count.size):
        best, most = block[v, 0], load[v, 0] * scale[block[v, 0]]
        for i in range(1, count[v]):
            b = block[v, i]
            x = load[v, i] * scale[b]
            if x > most or (x == most and b < best):
                best, most = b, x
        part[v] = best
        weight[best] += vwgt[v]
