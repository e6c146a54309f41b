"""Localized k-way FM for several weights per vertex: refinement's search, with limits by column."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.refinement.fm_kernels import outside, room_for, search_all


@inner(error_model="numpy", counted=False)
def _may_leave(graph, blocks, v, p):
    loads, weight, low = graph.vwgt, blocks.weight, blocks.limits.soft_low
    for i in range(loads.shape[1]):
        if loads[v, i] > 0.0 and weight[p, i] - loads[v, i] < low[p, i]:
            return False
    return True


@inner(error_model="numpy", counted=False)
def _fullness_with(graph, blocks, v, q):
    """How full block q is with v, in its fullest column; infinite where it has no room."""
    loads, weight, high = graph.vwgt, blocks.weight, blocks.limits.soft_high
    most = 0.0
    for i in range(loads.shape[1]):
        after = weight[q, i] + loads[v, i]
        if loads[v, i] > 0.0 and after > high[q, i]:
            return np.inf
        most = max(most, after / max(high[q, i], 1e-300))
    return most


@inner(error_model="numpy", counted=False)
def _shift(graph, blocks, v, p, q):
    """Move v's loads from p to q; returns by how much both are further off, in targets."""
    loads, weight = graph.vwgt, blocks.weight
    low, high, scale = blocks.limits.low, blocks.limits.high, blocks.limits.scale
    off = 0.0
    for i in range(loads.shape[1]):
        w = loads[v, i]
        if w > 0.0:
            off -= outside(weight[p, i], low[p, i], high[p, i]) * scale[p, i]
            off -= outside(weight[q, i], low[q, i], high[q, i]) * scale[q, i]
            weight[p, i] -= w
            weight[q, i] += w
            off += outside(weight[p, i], low[p, i], high[p, i]) * scale[p, i]
            off += outside(weight[q, i], low[q, i], high[q, i]) * scale[q, i]
    return off


@njit(cache=True, nogil=True, error_model="numpy")
def search(graph, blocks, seeds, marks, stamp, rule):
    """Search as search_all, in one group; graph.vwgt (n, c), block weights and limits (k, c)."""
    room, everywhere = room_for(blocks.price.size, marks.place), np.zeros(1, np.int64)
    return search_all(
        graph, blocks, everywhere, -1, seeds, marks, stamp, rule, room, _may_leave,
        _fullness_with, _shift,
    )  # fmt: skip
