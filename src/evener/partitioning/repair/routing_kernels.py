"""Ways of weight between blocks: paths along blocks that touch, and balls of vertices.

A path leads from a block with too much, over its neighbours, to one that takes more. Where there is
none, a ball of vertices is handed over, each grown next to the one before [Far88]_.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.csr_kernels import stays

NO_PATH = -1
# Vertices in a row that do not fit, after which a ball is given up: bounds the search at a time
# that is little against one pass over a graph of some 10,000 vertices.
MAX_MISSES = 4096


@njit(cache=True, nogil=True)
def mark_pairs(graph, part, border, touches):
    """Set touches[a, b] (k, k) where blocks a and b share an edge; border: the vertices to scan."""
    xadj, adjncy, _, _ = graph
    for v in border:
        a = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            b = part[adjncy[e]]
            if a != b:
                touches[a, b] = True


class PathSearch(NamedTuple):
    """Memory of searches for paths between blocks, arrays (k,).

    parent_arc, parent: the arc that led to a block, and the block before it; seen: the number of
    the last search that reached a block; queue: the blocks in the order reached.
    """

    parent_arc: np.ndarray
    parent: np.ndarray
    seen: np.ndarray
    queue: np.ndarray


@inner()
def nearest(starts, other, source, wanted, may_pass, search, stamp):
    """Return the block with wanted > 0 nearest to `source` by breadth-first search, or NO_PATH.

    The source itself does not count. A path may end in a block with may_pass false, but not lead
    through it. stamp: the number of this search.
    """
    parent_arc, parent, seen, queue = search
    queue[0] = source
    seen[source] = stamp
    head, tail = 0, 1
    while head < tail:
        a = queue[head]
        head += 1
        if a != source and not may_pass[a]:
            continue
        for arc in range(starts[a], starts[a + 1]):
            b = other[arc]
            if seen[b] != stamp:
                seen[b] = stamp
                parent_arc[b] = arc
                parent[b] = a
                if wanted[b] > 0.0:
                    return b
                queue[tail] = b
                tail += 1
    return NO_PATH


@inner()
def _serve(starts, other, order, demand, supplies, may_pass, arcs, flow, stuck, search, stamp):
    """Meet the demand (k,) of each block, in `order`, from the nearest block with a supply.

    supplies (s, k): the first is used where a path leads to it, else the next. arcs (p,): the arc
    that weight takes where a path from the demanding block takes an arc. Returns the last stamp.
    """
    for b in order:
        while demand[b] > 0.0:
            end, kind = NO_PATH, 0
            for i in range(supplies.shape[0]):
                if end == NO_PATH:
                    stamp += 1
                    end, kind = nearest(starts, other, b, supplies[i], may_pass, search, stamp), i
            if end == NO_PATH:
                stuck[b] = True
                break
            amount = min(demand[b], supplies[kind, end])
            demand[b] -= amount
            supplies[kind, end] -= amount
            c = end
            while c != b:
                flow[arcs[search.parent_arc[c]]] += amount
                c = search.parent[c]
    return stamp


@njit(cache=True, nogil=True)
def route(starts, other, reverse, order, excess, takers, spare, may_pass, flow, stuck):
    """Route weight [units] from excess to takers, then from spare to what is still lacking.

    Each block, in `order`, takes the nearest partner. excess (k,): what a block must give; takers
    (2, k): what it must get, and what it may get; spare (1, k): what it may give; all used up. The
    quotient graph is starts (k + 1,), other (p,); reverse (p,): each arc's opposite. flow (p,)
    receives what is to move along each arc; stuck[b] becomes true where b finds no partner.
    """
    k = starts.size - 1
    search = PathSearch(
        np.empty(k, np.int64), np.empty(k, np.int64), np.full(k, -1, np.int64),
        np.empty(k, np.int64),
    )  # fmt: skip
    along = np.arange(other.size)
    stamp = _serve(starts, other, order, excess, takers, may_pass, along, flow, stuck, search, 0)
    _serve(starts, other, order, takers[0], spare, may_pass, reverse, flow, stuck, search, stamp)
    for arc in range(other.size):
        back = reverse[arc]
        common = min(flow[arc], flow[back])
        flow[arc] -= common
        flow[back] -= common


class BallSize(NamedTuple):
    """A ball grows until it weighs `least`, never above `most`, `n_bytes` and `vertices`."""

    least: float
    most: float
    n_bytes: float
    vertices: int


class Giver(NamedTuple):
    """A block that gives balls of vertices, from one call of `peel` to the next.

    order (members,): its vertices, those with fewest neighbours inside first; queue (members,):
    what the last ball touched; places (3,): the next place in order, head and tail of the queue.
    """

    order: np.ndarray
    queue: np.ndarray
    places: np.ndarray


@njit(cache=True, nogil=True)
def count_inside(graph, part, members, inside):
    """Set inside[i] to the number of neighbours that members[i] has in its own block."""
    xadj, adjncy, _, _ = graph
    for i in range(members.size):
        v = members[i]
        inside[i] = 0
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] == part[v]:
                inside[i] += 1


@njit(cache=True, nogil=True)
def peel(graph, n_bytes, part, fixed, giver, taker, ball, state, seen, stamp):
    """Move a ball of block `giver` to `taker`; returns its (vertices, weight, bytes).

    fixed: as in BlockTotals. ball: BallSize; state: the Giver. seen (n,): scratch, where `stamp`
    marks this ball's vertices.
    """
    xadj, adjncy, _, weights = graph
    order, queue, places = state
    taken, total, total_bytes, misses = 0, 0.0, 0.0, 0
    cursor, head, tail = places[0], places[1], places[2]
    # A ball starts where the last one ended: the giver shrinks from one side and stays whole.
    start = -1
    for i in range(head, tail):
        if part[queue[i]] == giver:
            start = queue[i]
            break
    head, tail = 0, 0
    scan = cursor
    while taken < ball.vertices and total < ball.least and misses < MAX_MISSES:
        if start < 0:
            if head < tail:
                v = queue[head]
                head += 1
            else:
                while scan < order.size and (
                    part[order[scan]] != giver or seen[order[scan]] == stamp
                ):
                    if scan == cursor and part[order[scan]] != giver:
                        cursor += 1
                    scan += 1
                if scan == order.size:
                    break
                v = order[scan]
                seen[v] = stamp
        else:
            v = start
            seen[v] = stamp
            start = -1
        w, m = weights[v], n_bytes[v]
        if total + w > ball.most or total_bytes + m > ball.n_bytes:
            misses += 1
            continue
        if w > 0.0:  # a vertex of weight 0 stays, but the ball may grow past it
            misses = 0
            part[v] = taker
            taken += 1
            total += w
            total_bytes += m
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if part[u] == giver and seen[u] != stamp and not stays(fixed, u):
                seen[u] = stamp
                queue[tail] = u
                tail += 1
    places[0], places[1], places[2] = cursor, head, tail
    return taken, total, total_bytes


@njit(cache=True, nogil=True)
def smallest_that_fits(weights, n_bytes, part, members, giver, most, most_bytes):
    """Return the lightest vertex of `giver` within both limits, the first of equals, or -1."""
    best = -1
    for v in members:
        if part[v] == giver and weights[v] <= most and n_bytes[v] <= most_bytes:
            if best < 0 or weights[v] < weights[best]:
                best = v
    return best
