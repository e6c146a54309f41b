"""Routes of weight between blocks: paths of neighbouring blocks, and balls of vertices.

A path leads from a block with too much weight, over neighbouring blocks, to a block that takes
more. If there is none, balls of vertices move directly, each grown next to the previous one
[Far88]_.
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
    """Set touches[a, b] (k, k) if blocks a and b share an edge; border: the vertices to scan."""
    xadj, adjncy, _, _ = graph
    for v in border:
        a = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            b = part[adjncy[e]]
            if a != b:
                touches[a, b] = True


class PathSearch(NamedTuple):
    """Memory of searches for paths between blocks; all arrays are (k,).

    parent_arc, parent: the arc by which a block was reached, and the block before it. seen: the
    number of the last search that reached a block. queue: the blocks in the order reached.
    """

    parent_arc: np.ndarray
    parent: np.ndarray
    seen: np.ndarray
    queue: np.ndarray


@inner()
def nearest(starts, other, source, wanted, may_pass, search, stamp):
    """Return the block with wanted > 0 nearest to `source` by breadth-first search, or NO_PATH.

    The source itself is not considered. A path may end in a block with may_pass false, but not pass
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
    """For each block in `order`, take its demand (k,) from the nearest block that has a supply.

    supplies (s, k): later supplies are used only if no path leads to a block with an earlier one.
    arcs (p,): for each arc of a path from the demanding block, the arc along which the weight
    moves. Returns the last stamp.
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
    """Route weight [units] from excess to takers, then from spare to blocks that still lack weight.

    Each block, in `order`, uses the nearest partner. excess (k,): weight that a block must give;
    takers (2, k): weight that it must get, and that it may get; spare (1, k): weight that it may
    give; all are reduced in place. The quotient graph is starts (k + 1,), other (p,); reverse (p,):
    each arc's opposite. flow (p,): set to the weight to move along each arc; stuck[b]: set if b
    finds no partner.
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
    """Limits of a ball: it grows to a weight of `least`, within most, n_bytes and vertices."""

    least: float
    most: float
    n_bytes: float
    vertices: int


class Giver(NamedTuple):
    """A block that gives balls of vertices; the state between calls of `peel`.

    order (members,): its vertices, those with the fewest neighbours inside first; queue (members,):
    vertices that the last ball reached; places (3,): next index in order, head and tail of the
    queue.
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
    """Move a ball of block `giver` to `taker`; return its (vertices, weight, bytes).

    fixed: as in BlockTotals. ball: BallSize; state: the Giver. seen (n,): scratch; vertices of this
    ball get the value `stamp`.
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
    """Return the lightest vertex of `giver` within both limits, ties by position, or -1."""
    best = -1
    for v in members:
        if part[v] == giver and weights[v] <= most and n_bytes[v] <= most_bytes:
            if best < 0 or weights[v] < weights[best]:
                best = v
    return best
