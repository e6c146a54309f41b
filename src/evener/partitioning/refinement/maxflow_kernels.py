"""Maximum flow by incremental breadth-first search, and the two extreme minimum cuts.

Two trees of residual arcs grow in turn, one level of vertices at a time: one from all vertices that
the source still gives flow, one towards all vertices that still give the sink flow [GHK11]_. Where
they meet, flow is sent along their branches; vertices whose branch is cut off by that look for
another parent as near to the root as possible.

After sending flow, vertices may be tied to the source or the sink (`tie`), and then more flow may
be sent.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner

FREE, SOURCE, SINK = 0, 1, 2  # which of both a vertex is connected to in the residual network
TIED = np.int64(1) << 60  # supply of a vertex that no cut takes from its side
ROOT, ORPHAN = -1, -2  # in place of the arc to a vertex's parent


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
    """The two trees, arrays (n,) int32.

    label: a vertex's level in the source's tree, from 1; minus its level in the sink's tree; 0: in
    neither. parent: the arc to its parent, ROOT, or ORPHAN while it looks for another parent.
    queue: vertices of the level that grows; orphans: vertices that look for a parent.
    """

    label: np.ndarray
    parent: np.ndarray
    queue: np.ndarray
    orphans: np.ndarray


@inner(error_model="numpy", counted=False)
def send_all(network, most, most_looks, scratch):
    """Send flow until no more fits; return its amount.

    Stops early if the flow reaches `most`; returns -1 if more than most_looks arcs were read.
    """
    start, head, back, room, supply = network
    label, parent, queue, _ = scratch
    for v in range(supply.size):
        label[v] = 1 if supply[v] > 0 else (-1 if supply[v] < 0 else 0)
        parent[v] = ROOT
    sent, looks = np.int64(0), 0
    own, level, other = 1, 1, 1  # sign of the tree that grows, its last level, the other's last
    while sent < most:
        end = 0
        for v in range(supply.size):
            queue[end] = v
            end += label[v] == own * level
        if end == 0:
            break
        i = 0
        while i < end:
            v = queue[i]
            i += 1
            a = start[v]
            looks += start[v + 1] - a
            while a < start[v + 1] and label[v] == own * level:
                forward = a if own > 0 else back[a]
                reached = own * label[head[a]]
                if reached > 0 or room[forward] == 0:
                    a += 1
                elif reached == 0:
                    label[head[a]] = own * (level + 1)
                    parent[head[a]] = back[a]
                    a += 1
                else:
                    amount, orphans = _send_across(network, scratch, forward)
                    sent += amount
                    if sent >= most:
                        return sent
                    end, looked = _adopt(network, scratch, orphans, own, level, other, end)
                    looks += looked
                    if looks > most_looks:
                        return np.int64(-1)
        own, level, other = -own, other, level + 1
    return sent


@inner(error_model="numpy", counted=False)
def _send_across(network, scratch, across):
    """Send what fits along an arc from tree to tree, and both its branches.

    Returns its amount and the number of vertices that lost their parent.
    """
    _, head, back, room, supply = network
    parent = scratch.parent
    amount = room[across]
    for side, leaf in ((1, head[back[across]]), (-1, head[across])):
        v = leaf
        while parent[v] != ROOT:
            a = parent[v]
            amount = min(amount, room[back[a] if side > 0 else a])
            v = head[a]
        amount = min(amount, side * supply[v])
    room[across] -= amount
    room[back[across]] += amount
    count = 0
    for side, leaf in ((1, head[back[across]]), (-1, head[across])):
        v = leaf
        while parent[v] != ROOT:
            a = parent[v]
            forward = back[a] if side > 0 else a
            room[forward] -= amount
            room[back[forward]] += amount
            if room[forward] == 0:
                count = _cut_off(scratch, v, count)
            v = head[a]
        supply[v] -= side * amount
        if supply[v] == 0:
            count = _cut_off(scratch, v, count)
    return amount, count


@inner(error_model="numpy", counted=False)
def _cut_off(scratch, v, count):
    """Add v to the `count` vertices that look for a parent; return their number."""
    scratch.parent[v] = ORPHAN
    scratch.orphans[count] = v
    return count + 1


@inner(error_model="numpy", counted=False)
def _adopt(network, scratch, count, own, level, other, end):
    """Find another parent for the `count` orphans, and their children; drop those without.

    own, level, other: see `send_all`; end: number of vertices in the queue, to which vertices that
    sink to the level that grows are added. Returns the new end and the number of arcs read.
    """
    start, head, back, room, _ = network
    label, parent, queue, orphans = scratch
    looks = 0
    while count > 0:
        count -= 1
        v = orphans[count]
        first, last = start[v], start[v + 1]
        side = 1 if label[v] > 0 else -1
        before = side * label[v]
        nearest, along = level + 1 if side == own else other, ROOT  # parents have lower levels
        for a in range(first, last):
            looks += 1
            there = side * label[head[a]]
            if 0 < there < nearest and room[back[a] if side > 0 else a] > 0:
                nearest, along = there, a
                if there < before:
                    break
        parent[v] = along
        if along != ROOT and nearest < before:
            continue  # levels never fall, so that a vertex is in the queue once
        label[v] = 0 if along == ROOT else side * (nearest + 1)
        if label[v] == own * level:
            queue[end] = v
            end += 1
        looks += last - first
        for a in range(first, last):
            if parent[head[a]] == back[a]:
                count = _cut_off(scratch, head[a], count)
    return end, looks


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
