"""Kernels of diffusion: every vertex stores the loads of the few blocks near it."""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner, njit

STAYS = np.float32(0.1)  # share of a vertex's load that stays there in a step
MOVES = np.float32(1) - STAYS  # share that comes from its neighbours
CORRECTIONS = 10  # of the factors in a round, at most
LARGEST_CORRECTION = 0.1  # relative change of a factor
BALANCED = 0.01  # relative deviation from the targets that needs no correction
LEAST_RATIO = 1e-3  # of a block's weight to its target, in corrections
MOST = 5  # max. blocks tracked per vertex
DUST = np.float32(0.05)  # loads below this share of the largest at a vertex are dropped


class DiffusedLoads(NamedTuple):
    """The loads of the vertices: block, load (n, MOST).

    The first count[v] entries of row v are valid.
    """

    block: np.ndarray
    load: np.ndarray
    count: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def shares(xadj, adjwgt, share):
    """Set share (n,) to the fraction of load that an edge of weight 1 brings to a vertex per step.

    A share is 0 if the vertex's edges have no weight.
    """
    for v in range(share.size):
        weight = np.float32(xadj[v + 1] - xadj[v])
        if adjwgt.size > 0:
            weight = np.float32(0.0)
            for e in range(xadj[v], xadj[v + 1]):
                weight += np.float32(adjwgt[e])
        share[v] = MOVES / weight if weight > 0 else np.float32(0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def layers(xadj, adjncy, part, fixed, steps, layer, queue):
    """Set layer (n,) to the hop distance from each vertex to the nearest border, at most `steps`.

    Loads of other blocks arrive no earlier than after this number of steps, and never at `fixed`
    vertices, whose layer is `steps`. queue (n,) is scratch.
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
    for v in fixed:
        layer[v] = steps


@njit(cache=True, nogil=True, error_model="numpy")
def start(part, loads):
    """Give every vertex a load of 1 of its own block, and no other loads."""
    block, load, count = loads
    for v in range(part.size):
        block[v, 0], load[v, 0], count[v] = part[v], np.float32(1.0), 1


@njit(cache=True, nogil=True, error_model="numpy")
def spread(graph, share, layer, step, first, last, before, after, pool, near):
    """Do one step of diffusion for the vertices from first to last - 1.

    The new loads of a vertex are STAYS x its own, plus its neighbours' loads weighted by the
    edges. Vertices farther from a border than `step` keep their loads. share, layer (n,): see
    `shares` and `layers`. before, after: the loads. pool (k,) is zero before and after; near (k,)
    is scratch.
    """
    xadj, adjncy, adjwgt, _ = graph
    block, load, count = before
    unit = adjwgt.size == 0
    for v in range(first, last):
        if layer[v] > step:
            continue
        found = 0
        own = STAYS if share[v] > 0 else np.float32(1.0)
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
    """Move the largest loads, at most MOST, from the pool to one vertex; return their number."""
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
def settle(vwgt, loads, targets, factor, part, contested):
    """Give every vertex to the block with the largest load x factor, and correct the factors.

    Ties go to the lowest block. factor (k,): changed until the blocks' weights are near `targets`
    (k,). part (n,) is set; contested (n,) is scratch. Returns the number of vertices that change.
    """
    block, load, count = loads
    n, k = part.size, targets.size
    certain, weight = np.zeros(k), np.empty(k)
    changed, many = 0, 0
    for v in range(n):
        if count[v] > 1:
            contested[many] = v
            many += 1
        else:
            certain[block[v, 0]] += vwgt[v]
            changed += part[v] != block[v, 0]
            part[v] = block[v, 0]
    before = np.empty(many, np.int32)
    for i in range(many):
        before[i] = part[contested[i]]
    for _ in range(CORRECTIONS):
        copy_to(certain, weight)
        for i in range(many):
            v = contested[i]
            best, most = block[v, 0], load[v, 0] * factor[block[v, 0]]
            for j in range(1, count[v]):
                b = block[v, j]
                x = load[v, j] * factor[b]
                if x > most or (x == most and b < best):
                    best, most = b, x
            part[v] = best
            weight[best] += vwgt[v]
        if not _correct(weight, targets, factor):
            break
    for i in range(many):
        changed += before[i] != part[contested[i]]
    return changed


@inner(error_model="numpy", counted=False)
def _correct(weight, targets, factor):
    """Change factors (k,) so that blocks come nearer to their targets; return whether any was off.

    If none was off, the factors are not changed.
    """
    worst = 0.0
    for b in range(targets.size):
        worst = max(worst, abs(weight[b] / targets[b] - 1))
    if worst < BALANCED:
        return False
    for b in range(targets.size):
        change = 1 / np.sqrt(max(weight[b] / targets[b], LEAST_RATIO))
        factor[b] *= min(max(change, 1 - LARGEST_CORRECTION), 1 + LARGEST_CORRECTION)
    return True


@inner(error_model="numpy", counted=False)
def _start_densely(part, now, later):
    now[:], later[:] = np.float32(0.0), np.float32(0.0)
    for v in range(part.size):
        now[v, part[v]] = later[v, part[v]] = np.float32(1.0)


@inner(error_model="numpy", counted=False)
def _spread_densely(graph, share, layer, step, before, after):
    """Like spread, but with the loads (n, k) of all blocks: for small graphs with few blocks."""
    xadj, adjncy, adjwgt, _ = graph
    unit, k = adjwgt.size == 0, before.shape[1]
    for v in range(layer.size):
        if layer[v] > step or share[v] == 0:
            continue
        for b in range(k):
            after[v, b] = STAYS * before[v, b]
        for e in range(xadj[v], xadj[v + 1]):
            x = share[v] if unit else share[v] * np.float32(adjwgt[e])
            u = np.int64(adjncy[e])
            for b in range(k):
                after[v, b] += x * before[u, b]


@inner(error_model="numpy", counted=False)
def _sparse(loads, near, held):
    """Store the largest loads of each vertex from the dense loads (n, k), and reset these to 0."""
    for v in range(len(loads)):
        found = 0
        for b in range(loads.shape[1]):
            if loads[v, b] > 0:
                near[found] = b
                found += 1
        held.count[v] = _keep_largest(loads[v], near, found, held.block[v], held.load[v])


@njit(cache=True, nogil=True, error_model="numpy")
def diffuse(graph, targets, rounds, steps, least_changed, dense, fixed, part):
    """Change the blocks (n,) of `part` in place by diffusion, in at most `rounds` rounds.

    Loads spread `steps` steps in each round; a round that changes fewer than least_changed vertices
    is the last. dense: whether the loads of all blocks are stored. fixed: vertices that keep their
    blocks.
    """
    xadj, adjncy, adjwgt, vwgt = graph
    n, k = part.size, targets.size
    share, factor = np.empty(n, np.float32), np.ones(k)
    layer, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    pool, near = np.zeros(k, np.float32), np.empty(k, np.int32)
    first = DiffusedLoads(
        np.empty((n, MOST), np.int32), np.empty((n, MOST), np.float32), np.empty(n, np.int32)
    )
    second = DiffusedLoads(
        np.empty((n, MOST), np.int32), np.empty((n, MOST), np.float32), np.empty(n, np.int32)
    )
    rows = np.empty((2, n if dense else 0, k), np.float32)
    shares(xadj, adjwgt, share)
    for _ in range(rounds):
        layers(xadj, adjncy, part, fixed, steps, layer, queue)
        now, later = first, second
        if dense:
            _start_densely(part, rows[0], rows[1])
            for step in range(steps):
                _spread_densely(graph, share, layer, step, rows[step % 2], rows[1 - step % 2])
            _sparse(rows[steps % 2], near, now)
        else:
            start(part, first)
            start(part, second)
            for step in range(steps):
                spread(graph, share, layer, step, 0, n, now, later, pool, near)
                now, later = later, now
        if settle(vwgt, now, targets, factor, part, queue) < least_changed:
            break
