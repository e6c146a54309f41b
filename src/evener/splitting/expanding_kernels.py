"""Grows blocks of edges from vertex to vertex; the vertex with fewest new neighbours is next (NE).

A block holds vertices. When a vertex joins a block, its edges to other vertices that the block
holds are assigned to this block. The vertex with the fewest edges to vertices outside is expanded
next: all these neighbours join [Zhang17]_.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit

NO_VERTEX = np.int32(-1)
AGAIN = -2  # in EdgesByVertex.inside: of the block that is filled, to join it once more
LOWEST, LISTED, LEFT, SEED = range(4)  # entries of EdgesByVertex.cursor


class EdgesByVertex(NamedTuple):
    """Edges to be divided, by vertex; those of v are at offsets[v] to offsets[v] + lengths[v] - 1.

    offsets (n + 1,) int64. lengths (n,) int32: number of listed edges; edges found to have a block
    are removed. others, edges (2m,) int32: the vertex at the other end, and the edge. inside (n,)
    int32: the last block that holds the vertex. always_in (n,) bool: hubs, which every block holds;
    edges are not listed at hubs. outer (n,) int32: for a held vertex, the number of its edges that
    lead outside. previous, following (n,) int32: linked lists of held vertices with equal `outer`
    above 0; first (2 + largest degree,) int32: the heads of these lists. cursor (4,) int64: no list
    below cursor[LOWEST] has an entry; LISTED: number of vertices in lists; LEFT: number of edges
    without a block; SEED: no vertex below it has an edge without a block.
    """

    offsets: np.ndarray
    lengths: np.ndarray
    others: np.ndarray
    edges: np.ndarray
    inside: np.ndarray
    always_in: np.ndarray
    outer: np.ndarray
    previous: np.ndarray
    following: np.ndarray
    first: np.ndarray
    cursor: np.ndarray


@njit(cache=True, nogil=True, counted=False)
def list_ends(tails, heads, part, always_in, offsets, lengths, others, edges):
    """List the edges without a block, part[e] < 0, at both ends except hubs.

    Fills offsets and lengths.
    """
    offsets[:] = 0
    for e in range(tails.size):
        if part[e] < 0:
            offsets[tails[e] + 1] += not always_in[tails[e]]
            offsets[heads[e] + 1] += not always_in[heads[e]]
    for v in range(lengths.size):
        offsets[v + 1] += offsets[v]
        lengths[v] = 0
    for e in range(tails.size):
        if part[e] >= 0:
            continue
        for side in range(2):
            v, w = (tails[e], heads[e]) if side == 0 else (heads[e], tails[e])
            if not always_in[v]:
                i = offsets[v] + lengths[v]
                others[i], edges[i] = w, e
                lengths[v] += 1


@inner(counted=False)
def _push(region, v):
    """Add v to the list of its number of outer edges, unless this number is zero."""
    outer, cursor = region.outer[v], region.cursor
    if outer == 0:
        return
    head = region.first[outer]
    region.previous[v], region.following[v] = NO_VERTEX, head
    if head >= 0:
        region.previous[head] = v
    region.first[outer] = v
    cursor[LISTED] += 1
    cursor[LOWEST] = min(cursor[LOWEST], outer)


@inner(counted=False)
def _drop(region, v):
    """Remove v from its list."""
    before, after = region.previous[v], region.following[v]
    if before >= 0:
        region.following[before] = after
    else:
        region.first[region.outer[v]] = after
    if after >= 0:
        region.previous[after] = before
    region.cursor[LISTED] -= 1


@inner(counted=False)
def _next(region):
    """Return the first vertex with fewest outer edges; at least one vertex must be in a list."""
    cursor = region.cursor
    while region.first[cursor[LOWEST]] < 0:
        cursor[LOWEST] += 1
    return region.first[cursor[LOWEST]]


@inner(counted=False)
def _seed(region, part):
    """Return the first vertex that has an edge without a block, or -1."""
    cursor = region.cursor
    while cursor[SEED] < region.lengths.size:
        v = cursor[SEED]
        while region.lengths[v] > 0:
            if part[region.edges[region.offsets[v] + region.lengths[v] - 1]] < 0:
                return v
            region.lengths[v] -= 1
        cursor[SEED] += 1
    return np.int64(-1)


@inner(counted=False)
def _join(region, v, b, works, room, part):
    """Let v join block b: assign its edges to vertices of b to b, until `room` is used.

    Returns the work assigned.
    """
    region.inside[v] = b
    given, outer = 0.0, 0
    at, end = region.offsets[v], region.offsets[v] + region.lengths[v]
    while at < end:
        w, e = region.others[at], region.edges[at]
        held = region.always_in[w] or region.inside[w] == b
        if part[e] < 0 and held and given < room:
            part[e] = b
            given += works[e]
            region.cursor[LEFT] -= 1
            if w != v and not region.always_in[w]:
                _drop(region, w)
                region.outer[w] -= 1
                _push(region, w)
        if part[e] >= 0:
            end -= 1
            region.others[at], region.edges[at] = region.others[end], region.edges[end]
        else:
            outer += 1
            at += 1
    region.lengths[v] = end - region.offsets[v]
    region.outer[v] = outer
    _push(region, v)
    return given


@inner(counted=False)
def _hold_again(region, b, works, room, part):
    """Let all vertices that block b held before the edges were listed join b again; see _join."""
    inside, given = region.inside, 0.0
    for v in range(inside.size):
        if inside[v] == b:
            inside[v] = AGAIN
    for v in range(inside.size):
        if inside[v] == AGAIN:
            given += _join(region, v, b, works, room - given, part)
    return given


@inner(counted=False)
def _expand(region, x, b, works, room, part):
    """Let the neighbours of x join block b until `room` is used; return the work assigned."""
    given, i = 0.0, region.offsets[x]
    end = i + region.lengths[x]
    while i < end and given < room:
        w = region.others[i]
        if part[region.edges[i]] < 0 and region.inside[w] != b:
            given += _join(region, w, b, works, room - given, part)
        i += 1
    return given


@njit(cache=True, nogil=True, counted=False)
def expand(region, block, works, rooms, least, part):
    """Fill one block after another, from `block` on; return the block that is being filled.

    works (m,) float64 [units]. rooms (k,) float64 [units]: work that each block still takes,
    reduced in place; if the last edge of a block exceeds its room, the excess is subtracted from
    the next block's room. Stops when all blocks are full, or when at most `least` edges are left
    without a block.
    """
    if region.cursor[LEFT] > least:
        rooms[block] -= _hold_again(region, block, works, rooms[block], part)
    while region.cursor[LEFT] > least:
        if rooms[block] <= 0.0:
            while region.cursor[LISTED] > 0:
                _drop(region, _next(region))
            region.cursor[LOWEST] = 1
            if block + 1 == rooms.size:
                break
            rooms[block + 1] += rooms[block]
            block += 1
            continue
        if region.cursor[LISTED] > 0:
            x = np.int64(_next(region))
            rooms[block] -= _expand(region, x, block, works, rooms[block], part)
        else:
            x = _seed(region, part)
            if x < 0:
                break
            rooms[block] -= _join(region, x, block, works, rooms[block], part)
    while region.cursor[LISTED] > 0:
        _drop(region, _next(region))
    region.cursor[LOWEST] = 1
    return block


@njit(cache=True, nogil=True, counted=False)
def number_ends(tails, heads, number, ids, own_tails, own_heads):
    """Number the ends of edges from 0 in order of appearance; return the number of vertices.

    number (n,) int32: -1 for vertices without a number; filled with the numbers. ids (2m,): the
    vertex of each number. own_tails, own_heads (m,) int32: the edges' ends in these numbers.
    """
    count = np.int32(0)
    for e in range(tails.size):
        for side in range(2):
            v = tails[e] if side == 0 else heads[e]
            if number[v] < 0:
                number[v], ids[count] = count, v
                count += np.int32(1)
        own_tails[e], own_heads[e] = number[tails[e]], number[heads[e]]
    return count
