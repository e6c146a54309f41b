"""Maximum flow by blocking flows along shortest paths, and the two extreme minimum cuts.

This is Dinic's algorithm [Din70]_. After sending flow, vertices may be tied to the source or the
sink (`tie`), and then more flow may be sent.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner

FREE, SOURCE, SINK = 0, 1, 2  # which of both a vertex is connected to in the residual network
TIED = np.int64(1) << 60  # supply of a vertex that no cut takes from its side
FAR = 1 << 30  # more arcs than any path has


class FlowNetwork(NamedTuple):
    """A flow network in rows of arcs.

    start (n + 1,) int32; head, back (m,) int32: the vertex that an arc leads to, and its reverse
    arc; room (m,) int64: residual capacity. supply (n,) int64: flow that the source can still give
    to a vertex; negative: flow that the vertex can still give to the sink.
    """

    start: np.ndarray
    head: np.ndarray
    back: np.ndarray
    room: np.ndarray
    supply: np.ndarray


class FlowScratch(NamedTuple):
    """Memory of the search for paths: far, queue, current (n,) int32, path (n + 1,) int32."""

    far: np.ndarray
    queue: np.ndarray
    current: np.ndarray
    path: np.ndarray


@inner(error_model="numpy", counted=False)
def send_all(network, most, most_looks, scratch):
    """Send flow until no more fits; return its amount.

    Stops early if the flow reaches `most`; returns -1 if more than most_looks arcs were read.
    """
    start, head, _, _, supply = network
    far, queue = scratch.far, scratch.queue
    sent, looks = np.int64(0), 0
    while sent < most:
        i = _distances(network, far, queue) - 1
        if i < 0:
            break
        copy_to(start[:-1], scratch.current)
        looks += head.size
        shortest = far[queue[i]]
        # The nearest sinks are at the end of the queue.
        while i >= 0 and far[queue[i]] == shortest:
            sink = queue[i]
            i -= 1
            while supply[sink] < 0:
                length, looked = _path_to_source(network, scratch, sink)
                looks += looked
                if length < 0:
                    break
                sent += _send_along(network, sink, scratch.path, length)
        if looks > most_looks:
            return np.int64(-1)
    return sent


@inner(error_model="numpy", counted=False)
def _distances(network, far, queue):
    """Fill far (n,) with distances from the source; -1 beyond the nearest sinks or if unreachable.

    Returns the number of vertices in the queue, nearest first, or 0 if no sink is reached.
    """
    start, head, _, room, supply = network
    far[:] = -1
    end = 0
    for v in range(supply.size):
        if supply[v] > 0:
            far[v] = 0
            queue[end] = v
            end += 1
    i, shortest = 0, FAR
    while i < end:
        p = queue[i]
        further = far[p] + 1
        if further > shortest:
            return end
        i += 1
        for a in range(start[p], start[p + 1]):
            q = head[a]
            if far[q] < 0 and room[a] > 0:
                far[q] = further
                queue[end] = q
                end += 1
                if supply[q] < 0:
                    shortest = further
    return end if shortest < FAR else 0


@inner(error_model="numpy", counted=False)
def _path_to_source(network, scratch, sink):
    """Find a shortest path backwards from a sink; return its length and the number of arcs read.

    Uses only arcs that earlier searches did not find blocked. The length is -1 if there is no path.
    """
    start, head, back, room, supply = network
    far, _, current, path = scratch
    v, length, looks = sink, 0, 0
    while supply[v] <= 0:
        end, nearer = start[v + 1], far[v] - 1
        a = current[v] if nearer >= 0 else end  # a source that gives no more leads nowhere
        looks += 1
        while a < end and not (far[head[a]] == nearer and room[back[a]] > 0):
            a += 1
            looks += 1
        current[v] = a
        if a < end:
            path[length] = back[a]
            length += 1
            v = head[a]
        elif length == 0:
            return -1, looks
        else:
            length -= 1
            v = head[path[length]]
            current[v] += 1
    return length, looks


@inner(error_model="numpy", counted=False)
def _send_along(network, sink, path, length):
    """Send as much flow as fits along a path; return its amount."""
    _, head, back, room, supply = network
    source = head[back[path[length - 1]]]
    amount = min(supply[source], -supply[sink])
    for i in range(length):
        amount = min(amount, room[path[i]])
    for i in range(length):
        room[path[i]] -= amount
        room[back[path[i]]] += amount
    supply[source] -= amount
    supply[sink] += amount
    return amount


@inner(error_model="numpy", counted=False)
def extreme_cuts(network, queue, side):
    """Set side (n,) int8 after all flow was sent: SOURCE, SINK or FREE.

    SOURCE: residual arcs lead from the source to the vertex; SINK: residual arcs lead from the
    vertex to the sink; FREE: neither. The SOURCE vertices, and the SINK vertices, each form one
    side of a minimum cut.
    """
    start, head, back, room, supply = network
    side[:] = FREE
    for own in (SOURCE, SINK):
        end = 0
        for v in range(supply.size):
            if (supply[v] > 0) if own == SOURCE else (supply[v] < 0):
                side[v] = own
                queue[end] = v
                end += 1
        i = 0
        while i < end:
            p = queue[i]
            i += 1
            for a in range(start[p], start[p + 1]):
                q = head[a]
                if side[q] == FREE and room[a if own == SOURCE else back[a]] > 0:
                    side[q] = own
                    queue[end] = q
                    end += 1


@inner(error_model="numpy", counted=False)
def tie(supply, v, to):
    """Tie v to the source or the sink; return the flow that this sends through v."""
    opposite = supply[v] < 0 if to == SOURCE else supply[v] > 0
    sent = abs(supply[v]) if opposite else np.int64(0)
    supply[v] = TIED if to == SOURCE else -TIED
    return sent
