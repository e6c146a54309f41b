"""Kernels of label propagation in slices: vertices that are alone request to join a cluster.

of (n_local,) int32 is the cluster of a vertex: the global number of the vertex that the cluster is
named after. weight (n,) float32 [units]: weights of the clusters; state (n,) int8: state of the
vertices they are named after.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit

ALONE, JOINED, LEFT = 0, 1, 2  # a vertex alone in its cluster; one with others; one in another's
TINY = 1e-30


class Labels(NamedTuple):
    """The arrays of, weight and state (see above), and scratch: bond (n,) float32, last (n,) int32.

    Outside kernels, bond is 0 and last is -1 everywhere.
    """

    of: np.ndarray
    weight: np.ndarray
    state: np.ndarray
    bond: np.ndarray
    last: np.ndarray


@njit(cache=True, nogil=True)
def ask(rows, begin, order, labels, heaviest, pairs, asking, asked):
    """Let rows of a slice that are alone request to join clusters; return the number of requests.

    A row requests the neighbouring cluster with room that has the largest ratio of edge weight to
    cluster weight. pairs: if no cluster has room, the row requests another row that wants the same
    cluster. order (r,): order of the rows. begin: global number of local vertex 0. asking (r,)
    int32: set to the rows that request; asked (r,) int32: set to the requested clusters. labels are
    unchanged on return.
    """
    of, weight, state, last = labels.of, labels.weight, labels.state, labels.last
    near, wants = np.empty(order.size, np.int32), np.full(order.size, -1, np.int32)
    undo_state, undo_weight = np.empty(order.size, np.int8), np.empty(order.size, np.float32)
    n_asking = 0
    for i in order:
        v = begin + rows.first + i
        degree = rows.xadj[i + 1] - rows.xadj[i]
        if state[v] != ALONE or degree == 0:
            continue
        if degree > near.size:
            near = np.empty(degree, np.int32)
        w = np.float32(1.0 if rows.vwgt.size == 0 else rows.vwgt[i])
        best, wanted = _choose(rows, i, v, w, heaviest, labels, near)
        if pairs and best < 0 and wanted >= 0:
            best = last[wanted]
            if best >= 0 and weight[best] + w > heaviest:
                best = -1
            if best < 0:
                last[wanted], wants[i] = v, wanted
        if best < 0:
            continue
        undo_state[n_asking], undo_weight[n_asking] = state[best], weight[best]
        state[v], state[best] = LEFT, JOINED
        weight[best] += w
        of[rows.first + i] = best
        asking[n_asking], asked[n_asking] = i, best
        n_asking += 1
    for a in range(n_asking - 1, -1, -1):
        v = begin + rows.first + asking[a]
        state[asked[a]], weight[asked[a]] = undo_state[a], undo_weight[a]
        state[v], of[rows.first + asking[a]] = ALONE, v
    for wanted in wants:
        if wanted >= 0:
            last[wanted] = -1
    return n_asking


@inner()
def _choose(rows, i, v, w, heaviest, labels, near):
    """Return row i's best cluster with room for its weight w, and that of most edge weight.

    The second cluster may lack room. Each is -1 if there is no such cluster. v: the global number
    of row i. near: scratch.
    """
    of, weight, bond = labels.of, labels.weight, labels.bond
    weighted = rows.adjwgt.size > 0
    size = 0
    for e in range(rows.xadj[i], rows.xadj[i + 1]):
        x = np.float32(rows.adjwgt[e] if weighted else 1.0)
        if x <= 0:
            continue
        c = of[rows.adjncy[e]]
        if bond[c] == 0:
            near[size] = c
            size += 1
        bond[c] += x
    best, score, wanted, most = -1, 0.0, -1, 0.0
    for q in range(size):
        c = near[q]
        if bond[c] > most:
            wanted, most = c, bond[c]
        if c != v and weight[c] + w <= heaviest and bond[c] > score * max(weight[c], TINY):
            best, score = c, bond[c] / max(weight[c], TINY)
        bond[c] = 0
    return best, wanted


@njit(cache=True, nogil=True)
def grant(askers, asked, weights, labels, heaviest, granted):
    """Let each vertex, in order, join the cluster that it requested if the cluster has room.

    askers, asked (q,): global numbers of vertices and clusters. weights (q,): weights of the
    vertices; (0,) if all are 1. granted (q,) bool: set. Returns the number of vertices that joined.
    """
    weight, state = labels.weight, labels.state
    count = 0
    for a in range(askers.size):
        v, c = askers[a], asked[a]
        w = np.float32(1.0 if weights.size == 0 else weights[a])
        granted[a] = state[v] == ALONE and state[c] != LEFT and weight[c] + w <= heaviest
        if granted[a]:
            state[v], state[c] = LEFT, JOINED
            weight[c] += w
            count += 1
    return count


@njit(cache=True, nogil=True)
def number(state, numbers):
    """Number the remaining clusters by the vertices they are named after; return the count."""
    count = 0
    for v in range(state.size):
        numbers[v] = count
        count += state[v] != LEFT
    return count


@njit(cache=True, nogil=True)
def rename(of, numbers):
    """Replace in `of` the vertices that clusters are named after by the clusters' numbers."""
    for v in range(of.size):
        of[v] = numbers[of[v]]


@njit(cache=True, nogil=True)
def weight_inside(rows, of):
    """Return the weight of entries whose two ends are in one cluster, and of all entries."""
    weighted = rows.adjwgt.size > 0
    inside, total = 0.0, 0.0
    for i in range(rows.xadj.size - 1):
        for e in range(rows.xadj[i], rows.xadj[i + 1]):
            w = rows.adjwgt[e] if weighted else 1.0
            total += w
            if of[rows.adjncy[e]] == of[rows.first + i]:
                inside += w
    return inside, total
