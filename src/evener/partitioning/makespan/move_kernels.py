"""Moves of a vertex: what each changes in the seconds of blocks, exactly, and carrying one out.

The tables of connectivity_kernels tell how many neighbours a vertex has in each block, so that all
its moves are evaluated in one pass over the few entries of its neighbours.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner
from evener.partitioning.makespan.price_kernels import (
    between,
    compute_at,
    pay,
    powered_by,
    seconds_of,
)
from evener.partitioning.refinement.connectivity_kernels import CLOSED, move, open_table

MOST_BLOCKS = 32  # a vertex that touches more stays: its evaluation takes their square
LOOKS = 30  # cost of evaluating one vertex, in halves of what each neighbour adds
NEVER = np.inf  # change of the sum of powers by a move that is not allowed


class Evaluated(NamedTuple):
    """A vertex v whose d blocks are laid out in the scratch, from slot `home`, its own.

    dropped: exchange of its block that ends if it leaves [s]; entering: work of neighbours that
    would come to a boundary.
    """

    v: int
    d: int
    home: int
    dropped: float
    entering: float


@inner(forceinline=True, error_model="numpy", counted=False)
def _look(tables, model, bounds, v, to, scratch):
    """Lay out what v and its neighbours touch, block `to` with them; returns
    (d, slot of its own block, work of neighbours that would come to a boundary if it left).
    """
    p = np.int64(tables.part[v])
    if tables.length[v] == CLOSED:
        open_table(tables, v)
    first = np.int64(tables.xadj[v])
    d = np.int64(0)
    for i in range(first, first + tables.length[v]):
        scratch.ids[d], scratch.held[d] = tables.blocks[i], tables.counts[i]
        scratch.slot[tables.blocks[i]] = d
        d += 1
    for turn in range(2):
        b = p if turn == 0 else to
        if scratch.slot[b] < 0:
            scratch.ids[d], scratch.held[d] = b, 0
            scratch.slot[b] = d
            d += 1
    for i in range(d):
        scratch.lone[i], scratch.leaving[i] = 0, 0.0
    for i in range(d * d):
        scratch.has[i] = 0
    entering, looks = 0.0, LOOKS
    for e in range(first, tables.xadj[v + 1]):
        u = np.int64(tables.adjncy[e])
        if tables.length[u] == CLOSED:
            open_table(tables, u)
        r = tables.part[u]
        row = np.int64(scratch.slot[r])
        start, size = np.int64(tables.xadj[u]), tables.length[u]
        lone, inside = 0, 0
        for i in range(start, start + size):
            b = tables.blocks[i]
            at = scratch.slot[b]
            if at >= 0:
                scratch.has[row * d + at] += 1
                if b == p and tables.counts[i] == 1:
                    lone = 1
            inside += b == r
        scratch.lone[row] += lone
        looks += 2 + size // 8
        if model.overlap:
            if r == p:
                entering += bounds.work[u] if size == 1 else 0.0
            elif lone == 1 and size == 1 + inside:
                scratch.leaving[row] += bounds.work[u]
    scratch.looks[0] += looks
    home = np.int64(scratch.slot[p])
    for i in range(d):
        scratch.slot[scratch.ids[i]] = -1
    return d, home, entering


@inner(forceinline=True, error_model="numpy", counted=False)
def _stop_sending(sent, alpha, per_value, smooth, d, home, scratch):
    """Price what v's block no longer exchanges without v, in drop and rise; returns its sum."""
    p = scratch.ids[home]
    total = 0.0
    for i in range(d):
        scratch.drop[i], scratch.rise[i] = 0.0, 0.0
        if i == home or scratch.held[i] == 0:
            continue
        b = scratch.ids[i]
        values = between(sent, p, b)
        fewer = values - 1 - scratch.lone[i]
        scratch.drop[i] = pay(alpha, per_value, smooth, p, b, fewer) - pay(
            alpha, per_value, smooth, p, b, values
        )
        scratch.rise[i] = pay(alpha, per_value, smooth, b, p, fewer) - pay(
            alpha, per_value, smooth, b, p, values
        )
        total += scratch.drop[i]
    return total


@inner(forceinline=True, error_model="numpy", counted=False)
def _exchanges_after(
    sent, alpha, per_value, smooth, exchange, d, home, to, dropped, scratch,
):  # fmt: skip
    """Lay out in `after` what v's blocks exchange once v is in slot `to`; returns how many of its
    neighbours are then outside its block.
    """
    p, q, held = scratch.ids[home], scratch.ids[to], scratch.held[home]
    values = between(sent, p, q)
    now = values - (scratch.held[to] > 0) - scratch.lone[to]
    now += (held > 0) + held - scratch.has[home * d + to]
    at_p = (
        dropped
        - scratch.drop[to]
        + pay(alpha, per_value, smooth, p, q, now)
        - pay(alpha, per_value, smooth, p, q, values)
    )
    at_q = pay(alpha, per_value, smooth, q, p, now) - pay(alpha, per_value, smooth, q, p, values)
    apart = held
    for i in range(d):
        b = scratch.ids[i]
        scratch.after[i] = exchange[b]
        if i == home or i == to or scratch.held[i] == 0:
            continue
        apart += scratch.held[i]
        values = between(sent, q, b)
        now = values + 1 + scratch.held[i] - scratch.has[i * d + to]
        at_q += pay(alpha, per_value, smooth, q, b, now) - pay(
            alpha, per_value, smooth, q, b, values
        )
        scratch.after[i] += (
            scratch.rise[i]
            + pay(alpha, per_value, smooth, b, q, now)
            - pay(alpha, per_value, smooth, b, q, values)
        )
    scratch.after[home] += at_p
    scratch.after[to] += at_q
    return apart


@inner(forceinline=True, error_model="numpy", counted=False)
def _price(tables, model, totals, bounds, vertex, to, reference, doublings, store, scratch):
    """Return the change of the sum of powers if the vertex moves to slot `to`.

    store: whether the totals of its blocks are changed accordingly.
    """
    v, d, home, dropped, entering = vertex
    w = bounds.work[v]
    apart = _exchanges_after(
        tables.sent, model.alpha, model.per_value, model.smooth, totals.exchange, d, home, to,
        dropped,
        scratch,
    )  # fmt: skip
    outside = apart - scratch.held[home] + scratch.held[to]
    change = 0.0
    for i in range(d):
        b, exchange = scratch.ids[i], scratch.after[i]
        load, outer = totals.load[b], totals.outer[b]
        compute, piece = totals.compute[b], totals.piece[b]
        if i == home or i == to:
            if i == home:
                load -= w
                outer += entering - (w if outside > 0 else 0.0)
            else:
                load += w
                outer += (w if apart > 0 else 0.0) - scratch.leaving[to]
            compute, piece = compute_at(
                model.first[b], model.last[b], model.left, model.speed, model.slope, piece,
                max(load, 0.0),
            )  # fmt: skip
        elif exchange == totals.exchange[b]:
            continue
        seconds = seconds_of(model.overlap, model.fixed[b], load, compute, outer, exchange)
        powered = powered_by(seconds, reference, doublings, model.worth[b])
        change += powered - totals.powered[b]
        if store:
            totals.load[b], totals.outer[b], totals.exchange[b] = load, outer, exchange
            totals.compute[b], totals.piece[b] = compute, piece
            totals.seconds[b], totals.powered[b] = seconds, powered
    return change


@inner(error_model="numpy", counted=False)
def consider(tables, model, totals, bounds, v, to, reference, doublings, scratch):
    """Weigh the moves of v, or move it to block `to` and keep all state right.

    Returns (change of the sum of powers, block): with `to` negative, of the best move within
    bounds, (NEVER, -1) where there is none.
    """
    p, w, m = np.int64(tables.part[v]), bounds.weight[v], bounds.n_bytes[v]
    store = to >= 0
    if tables.length[v] == CLOSED:
        open_table(tables, v)
    if not store and (
        totals.size[p] <= 1
        or totals.weight[p] - w < bounds.low[p]
        or tables.length[v] > MOST_BLOCKS
    ):
        return NEVER, np.int64(-1)
    d, home, entering = _look(tables, model, bounds, v, to if store else p, scratch)
    dropped = _stop_sending(
        tables.sent, model.alpha, model.per_value, model.smooth, d, home, scratch
    )
    vertex = Evaluated(v, d, home, dropped, entering)
    least, best = NEVER, np.int64(-1)
    for i in range(d):
        q = np.int64(scratch.ids[i])
        if store:
            if q != to:
                continue
        elif (
            i == home
            or totals.weight[q] + w > bounds.high[q]
            or totals.memory[q] + m > bounds.caps[q]
        ):
            continue
        change = _price(
            tables, model, totals, bounds, vertex, i, reference, doublings, store, scratch
        )
        if change < least:
            least, best = change, q
    if store:
        for i in range(move(tables, v, to)):
            tables.change[tables.changed[i]] = 0
        totals.weight[p] -= w
        totals.weight[to] += w
        totals.memory[p] -= m
        totals.memory[to] += m
        totals.size[p] -= 1
        totals.size[to] += 1
    return least, best
