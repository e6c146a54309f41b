"""Kernels of diffused blocks: every vertex knows the loads of the few blocks near it."""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import njit

MOST = 5  # max. blocks tracked per vertex
DUST = np.float32(0.05)  # loads below this share of the largest at a vertex are dropped


class DiffusedLoads(NamedTuple):
    """The loads that vertices hold: block, load (n, MOST), of which the first count (n,) count."""

    block: np.ndarray
    load: np.ndarray
    count: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def shares(xadj, adjwgt, moves, share):
    """Set share (n,) to what reaches a vertex over an edge of weight 1, in one step.

    moves: the share of its load that a vertex takes from its neighbours. 0 where its edges weigh
    nothing.
    """
    for v in range(share.size):
        weight = np.float32(xadj[v + 1] - xadj[v])
        if adjwgt.size > 0:
            weight = np.float32(0.0)
            for e in range(xadj[v], xadj[v + 1]):
                weight += np.float32(adjwgt[e])
        share[v] = moves / weight if weight > 0 else np.float32(0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def layers(xadj, adjncy, part, steps, layer, queue):
    """Set layer (n,) to the edges from each vertex to the nearest border, at most `steps`.

    Loads of other blocks arrive no earlier. queue (n,) is scratch.
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
def start(part, loads):
    """Set load 1 of its own block on every vertex."""
    block, load, count = loads
    for v in range(part.size):
        block[v, 0], load[v, 0], count[v] = part[v], np.float32(1.0), 1


@njit(cache=True, nogil=True, error_model="numpy")
def spread(graph, stay, share, layer, step, first, last, before, after, pool, near):
    """Set the loads of vertices [first, last) to `stay` times their own and, for the rest, their
    neighbours', by edge weight; vertices farther from a border than `step` keep theirs.

    share, layer (n,): of `shares` and `layers`. before, after: the loads. pool (k,) is zero before
    and after; near (k,) is scratch.
    """
    xadj, adjncy, adjwgt, _ = graph
    block, load, count = before
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
        after.count[v] = _keep_largest(pool, near, found, after.block[v], after.load[v])


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _keep_largest(pool, near, found, block, load):
    """Move the up to MOST largest loads from the pool to one vertex; return their number."""
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
def assign(vwgt, loads, scale, part, weight):
    """Give every vertex to the block with the largest load times scale (k,); sum up weight (k,).

    Of equal ones, to the block of the lowest number.
    """
    block, load, count = loads
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
