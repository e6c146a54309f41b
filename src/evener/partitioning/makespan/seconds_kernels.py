"""Predicted seconds of blocks; evaluates moves of a vertex, and makes them.

A block's seconds are its computing time, its exchange with each other block, and a fixed cost; the
objective is a sum of powers of these. The tables of connectivity_kernels state how many neighbours
a vertex has in each block, so all moves of a vertex are evaluated in one pass over the few table
entries of its neighbours.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner
from evener.partitioning.refinement.connectivity_kernels import (
    CLOSED,
    move,
    open_table,
    weight_of,
)


class Model(NamedTuple):
    """The cost model of k blocks, with s pieces of the speed curves of their devices."""

    first: np.ndarray  # (k,) int64: a device's first piece
    last: np.ndarray  # (k,) int64: one past its last piece
    left: np.ndarray  # (s,) float64: load at which a piece begins [units]
    speed: np.ndarray  # (s,) float64: speed there [units/s]
    slope: np.ndarray  # (s,) float64: change of speed with load [1/s]
    alpha: np.ndarray  # (k, k) float64: latency of a pair's messages [s]
    per_value: np.ndarray  # (k, k) float64: time for each value exchanged [s/value]
    fixed: np.ndarray  # (k,) float64: further time that each used device needs [s]
    second_weight: np.ndarray  # (k,) float64: weight of a device's second in the sum of powers
    latency_ramp: float  # values from which latency counts in full: lets small messages shrink
    overlap: bool  # whether exchange overlaps the interior's compute


class Totals(NamedTuple):
    """Totals of every block (k,), updated by each move; float64 unless stated as int64."""

    load: np.ndarray  # work [units]
    weight: np.ndarray  # what the limits are on
    memory: np.ndarray  # [B]
    size: np.ndarray  # int64: vertices
    outer: np.ndarray  # work at the boundary, which waits for the exchange [units]; for overlap
    compute: np.ndarray  # [s]
    exchange: np.ndarray  # [s]
    seconds: np.ndarray  # predicted, of an iteration [s]
    powered: np.ndarray  # its term of the sum of powers (powered_by)
    piece: np.ndarray  # int64: piece of its speed curve that its load is on


class Bounds(NamedTuple):
    """Weights of vertices, and limits of blocks.

    Of vertices (n,): work [units], weight, n_bytes; of blocks (k,): limits low, high and caps.
    """

    work: np.ndarray
    weight: np.ndarray
    n_bytes: np.ndarray
    low: np.ndarray
    high: np.ndarray
    caps: np.ndarray


class MoveScratch(NamedTuple):
    """Scratch arrays of evaluations and searches; no call reads what an earlier call left in them.

    Exceptions, which hold before and after every call: `slot` is -1 everywhere; `lock` is 0 except
    for fixed vertices. A vertex v is evaluated for d blocks: its own, and those that it touches.
    """

    slot: np.ndarray  # (k,) int32: where a block is among the d, else -1
    block: np.ndarray  # (d,) int32: the blocks
    n_neighbours: np.ndarray  # (d,) int32: v's neighbours in each
    n_only: np.ndarray  # (d,) int32: of those, whose only neighbour in v's block is v
    freed_work: np.ndarray  # (d,) float64: work of those that leave the boundary if v joins [units]
    own_change: np.ndarray  # (d,) float64: v leaves: change of its block's exchange with each [s]
    other_change: np.ndarray  # (d,) float64: v leaves: change of each block's exchange with v's [s]
    exchange_after: np.ndarray  # (d,) float64: exchange of each block after the move [s]
    touching: np.ndarray  # (d * d,) int32: row b, column c: neighbours in b that touch c already
    queue: np.ndarray  # (n,) int32: vertices to search from, a ring
    lock: np.ndarray  # (n,) int8: 1 where a vertex is fixed or the chain has moved it
    front: np.ndarray  # (FRONTIER,) int64: vertices that the chain chooses from
    keys: np.ndarray  # (FRONTIER,) float64: change of the sum of powers by the best move of each
    moved: np.ndarray  # (DEPTH,) int64: vertices that the chain has moved, in order
    came_from: np.ndarray  # (DEPTH,) int64: their blocks before
    looks: np.ndarray  # (1,) int64: cost of the evaluations so far, in halves of an entry


@inner(forceinline=True, error_model="numpy", counted=False)
def pay(alpha, per_value, latency_ramp, b, c, values):
    """Return the seconds that block b spends on exchanging this number of values with block c."""
    if values <= 0:
        return 0.0
    part = min(1.0, values / latency_ramp)
    return alpha[b, c] * part * (2.0 - part) + per_value[b, c] * values


@inner(error_model="numpy", counted=False)
def compute_at(first, last, left, speed, slope, piece, load):
    """Return the computing time of a device at `load`, searching from `piece`.

    Also returns the piece of this load.
    """
    while piece + 1 < last and left[piece + 1] <= load:
        piece += 1
    while piece > first and left[piece] > load:
        piece -= 1
    above = max(load - left[piece], 0.0)  # before the first knot, speed is constant
    return load / (speed[piece] + slope[piece] * above), piece


@inner(forceinline=True, error_model="numpy", counted=False)
def seconds_of(overlap, fixed, load, compute, outer, exchange):
    """Return the seconds of a block, with or without overlap of computing and exchange."""
    if load <= 0 and exchange <= 0:
        return 0.0
    if not overlap:
        return compute + exchange + fixed
    edge = compute * min(1.0, outer / load) if load > 0 else 0.0
    return max(compute - edge, exchange) + edge + fixed


@inner(forceinline=True, error_model="numpy", counted=False)
def powered_by(seconds, reference, log2_power, second_weight):
    """Return second_weight * (seconds / reference) ** 2**log2_power."""
    x = seconds / reference
    for _ in range(log2_power):
        x *= x
    return second_weight * x


@inner(forceinline=True, error_model="numpy", counted=False)
def between(sent, b, c):
    """Return the number of values that two blocks exchange, both directions together."""
    return np.int64(sent[b, c]) + np.int64(sent[c, b])


@inner(error_model="numpy", counted=False)
def reprice(tables, model, totals):
    """Compute work, exchange and seconds of all blocks from scratch; return the longest seconds."""
    k, longest = totals.load.size, 0.0
    sent, alpha, per_value, latency_ramp = (
        tables.sent,
        model.alpha,
        model.per_value,
        model.latency_ramp,
    )
    for b in range(k):
        exchange = 0.0
        for c in range(k):
            exchange += pay(alpha, per_value, latency_ramp, b, c, between(sent, b, c))
        compute, piece = compute_at(
            model.first[b], model.last[b], model.left, model.speed, model.slope, totals.piece[b],
            totals.load[b],
        )  # fmt: skip
        totals.exchange[b], totals.compute[b], totals.piece[b] = exchange, compute, piece
        load, outer = totals.load[b], totals.outer[b]
        totals.seconds[b] = seconds_of(
            model.overlap, model.fixed[b], load, compute, outer, exchange
        )
        longest = max(longest, totals.seconds[b])
    return longest


# Set by hand: no record of what chose them.
MOST_BLOCKS = 32  # a vertex that touches more stays: its evaluation takes their square
LOOKS = 30  # cost of evaluating one vertex, in halves of what each neighbour adds
NEVER = np.inf  # change of the sum of powers by a move that is not allowed


class Evaluated(NamedTuple):
    """A vertex v whose d blocks are listed in MoveScratch, its own in slot `home`.

    dropped [s]: exchange that its block saves if v leaves. entering [units]: work of neighbours
    that would then be at a boundary.
    """

    v: int
    d: int
    home: int
    dropped: float
    entering: float


@inner(forceinline=True, error_model="numpy", counted=False)
def _count_faces(scratch, d):
    """Set n_only and touching so that exchanges count two values per face, one each way."""
    for i in range(d):
        held, values = scratch.n_neighbours[i], 2 * np.int64(scratch.own_change[i])
        scratch.n_only[i] = values - 1 if held > 0 else 0
        for j in range(d):
            scratch.touching[i * d + j] = 1 + held - values if held > 0 else 0


@inner(forceinline=True, error_model="numpy", counted=False)
def _look(tables, model, bounds, v, to, scratch):
    """List the blocks that v and its neighbours touch, and block `to`.

    Returns d, the slot of v's own block, and the work of neighbours that would be at a boundary if
    v left.
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
        scratch.n_only[i], scratch.freed_work[i], scratch.own_change[i] = 0, 0.0, 0.0
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
        if tables.of_faces:
            scratch.own_change[row] += weight_of(tables, e)
        scratch.n_only[row] += lone
        looks += 2 + size // 8
        if model.overlap:
            if r == p:
                entering += bounds.work[u] if size == 1 else 0.0
            elif lone == 1 and size == 1 + inside:
                scratch.freed_work[row] += bounds.work[u]
    if tables.of_faces:
        _count_faces(scratch, d)
    scratch.looks[0] += looks
    home = np.int64(scratch.slot[p])
    for i in range(d):
        scratch.slot[scratch.block[i]] = -1
    return d, home, entering


@inner(forceinline=True, error_model="numpy", counted=False)
def _stop_sending(sent, alpha, per_value, latency_ramp, d, home, scratch):
    """Fill own_change and other_change: how exchanges change when v leaves its block.

    Returns the sum of own_change.
    """
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
    """Fill exchange_after with the exchange of each listed block once v is in slot `to`.

    Returns the number of v's neighbours that are then in other blocks.
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

    store: whether to change the totals of its blocks accordingly.
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
    """List v's blocks and `to`, and compute how exchanges change when v leaves its block."""
    d, home, entering = _look(tables, model, bounds, v, to, scratch)
    dropped = _stop_sending(
        tables.sent, model.alpha, model.per_value, model.latency_ramp, d, home, scratch
    )
    return Evaluated(v, d, home, dropped, entering)


@inner(error_model="numpy", counted=False)
def best_move(tables, model, totals, bounds, v, reference, log2_power, scratch):
    """Return (change of the sum of powers, block) of v's best move within bounds.

    Returns (NEVER, -1) if there is no such move.
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
    """Move v to block `to`; update tables and totals; return the change of the sum of powers."""
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
