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
    """A vertex v whose d blocks are laid out in the desk, from slot `home`, its own.

    dropped: exchange of its block that ends if it leaves [s]; entering: work of neighbours that
    would come to a boundary.
    """

    v: int
    d: int
    home: int
    dropped: float
    entering: float


@inner(forceinline=True, error_model="numpy", counted=False)
def _look(ledger, model, bounds, v, to, desk):
    """Lay out what v and its neighbours touch, block `to` with them; returns
    (d, slot of its own block, work of neighbours that would come to a boundary if it left).
    """
    p = np.int64(ledger.part[v])
    if ledger.length[v] == CLOSED:
        open_table(ledger, v)
    first = np.int64(ledger.xadj[v])
    d = np.int64(0)
    for i in range(first, first + ledger.length[v]):
        desk.ids[d], desk.held[d] = ledger.blocks[i], ledger.counts[i]
        desk.slot[ledger.blocks[i]] = d
        d += 1
    for turn in range(2):
        b = p if turn == 0 else to
        if desk.slot[b] < 0:
            desk.ids[d], desk.held[d] = b, 0
            desk.slot[b] = d
            d += 1
    for i in range(d):
        desk.lone[i], desk.leaving[i] = 0, 0.0
    for i in range(d * d):
        desk.has[i] = 0
    entering, looks = 0.0, LOOKS
    for e in range(first, ledger.xadj[v + 1]):
        u = np.int64(ledger.adjncy[e])
        if ledger.length[u] == CLOSED:
            open_table(ledger, u)
        r = ledger.part[u]
        row = np.int64(desk.slot[r])
        start, size = np.int64(ledger.xadj[u]), ledger.length[u]
        lone, inside = 0, 0
        for i in range(start, start + size):
            b = ledger.blocks[i]
            at = desk.slot[b]
            if at >= 0:
                desk.has[row * d + at] += 1
                if b == p and ledger.counts[i] == 1:
                    lone = 1
            inside += b == r
        desk.lone[row] += lone
        looks += 2 + size // 8
        if model.overlap:
            if r == p:
                entering += bounds.work[u] if size == 1 else 0.0
            elif lone == 1 and size == 1 + inside:
                desk.leaving[row] += bounds.work[u]
    desk.looks[0] += looks
    home = np.int64(desk.slot[p])
    for i in range(d):
        desk.slot[desk.ids[i]] = -1
    return d, home, entering


@inner(forceinline=True, error_model="numpy", counted=False)
def _stop_sending(sent, alpha, per_value, smooth, d, home, desk):
    """Price what v's block no longer exchanges without v, in drop and rise; returns its sum."""
    p = desk.ids[home]
    total = 0.0
    for i in range(d):
        desk.drop[i], desk.rise[i] = 0.0, 0.0
        if i == home or desk.held[i] == 0:
            continue
        b = desk.ids[i]
        values = between(sent, p, b)
        fewer = values - 1 - desk.lone[i]
        desk.drop[i] = pay(alpha, per_value, smooth, p, b, fewer) - pay(
            alpha, per_value, smooth, p, b, values
        )
        desk.rise[i] = pay(alpha, per_value, smooth, b, p, fewer) - pay(
            alpha, per_value, smooth, b, p, values
        )
        total += desk.drop[i]
    return total


@inner(forceinline=True, error_model="numpy", counted=False)
def _exchanges_after(
    sent, alpha, per_value, smooth, exchange, d, home, to, dropped, desk,
):  # fmt: skip
    """Lay out in `after` what v's blocks exchange once v is in slot `to`; returns how many of its
    neighbours are then outside its block.
    """
    p, q, held = desk.ids[home], desk.ids[to], desk.held[home]
    values = between(sent, p, q)
    now = values - (desk.held[to] > 0) - desk.lone[to]
    now += (held > 0) + held - desk.has[home * d + to]
    at_p = (
        dropped
        - desk.drop[to]
        + pay(alpha, per_value, smooth, p, q, now)
        - pay(alpha, per_value, smooth, p, q, values)
    )
    at_q = pay(alpha, per_value, smooth, q, p, now) - pay(alpha, per_value, smooth, q, p, values)
    apart = held
    for i in range(d):
        b = desk.ids[i]
        desk.after[i] = exchange[b]
        if i == home or i == to or desk.held[i] == 0:
            continue
        apart += desk.held[i]
        values = between(sent, q, b)
        now = values + 1 + desk.held[i] - desk.has[i * d + to]
        at_q += pay(alpha, per_value, smooth, q, b, now) - pay(
            alpha, per_value, smooth, q, b, values
        )
        desk.after[i] += (
            desk.rise[i]
            + pay(alpha, per_value, smooth, b, q, now)
            - pay(alpha, per_value, smooth, b, q, values)
        )
    desk.after[home] += at_p
    desk.after[to] += at_q
    return apart


@inner(forceinline=True, error_model="numpy", counted=False)
def _price(ledger, model, totals, bounds, vertex, to, reference, doublings, store, desk):
    """Return the change of the sum of powers if the vertex moves to slot `to`.

    store: whether the totals of its blocks are changed accordingly.
    """
    v, d, home, dropped, entering = vertex
    w = bounds.work[v]
    apart = _exchanges_after(
        ledger.sent, model.alpha, model.per_value, model.smooth, totals.exchange, d, home, to,
        dropped,
        desk,
    )  # fmt: skip
    outside = apart - desk.held[home] + desk.held[to]
    change = 0.0
    for i in range(d):
        b, exchange = desk.ids[i], desk.after[i]
        load, outer = totals.load[b], totals.outer[b]
        compute, piece = totals.compute[b], totals.piece[b]
        if i == home or i == to:
            if i == home:
                load -= w
                outer += entering - (w if outside > 0 else 0.0)
            else:
                load += w
                outer += (w if apart > 0 else 0.0) - desk.leaving[to]
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
def consider(ledger, model, totals, bounds, v, to, reference, doublings, desk):
    """Weigh the moves of v, or move it to block `to` and keep all books right.

    Returns (change of the sum of powers, block): with `to` negative, of the best move within
    bounds, (NEVER, -1) where there is none.
    """
    p, w, m = np.int64(ledger.part[v]), bounds.weight[v], bounds.n_bytes[v]
    store = to >= 0
    if ledger.length[v] == CLOSED:
        open_table(ledger, v)
    if not store and (
        totals.size[p] <= 1
        or totals.weight[p] - w < bounds.low[p]
        or ledger.length[v] > MOST_BLOCKS
    ):
        return NEVER, np.int64(-1)
    d, home, entering = _look(ledger, model, bounds, v, to if store else p, desk)
    dropped = _stop_sending(ledger.sent, model.alpha, model.per_value, model.smooth, d, home, desk)
    vertex = Evaluated(v, d, home, dropped, entering)
    least, best = NEVER, np.int64(-1)
    for i in range(d):
        q = np.int64(desk.ids[i])
        if store:
            if q != to:
                continue
        elif (
            i == home
            or totals.weight[q] + w > bounds.high[q]
            or totals.memory[q] + m > bounds.caps[q]
        ):
            continue
        change = _price(ledger, model, totals, bounds, vertex, i, reference, doublings, store, desk)
        if change < least:
            least, best = change, q
    if store:
        for i in range(move(ledger, v, to)):
            ledger.change[ledger.changed[i]] = 0
        totals.weight[p] -= w
        totals.weight[to] += w
        totals.memory[p] -= m
        totals.memory[to] += m
        totals.size[p] -= 1
        totals.size[to] += 1
    return least, best
