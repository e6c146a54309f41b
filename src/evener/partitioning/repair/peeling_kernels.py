"""Takes balls of vertices out of a block, each grown beside the one before [Far88]_."""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import njit

# Vertices in a row that do not fit, after which a ball is given up: bounds the search at a time
# that is small beside one pass over a graph of some 10,000 vertices.
MAX_MISSES = 4096


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
def peel(graph, n_bytes, part, giver, taker, ball, state, seen, stamp):
    """Move a ball of block `giver` to `taker`; returns its (vertices, weight, bytes).

    ball: BallSize; state: the Giver. seen (n,): scratch, where `stamp` marks this ball's vertices.
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
            if part[u] == giver and seen[u] != stamp:
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
