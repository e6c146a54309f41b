"""Moves many vertices from block to block, those first that cost least cut.

Gains are sorted into a few buckets, lists in which a vertex stands at most once, oldest first
([FM82]_). So a move takes as long as reading the vertex's edges, where a heap would be asked for
each of them.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.csr_kernels import stays
from evener.partitioning.repair.block_kernels import gain_of

# Buckets of gains: from -MIDDLE to MIDDLE mean weights of an edge; lower ones stay where they are,
# as vertices of many edges do.
MIDDLE = 16
BUCKETS = 2 * MIDDLE + 1
NOWHERE = -1  # no vertex, no bucket


class PairFlows(NamedTuple):
    """Weight to go from block to block, in the order in which it goes: (pairs,) each."""

    block: np.ndarray
    other: np.ndarray
    flow: np.ndarray


class GainLists(NamedTuple):
    """Lists of vertices by gain: first and last of each (BUCKETS,), neighbours in them (n,).

    place (n,): the bucket of each vertex, or NOWHERE; gains (n,) where that is a bucket.
    """

    first: np.ndarray
    last: np.ndarray
    following: np.ndarray
    before: np.ndarray
    place: np.ndarray
    gains: np.ndarray


def empty_lists(n, index):
    """Return lists for n vertices whose numbers are of type `index`."""
    ends = np.full((2, BUCKETS), NOWHERE, index)
    place = np.full(n, NOWHERE, np.int8)
    return GainLists(*ends, np.empty(n, index), np.empty(n, index), place, np.empty(n))


@inner()
def take_out(lists, v):
    """Take vertex v out of its list."""
    first, last, following, before, place, _ = lists
    bucket, after, previous = place[v], following[v], before[v]
    if previous == NOWHERE:
        first[bucket] = after
    else:
        following[previous] = after
    if after == NOWHERE:
        last[bucket] = previous
    else:
        before[after] = previous
    place[v] = NOWHERE


@inner()
def put_in(lists, v, gain, scale):
    """Add vertex v at the end of the list of its gain; return the bucket."""
    first, last, following, before, place, gains = lists
    bucket = np.int64(min(max(gain * scale, -MIDDLE), MIDDLE)) + MIDDLE
    gains[v], place[v] = gain, bucket
    following[v], before[v] = NOWHERE, last[bucket]
    if last[bucket] == NOWHERE:
        first[bucket] = v
    else:
        following[last[bucket]] = v
    last[bucket] = v
    return bucket


@njit(cache=True, nogil=True)
def move_in_bulk(graph, part, fixed, border, flows, weight, floor, scale, lists):
    """Move vertices along each pair until its flow is used up; return how many.

    fixed: as in BlockTotals. border: vertices that have a neighbour in another block. weight, floor
    (k,): of blocks, which do not give below their floor. A vertex heavier than the rest of a flow
    stays. scale: 1 / the mean weight of an edge. lists: empty.
    """
    xadj, adjncy, adjwgt, weights = graph
    moved = 0
    for pair in range(flows.block.size):
        a, b, left, top = flows.block[pair], flows.other[pair], flows.flow[pair], NOWHERE
        for v in border:
            if part[v] == a and not stays(fixed, v):
                gain, touches = gain_of(graph, part, v, a, b)
                if touches:
                    top = max(top, put_in(lists, v, gain, scale))
        while left > 0.0:
            while top > 0 and lists.first[top] == NOWHERE:
                top -= 1
            if top <= 0:
                break
            v = lists.first[top]
            take_out(lists, v)
            w = weights[v]
            if w > left or weight[a] - w < floor[a]:
                continue
            part[v] = b
            weight[a] -= w
            weight[b] += w
            left -= w
            moved += 1
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if part[u] != a or stays(fixed, u):
                    continue
                if lists.place[u] == NOWHERE:
                    gain, _ = gain_of(graph, part, u, a, b)
                else:
                    gain = lists.gains[u] + 2.0 * (adjwgt[e] if adjwgt.size > 0 else 1.0)
                    take_out(lists, u)
                top = max(top, put_in(lists, u, gain, scale))
        for bucket in range(BUCKETS):
            while lists.first[bucket] != NOWHERE:
                take_out(lists, lists.first[bucket])
    return moved
