"""Moves weight between blocks along the quotient graph, border vertices of best gain first.

Only vertices with a neighbour in another block can move at little cut. One scan lists them; all
that follows works on that list, which grows by the neighbours of what moves.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit
from evener.partitioning.levels.heap_kernels import drop_first, push_aged, with_room
from evener.partitioning.repair.block_kernels import gain_of, move, relief
from evener.partitioning.repair.connecting_kernels import can_leave, change_tree

FLOW_LEFT = 1e-9  # of the receiver's target: an arc with less flow than this is done
LEAST_RELIEF = 1e-12  # violation that a move beyond the flow must save, above rounding errors


class ArcFlows(NamedTuple):
    """Arcs of the quotient graph and what is to flow along each, arrays (p,).

    order: the arcs with flow, in the order in which they are served; block, other: the arc's two
    ends; flow [units]: what is left to move from `block` to `other`. Border vertices that may
    move along arc i, with their gains, are seeds[starts[i] : starts[i + 1]] and gains there.
    """

    order: np.ndarray
    block: np.ndarray
    other: np.ndarray
    flow: np.ndarray
    starts: np.ndarray
    seeds: np.ndarray
    gains: np.ndarray


class GainTable(NamedTuple):
    """Gains of vertices along the arc that is being served.

    gains (n,) float64 holds where known (n,) int64 has a stamp of that arc; it is kept up to date
    edge by edge, so that a vertex of many edges is not scanned again whenever a neighbour moves.
    stale (n,) bool: a neighbour has moved since the seeds were listed. clock (1,): last stamp.
    """

    gains: np.ndarray
    known: np.ndarray
    stale: np.ndarray
    clock: np.ndarray


class SpanningTrees(NamedTuple):
    """Trees that span the blocks, as grow_trees leaves them: parent and children (n,)."""

    parent: np.ndarray
    children: np.ndarray


@njit(cache=True, nogil=True)
def list_border(graph, part, border):
    """List the vertices with a neighbour in another block; returns how many."""
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
    """Index of arc a -> b in the quotient graph, by bisection; -1 where there is none."""
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
    """List for every arc with flow the vertices of its block that touch the other one, with gains.

    border: the border vertices. starts (k + 1,), other (p,): the quotient graph. Call with an
    empty `seeds` first: it then counts into seed_starts (p + 1,). One pass over the edges gives
    the gains of all arcs at once.
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


@njit(cache=True, nogil=True)
def carry_out(
    graph, n_bytes, limits, blocks, border, n_border, arcs, table, trees, floor, worst_gain,
    connected,
):  # fmt: skip
    """Move vertices along each arc until its flow is used up; returns (n_border, moved).

    floor (k,): no block shrinks below this weight in one call. worst_gain: moves that cost more
    cut than this are left undone. connected: only leaves of `trees` move, so that no block is
    taken apart. The first n_border vertices of `border` are listed; it grows.
    """
    xadj, adjncy, adjwgt, weights = graph
    part, weight, size, memory = blocks
    vertices, listed = border
    gains, known, stale, clock = table
    moved = 0
    weighted = adjwgt.size > 0
    capacity = 1024
    keys = np.empty(capacity, np.float64)
    ages = np.empty(capacity, np.int64)
    items = np.empty(capacity, np.int64)
    for arc in arcs.order:
        a, b = arcs.block[arc], arcs.other[arc]
        left = arcs.flow[arc]
        count = 0
        age = 0
        clock[0] += 3
        guessed = clock[0]
        exact, refused = guessed + 1, guessed + 2
        for i in range(arcs.starts[arc], arcs.starts[arc + 1]):
            v = arcs.seeds[i]
            if part[v] != a:
                continue
            known[v] = guessed if stale[v] else exact
            gains[v] = arcs.gains[i]
            keys, ages, items = with_room(keys, ages, items, count)
            count = push_aged(keys, ages, items, count, gains[v], age, v)
            age += 1
        tolerance = FLOW_LEFT * limits.scale[b]
        while count > 0 and left > tolerance and size[a] > 1:
            key, v = keys[0], items[0]
            count = drop_first(keys, ages, items, count)
            if part[v] != a or key != gains[v] or known[v] == refused:
                continue  # moved or changed since: where it changed it was pushed again
            if known[v] == guessed:
                known[v] = exact
                gains[v], touches = gain_of(graph, part, v, a, b)
                if not touches:
                    known[v] = refused
                elif gains[v] != key:
                    count = push_aged(keys, ages, items, count, gains[v], age, v)
                    age += 1
                    continue
            if known[v] == refused:
                continue
            if key < worst_gain:
                break
            w, m = weights[v], n_bytes[v]
            if weight[a] - w < floor[a]:
                continue
            if w == 0.0 and key <= 0.0 and memory[a] <= limits.cap[a]:
                continue  # costs cut and helps neither block
            if w > left + tolerance or memory[b] + m > limits.cap[b]:
                if relief(blocks, limits, a, b, w, m) <= LEAST_RELIEF:
                    continue
            freed = -1
            if connected:
                if not can_leave(graph, part, v, trees):
                    known[v] = refused  # until it becomes a leaf
                    continue
                freed = change_tree(graph, part, v, b, trees)
            move(blocks, v, b, w, m)
            left -= w
            moved += 1
            if not listed[v]:
                listed[v] = True
                vertices[n_border] = v
                n_border += 1
            stale[v] = True
            if freed >= 0 and trees.children[freed] == 0 and known[freed] == refused:
                known[freed] = guessed  # a leaf now: may be asked again, its gain computed anew
                gains[freed] = np.inf
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                stale[u] = True
                if not listed[u]:
                    listed[u] = True
                    vertices[n_border] = u
                    n_border += 1
                if part[u] != a or known[u] == refused:
                    continue
                if (known[u] == guessed or known[u] == exact) and gains[u] < np.inf:
                    gains[u] += 2.0 * (adjwgt[e] if weighted else 1.0)
                else:
                    known[u] = exact
                    gains[u], touches = gain_of(graph, part, u, a, b)
                keys, ages, items = with_room(keys, ages, items, count)
                count = push_aged(keys, ages, items, count, gains[u], age, u)
                age += 1
        arcs.flow[arc] = left
    return n_border, moved


@njit(cache=True, nogil=True)
def smooth(graph, n_bytes, limits, blocks, border, n_border, passes):
    """Move each border vertex to the touching block that saves most cut, if all limits allow it.

    Sweeps the border until nothing moves, `passes` times at most. Returns how many moved.
    """
    xadj, adjncy, adjwgt, weights = graph
    low, high, cap, _ = limits
    part, weight, size, memory = blocks
    vertices, listed = border
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
            if size[a] == 1 or weight[a] - w < low[a]:
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
                u = adjncy[e]
                if not listed[u]:
                    listed[u] = True
                    vertices[n_border] = u
                    n_border += 1
        if moved == before:
            break
    return moved
