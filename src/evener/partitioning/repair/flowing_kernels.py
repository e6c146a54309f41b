"""Moves weight between blocks along the quotient graph, border vertices with the best gain first.

Only vertices with a neighbour in another block can move at a low cost in cut. One scan lists these;
all later steps work on this list, to which neighbours of moved vertices are added.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.csr_kernels import stays
from evener.partitioning.levels.heap_kernels import drop_first, push_aged, with_room
from evener.partitioning.repair.block_kernels import gain_of, move, relief
from evener.partitioning.repair.connecting_kernels import can_leave, change_tree

FLOW_LEFT = 1e-9  # of the receiver's target: an arc with less flow than this is done
LEAST_RELIEF = 1e-12  # violation that a move beyond the flow must save, above rounding errors
# Stamps of a vertex while an arc is served, above that of a gain guessed from before; their number.
EXACT, REFUSED, STAMPS = 1, 2, 3


class ArcFlows(NamedTuple):
    """Arcs of the quotient graph and the flow along each; all arrays are (p,).

    order: the arcs with flow, in the order of processing. block, other: the ends of each arc. flow
    [units]: weight left to move from `block` to `other`. The border vertices that may move along
    arc i are seeds[starts[i] : starts[i + 1]], with their gains in gains.
    """

    order: np.ndarray
    block: np.ndarray
    other: np.ndarray
    flow: np.ndarray
    starts: np.ndarray
    seeds: np.ndarray
    gains: np.ndarray


class GainTable(NamedTuple):
    """Gains of vertices along the arc that is being processed.

    gains (n,) float64 is valid where known (n,) int64 has a stamp of this arc. It is updated edge
    by edge, so that a vertex with many edges is not scanned again after each move of a neighbour.
    stale (n,) bool: a neighbour has moved since the seeds were listed. clock (1,): last stamp.
    """

    gains: np.ndarray
    known: np.ndarray
    stale: np.ndarray
    clock: np.ndarray


class Waiting(NamedTuple):
    """A heap of vertices that may move, by best gain, then in order of insertion.

    keys: gains; ages: number of insertions before each; items: vertices.
    """

    keys: np.ndarray
    ages: np.ndarray
    items: np.ndarray


class SpanningTrees(NamedTuple):
    """Spanning trees of the blocks, made by grow_trees: parent and children (n,)."""

    parent: np.ndarray
    children: np.ndarray


@njit(cache=True, nogil=True)
def list_border(graph, part, border):
    """List the vertices with a neighbour in another block; return their number."""
    xadj, adjncy, _, _ = graph
    vertices, listed = border
    listed[:] = False
    count = 0
    for v in range(part.size):
        b = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != b:
                vertices[count] = v
                listed[v] = True
                count += 1
                break
    return count


@inner()
def arc_of(starts, other, a, b):
    """Return the index of arc a -> b in the quotient graph, by bisection, or -1."""
    first, last = starts[a], starts[a + 1]
    while first < last:
        middle = (first + last) >> 1
        if other[middle] < b:
            first = middle + 1
        else:
            last = middle
    return first if first < starts[a + 1] and other[first] == b else -1


@njit(cache=True, nogil=True)
def seeds_of_arcs(graph, part, border, starts, other, flow, seed_starts, seeds, gains):
    """List for every arc with flow its block's vertices that touch the other block, with gains.

    border: the border vertices. starts (k + 1,), other (p,): the quotient graph. The first call
    must pass an empty `seeds`; it only counts into seed_starts (p + 1,). One pass over the edges
    computes the gains of all arcs.
    """
    xadj, adjncy, adjwgt, _ = graph
    touch = np.zeros(starts.size - 1, np.float64)
    counting = seeds.size == 0
    fill = seed_starts[:-1].copy()
    weighted = adjwgt.size > 0
    gives = np.zeros(starts.size - 1, np.bool_)
    for a in range(gives.size):
        for arc in range(starts[a], starts[a + 1]):
            gives[a] |= flow[arc] > 0.0
    if counting:
        seed_starts[:] = 0
    for v in border:
        a = part[v]
        if not gives[a]:
            continue
        inside = 0.0
        for e in range(xadj[v], xadj[v + 1]):
            b = part[adjncy[e]]
            w = adjwgt[e] if weighted else 1.0
            if a == b:
                inside += w
            else:
                touch[b] += w + 1e-300  # an edge that weighs nothing touches, too
        for e in range(xadj[v], xadj[v + 1]):
            b = part[adjncy[e]]
            if touch[b] == 0.0:
                continue
            arc = arc_of(starts, other, a, b)
            if arc >= 0 and flow[arc] > 0.0:
                if counting:
                    seed_starts[arc + 1] += 1
                else:
                    seeds[fill[arc]] = v
                    gains[fill[arc]] = touch[b] - inside
                    fill[arc] += 1
            touch[b] = 0.0
    if counting:
        for arc in range(other.size):
            seed_starts[arc + 1] += seed_starts[arc]


@inner(forceinline=True)
def _with_entry(waiting, count, key, age, v):
    """Add vertex v to `count` others; return the heap, larger if it was full, and the new count."""
    keys, ages, items = with_room(waiting.keys, waiting.ages, waiting.items, count)
    count = push_aged(keys, ages, items, count, key, age, v)
    return Waiting(keys, ages, items), count


@inner(forceinline=True)
def _with_seeds(arcs, arc, blocks, table, guessed, waiting):
    """Return a heap with only an arc's seeds that are still in its block, and their number."""
    count = 0
    for i in range(arcs.starts[arc], arcs.starts[arc + 1]):
        v = arcs.seeds[i]
        if blocks.part[v] == arcs.block[arc] and not stays(blocks.fixed, v):
            table.known[v] = guessed if table.stale[v] else guessed + EXACT
            table.gains[v] = arcs.gains[i]
            waiting, count = _with_entry(waiting, count, table.gains[v], count, v)
    return waiting, count


@inner(forceinline=True)
def _is_allowed(blocks, limits, floor, a, b, w, m, most, key):
    """Return whether a vertex of weight w and m bytes may move from a to b, at the gain `key`.

    most [units]: the arc's flow; a heavier vertex may move only if that reduces the violation.
    """
    if blocks.weight[a] - w < floor[a]:
        return False
    if w == 0.0 and key <= 0.0 and blocks.memory[a] <= limits.cap[a]:
        return False  # costs cut and brings no block nearer to its limits
    if w > most or blocks.memory[b] + m > limits.cap[b]:
        return relief(blocks, limits, a, b, w, m) > LEAST_RELIEF
    return True


@inner(forceinline=True)
def _with_listed(border, n_border, v):
    """Add vertex v to the border list; return the list's length."""
    if border.listed[v]:
        return n_border
    border.listed[v] = True
    border.vertices[n_border] = v
    return n_border + 1


@inner(forceinline=True)
def _with_neighbours(graph, blocks, v, a, b, table, guessed, waiting, count, age, border, n_border):
    """Add v, which moved from a to b, and its neighbours to the border list, and mark them stale.

    Adds the neighbours in a to the heap. Returns the heap, its size, the next age, and the length
    of the border list.
    """
    xadj, adjncy, adjwgt, _ = graph
    part, fixed = blocks.part, blocks.fixed
    gains, known, stale, _ = table
    exact, refused = guessed + EXACT, guessed + REFUSED
    stale[v] = True
    n_border = _with_listed(border, n_border, v)
    for e in range(xadj[v], xadj[v + 1]):
        u = adjncy[e]
        stale[u] = True
        n_border = _with_listed(border, n_border, u)
        if part[u] != a or known[u] == refused or stays(fixed, u):
            continue
        if (known[u] == guessed or known[u] == exact) and gains[u] < np.inf:
            gains[u] += 2.0 * (adjwgt[e] if adjwgt.size > 0 else 1.0)
        else:
            known[u] = exact
            gains[u], _ = gain_of(graph, part, u, a, b)
        waiting, count = _with_entry(waiting, count, gains[u], age, u)
        age += 1
    return waiting, count, age, n_border


@njit(cache=True, nogil=True)
def carry_out(
    graph, n_bytes, limits, blocks, border, n_border, arcs, table, trees, floor, worst_gain,
    connected,
):  # fmt: skip
    """Move vertices along each arc until its flow is used up; return (n_border, number moved).

    floor (k,): no block becomes lighter than this in one call. worst_gain: moves with a smaller
    gain are not made. connected: only leaves of `trees` move, so that no block is disconnected. The
    first n_border vertices of `border` are listed; the list grows.
    """
    weights, part, size = graph[3], blocks[0], blocks[2]
    gains, known, _, clock = table
    moved, room = 0, 1024
    waiting = Waiting(np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64))
    for arc in arcs.order:
        a, b, left = arcs.block[arc], arcs.other[arc], arcs.flow[arc]
        clock[0] += STAMPS
        guessed = clock[0]
        exact, refused = guessed + EXACT, guessed + REFUSED
        waiting, count = _with_seeds(arcs, arc, blocks, table, guessed, waiting)
        age = count
        tolerance = FLOW_LEFT * limits.scale[b]
        while count > 0 and left > tolerance and size[a] > 1:
            key, v = waiting.keys[0], waiting.items[0]
            count = drop_first(waiting.keys, waiting.ages, waiting.items, count)
            if part[v] != a or key != gains[v] or known[v] == refused:
                continue  # moved or changed since: where it changed it was pushed again
            if known[v] == guessed:
                gains[v], touches = gain_of(graph, part, v, a, b)
                known[v] = exact if touches else refused
                if not touches:
                    continue
                if gains[v] != key:
                    waiting, count = _with_entry(waiting, count, gains[v], age, v)
                    age += 1
                    continue
            if key < worst_gain:
                break
            w = weights[v]
            if not _is_allowed(blocks, limits, floor, a, b, w, n_bytes[v], left + tolerance, key):
                continue
            freed = -1
            if connected:
                if not can_leave(graph, part, v, trees):
                    known[v] = refused  # until it becomes a leaf
                    continue
                freed = change_tree(graph, part, v, b, trees)
            move(blocks, v, b, w, n_bytes[v])
            left -= w
            moved += 1
            if freed >= 0 and trees.children[freed] == 0 and known[freed] == refused:
                known[freed] = guessed  # a leaf now: may be asked again, its gain computed anew
                gains[freed] = np.inf
            waiting, count, age, n_border = _with_neighbours(
                graph, blocks, v, a, b, table, guessed, waiting, count, age, border, n_border
            )
        arcs.flow[arc] = left
    return n_border, moved


@njit(cache=True, nogil=True)
def smooth(graph, n_bytes, limits, blocks, border, n_border, passes):
    """Move each border vertex to the touching block that saves most cut, if all limits allow it.

    Repeats until nothing moves, at most `passes` times. Returns the number of moves.
    """
    xadj, adjncy, adjwgt, weights = graph
    low, high, cap, _ = limits
    part, weight, size, memory, fixed = blocks
    vertices = border.vertices
    k = low.size
    weighted = adjwgt.size > 0
    touch = np.zeros(k, np.float64)
    moved = 0
    for _ in range(passes):
        before = moved
        i = 0
        while i < n_border:
            v = vertices[i]
            i += 1
            a = part[v]
            w, m = weights[v], n_bytes[v]
            if size[a] == 1 or weight[a] - w < low[a] or stays(fixed, v):
                continue
            for e in range(xadj[v], xadj[v + 1]):
                touch[part[adjncy[e]]] += adjwgt[e] if weighted else 1.0
            best, best_touch = a, touch[a]
            for e in range(xadj[v], xadj[v + 1]):
                b = part[adjncy[e]]
                fits = weight[b] + w <= high[b] and memory[b] + m <= cap[b]
                if touch[b] > best_touch and fits:
                    best, best_touch = b, touch[b]
            for e in range(xadj[v], xadj[v + 1]):
                touch[part[adjncy[e]]] = 0.0
            if best == a:
                continue
            move(blocks, v, best, w, m)
            moved += 1
            for e in range(xadj[v], xadj[v + 1]):
                n_border = _with_listed(border, n_border, adjncy[e])
        if moved == before:
            break
    return moved
