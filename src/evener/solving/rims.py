"""Rims: the block of a device whose messages are cheap, around that of one whose are dear.

A GPU behind a slow bus pays for every neighbour, a core beside it hardly anything. Within the
core's rim the GPU has one neighbour, and rims meet rims.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.partitioning.bisection_kernels import breadth_first_order
from evener.partitioning.levels import Level, Part

DEARER = 2.0  # times what the other pays for a message at least: who is worth a rim


def rims_of(alpha: FloatArray, used: BoolArray) -> IntArray:
    """(r, 2) devices, each with one that can be its rim: one of the cheapest for it to reach.

    alpha (k, k) [s]; used (k,): the devices in question. The dearest choose first, each is
    chosen once.
    """
    devices = np.flatnonzero(used)
    if devices.size < 3:
        return np.empty((0, 2), np.int64)
    cost = alpha[np.ix_(devices, devices)] + np.diag(np.full(devices.size, np.inf))
    least = cost.min(axis=1)
    cost[DEARER * least[None, :] > least[:, None]] = np.inf
    pairs: list[tuple[int, int]] = []
    for i in np.argsort(-least, kind="stable").tolist():
        rim = int(cost[i].argmin())
        if cost[i, rim] <= least[i]:
            pairs.append((int(devices[i]), int(devices[rim])))
            cost[:, [rim, i]] = np.inf
            cost[rim] = np.inf
    return np.array(pairs, np.int64).reshape(-1, 2)


def with_rims(level: Level, part: Part, pairs: IntArray, aim: FloatArray) -> Part:
    """Return blocks (n,) in which what is outermost in each block of a pair's first is its rim's.

    part: the second of each pair has nothing yet. aim (k,) [units]: how both share the block.
    """
    xadj, adjncy = level.xadj.astype(np.int64), level.adjncy.astype(np.int32)
    rows = np.repeat(np.arange(level.n), xadj[1:] - xadj[:-1])
    ends = np.unique(rows[part[rows] != part[adjncy]])
    order, seen = np.empty(level.n, np.int64), np.empty(level.n, np.bool_)
    order[: ends.size] = ends
    breadth_first_order(xadj, adjncy, ends.size, order, seen)
    made = part.copy()
    for inner, rim in pairs.tolist():
        own = order[part[order] == inner]
        passed = np.cumsum(level.vwgt[own])
        share = passed[-1:] * aim[rim] / (aim[rim] + aim[inner])
        made[own[passed <= share]] = rim
    return made
