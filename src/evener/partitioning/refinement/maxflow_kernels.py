"""Maximum flow by blocking flows along shortest paths, and the two extreme minimum cuts.

Dinic's algorithm [Din70]_. A network is rows of arcs: start (n + 1,); head, back (m,) int32: where
an arc leads and its reverse; room (m,) int64: what it still takes. supply (n,) int64 is what the
source still gives a vertex, negative: what the vertex still gives the sink. A vertex may be tied
to either once the flow is sent (`tie`), and more be sent.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner

FREE, SOURCE, SINK = 0, 1, 2  # who reaches a vertex
TIED = np.int64(1) << 60  # supply of a vertex that no cut takes from its side
FAR = 1 << 30


@inner(error_model="numpy")
def send_all(start, head, back, room, supply, most, most_looks, far, queue, current, path):
    """Send flow until none fits; what was sent. Less where it is `most`, or where the arcs looked
    at are most_looks: then -1.

    far, queue, current (n,) int32, path (n + 1,) int32 are scratch.
    """
    sent, looks = np.int64(0), 0
    while sent < most:
        i = _distances(start, head, room, supply, far, queue) - 1
        if i < 0:
            break
        copy_to(start[:-1], current)
        looks += head.size
        shortest = far[queue[i]]
        # The nearest sinks are at the end of the queue.
        while i >= 0 and far[queue[i]] == shortest:
            sink = queue[i]
            i -= 1
            while supply[sink] < 0:
                length, looked = _path_to_source(
                    start, head, back, room, supply, far, current, sink, path
                )
                looks += looked
                if length < 0:
                    break
                sent += _send_along(head, back, room, supply, sink, path, length)
        if looks > most_looks:
            return -1
    return sent


@inner(error_model="numpy")
def _distances(start, head, room, supply, far, queue):
    """Fill far (n,), the arcs from the source, as far as the nearest sinks; elsewhere -1.

    Returns how many vertices are in the queue, nearest first, or 0 where no sink is reached.
    """
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


@inner(error_model="numpy")
def _path_to_source(start, head, back, room, supply, far, current, sink, path):
    """Find a shortest path, from its end, along arcs that were not given up: its length or -1,
    and the arcs looked at.
    """
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


@inner(error_model="numpy")
def _send_along(head, back, room, supply, sink, path, length):
    """Send what fits; how much that is."""
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


@inner(error_model="numpy")
def extreme_cuts(start, head, back, room, supply, queue, side):
    """side (n,) int8 after all was sent: SOURCE where the source still reaches, SINK where the
    sink is still reached from, FREE elsewhere. Both are sides of minimum cuts.
    """
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


@inner(error_model="numpy")
def tie(supply, v, to):
    """Tie v to the source or the sink; what is then sent from one to the other through v."""
    opposite = supply[v] < 0 if to == SOURCE else supply[v] > 0
    sent = abs(supply[v]) if opposite else np.int64(0)
    supply[v] = TIED if to == SOURCE else -TIED
    return sent
