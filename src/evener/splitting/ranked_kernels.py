"""Grows blocks of edges as `expanding_kernels`, with vertices ranked by degree.

When a vertex joins a block, only its edges to vertices of higher degree are examined. Even hubs
have few of these, so the time depends little on the number of blocks. The other edges, whose end of
lower degree joined first, are found when that end is expanded, and in a few further passes over all
vertices that joined the block.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit

INSIDE, LEFT, KEY, BEFORE, AFTER = range(5)  # columns of RankedEdges.state
LOWEST, LISTED, EDGES, SEED, JOINED = range(5)  # entries of RankedEdges.cursor
OTHER, EDGE = range(2)  # columns of RankedEdges.up and down
EXPANDED = -1  # key of a vertex that is in no list of its block any more


class RankedEdges(NamedTuple):
    """Edges by vertex; vertices are numbered by descending degree.

    up, down (m, 2) int32: the vertex at the other end, and the edge. Edges of vertex v to lower
    numbers, and so higher degrees, are up[ups[v]:ups[v] + lengths[v]], without those that have a
    block; edges to higher numbers are down[downs[v]:downs[v + 1]]. ups, downs (n + 1,) int64,
    lengths (n,) int32. state (n, 5) int32: INSIDE: the last block that holds the vertex; LEFT:
    number of its edges without a block; KEY: the list of held vertices that contains it, 0 for
    none; BEFORE, AFTER: its neighbours in this list. first (most + 1,) int32: heads of the lists;
    list i contains vertices with i edges left, the last list also those with more. taken (ceil(m /
    8),) uint8: bits of the edges that have a block. joined (n,) int32: the vertices that joined the
    block. cursor (5,) int64: no list below cursor[LOWEST] has an entry; LISTED: number of vertices
    in lists; EDGES: number of edges without a block; SEED: vertices from this number on have no
    such edge; JOINED: number of entries of joined.
    """

    up: np.ndarray
    down: np.ndarray
    ups: np.ndarray
    downs: np.ndarray
    lengths: np.ndarray
    state: np.ndarray
    first: np.ndarray
    taken: np.ndarray
    joined: np.ndarray
    cursor: np.ndarray


@njit(cache=True, nogil=True)
def rank_by_degree(degrees, ranks):
    """Fill ranks (n,) int32 by descending degree, ties by number; -1 for degree 0.

    Returns the count.
    """
    most = 0
    for degree in degrees:
        most = max(most, degree)
    begins = np.zeros(most + 1, np.int64)
    for degree in degrees:
        begins[most - degree] += 1
    total = 0
    for i in range(most + 1):
        count = begins[i]
        begins[i] = total
        total += count
    ranked = begins[most]  # where those without edges begin
    for v in range(degrees.size):
        ranks[v] = -1
        if degrees[v] > 0:
            ranks[v] = begins[most - degrees[v]]
            begins[most - degrees[v]] += 1
    return ranked


@njit(cache=True, nogil=True)
def list_by_rank(tails, heads, ranks, edges):
    """Fill up, down, ups, downs, lengths and LEFT of `edges`; ups must be zeros."""
    ups, downs, n = edges.ups, edges.downs, edges.lengths.size
    for e in range(tails.size):
        a, b = ranks[tails[e]], ranks[heads[e]]
        ups[max(a, b) + 1] += 1
        downs[min(a, b) + 1] += 1
    for v in range(n):
        edges.lengths[v] = ups[v + 1]
        edges.state[v, LEFT] = ups[v + 1] + downs[v + 1]
        ups[v + 1] += ups[v]
        downs[v + 1] += downs[v]
    up, down = ups[:-1].copy(), downs[:-1].copy()
    for e in range(tails.size):
        a, b = ranks[tails[e]], ranks[heads[e]]
        high, low = min(a, b), max(a, b)
        edges.up[up[low], OTHER], edges.up[up[low], EDGE] = high, e
        edges.down[down[high], OTHER], edges.down[down[high], EDGE] = low, e
        up[low] += 1
        down[high] += 1


@inner(counted=False)
def _take_out(edges, v):
    """Remove v from its list, if it is in one."""
    state = edges.state
    if state[v, KEY] <= 0:
        return
    before, after = state[v, BEFORE], state[v, AFTER]
    if before >= 0:
        state[before, AFTER] = after
    else:
        edges.first[state[v, KEY]] = after
    if after >= 0:
        state[after, BEFORE] = before
    state[v, KEY] = 0
    edges.cursor[LISTED] -= 1


@inner(counted=False)
def _list(edges, v):
    """Add the held vertex v to the list of its number of edges left, unless it was expanded."""
    state, cursor = edges.state, edges.cursor
    key = min(state[v, LEFT], edges.first.size - 1)
    if key == state[v, KEY] or state[v, KEY] == EXPANDED:
        return
    _take_out(edges, v)
    if key == 0:
        return
    head = edges.first[key]
    state[v, KEY], state[v, BEFORE], state[v, AFTER] = key, -1, head
    if head >= 0:
        state[head, BEFORE] = v
    edges.first[key] = v
    cursor[LISTED] += 1
    cursor[LOWEST] = min(cursor[LOWEST], key)


@inner(counted=False)
def _next(edges):
    """Remove and return a vertex with fewest edges left; at least one vertex must be in a list."""
    cursor = edges.cursor
    while edges.first[cursor[LOWEST]] < 0:
        cursor[LOWEST] += 1
    x = np.int64(edges.first[cursor[LOWEST]])
    _take_out(edges, x)
    return x


@inner(counted=False)
def _seed(edges):
    """Return the last vertex (of low degree) with an edge without a block, or -1."""
    cursor = edges.cursor
    while cursor[SEED] > 0:
        v = cursor[SEED] - 1
        if edges.state[v, LEFT] > 0:
            return v
        cursor[SEED] -= 1
    return np.int64(-1)


@inner(counted=False)
def _give(edges, e, v, w, b, part):
    """Assign edge e between v and w to block b."""
    part[e] = b
    edges.taken[e >> 3] |= np.uint8(1 << (e & 7))
    edges.state[v, LEFT] -= 1
    edges.state[w, LEFT] -= 1
    edges.cursor[EDGES] -= 1


@inner(counted=False)
def _join(edges, v, b, works, room, part):
    """Let v join block b: assign its edges to held vertices of higher degree to b.

    Returns the work assigned.
    """
    state, up = edges.state, edges.up
    if state[v, INSIDE] != b:
        state[v, INSIDE], state[v, KEY] = b, 0
        edges.joined[edges.cursor[JOINED]] = v
        edges.cursor[JOINED] += 1
    given, at = 0.0, edges.ups[v]
    end = at + edges.lengths[v]
    while at < end and given < room:
        w = np.int64(up[at, OTHER])
        if state[w, INSIDE] != b:
            at += 1
            continue
        e = np.int64(up[at, EDGE])
        _give(edges, e, v, w, b, part)
        given += works[e] if works.size else 1.0
        _list(edges, w)
        end -= 1
        up[at, OTHER], up[at, EDGE] = up[end, OTHER], up[end, EDGE]
    edges.lengths[v] = end - edges.ups[v]
    _list(edges, v)
    return given


@inner(counted=False)
def _expand(edges, x, b, works, room, part):
    """Assign all edges of x, held by block b, to b until `room` is used.

    Returns the work assigned.
    """
    state, up, down = edges.state, edges.up, edges.down
    state[x, INSIDE], state[x, KEY] = b, EXPANDED
    given, first = 0.0, edges.ups[x]
    while edges.lengths[x] > 0 and given < room:
        at = first + edges.lengths[x] - 1
        w, e = np.int64(up[at, OTHER]), np.int64(up[at, EDGE])
        edges.lengths[x] -= 1
        _give(edges, e, x, w, b, part)
        given += works[e] if works.size else 1.0
        if state[w, INSIDE] == b:
            _list(edges, w)
        else:
            given += _join(edges, w, b, works, room - given, part)
    at, end = edges.downs[x], edges.downs[x + 1]
    while at < end and given < room and state[x, LEFT] > 0:
        e = np.int64(down[at, EDGE])
        if not (edges.taken[e >> 3] >> (e & 7)) & 1:
            w = np.int64(down[at, OTHER])
            given += _join(edges, w, b, works, room - given, part)
        at += 1
    return given


@inner(counted=False)
def _look_again(edges, b, works, room, part):
    """Assign the edges between vertices that joined block b to b; `room` and result as in _join."""
    given, i = 0.0, 0
    while i < edges.cursor[JOINED] and given < room:
        given += _join(edges, np.int64(edges.joined[i]), b, works, room - given, part)
        i += 1
    return given


@njit(cache=True, nogil=True, counted=False)
def expand_ranked(edges, works, rooms, looks, part):
    """Fill one block after another until every edge has a block, part (m,).

    works (m,) float64 [units], or empty if every edge has work 1. rooms (k,) float64 [units]: work
    that each block takes; the last block has no limit. If the last edge of a block exceeds its
    room, the excess is subtracted from the next block's room. looks (l,) float64, descending:
    whenever at most this share of a block's room is left, all vertices that joined are examined
    again.
    """
    cursor, b, done = edges.cursor, 0, 0
    room = whole = rooms[0]
    while cursor[EDGES] > 0:
        if room <= 0.0 and b + 1 < rooms.size:
            for i in range(edges.first.size):
                edges.first[i] = -1
            cursor[LISTED], cursor[LOWEST], cursor[JOINED] = 0, 1, 0
            b, done = b + 1, 0
            room += rooms[b]
            whole = room
        elif done < looks.size and room <= looks[done] * whole:
            room -= _look_again(edges, b, works, room, part)
            done += 1
        else:
            x = _next(edges) if cursor[LISTED] > 0 else _seed(edges)
            room -= _expand(edges, x, b, works, room, part)
