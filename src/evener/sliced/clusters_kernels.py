"""Kernels that extract the edges inside a slice from its rows."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import njit


@njit(cache=True, nogil=True)
def arcs_inside(rows):
    """Count the adjacency entries whose two ends are in the slice."""
    first, last = rows.first, rows.first + rows.xadj.size - 1
    count = 0
    for u in rows.adjncy:
        count += first <= u < last
    return count


@njit(cache=True, nogil=True)
def take_inside(rows, weight_scale, xadj, adjncy, adjwgt):
    """Copy the edges inside a slice, renumbered from 0; weights are scaled and at least 1."""
    first, last = rows.first, rows.first + rows.xadj.size - 1
    weighted = rows.adjwgt.size > 0
    used = 0
    xadj[0] = 0
    for i in range(rows.xadj.size - 1):
        for e in range(rows.xadj[i], rows.xadj[i + 1]):
            u = rows.adjncy[e]
            if first <= u < last:
                adjncy[used] = u - first
                if weighted:
                    adjwgt[used] = max(1, np.int64(rows.adjwgt[e] * weight_scale))
                used += 1
        xadj[i + 1] = used
