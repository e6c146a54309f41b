"""Fastest routes between all processors: Dijkstra's algorithm from each of them [Dijkstra59]_."""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import njit
from evener.partitioning.levels.heap_kernels import ABSENT, IndexedHeap, drop, push, sift_up

NOWHERE = -1


class Roads(NamedTuple):
    """Places joined by links: the neighbours of place v are ends[offsets[v]:offsets[v + 1]].

    offsets int64, ends int32; betas float64 [s/B]: time per byte of each link; home (k,) int64: the
    place of each processor.
    """

    offsets: np.ndarray
    ends: np.ndarray
    betas: np.ndarray
    home: np.ndarray


@njit(cache=True, nogil=True)
def route_from(sources, roads, least, table, previous):
    """Fill rows of table (k, k) [s/B] with the fastest routes from processors first to last - 1.

    sources: first and last. least: whether the cost of a route is that of its slowest link, instead
    of the sum. previous (k, places) int32: the place before each place on the route from the
    processor.
    """
    places = roads.offsets.size - 1
    heap = IndexedHeap(
        np.empty(places, np.int32), np.empty(places), np.full(places, ABSENT, np.int32)
    )
    distance, slowest = np.empty(places), np.zeros(places)
    for s in range(sources[0], sources[1]):
        _grow(roads, heap, roads.home[s], distance, slowest, previous[s])
        for t in range(roads.home.size):
            place = roads.home[t]
            table[s, t] = slowest[place] if least else distance[place]


@njit(cache=True, nogil=True)
def _grow(roads, heap, root, distance, slowest, previous):
    """Find the fastest route from the root to every place (Dijkstra's algorithm)."""
    for v in range(distance.size):
        distance[v] = np.inf
        previous[v] = NOWHERE
    distance[root] = 0.0
    slowest[root] = 0.0
    size = push(heap, 0, root, -0.0)
    while size > 0:
        u = heap.items[0]
        size = drop(heap, size)
        for i in range(roads.offsets[u], roads.offsets[u + 1]):
            v, beta = roads.ends[i], roads.betas[i]
            reached = distance[u] + beta
            if reached >= distance[v]:
                continue
            distance[v] = reached
            previous[v] = u
            slowest[v] = max(slowest[u], beta)
            if heap.place[v] == ABSENT:
                size = push(heap, size, v, -reached)
            else:
                heap.keys[heap.place[v]] = -reached
                sift_up(heap, heap.place[v])


@njit(cache=True, nogil=True)
def mirror(table):
    """Make the table symmetric: copy the route from the lower-numbered processor."""
    for s in range(table.shape[0]):
        for t in range(s):
            table[s, t] = table[t, s]


@njit(cache=True, nogil=True)
def add_to_links(pairs, nbytes, roads, previous, carried, visited):
    """Add the bytes between pairs of processors (p, 2) to the links on their routes.

    carried (links,): bytes over each entry of `roads`; both directions are added at the entry of
    the lower place. visited (k,): seconds that each processor pays for its links on all these
    routes.
    """
    at = np.full(roads.offsets.size - 1, NOWHERE, np.int64)
    for p in range(roads.home.size):
        at[roads.home[p]] = p if at[roads.home[p]] == NOWHERE else at[roads.home[p]]
    for i in range(pairs.shape[0]):
        s, t = min(pairs[i, 0], pairs[i, 1]), max(pairs[i, 0], pairs[i, 1])
        v = roads.home[t]
        while v != roads.home[s]:
            u = np.int64(previous[s, v])
            low, high = min(u, v), max(u, v)
            e = roads.offsets[low]
            while roads.ends[e] != high:
                e += 1
            carried[e] += nbytes[i]
            for place in (low, high):
                owner = at[place]
                if place == roads.home[t]:
                    owner = t
                elif place == roads.home[s]:
                    owner = s
                if owner != NOWHERE:
                    visited[owner] += nbytes[i] * roads.betas[e]
            v = u
