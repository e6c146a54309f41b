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

# Set by hand: no record of what chose them.
MOST_BLOCKS = 32  # a vertex that touches more stays: its evaluation takes their square
LOOKS = 30  # cost of evaluating one vertex, in halves of what each neighbour adds
NEVER = np.inf  # change of the sum of powers by a move that is not allowed


class Evaluated(NamedTuple):
    """A vertex v whose d blocks are laid out in MoveScratch, its own in slot `home`.

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
        scratch.block[d], scratch.n_neighbours[d] = tables.blocks[i], tables.counts[i]
        scratch.slot[tables.blocks[i]] = d
        d += 1
    for turn in range(2):
        b = p if turn == 0 else to
        if scratch.slot[b] < 0:
            scratch.block[d], scratch.n_neighbours[d] = b, 0
            scratch.slot[b] = d
            d += 1
    for i in range(d):
        scratch.n_only[i], scratch.freed_work[i] = 0, 0.0
    for i in range(d * d):
        scratch.touching[i] = 0
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
                scratch.touching[row * d + at] += 1
                if b == p and tables.counts[i] == 1:
                    lone = 1
            inside += b == r
        scratch.n_only[row] += lone
        looks += 2 + size // 8
        if model.overlap:
            if r == p:
                entering += bounds.work[u] if size == 1 else 0.0
            elif lone == 1 and size == 1 + inside:
                scratch.freed_work[row] += bounds.work[u]
    scratch.looks[0] += looks
    home = np.int64(scratch.slot[p])
    for i in range(d):
        scratch.slot[scratch.block[i]] = -1
    return d, home, entering


@inner(forceinline=True, error_model="numpy", counted=False)
def _stop_sending(sent, alpha, per_value, latency_ramp, d, home, scratch):
    """Price what v's block no longer exchanges without v, in own_change and other_change; returns
    the sum of own_change."""
    p = scratch.block[home]
    total = 0.0
    for i in range(d):
        scratch.own_change[i], scratch.other_change[i] = 0.0, 0.0
        if i == home or scratch.n_neighbours[i] == 0:
            continue
        b = scratch.block[i]
        values = between(sent, p, b)
        fewer = values - 1 - scratch.n_only[i]
        scratch.own_change[i] = pay(alpha, per_value, latency_ramp, p, b, fewer) - pay(
            alpha, per_value, latency_ramp, p, b, values
        )
        scratch.other_change[i] = pay(alpha, per_value, latency_ramp, b, p, fewer) - pay(
            alpha, per_value, latency_ramp, b, p, values
        )
        total += scratch.own_change[i]
    return total


@inner(forceinline=True, error_model="numpy", counted=False)
def _exchanges_after(
    sent, alpha, per_value, latency_ramp, exchange, d, home, to, dropped, scratch,
):  # fmt: skip
    """Lay out in exchange_after what v's blocks exchange once v is in slot `to`.

    Returns how many of its neighbours are then outside its block.
    """
    p, q, held = scratch.block[home], scratch.block[to], scratch.n_neighbours[home]
    values = between(sent, p, q)
    now = values - (scratch.n_neighbours[to] > 0) - scratch.n_only[to]
    now += (held > 0) + held - scratch.touching[home * d + to]
    at_p = (
        dropped
        - scratch.own_change[to]
        + pay(alpha, per_value, latency_ramp, p, q, now)
        - pay(alpha, per_value, latency_ramp, p, q, values)
    )
    at_q = pay(alpha, per_value, latency_ramp, q, p, now) - pay(
        alpha, per_value, latency_ramp, q, p, values
    )
    apart = held
    for i in range(d):
        b = scratch.block[i]
        scratch.exchange_after[i] = exchange[b]
        if i == home or i == to or scratch.n_neighbours[i] == 0:
            continue
        apart += scratch.n_neighbours[i]
        values = between(sent, q, b)
        now = values + 1 + scratch.n_neighbours[i] - scratch.touching[i * d + to]
        at_q += pay(alpha, per_value, latency_ramp, q, b, now) - pay(
            alpha, per_value, latency_ramp, q, b, values
        )
        scratch.exchange_after[i] += (
            scratch.other_change[i]
            + pay(alpha, per_value, latency_ramp, b, q, now)
            - pay(alpha, per_value, latency_ramp, b, q, values)
        )
    scratch.exchange_after[home] += at_p
    scratch.exchange_after[to] += at_q
    return apart


@inner(forceinline=True, error_model="numpy", counted=False)
def _price(tables, model, totals, bounds, vertex, to, reference, log2_power, store, scratch):
    """Return the change of the sum of powers if the vertex moves to slot `to`.

    store: whether the totals of its blocks are changed accordingly.
    """
    v, d, home, dropped, entering = vertex
    w = bounds.work[v]
    apart = _exchanges_after(
        tables.sent, model.alpha, model.per_value, model.latency_ramp, totals.exchange, d, home, to,
        dropped,
        scratch,
    )  # fmt: skip
    outside = apart - scratch.n_neighbours[home] + scratch.n_neighbours[to]
    change = 0.0
    for i in range(d):
        b, exchange = scratch.block[i], scratch.exchange_after[i]
        load, outer = totals.load[b], totals.outer[b]
        compute, piece = totals.compute[b], totals.piece[b]
        if i == home or i == to:
            if i == home:
                load -= w
                outer += entering - (w if outside > 0 else 0.0)
            else:
                load += w
                outer += (w if apart > 0 else 0.0) - scratch.freed_work[to]
            compute, piece = compute_at(
                model.first[b], model.last[b], model.left, model.speed, model.slope, piece,
                max(load, 0.0),
            )  # fmt: skip
        elif exchange == totals.exchange[b]:
            continue
        seconds = seconds_of(model.overlap, model.fixed[b], load, compute, outer, exchange)
        powered = powered_by(seconds, reference, log2_power, model.second_weight[b])
        change += powered - totals.powered[b]
        if store:
            totals.load[b], totals.outer[b], totals.exchange[b] = load, outer, exchange
            totals.compute[b], totals.piece[b] = compute, piece
            totals.seconds[b], totals.powered[b] = seconds, powered
    return change


@inner(forceinline=True, error_model="numpy", counted=False)
def _evaluated(tables, model, bounds, v, to, scratch):
    """Lay out v's blocks, and `to` with them, and what its own no longer exchanges without it."""
    d, home, entering = _look(tables, model, bounds, v, to, scratch)
    dropped = _stop_sending(
        tables.sent, model.alpha, model.per_value, model.latency_ramp, d, home, scratch
    )
    return Evaluated(v, d, home, dropped, entering)


@inner(error_model="numpy", counted=False)
def best_move(tables, model, totals, bounds, v, reference, log2_power, scratch):
    """Return (change of the sum of powers, block) of v's best move within bounds.

    (NEVER, -1) where there is none.
    """
    p, w, m = np.int64(tables.part[v]), bounds.weight[v], bounds.n_bytes[v]
    if tables.length[v] == CLOSED:
        open_table(tables, v)
    if (
        totals.size[p] <= 1
        or totals.weight[p] - w < bounds.low[p]
        or tables.length[v] > MOST_BLOCKS
    ):
        return NEVER, np.int64(-1)
    vertex = _evaluated(tables, model, bounds, v, p, scratch)
    least, best = NEVER, np.int64(-1)
    for i in range(vertex.d):
        q = np.int64(scratch.block[i])
        if (
            i == vertex.home
            or totals.weight[q] + w > bounds.high[q]
            or totals.memory[q] + m > bounds.caps[q]
        ):
            continue
        change = _price(
            tables, model, totals, bounds, vertex, i, reference, log2_power, False, scratch
        )
        if change < least:
            least, best = change, q
    return least, best


@inner(error_model="numpy", counted=False)
def make_move(tables, model, totals, bounds, v, to, reference, log2_power, scratch):
    """Move v to block `to`, with tables and totals; return the change of the sum of powers."""
    p, w, m = np.int64(tables.part[v]), bounds.weight[v], bounds.n_bytes[v]
    vertex = _evaluated(tables, model, bounds, v, to, scratch)
    at = np.int64(0)
    while scratch.block[at] != to:
        at += 1
    change = _price(tables, model, totals, bounds, vertex, at, reference, log2_power, True, scratch)
    for i in range(move(tables, v, to)):
        tables.change[tables.changed[i]] = 0
    totals.weight[p] -= w
    totals.weight[to] += w
    totals.memory[p] -= m
    totals.memory[to] += m
    totals.size[p] -= 1
    totals.size[to] += 1
    return change
