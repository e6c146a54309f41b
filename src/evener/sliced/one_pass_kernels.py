"""The kernel of one-pass partitioning: each vertex goes to the block of the best score."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import njit

LDG, FENNEL = 0, 1
NOWHERE = -1
LIGHTER = 1e-6  # of a score of LDG: of equal ones the block that is emptiest


@njit(cache=True, nogil=True, error_model="numpy")
def place(rows, blocks, load, limits, rule, price, rest, missing):
    """Place the vertices of rows in turn; return the weight still to come and the weight missing.

    blocks (n,) int32: NOWHERE, or the block of an earlier pass, which the vertex leaves first. load
    (k,) is updated. limits: targets, low, high (k,). rest: weight of vertices without a block.
    missing: weight that blocks lack to their low limits; once all remaining weight is needed for
    this, only blocks below their low limits take vertices.
    """
    targets, low, high = limits
    k = load.size
    pull = np.zeros(k, np.float64)
    weighted = rows.adjwgt.size > 0
    for i in range(rows.xadj.size - 1):
        v = rows.first + i
        weight = rows.vwgt[i] if rows.vwgt.size > 0 else 1.0
        old = blocks[v]
        if old != NOWHERE:
            before = max(low[old] - load[old], 0.0)
            load[old] -= weight
            missing += max(low[old] - load[old], 0.0) - before
            rest += weight
        for e in range(rows.xadj[i], rows.xadj[i + 1]):
            b = blocks[rows.adjncy[e]]
            if b != NOWHERE:
                pull[b] += rows.adjwgt[e] if weighted else 1.0
        held_back = missing > 0 and rest - weight < missing
        best, most = NOWHERE, -np.inf
        for b in range(k):
            if load[b] + weight > high[b] or (held_back and load[b] >= low[b]):
                continue
            full = load[b] / targets[b]
            if rule == LDG:
                score = pull[b] * (1 - load[b] / high[b]) - LIGHTER * full
            else:
                score = pull[b] - price * np.sqrt(full)
            if score > most or (score == most and b == old):
                best, most = b, score
        if best == NOWHERE:  # nowhere is room: the block that is furthest below its limit
            for b in range(k):
                if targets[b] > 0 and high[b] - load[b] > most:
                    best, most = b, high[b] - load[b]
        before = max(low[best] - load[best], 0.0)
        load[best] += weight
        missing += max(low[best] - load[best], 0.0) - before
        blocks[v] = best
        rest -= weight
        for e in range(rows.xadj[i], rows.xadj[i + 1]):
            b = blocks[rows.adjncy[e]]
            if b != NOWHERE:
                pull[b] = 0.0
    return rest, missing
