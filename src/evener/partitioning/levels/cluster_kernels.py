"""Kernels of clusters by label propagation, to which graphs with hubs are shrunk.

Joining pairs of neighbours ends early where hubs have many neighbours: leaves want to join a hub
whose cluster is full. Here vertices choose a cluster repeatedly [MSS17]_, and those left alone join
others that want the same cluster.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.jit import inner, njit

SETTLED = 0.03  # share of the vertices: a round in which fewer change their cluster is the last


@njit(cache=True, nogil=True, error_model="numpy")
def gather(xadj, adjncy, adjwgt, vwgt, part, cap, order, rounds, leader, weight):
    """Find clusters of vertices of one block, of weight up to `cap`, in some rounds.

    Vertices, in `order`, join the neighbouring cluster with the most edge weight to them, relative
    to its weight. Fills leader (n,) int32, the first vertex of each vertex's cluster; weight (n,)
    [units] is scratch.
    """
    n = vwgt.size
    bond, near = np.zeros(n), np.empty(n, np.int32)
    wanted = np.full(n, -1, np.int32)
    for v in range(n):
        leader[v], weight[v] = v, vwgt[v]
    for _ in range(rounds):
        moved = 0
        for v in order:
            size = _bonds(xadj, adjncy, adjwgt, part, v, leader, bond, near)
            c = _choose(v, vwgt[v], cap, leader, weight, size, bond, near, wanted)
            if c != leader[v]:
                weight[leader[v]] -= vwgt[v]
                weight[c] += vwgt[v]
                leader[v] = c
                moved += 1
        if moved < SETTLED * n:
            break
    _join_alone(vwgt, part, cap, order, wanted, leader, weight)
    _name_by_first(leader)


@inner(error_model="numpy")
def _bonds(xadj, adjncy, adjwgt, part, v, leader, bond, near):
    """Set bond[c] for the clusters next to v, listed in `near`; returns how many."""
    unit = adjwgt.size == 0
    size = 0
    for e in range(xadj[v], xadj[v + 1]):
        u = adjncy[e]
        x = 1 if unit else adjwgt[e]
        if part[u] != part[v] or x == 0:
            continue
        c = leader[u]
        if bond[c] == 0:
            near[size] = c
            size += 1
        bond[c] += x
    return size


@inner(error_model="numpy")
def _choose(v, w, cap, leader, weight, size, bond, near, wanted):
    """Return the best cluster for v, its own if none is better, and clear `bond`.

    wanted[v] becomes the cluster of most edge weight to v, whether or not that has room.
    """
    own = leader[v]
    rest = weight[own] - w
    best, score = own, bond[own] / rest if rest > 0 else 0.0
    most = 0.0
    for i in range(size):
        c = near[i]
        if bond[c] > most:
            wanted[v], most = c, bond[c]
        if c != own and weight[c] + w <= cap and bond[c] > score * max(weight[c], 1e-300):
            best, score = c, bond[c] / max(weight[c], 1e-300)
    for i in range(size):
        bond[near[i]] = 0
    return best


@inner()
def _join_alone(vwgt, part, cap, order, wanted, leader, weight):
    """Join vertices that are alone in their cluster with others that want the same one."""
    members = np.zeros(leader.size, np.int32)
    for v in range(leader.size):
        members[leader[v]] += 1
    last = np.full(leader.size, -1, np.int32)
    for v in order:
        if members[leader[v]] > 1 or wanted[v] < 0:
            continue
        u = last[wanted[v]]
        if u >= 0 and part[u] == part[v] and weight[leader[u]] + vwgt[v] <= cap:
            weight[leader[v]] -= vwgt[v]
            leader[v] = leader[u]
            weight[leader[u]] += vwgt[v]
        else:
            last[wanted[v]] = v


@inner()
def _name_by_first(leader):
    """Rename every cluster after its first vertex."""
    first = np.full(leader.size, -1, np.int32)
    for v in range(leader.size):
        c = leader[v]
        if first[c] < 0:
            first[c] = v
        leader[v] = first[c]
