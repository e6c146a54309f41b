"""What blocks exchange, of a lone process: for plans whose borders do not fit in memory as a graph.

One pass over the rows, by sorts; it shares nothing with the recount that certifies plans.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.plans.exchange_costs import Quotient
from evener.sliced.rows import SlicedGraph


class Exchanges(NamedTuple):
    """between: what blocks send each other, without the weights of edges. loads (k,): of blocks.

    interior (k,): the share of each at vertices without a neighbour elsewhere. cut: of edges.
    """

    between: Quotient
    loads: FloatArray
    interior: FloatArray
    cut: float


def exchanges_of(graph: SlicedGraph, blocks: Part, k: int) -> Exchanges:
    """Return what the k blocks (n,) int32 of a lone process exchange."""
    loads, inside, cut = np.zeros(k), np.zeros(k), 0.0
    values, boundary = np.zeros(k * k, np.int64), np.zeros(k, np.int64)
    for i in graph.own_slices:
        rows = graph.rows(i)
        n = rows.xadj.size - 1
        own = blocks[rows.first : rows.first + n]
        degrees = np.diff(rows.xadj)
        others = blocks[rows.adjncy]
        leaving = np.repeat(own, degrees) != others
        cut += float(rows.adjwgt[leaving].sum() if rows.adjwgt.size else leaving.sum())
        which = np.repeat(np.arange(n, dtype=np.int32), degrees)[leaving]
        sent: npt.NDArray[np.int64] = np.unique(which * np.int64(k) + others[leaving])
        values += np.bincount(own[sent // k] * np.int64(k) + sent % k, minlength=k * k)
        outer = np.zeros(n, np.bool_)
        outer[which] = True
        boundary += np.bincount(own[outer], minlength=k)
        weights = rows.vwgt if rows.vwgt.size else np.ones(n)
        loads += np.bincount(own, weights, k)
        inside += np.bincount(own[~outer], weights[~outer], k)
    pairs = np.flatnonzero(values)
    starts = np.searchsorted(pairs, k * np.arange(k + 1))
    between = Quotient(starts, pairs % k, values[pairs], np.empty(0), boundary)
    interior = np.divide(inside, loads, out=np.ones(k), where=loads > 0)
    return Exchanges(between, loads, interior, cut / 2)
